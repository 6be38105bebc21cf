"""Steps and statements as they are written; `archcap.rules` gives them meaning."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from archcap.model.base import Json, Name, Record, Text
from archcap.model.vocabulary import Stage

Source = Text | dict[str, str]
"""`file:function` below the engine's source root; by release (the first that has it) where it moved."""

Condition = bool | str

StatementId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_{][A-Za-z0-9_.:@/+{}-]*$", max_length=200)]
"""Like an `Id`; below `each` it may hold `{name}` places."""


class Statement(Record):
    """One statement: a guard and its effects, in the order of the language reference (`docs/rules.md`)."""

    id: StatementId | None = None
    when: Condition | None = None
    releases: str | None = None
    stage: Stage | None = None
    source: Source | None = None
    evidence: Literal["source", "verified", "report"] | None = None
    note: Text | None = None

    each: dict[Name, tuple[str | int, ...]] | None = None
    let: dict[Name, Json] | None = None
    require: Condition | None = None
    refuse: Text | None = None
    because: Text | None = None
    unsafe: Text | None = None
    silent: Text | None = None
    warn: Text | None = None
    info: Text | None = None
    set: dict[str, Json] | None = None
    default: dict[str, Json] | None = None
    var: dict[str, Json] | None = None
    fact: dict[str, Json] | None = None
    env: dict[str, Json] | None = None
    alias: bool = False
    logged: bool = True
    call: Name | None = None
    do: tuple[Statement, ...] | None = None
    first: tuple[Statement, ...] | None = None
    otherwise: tuple[Statement, ...] | None = Field(default=None, alias="else")
    returns: Literal[True] | None = Field(default=None, alias="return")
    stop: Literal["pipeline", "stage"] | None = None


class Step(Record):
    """A named list of statements, after the engine's own function of that purpose."""

    title: Text | None = None
    """Words for people, as in "decide the mamba cache strategy"."""
    stage: Stage = Stage.RESOLVE
    source: Source | None = None
    releases: str | None = None
    isolation: Literal["entry"] | None = None
    note: Text | None = None
    do: tuple[Statement, ...]


class Case(Record):
    """One row of a `cases:` table."""

    when: Condition | None = None
    value: Json = None
    otherwise: Json = Field(default=None, alias="else")


class Define(Record):
    """A named predicate, table or small function shared by steps."""

    params: tuple[Name, ...] = ()
    reads: Literal["live"] | None = None
    expr: str | None = None
    cases: tuple[Case, ...] | None = None
    releases: str | None = None
    note: Text | None = None


class RulesFile(Record):
    """One file of `rules/`."""

    define: dict[Name, str | Define | tuple[Define, ...]] = {}
    steps: dict[Name, Step] = {}


class PipelineEntry(Record):
    """A step's place in the order of a release."""

    step: Name
    releases: str | None = None
    note: Text | None = None


class PipelineFile(Record):
    """`pipeline.yaml`: the steps of every release in order; order is semantics."""

    pipeline: tuple[PipelineEntry, ...]
