"""From what each release holds to half-open intervals: consecutive releases with the same value become one stay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Stay(NamedTuple, Generic[T]):
    """A value and the releases it holds in. `added` None: since the oldest scanned release; `removed` None: still."""

    added: str | None
    removed: str | None
    value: T


def stays(releases: Sequence[str], values: Mapping[str, T]) -> list[Stay[T]]:
    """Return the stays of a value over *releases*.

    Args:
        releases: all scanned releases in order.
        values: value by release; a release without one does not have the thing.
    """
    found: list[Stay[T]] = []
    last: T | None = None
    open_ = False
    for index, release in enumerate(releases):
        held = release in values
        if open_ and (not held or values[release] != last):
            found[-1] = found[-1]._replace(removed=release)
            open_ = False
        if held and not open_:
            last = values[release]
            found.append(Stay(release if index else None, None, values[release]))
            open_ = True
    return found
