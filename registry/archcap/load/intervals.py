"""Intervals against each other: apart from one another, and inside the existence of what they speak of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from archcap.load.parts import EngineNames, EngineParts, Found, Releases
from archcap.load.strict_yaml import DataPath
from archcap.load.words import Wording
from archcap.model.architectures import Architecture, ListEntry
from archcap.model.releases import Interval, parse_range
from archcap.model.rules import Define
from archcap.model.support import Support

Range = tuple[int, int]


def check_intervals(engine: EngineParts, names: EngineNames) -> Iterator[Found]:
    """Yield overlaps and support outside an architecture's existence."""
    if names.releases is None:
        return
    checker = _Intervals(names.releases)
    yield from _architectures(engine, checker)
    yield from _others(engine, checker)


def _architectures(engine: EngineParts, checker: _Intervals) -> Iterator[Found]:
    for family in engine.families:
        for name, architecture in family.record.architectures.items():
            for wording in checker.architecture(("architectures", name), architecture):
                yield Found(family.document, wording)


def _others(engine: EngineParts, checker: _Intervals) -> Iterator[Found]:
    for lists in engine.lists:
        for name, entry in lists.record.lists.items():
            for member, stays in entry.names.items():
                for wording in checker.by_platform(("lists", name, "names", member), stays):
                    yield Found(lists.document, wording)
    for declared in engine.names:
        for name, variable in declared.record.env.items():
            for wording in checker.apart(("env", name, "spans"), enumerate(variable.spans)):
                yield Found(declared.document, wording)
    for part in engine.rules:
        for name, define in part.record.define.items():
            for wording in checker.define(("define", name), define if isinstance(define, tuple) else ()):
                yield Found(part.document, wording)


class _Intervals:
    def __init__(self, releases: Releases) -> None:
        self._releases = releases

    def architecture(self, path: DataPath, architecture: Architecture) -> Iterator[Wording]:
        if not architecture.releases:
            yield Wording((*path, "releases"), "there is no interval", hint="write added: and a release")
            return
        yield from self.apart((*path, "releases"), enumerate(architecture.releases))
        exists = self._ranges(architecture.releases)
        for capability, entries in architecture.support.items():
            below = (*path, "support", capability)
            yield from self.by_platform(below, entries)
            yield from self._inside(below, entries, exists)

    def by_platform(self, path: DataPath, entries: Sequence[Support | ListEntry]) -> Iterator[Wording]:
        """Intervals of one platform are apart; another platform's may lie over them."""
        if not entries:
            yield Wording(path, "there is no interval", hint="leave the key out where nothing holds")
        if len(entries) < 2:
            return
        platforms: dict[str | None, list[tuple[int, Interval]]] = {}
        for index, entry in enumerate(entries):
            platforms.setdefault(entry.platform, []).append((index, entry))
        for same in platforms.values():
            yield from self.apart(path, same)

    def apart(self, path: DataPath, intervals: Iterable[tuple[int, Interval]]) -> Iterator[Wording]:
        """Yield each interval that starts before the one before it ends."""
        ranges = ((self._releases.range(interval), index) for index, interval in intervals)
        placed = sorted((found, index) for found, index in ranges if found is not None)
        for ((first, end), _), ((start, _end), index) in pairwise(placed):
            if start < end:
                said = f"overlaps the interval from {self._releases.names[first]}"
                yield Wording((*path, index), said, hint="end that one with removed: or merge the two")

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

    def _ranges(self, intervals: Iterable[Interval]) -> list[Range]:
        return [found for interval in intervals if (found := self._releases.range(interval)) is not None]

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
