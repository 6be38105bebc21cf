"""Two intervals that meet and say the same are one interval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from archcap.lint.check import ArchitectureSubject, Check, Flaw, ListSubject, SettingSubject
from archcap.load.strict_yaml import DataPath
from archcap.model.releases import Interval


def _pairs(path: DataPath, intervals: Sequence[Interval]) -> Iterator[Flaw]:
    said = [interval.model_dump(exclude={"added", "removed"}) for interval in intervals]
    for index, interval in enumerate(intervals):
        for other, later in enumerate(intervals):
            if interval.removed is not None and interval.removed == later.added and said[index] == said[other]:
                yield Flaw((*path, other), f"says the same as the interval that ends with {interval.removed}")


def _find_support(subject: ArchitectureSubject) -> Iterator[Flaw]:
    yield from _pairs(("releases",), subject.record.releases)
    for capability, entries in subject.record.support.items():
        yield from _pairs(("support", capability), entries)
    taken: set[str] = set()
    for index, accepted in enumerate(subject.record.accepted):
        key = f"{accepted.capability} {accepted.releases}"
        if key in taken:
            yield Flaw(("accepted", index), f"{accepted.capability} is accepted twice", hint="keep one entry")
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
