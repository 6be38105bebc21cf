"""Ranges of releases cut out of intervals. Works on positions in an engine's order of releases; knows no override."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from archcap.model.releases import Interval, parse_range, version
from archcap.snapshot.timeline import Timeline

I = TypeVar("I", bound=Interval)  # noqa: E741

_OPERATORS = re.compile(r"[<>=!~]")


@dataclass(frozen=True, slots=True)
class Span:
    """Positions [first, end)."""

    first: int
    end: int

    def meet(self, other: Span) -> Span | None:
        """Return what both hold, None when nothing."""
        first, end = max(self.first, other.first), min(self.end, other.end)
        return Span(first, end) if first < end else None


def read_releases(text: str | None, names: Sequence[str]) -> Interval:
    """Return the interval an override's `releases` means.

    Args:
        text: bounds, or one release alone, which ends before the next of *names*.
        names: the engine's releases, oldest first.
    Raises:
        ValueError: it is no range.
    """
    if text is None:
        return Interval()
    if _OPERATORS.search(text):
        return parse_range(text)
    alone = text.strip()
    at = version(alone)
    return Interval(added=alone, removed=next((name for name in names if version(name) > at), None))


def span_of(interval: Interval, timeline: Timeline) -> Span:
    """Return the positions *interval* covers; a bound between two releases counts as the later of them."""
    held = [at for at, name in enumerate(timeline.names) if interval.holds(name)]
    return Span(held[0], held[-1] + 1) if held else Span(0, 0)


def cut(entries: Iterable[I], hole: Span, timeline: Timeline) -> tuple[I, ...]:
    """Return *entries* without what they hold in *hole*; bounds outside the hole stay as they are written."""
    return tuple(piece for entry in entries for piece in _pieces(entry, hole, timeline))


def _pieces(entry: I, hole: Span, timeline: Timeline) -> Iterator[I]:
    span = span_of(entry, timeline)
    if span.meet(hole) is None:
        yield entry
        return
    if span.first < hole.first:
        yield entry.model_copy(update={"removed": timeline.names[hole.first]})
    if hole.end < span.end:
        yield entry.model_copy(update={"added": timeline.names[hole.end]})


def bounds(span: Span, timeline: Timeline) -> dict[str, str | None]:
    """Return *span* as `added` and `removed`: unbounded at either end of what is known."""
    names = timeline.names
    return {
        "added": names[span.first] if span.first > 0 else None,
        "removed": names[span.end] if span.end < len(names) else None,
    }


def in_order(entries: Iterable[I], timeline: Timeline) -> tuple[I, ...]:
    """Return *entries* in the order of releases."""

    def key(entry: I) -> tuple[int, str]:
        return span_of(entry, timeline).first, getattr(entry, "platform", None) or ""

    return tuple(sorted(entries, key=key))
