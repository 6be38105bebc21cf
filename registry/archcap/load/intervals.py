"""Intervals against each other: apart from one another, and inside the existence of what they speak of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from archcap.load.parts import EngineNames, EngineParts, Found, Group, Releases, found, interval_groups
from archcap.load.strict_yaml import DataPath
from archcap.load.words import Wording
from archcap.model.architectures import Architecture
from archcap.model.releases import Interval, parse_range
from archcap.model.rules import Define
from archcap.model.support import Support

Range = tuple[int, int]


def check_intervals(engine: EngineParts, names: EngineNames) -> Iterator[Found]:
    """Yield empty and overlapping groups of intervals, and support outside an architecture's existence."""
    if names.releases is None:
        return
    checker = _Intervals(names.releases)
    for group in interval_groups(engine):
        yield from found(group.document, checker.group(group))
    for family in engine.families:
        for name, architecture in family.record.architectures.items():
            yield from found(family.document, checker.inside(("architectures", name, "support"), architecture))
    for part in engine.rules:
        for name, define in part.record.define.items():
            variants = define if isinstance(define, tuple) else ()
            yield from found(part.document, checker.define(("define", name), variants))


class _Intervals:
    def __init__(self, releases: Releases) -> None:
        self._releases = releases

    def group(self, group: Group) -> Iterator[Wording]:
        """A group holds something; intervals of one platform are apart, another platform's may lie over them."""
        if not group.intervals and not group.may_be_empty:
            yield Wording(group.path, "there is no interval", hint="leave the key out where nothing holds")
        if len(group.intervals) < 2 or group.may_overlap:
            return
        platforms: dict[str | None, list[tuple[int, Interval]]] = {}
        for index, interval in enumerate(group.intervals):
            platforms.setdefault(getattr(interval, "platform", None), []).append((index, interval))
        for same in platforms.values():
            yield from self.apart(group.path, same)

    def apart(self, path: DataPath, intervals: Iterable[tuple[int, Interval]]) -> Iterator[Wording]:
        """Yield each interval that starts before the one before it ends."""
        ranges = ((self._releases.range(interval), index) for index, interval in intervals)
        placed = sorted((held, index) for held, index in ranges if held is not None)
        for ((first, end), _), ((start, _end), index) in pairwise(placed):
            if start < end:
                said = f"overlaps the interval from {self._releases.names[first]}"
                yield Wording((*path, index), said, hint="end that one with removed: or merge the two")

    def inside(self, path: DataPath, architecture: Architecture) -> Iterator[Wording]:
        """Support holds only in releases that have the architecture."""
        ranges = [self._releases.range(interval) for interval in architecture.releases]
        exists = [held for held in ranges if held is not None]
        if len(exists) < len(ranges):
            return  # an unknown bound is reported as such
        for capability, entries in architecture.support.items():
            yield from self._inside((*path, capability), entries, exists)

    def _inside(self, path: DataPath, entries: Sequence[Support], exists: Sequence[Range]) -> Iterator[Wording]:
        for index, entry in enumerate(entries):
            held = self._releases.range(entry)
            outside = self._outside(held, exists) if held is not None else None
            if outside is not None:
                said = f"holds in {outside}, in which the architecture does not exist"
                yield Wording((*path, index), said, hint="bound it by the architecture's own releases")

    def _outside(self, held: Range, exists: Sequence[Range]) -> str | None:
        """Return the first release of *held* that no range of *exists* covers."""
        if any(first <= held[0] and held[1] <= end for first, end in exists):
            return None
        covered = {position for first, end in exists for position in range(first, end)}
        return next((self._releases.names[position] for position in range(*held) if position not in covered), None)

    def define(self, path: DataPath, variants: Sequence[Define]) -> Iterator[Wording]:
        """Variants of a definition are apart, and each is an expression or a table."""
        placed: list[tuple[int, Interval]] = []
        for index, variant in enumerate(variants):
            if (variant.expr is None) == (variant.cases is None):
                yield Wording((*path, index), "neither or both of expr and cases are given", hint="give one")
            try:
                placed.append((index, parse_range(variant.releases) if variant.releases else Interval()))
            except ValueError:
                continue  # its bounds are reported where bounds are checked
        yield from self.apart(path, placed)
