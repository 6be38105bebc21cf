"""The vocabulary: every capability once, with what its absence causes and how engine source shows it."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import model_validator

from archcap.model.base import Id, Json, Name, Record, Text


class Stage(StrEnum):
    """When an engine acts; the order is the engine's own."""

    PARSE = "parse"
    RESOLVE = "resolve"
    LOAD = "load"
    INIT = "init"
    REQUEST = "request"


class Group(Record):
    """A heading capabilities stand under."""

    title: Text
    meaning: Text


class Absence(Record):
    """What an engine does with an architecture that lacks the capability."""

    stage: Stage
    effect: Literal["error", "unsafe", "silent", "degrade", "none"]
    note: Text | None = None


class BranchProbe(Record):
    """A branch in whose guard the engine names the architecture, told by what the branch does."""

    calls: Name | None = None
    """It calls this function or method."""
    unless: dict[Name, Json] = {}
    """Keyword arguments with which the call denies the capability instead (any of them suffices)."""
    assigns: Name | None = None
    """It sets an attribute, or passes a keyword argument, of this name."""
    value: Id | None = None
    """What is assigned ends in this dotted name, as in `AttentionArch.MLA`; None is any value. A condition over the
    configuration that is assigned makes the support conditional."""
    fallback: bool = False
    """Only in releases that have none of the collections and functions of `set` and `named_in`."""

    @model_validator(mode="after")
    def _one_mark(self) -> BranchProbe:
        if (self.calls is None) == (self.assigns is None):
            raise ValueError("a branch is told by `calls` or by `assigns`, one of them")
        return self


class CallProbe(Record):
    """A call in the code of the class itself (methods it inherits from the engine's own classes included)."""

    calls: Name
    passes: tuple[Name, ...] = ()
    """Keyword arguments the call must give."""


class RegisteredProbe(Record):
    """A helper class of the engine that names the architectures it serves in one of its attributes."""

    base: Id
    """Dotted name of the class the helpers derive from."""
    attribute: Name
    """Its attribute that lists classes or names of classes."""


class Probe(Record):
    """How the scanner recognises a capability in engine source; the given keys are alternatives (any suffices).

    A dotted reference is a module path below the engine's package followed by a name, as in
    `srt.arg_groups.overrides._MAMBA_RADIX_CACHE_ARCHS`. Where a key takes several values any of them suffices; a name
    that a release does not have says nothing about that release.
    """

    method: Name | None = None
    attribute: Name | None = None
    parameter: str | None = None
    """`method.parameter`: the method's signature takes the parameter."""
    base: Id | None = None
    set: Id | tuple[Id, ...] | None = None
    """Membership in the named collection (module path and name); several where it moved between releases."""
    named_in: Id | tuple[Id, ...] | None = None
    """The named function (module path, class if any, and name) compares the architecture with this name."""
    branch: BranchProbe | tuple[BranchProbe, ...] | None = None
    """The architecture is named in the guard of a branch (one of these) that makes this call."""
    call: CallProbe | tuple[CallProbe, ...] | None = None
    """The class makes this call (or one of these), whatever the value of the arguments."""
    reads: str | None = None
    """`method.name`: the method reads the name, as attribute, variable or string."""
    registered: RegisteredProbe | None = None
    """Some helper class of the engine says that it serves the architecture."""
    list: Id | None = None
    """Membership in a list of `lists.yaml`, named or anonymous."""
    or_spec: Name | None = None
    """Or: the architecture's registered spec object sets this field."""
    decorator: Id | None = None
    predicate: Id | None = None
    """A function over the configuration decides; support becomes conditional."""
    asks: Literal["entry", "body"] = "entry"
    """Which class is asked: the entry class or the decoder body it holds."""
    note: Text | None = None


class Capability(Record):
    """Something an engine release can or cannot do with an architecture."""

    title: Text
    group: Name
    type: Literal["boolean", "enum", "integer", "set", "string"] = "boolean"
    values: tuple[str, ...] = ()
    meaning: Text
    absence: Absence
    probes: dict[Name, Probe] = {}
    source: Text | None = None


class Vocabulary(Record):
    """`capabilities.yaml`."""

    groups: dict[Name, Group]
    capabilities: dict[Name, Capability]


__all__ = ["Absence", "Capability", "Group", "Json", "Probe", "Stage", "Vocabulary"]
