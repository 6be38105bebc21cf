"""Two intervals that meet and say the same are one interval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from archcap.lint.check import ArchitectureSubject, Check, Flaw, ListSubject, SettingSubject
from archcap.lint.fix import Fix, Put, Remove
from archcap.load.strict_yaml import DataPath
from archcap.model.releases import Interval


def _pairs(path: DataPath, intervals: Sequence[Interval]) -> Iterator[Flaw]:
    said = [interval.model_dump(exclude={"added", "removed"}) for interval in intervals]
    for index, interval in enumerate(intervals):
        for other, later in enumerate(intervals):
            if interval.removed is not None and interval.removed == later.added and said[index] == said[other]:
                said_too = f"says the same as the interval that ends with {interval.removed}"
                yield Flaw((*path, other), said_too, fixes=_merged(path, index, other, later))


def _merged(path: DataPath, index: int, other: int, later: Interval) -> tuple[Fix, ...]:
    """Return what lets the earlier interval end where the later one does, and takes the later one away."""
    end = (*path, index, "removed")
    longer = Put(end, later.removed) if later.removed is not None else Remove(end)
    return (longer, Remove((*path, other)))


def _find_support(subject: ArchitectureSubject) -> Iterator[Flaw]:
    yield from _pairs(("releases",), subject.record.releases)
    for capability, entries in subject.record.support.items():
        yield from _pairs(("support", capability), entries)
    taken: set[str] = set()
    for index, accepted in enumerate(subject.record.accepted):
        key = f"{accepted.capability} {accepted.releases}"
        if key in taken:
            place = ("accepted", index)
            said = f"{accepted.capability} is accepted twice"
            yield Flaw(place, said, hint="keep one entry", fixes=(Remove(place),))
        taken.add(key)


def _find_list(subject: ListSubject) -> Iterator[Flaw]:
    for name, stays in subject.record.names.items():
        yield from _pairs(("names", name), stays)


def _find_setting(subject: SettingSubject) -> Iterator[Flaw]:
    yield from _pairs(("spans",), subject.record.spans)


_TIP = "merge the two intervals"

SUPPORT = Check(id="mergeable", severity="warning", tip=_TIP, find=_find_support)
LISTS = Check(id="mergeable", severity="warning", tip=_TIP, find=_find_list)
SETTINGS = Check(id="mergeable", severity="warning", tip=_TIP, find=_find_setting)
