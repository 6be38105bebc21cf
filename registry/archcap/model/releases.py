"""Releases of an engine, ordered as PEP 440 orders them, and half-open intervals of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from packaging.version import InvalidVersion, Version
from pydantic import model_validator

from archcap.model.base import Record

_BOUND = re.compile(r"^(>=|<(?!=))\s*(\S+)$")


@lru_cache(maxsize=4096)
def version(text: str) -> Version:
    """Parse *text* as a PEP 440 version.

    Raises:
        ValueError: *text* is no PEP 440 version.
    """
    try:
        return Version(text)
    except InvalidVersion as error:
        raise ValueError(f"{text!r} is no PEP 440 version") from error


class Interval(Record):
    """A half-open range of releases: `added` inclusive, `removed` exclusive; None is unbounded."""

    added: str | None = None
    removed: str | None = None

    @model_validator(mode="after")
    def _ordered(self) -> Interval:
        for bound in (self.added, self.removed):
            if bound is not None:
                version(bound)
        if self.added and self.removed and version(self.added) >= version(self.removed):
            raise ValueError(f"the interval is empty: added {self.added} is not before removed {self.removed}")
        return self

    def holds(self, release: str) -> bool:
        """Return whether *release* lies in the interval."""
        return _within(release, self.added, self.removed)


@lru_cache(maxsize=4096)
def _within(release: str, added: str | None, removed: str | None) -> bool:
    """Return whether *release* lies between two bounds; asked for the same few thousands again and again."""
    at = version(release)
    return (added is None or at >= version(added)) and (removed is None or at < version(removed))


def parse_range(text: str) -> Interval:
    """Read a range such as `>=0.5.16,<0.5.19`.

    Args:
        text: one `>=` bound, one `<` bound, or both, separated by a comma.
    Raises:
        ValueError: another operator, a bound given twice, or no PEP 440 version.
    """
    bounds: dict[str, str] = {}
    for part in text.split(","):
        match = _BOUND.match(part.strip())
        if not match:
            raise ValueError(f"{part.strip()!r} is no bound: write >=A, <B or >=A,<B")
        operator, bound = match.groups()
        if operator in bounds:
            raise ValueError(f"{text!r} gives {operator} twice")
        bounds[operator] = bound
    return Interval(added=bounds.get(">="), removed=bounds.get("<"))


def held_when(intervals: Sequence[Interval], release: str) -> str:
    """Return in words when something is there that *release* lacks: the next time, else the last.

    Args:
        intervals: when it is there, in release order; none holds *release*.
        release: the one that lacks it.
    """
    at = version(release)
    later = next((one.added for one in intervals if one.added is not None and version(one.added) > at), None)
    if later is None:
        return f"it ended with {intervals[-1].removed}"
    before = any(one.added is None or version(one.added) < at for one in intervals)
    return f"it is there again from {later}" if before else f"it is there from {later}"


def nearest(release: str, known: Iterable[str]) -> str:
    """Return *release* itself when known, else the last known one before it, else the first.

    Args:
        release: any PEP 440 version.
        known: the releases of an engine, at least one.
    Raises:
        ValueError: *release* is no PEP 440 version.
    """
    ordered = sorted(known, key=version)
    if release in ordered:
        return release
    at = version(release)
    before = [r for r in ordered if version(r) <= at]
    return before[-1] if before else ordered[0]
