"""A fact that the scanner would not state needs a word of explanation: a denial is a person's, and says why."""

from __future__ import annotations

from collections.abc import Iterator

from archcap.lint.check import ArchitectureSubject, Check, Flaw


def _find(subject: ArchitectureSubject) -> Iterator[Flaw]:
    for capability, entries in subject.record.support.items():
        for index, entry in enumerate(entries):
            if entry.value is False and entry.note is None:
                yield Flaw(("support", capability, index), "a denial without a note")


CHECK = Check(id="note-missing", severity="error", tip="write note: and why it does not have it", find=_find)
