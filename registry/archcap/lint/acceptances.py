"""Acceptances that accept nothing: the difference between siblings is gone, or was never there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from archcap.errors import Problem
from archcap.load import Loaded
from archcap.load.parts import EngineParts
from archcap.load.records import place
from archcap.load.words import Wording
from archcap.model.releases import version
from archcap.siblings.suspects import idle

CHECK_ID = "acceptance-idle"
TIP = "remove it, or give the releases it is about"


def acceptance_problems(loaded: Loaded, engine: EngineParts) -> Iterator[Problem]:
    """Yield the acceptances of one engine that no suspicion needs; nothing when the registry does not load.

    Args:
        loaded: the registry.
        engine: the engine's files.
    """
    if loaded.registry is None:
        return
    registry = loaded.registry.engines[engine.name]
    releases = sorted(registry.engine.releases, key=version)
    for name, index in idle(registry, loaded.registry.vocabulary, releases):
        for family in engine.families:
            architecture = family.record.architectures.get(name)
            if architecture is None:
                continue
            what = architecture.accepted[index].capability
            said = f"{name} is not suspected of lacking {what}"
            wording = Wording(("architectures", name, "accepted", index), said, hint=TIP)
            yield replace(place(family.document, wording), severity="error", check=CHECK_ID)
