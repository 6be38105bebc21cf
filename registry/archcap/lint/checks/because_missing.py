"""A requirement says why it is one; a reason without a requirement says nothing."""

from __future__ import annotations

from collections.abc import Iterator

from archcap.lint.check import Check, Flaw, StatementSubject


def _find(subject: StatementSubject) -> Iterator[Flaw]:
    statement = subject.record
    if statement.require is not None and statement.because is None:
        yield Flaw(("require",), "a requirement without because")
    if statement.because is not None and statement.require is None and statement.refuse is None:
        yield Flaw(("because",), "a reason without require or refuse", hint="remove it or add what it explains")


CHECK = Check(
    id="because-missing",
    severity="error",
    tip="write because: and what an operator should understand, in one sentence",
    find=_find,
)
