"""Intervals of releases in a snapshot's raw JSON, without making records of them.

A release view looks at thousands of intervals and needs few records. Knows bounds; knows nothing else of what it sees.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from archcap.model.base import Json, JsonObject
from archcap.model.releases import version


class Timeline:
    """The releases of an engine in order.

    Attributes:
        names: oldest first.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names: tuple[str, ...] = tuple(sorted(names, key=version))
        self._at = {name: index for index, name in enumerate(self.names)}

    def position(self, release: str) -> int:
        """Return the index of *release*, which must be known."""
        return self._at[release]

    def holds(self, interval: JsonObject, at: int) -> bool:
        """Return whether the raw *interval* holds at position *at*."""
        added, removed = interval.get("added"), interval.get("removed")
        return (added is None or self._bound(added) <= at) and (removed is None or at < self._bound(removed))

    def held(self, intervals: Json, at: int) -> Iterator[JsonObject]:
        """Yield those of the raw *intervals* that hold at position *at*."""
        for interval in intervals if isinstance(intervals, list) else ():
            if isinstance(interval, dict) and self.holds(interval, at):
                yield interval

    def any_holds(self, intervals: Json, at: int) -> bool:
        """Return whether one of the raw *intervals* holds at position *at*."""
        return next(self.held(intervals, at), None) is not None

    def after(self, at: int) -> Sequence[int]:
        """Return the positions behind *at*."""
        return range(at + 1, len(self.names))

    def _bound(self, bound: Json) -> int:
        """Return the position a bound stands for; one between two releases counts as the later of them."""
        found = self._at.get(bound) if isinstance(bound, str) else None
        if found is not None:
            return found
        wanted = version(str(bound))
        return next((index for index, name in enumerate(self.names) if version(name) >= wanted), len(self.names))
