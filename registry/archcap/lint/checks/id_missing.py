"""What an answer may name has an id: requirements, refusals and findings."""

from __future__ import annotations

from collections.abc import Iterator

from archcap.lint.check import Check, Flaw, StatementSubject

_NAMED = ("require", "refuse", "unsafe", "silent", "warn", "info")


def _find(subject: StatementSubject) -> Iterator[Flaw]:
    statement = subject.record
    given = next((effect for effect in _NAMED if getattr(statement, effect) is not None), None)
    if given is None:
        return
    if statement.id is None:
        yield Flaw((), f"{given} without an id")
        return
    for each in (*(around.each for around in subject.around), statement.each):
        for name, values in (each or {}).items():
            if len(values) > 1 and f"{{{name}}}" not in statement.id:
                yield Flaw(("id",), f"each {name} gives the same id", hint=f"put {{{name}}} into it")


CHECK = Check(
    id="id-missing", severity="error", tip="write id: and a short name, as in cache.flat-pages-one-token", find=_find
)
