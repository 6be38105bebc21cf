"""A step names the function of the engine that it is the data of."""

from __future__ import annotations

from collections.abc import Iterator

from archcap.lint.check import Check, Flaw, StepSubject
from archcap.load.parts import statements


def _find(subject: StepSubject) -> Iterator[Flaw]:
    step = subject.record
    if step.source is not None:
        return
    if any(statement.source is None for _, statement in statements((), step.do) if not statement.do):
        yield Flaw((), "a step without source")


CHECK = Check(
    id="source-missing", severity="warning", tip='write source: "file:function", or give each statement one', find=_find
)
