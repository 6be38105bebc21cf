"""What is there in the oldest scanned release may be older: `added` with that release claims that it is not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from archcap.lint.check import ArchitectureSubject, Check, EngineContext, Flaw, ListSubject
from archcap.lint.fix import Put
from archcap.load.strict_yaml import DataPath
from archcap.model.releases import Interval


def _claims(context: EngineContext, path: DataPath, intervals: Sequence[Interval]) -> Iterator[Flaw]:
    oldest = context.releases.names[0] if context.releases is not None else None
    for index, interval in enumerate(intervals):
        if oldest is not None and interval.added == oldest:
            fix = Put((*path, index, "added"), f"<={oldest}")
            yield Flaw((*path, index), f"claims that {oldest} was the first", hint=f'write "<={oldest}"', fixes=(fix,))


def _find_architecture(subject: ArchitectureSubject) -> Iterator[Flaw]:
    yield from _claims(subject.context, ("releases",), subject.record.releases)
    for capability, entries in subject.record.support.items():
        yield from _claims(subject.context, ("support", capability), entries)


def _find_list(subject: ListSubject) -> Iterator[Flaw]:
    for name, stays in subject.record.names.items():
        yield from _claims(subject.context, ("names", name), stays)


_TIP = 'write "<=" and the oldest release'

ARCHITECTURE = Check(id="oldest-bound", severity="warning", tip=_TIP, find=_find_architecture)
LISTS = Check(id="oldest-bound", severity="warning", tip=_TIP, find=_find_list)
