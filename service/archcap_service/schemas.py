"""The shapes of answers, for the OpenAPI document and the tests that hold the bytes to it.

Answers themselves are written by `documents` as plain JSON. Knows no snapshot.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from archcap.model.base import Json, JsonObject, Record
from archcap.model.support import SupportValue
from archcap_service.overrides.records import OverrideRequest

Match = Literal["exact", "nearest"]
_NEAREST = "`nearest` when the release asked for is not known: `release` names the one that answers."
State = Literal["yes", "partial", "unvalidated", "conditional"]


class EngineRow(Record):
    """An engine the registry knows."""

    engine: str = Field(examples=["sglang"])
    title: str
    package: str
    releases: int
    oldest: str
    newest: str


class Engines(Record):
    """Every engine."""

    engines: tuple[EngineRow, ...]


class ReleaseRow(Record):
    """A release of an engine."""

    release: str = Field(examples=["0.5.18"])
    date: str | None
    python: str | None
    transformers: str | None
    note: str | None


class Releases(Record):
    """The releases of an engine, oldest first."""

    engine: str
    releases: tuple[ReleaseRow, ...]


class ArchitectureRow(Record):
    """An architecture of a release."""

    architecture: str
    family: str
    role: Literal["target", "draft", "wrapper"]
    capabilities: int = Field(description="How many it has whatever the configuration.")


class Architectures(Record):
    """The architectures of a release, sorted."""

    engine: str
    release: str
    release_match: Match = Field(description=_NEAREST)
    architectures: tuple[ArchitectureRow, ...]


class SupportRow(Record):
    """What an architecture has of a capability in one release."""

    state: State
    value: SupportValue
    when: str | None = Field(description="The condition of conditional support.")
    platform: str | None = Field(description="Where it holds; null is everywhere.")
    added: str | None = Field(description="Since which release; null: since the oldest known one, or earlier.")
    removed: str | None = Field(description="Up to, not including, which release; null: it still is.")
    source: str | None
    note: str | None


class Interval(Record):
    """A half-open range of releases."""

    added: str | None
    removed: str | None


class ArchitectureAnswer(Record):
    """One architecture in one release."""

    engine: str
    release: str
    release_match: Match = Field(description=_NEAREST)
    architecture: str
    family: str
    role: Literal["target", "draft", "wrapper"]
    module: str | None
    wraps: str | None
    body: str | None
    profile: str | None
    note: str | None
    releases: tuple[Interval, ...]
    capabilities: tuple[str, ...] = Field(description="What it has whatever the configuration and platform.")
    conditional: dict[str, str] = Field(description="What it has under a condition, with it.")
    support: dict[str, tuple[SupportRow, ...]]


class Condition(Record):
    """An architecture that has a capability under a condition."""

    architecture: str
    when: str


class CapabilityAnswer(Record):
    """The architectures that have a capability in a release: the engine's frozenset."""

    engine: str
    release: str
    release_match: Match = Field(description=_NEAREST)
    capability: str = Field(examples=["mamba_radix_cache"])
    architectures: tuple[str, ...] = Field(description="Sorted.")
    conditional: tuple[Condition, ...]
    digest: str = Field(description="Over engine, release, capability, architectures and conditional.")


class Facts(Record):
    """What an engine fetches: the facts of one release with their digest."""

    digest: str = Field(description="SHA-256 over `facts` as canonical JSON.")
    facts: JsonObject


class Holding(Record):
    """What an architecture has of a capability from a release on."""

    state: State
    value: SupportValue
    when: str | None
    platform: str | None
    source: str | None
    note: str | None


class Happening(Record):
    """One step of an architecture's history."""

    release: str
    kind: Literal["added", "removed", "gained", "lost", "changed"]
    capability: str | None
    holdings: tuple[Holding, ...]
    or_earlier: bool = Field(description="The release is the oldest known one: it may have been so before.")


class HistoryAnswer(Record):
    """How an architecture came to what it has."""

    engine: str
    architecture: str
    history: tuple[Happening, ...]


class SupportChange(Record):
    """A capability an architecture has in one way before and in another after."""

    architecture: str
    capability: str
    kind: Literal["gained", "lost", "changed"]
    before: tuple[Holding, ...]
    after: tuple[Holding, ...]


class ListChange(Record):
    """Names that came to a list and names that left it."""

    list_id: str
    added: tuple[str, ...]
    removed: tuple[str, ...]


class SettingChange(Record):
    """One thing about a setting that differs."""

    setting: str
    kind: Literal["added", "removed", "default", "choices", "flags", "type", "sentinel"]
    before: Json
    after: Json


class DiffAnswer(Record):
    """What two releases differ in."""

    engine: str
    before: str
    after: str
    before_match: Match
    after_match: Match
    architectures_added: tuple[str, ...]
    architectures_removed: tuple[str, ...]
    support: tuple[SupportChange, ...]
    lists: tuple[ListChange, ...]
    settings: tuple[SettingChange, ...]


class SettingRow(Record):
    """A setting of a release."""

    setting: str = Field(examples=["page_size"])
    title: str | None
    type: str = Field(examples=["int, optional"])
    default: Json
    flags: tuple[str, ...]
    written_by: int = Field(description="How many statements may write it.")
    read_by: int = Field(description="How many statements read it.")


class Settings(Record):
    """The settings of a release, sorted."""

    engine: str
    release: str
    release_match: Match = Field(description=_NEAREST)
    settings: tuple[SettingRow, ...]


class WriteRow(Record):
    """What a statement writes."""

    name: str = Field(description="A setting or a leaf of it; `var.x`, `fact.x` or `env.x`.")
    value: str = Field(description="An expression of the rule language.")


class StatementRow(Record):
    """A statement of a rule: when it holds, what it writes or says, what it reads."""

    rule: str
    step: str
    stage: Literal["parse", "resolve", "load", "init", "request"]
    when: tuple[str, ...] = Field(description="Conditions, all of which must hold; the outermost first.")
    writes: tuple[WriteRow, ...]
    severity: Literal["error", "unsafe", "silent", "warning", "info"] | None
    says: str | None
    calls: str | None = Field(description="The step it runs.")
    leaves: Literal["step", "stage", "pipeline"] | None = Field(description="What it ends.")
    reads: tuple[str, ...]
    source: str | None


class SettingAnswer(Record):
    """One setting: what it is, which statements write it and which read it."""

    engine: str
    release: str
    release_match: Match = Field(description=_NEAREST)
    setting: str
    title: str | None
    type: str
    default: Json
    sentinel: Json
    choices: tuple[str | int, ...]
    open_choices: bool
    flags: tuple[str, ...]
    gives_up: str | None
    releases: tuple[Interval, ...]
    written_by: tuple[StatementRow, ...]
    read_by: tuple[StatementRow, ...]


class StepRow(Record):
    """A step of a release."""

    step: str
    title: str | None
    stage: Literal["parse", "resolve", "load", "init", "request"]
    source: str | None
    statements: int


class Steps(Record):
    """The steps of a release, in the order in which they run."""

    engine: str
    release: str
    release_match: Match = Field(description=_NEAREST)
    steps: tuple[StepRow, ...]


class StepAnswer(Record):
    """One step with its statements."""

    engine: str
    release: str
    release_match: Match = Field(description=_NEAREST)
    step: str
    title: str | None
    stage: Literal["parse", "resolve", "load", "init", "request"]
    source: str | None
    note: str | None
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    statements: tuple[StatementRow, ...]


class Unfit(Record):
    """An override that no longer fits the registry and is left out."""

    override: int
    problems: tuple[str, ...]


class SnapshotAnswer(Record):
    """What answers: the registry with the overrides of one revision."""

    schema_version: int
    digest: str = Field(description="Of the registry with the overrides laid over it.")
    base: str = Field(description="Of the registry without them.")
    registry: Literal["shipped", "imported"]
    revision: int
    overrides: int
    unfit: tuple[Unfit, ...]
    engines: dict[str, str] = Field(description="Digest of each engine's part.")


class StoredOverride(Record):
    """An override as it was written."""

    id: int
    revision: int = Field(description="The revision that brought it.")
    author: str = Field(description="The name of the token that wrote it.")
    created: str
    statement: OverrideRequest


class OverrideRow(StoredOverride):
    """An override that holds."""

    fits: bool = Field(description="False when it no longer fits the registry and is left out.")


class OverridesAnswer(Record):
    """The overrides that hold, in the order they are laid; the ETag is what `If-Match` takes."""

    revision: int
    digest: str = Field(description="Equal states have equal digests.")
    overrides: tuple[OverrideRow, ...]


class RevisionRow(Record):
    """One state of the overrides."""

    id: int
    created: str
    kind: Literal["initial", "override", "delete", "restore", "expire", "import"]
    author: str
    note: str
    parent: int | None
    restored: int | None = Field(description="The revision it repeats.")
    registry: int | None = Field(description="The imported registry below the overrides; null is the shipped one.")
    overrides: tuple[int, ...]
    digest: str


class RevisionsAnswer(Record):
    """Revisions, the newest first."""

    current: int
    revisions: tuple[RevisionRow, ...]
    next: str | None = Field(description="Where older ones are.")


class RevisionAnswer(Record):
    """One revision with the overrides that held in it, and what it changed."""

    revision: RevisionRow
    overrides: tuple[StoredOverride, ...]
    added: tuple[int, ...] = Field(description="Overrides its parent did not have.")
    removed: tuple[StoredOverride, ...] = Field(description="Overrides only its parent had.")


class Written(Record):
    """What a write made; its ETag is what the next `If-Match` takes."""

    revision: RevisionRow
    override: OverrideRow | None = None


class AuditRow(Record):
    """Who did what."""

    id: int
    at: str
    actor: str
    action: str
    target: str
    detail: JsonObject
    request_id: str | None


class AuditAnswer(Record):
    """The audit log, the newest first."""

    entries: tuple[AuditRow, ...]


class Health(Record):
    """The process lives."""

    status: Literal["ok"]


class Ready(Record):
    """Whether this replica answers, and how well."""

    status: Literal["ok", "degraded", "starting", "stopping"]
    database: Literal["ok", "lost", "unseen"]
    since: str | None = Field(description="Since when the database is lost.")
    revision: int | None
    snapshot: str | None


class BatchError(Record):
    """What is wrong with one request of a batch."""

    code: str
    message: str
    hint: str | None
