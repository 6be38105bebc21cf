"""Steps that stand in no pipeline and that no step calls."""

from __future__ import annotations

from collections.abc import Iterator

from archcap.lint.check import Check, EngineContext, Flaw, Placed
from archcap.load.parts import statements


def _find(context: EngineContext) -> Iterator[Placed]:
    pipeline = context.parts.pipeline
    if pipeline is None:
        return
    used = {entry.step for entry in pipeline.record.pipeline} | set(_called(context))
    for part in context.parts.rules:
        for name in part.record.steps:
            if name not in used:
                yield Placed(part.document, Flaw(("steps", name), "no pipeline and no step runs this step"))


def _called(context: EngineContext) -> Iterator[str]:
    for part in context.parts.rules:
        for step in part.record.steps.values():
            for _, statement in statements((), step.do):
                if statement.call is not None:
                    yield statement.call


CHECK = Check(
    id="unused-steps", severity="warning", tip="name it in pipeline.yaml, call it, or remove it", find=_find
)
