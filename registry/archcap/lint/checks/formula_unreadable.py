"""What configuration classes work out is written in formulas that the resolver knows."""

from __future__ import annotations

from collections.abc import Iterator

from archcap.lint.check import Check, EngineContext, Flaw, Placed
from archcap.resolver.formulas import formula


def _find(context: EngineContext) -> Iterator[Placed]:
    for part in context.parts.config_classes:
        for kind, spans in part.record.config_classes.items():
            for index, one in enumerate(spans):
                for place, texts in (("derived", one.derived), ("nulls", one.nulls), ("fixed", one.fixed)):
                    for name, text in texts.items():
                        if not _readable(text):
                            path = ("config_classes", kind, index, place, name)
                            yield Placed(part.document, Flaw(path, f"{text!r} is no formula"))


def _readable(text: str) -> bool:
    try:
        formula(text)
    except ValueError:
        return False
    return True


CHECK = Check(
    id="formula-unreadable",
    severity="error",
    tip="name(field, =literal, …), with a name of archcap.resolver.formulas",
    find=_find,
)
