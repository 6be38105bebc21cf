"""A fact that a person wrote and the scanner finds as well needs no person any more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from archcap.lint.check import ArchitectureSubject, Check, Flaw
from archcap.lint.fix import Remove
from archcap.model.releases import Interval


def _find(subject: ArchitectureSubject) -> Iterator[Flaw]:
    scanned = subject.context.scanned.get(subject.name, {})
    for capability, entries in subject.record.support.items():
        found = _bounds(scanned.get(capability, ()))
        plain = [entry for entry in entries if entry.state == "yes" and entry.value is True and entry.platform is None]
        if not found or len(plain) < len(entries) or _bounds(entries) != found:
            continue
        for index, entry in enumerate(entries):
            if entry.source is not None and entry.note is None:
                path = ("support", capability, index, "source")
                yield Flaw(path, "the scanner finds the same", fixes=(Remove(path),))


def _bounds(intervals: Sequence[Interval]) -> set[tuple[str | None, str | None]]:
    return {(interval.added, interval.removed) for interval in intervals}


CHECK = Check(
    id="unneeded-source", severity="warning", tip="remove source: and leave the fact to the scanner", find=_find
)
