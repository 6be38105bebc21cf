"""Acceptances that accept nothing: the difference between siblings is gone, or was never there."""

from __future__ import annotations

from collections.abc import Iterator

from archcap.lint.check import Check, EngineContext, Flaw, Placed
from archcap.lint.fix import Remove
from archcap.model.releases import version
from archcap.siblings.suspects import idle


def _find(context: EngineContext) -> Iterator[Placed]:
    if context.registry is None:
        return
    registry = context.registry.engines[context.parts.name]
    releases = sorted(registry.engine.releases, key=version)
    for name, index in idle(registry, context.registry.vocabulary, releases):
        for family in context.parts.families:
            architecture = family.record.architectures.get(name)
            if architecture is not None:
                path = ("architectures", name, "accepted", index)
                said = f"{name} is not suspected of lacking {architecture.accepted[index].capability}"
                yield Placed(family.document, Flaw(path, said, fixes=(Remove(path),)))


CHECK = Check(
    id="acceptance-idle", severity="error", tip="remove it, or give the releases it is about", find=_find
)
