"""A reason stands beside what it is the reason of."""

from __future__ import annotations

from collections.abc import Iterator

from archcap.lint.check import Check, Flaw, StatementSubject


def _find(subject: StatementSubject) -> Iterator[Flaw]:
    statement = subject.record
    if statement.because is not None and statement.require is None and statement.refuse is None:
        yield Flaw(("because",), "a reason without require or refuse")


CHECK = Check(id="lonely-because", severity="warning", tip="remove it, or write it as a note", find=_find)
