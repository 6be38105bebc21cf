"""What a comparison of siblings goes by besides the facts: an engine's `siblings.yaml`."""

from __future__ import annotations

from typing import Literal

from archcap.model.base import Name, Record, Text

Effect = Literal["error", "unsafe", "silent", "degrade", "none"]


class Pair(Record):
    """Two things that belong together: what has the one and lacks the other is suspect."""

    id: Name
    has: Name
    lacks: Name
    role: Literal["target", "draft"] | None = None
    """Whom it concerns; none: everybody."""
    stage: Literal["parse", "resolve", "load", "init", "request"]
    effect: Effect
    because: Text
    """What the engine does to an architecture that has only the one."""
    source: Text


class SiblingGuide(Record):
    """`registry/engines/<engine>/siblings.yaml`."""

    engine: Name
    traits: tuple[Name, ...] = ()
    """Capabilities that divide architectures into kinds: what only one kind has is no suspicion for the other."""
    shown_by: dict[Name, tuple[Name, ...]] = {}
    """Further capabilities that show a trait: any of them counts as the trait."""
    nested: Name | None = None
    """The capability of architectures whose configuration has a nested level for the language model."""
    only_for: dict[Name, Name] = {}
    """Capabilities, or groups of them, that concern only architectures with a trait: to that trait."""
    only_role: dict[Name, Literal["target", "draft"]] = {}
    """Capabilities that are asked of architectures in one role only: to that role."""
    apart: dict[Name, Name] = {}
    """Capabilities that are compared only among architectures alike in a trait: to that trait."""
    leave_out: tuple[Name, ...] = ()
    """Capabilities in which twins may differ for good reasons that no fact shows."""
    leave_out_lists: tuple[str, ...] = ()
    """Regular expressions over the beginnings of ids of lists that twins are not compared by."""
    trait_lists: tuple[str, ...] = ()
    """Likewise, lists about something that only architectures with a trait have: compared within a kind alone."""
    pairs: tuple[Pair, ...] = ()
    weights: dict[str, float] = {}
    """What later releases taught: for each feature of a suspicion how much it speaks for a forgotten registration."""
