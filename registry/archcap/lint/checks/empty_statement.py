"""A statement does something: guards alone have no effect."""

from __future__ import annotations

from collections.abc import Iterator

from archcap.lint.check import Check, Flaw, StatementSubject

EFFECTS = (
    "let", "require", "refuse", "unsafe", "silent", "warn", "info", "set", "default", "var", "fact", "env", "call",
    "do", "first", "otherwise", "returns", "stop",
)  # fmt: skip


def _find(subject: StatementSubject) -> Iterator[Flaw]:
    if all(getattr(subject.record, effect) is None for effect in EFFECTS):
        yield Flaw((), "the statement has no effect")


CHECK = Check(
    id="empty-statement", severity="error", tip="give it one, or write do: [] where that is meant", find=_find
)
