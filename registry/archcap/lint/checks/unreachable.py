"""Statements behind one that always leaves, and branches behind one that always holds."""

from __future__ import annotations

from collections.abc import Iterator

from archcap.lint.check import BlockSubject, Check, Flaw
from archcap.model.rules import Statement


def _find(subject: BlockSubject) -> Iterator[Flaw]:
    for index, statement in enumerate(subject.statements[:-1]):
        if subject.branches and _always(statement):
            yield Flaw((index + 1,), "no branch behind this one is ever tried: the one before always holds")
            return
        if not subject.branches and (left := _leaves(statement)) is not None:
            yield Flaw((index + 1,), f"is never reached: the statement before it always {left}")
            return


def _always(statement: Statement) -> bool:
    return statement.when in (None, True) and statement.releases is None


def _leaves(statement: Statement) -> str | None:
    """Return how *statement* leaves whatever happens, None when it may go on."""
    if not _always(statement) or statement.each is not None:
        return None
    if statement.refuse is not None:
        return "refuses"
    if statement.returns:
        return "returns"
    if statement.stop is not None:
        return "stops"
    inner = statement.do or ()
    return next((left for one in inner if (left := _leaves(one)) is not None), None)


CHECK = Check(id="unreachable", severity="error", tip="remove it, or guard the statement before it", find=_find)
