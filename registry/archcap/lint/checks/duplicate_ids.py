"""Ids of statements are unique per engine, so that an answer names one statement."""

from __future__ import annotations

from collections.abc import Iterator

from archcap.lint.check import Check, EngineContext, Flaw, Placed
from archcap.load.parts import statements


def _find(context: EngineContext) -> Iterator[Placed]:
    first: dict[str, str] = {}
    for part in context.parts.rules:
        for name, step in part.record.steps.items():
            for path, statement in statements(("steps", name, "do"), step.do):
                if statement.id is None:
                    continue
                if statement.id in first:
                    said = f'the id "{statement.id}" is taken by step {first[statement.id]}'
                    yield Placed(part.document, Flaw((*path, "id"), said))
                first.setdefault(statement.id, name)


CHECK = Check(id="duplicate-ids", severity="error", tip="give each statement an id of its own", find=_find)
