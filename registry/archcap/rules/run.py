"""What goes into a run of a release's rules and what comes out: the seam between the language and the resolver."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol, TypeAlias

from archcap.model.base import Json, JsonObject
from archcap.model.values import plain_record

if TYPE_CHECKING:
    from archcap.rules.ir import ReleaseIR
    from archcap.rules.judge import Judge
    from archcap.rules.runtime import Context

Value = Json
"""A settled value; unknown ones are never stored in the fast path (reading one raises `NeedsInterpreter`)."""


Function = Callable[..., Json]
"""A pure function an engine registers for its rules."""


class NeedsInterpreter(Exception):
    """The fast path met something unknown; the caller runs the interpreter instead."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value nobody can know yet, with what it needs (`config`, `config.num_attention_heads`, `hardware`, …)."""

    needs: frozenset[str]


NOT_THERE: Final = Unknown(frozenset({"peer"}))


@plain_record
class ConfigView:
    """A checkpoint's configuration at one level.

    `data` None: no configuration was given, every read is unknown and needs `root`.
    `unknown`: keys whose class default is not known; reading one that is absent from `data` is unknown.
    """

    root: str
    data: JsonObject | None
    unknown: frozenset[str] = frozenset()


@plain_record
class PeerRun:
    """What the run of a launch's peer ended with: settings, facts and variables; absent ones are unknown."""

    settings: Mapping[str, Value | Unknown]
    facts: Mapping[str, Value | Unknown]
    vars: Mapping[str, Value | Unknown]

    def value(self, kind: str, name: str) -> Value | Unknown:
        """Return the value of a `setting`, `fact` or `var`."""
        values = self.settings if kind == "setting" else self.facts if kind == "fact" else self.vars
        found = values.get(name, NOT_THERE)
        if not isinstance(found, Unknown):
            return found
        return Unknown(frozenset({f"peer.{name}" if kind == "setting" else f"peer.{kind}.{name}"}))


class Given(Mapping[str, Value]):
    """What a launch gives over the defaults, which all launches of a release share and nobody copies."""

    __slots__ = ("defaults", "own")

    def __init__(self, own: dict[str, Value], defaults: Mapping[str, Value]) -> None:
        self.own, self.defaults = own, defaults

    def __getitem__(self, name: str) -> Value:
        return self.own[name] if name in self.own else self.defaults[name]

    def get(self, name: str, default: Any = None, /) -> Any:
        """Return the value of a setting, *default* where there is none."""
        return self.own[name] if name in self.own else self.defaults.get(name, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self.copy())

    def __len__(self) -> int:
        return len(self.copy())

    def copy(self) -> dict[str, Value]:
        """Return all values in one place."""
        return {**self.defaults, **self.own}


@dataclass(slots=True)
class Inputs:
    """Everything a run reads. Names absent from `hw`, `facts` or `assume` are unknown."""

    raw: dict[str, Value] | Given
    """Every setting of the release: the user's value, else the engine's default."""
    user: frozenset[str]
    hw: Mapping[str, Value]
    assume: Mapping[str, Value]
    env: Mapping[str, Value]
    """Values of the env vocabulary, typed: the user's, else the default."""
    env_set: frozenset[str]
    hf: ConfigView
    text: ConfigView
    draft_hf: ConfigView
    draft_text: ConfigView
    architecture: str | None
    profile: str | None
    capabilities: frozenset[str]
    lists: Mapping[str, frozenset[str]]
    draft_architecture: str | None = None
    draft_capabilities: frozenset[str] = frozenset()
    facts: Mapping[str, Value] = field(default_factory=dict)
    """Facts known before any rule runs (number of GPUs asked for, …)."""
    unknown_capabilities: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Conditional capabilities whose condition is unknown, with what it needs."""
    functions: Mapping[str, Function] = field(default_factory=dict)
    peer: PeerRun | None = None
    """The other server of a linked pair, already resolved."""


class Values(Protocol):
    """Values by name, read one at a time."""

    def get(self, name: str, default: Any, /) -> Any:
        """Return a value, *default* where there is none."""


class Moment(Protocol):
    """The values in force at one point of a run."""

    @property
    def context(self) -> Context | None:
        """What compiled rules read, where they made the run."""

    def values(self, kind: str, /) -> Values:
        """Return those of one kind of name: `setting`, `var`, `fact` or `env`."""


class Kind(IntEnum):
    """What happened, in the order it happened."""

    SET = 1
    VAR = 2
    FACT = 3
    ENV = 4
    FINDING = 5
    RETURN = 6
    REFUSED = 7
    STOP = 8


Event: TypeAlias = tuple[Kind, int, str, Value]
"""One entry of the trace: what happened, at which statement (of `Program.statements`), to which name, the value.

The name is the full dotted setting path, variable, fact or env, of a return `name_of_return`; findings and refusals
carry the values of their text. A plain tuple, because a run makes a hundred and everything that reads a trace goes
through all of them.
"""

KIND: Final = 0
STATEMENT: Final = 1
NAME: Final = 2
VALUE: Final = 3


def name_of_return(statement: int) -> str:
    """Return the name in the trace of a return: its statement, so that it is found as any name is."""
    return str(statement)


@dataclass(slots=True)
class Run:
    """What a run did.

    `settings` holds every setting's last value, or an `Unknown`. `refused` is the index of the statement at which the
    engine stops, with the exception's text in `raised` when its own code would raise. `undetermined` pairs a statement
    with its needs.
    """

    settings: Mapping[str, Value | Unknown]
    vars: dict[str, Value | Unknown]
    facts: dict[str, Value | Unknown]
    env: dict[str, Value | Unknown]
    """Environment the rules set."""
    trace: list[Event]
    refused: int | None = None
    raised: str | None = None
    undetermined: list[tuple[int, frozenset[str]]] = field(default_factory=list)
    assumptions_read: list[str] = field(default_factory=list)
    exact: bool = True
    """False when something unknown was met."""
    ends: list[int] | None = field(default=None, compare=False, repr=False)
    """Where the trace has its findings, as far as that was noted."""
    context: Context | None = field(default=None, compare=False, repr=False)
    """What compiled rules read, where they made the run."""


NameKind = Literal[
    "setting", "var", "fact", "hw", "assume", "env", "config", "has", "list", "profile", "user_set", "peer"
]


OF_DRAFT: Final = "draft:"
"""Stands before the capability or list of a reference that is asked of the draft, not of the target."""


class Reference(NamedTuple):
    """A name an expression reads; `key` is the setting path, variable, config path (`hf:a.b`), capability or list."""

    kind: NameKind
    key: str


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition that must be `wanted` for a statement to be reached; defines and lets are expanded in `reads`."""

    expr: int
    """Index into `Program.expressions`."""
    wanted: bool
    reads: tuple[Reference, ...]


@dataclass(frozen=True, slots=True)
class StatementInfo:
    """What is fixed about a statement in one release."""

    index: int
    id: str
    step: str
    stage: Literal["parse", "resolve", "load", "init", "request"]
    severity: Literal["error", "unsafe", "silent", "warning", "info"] | None
    """Of its finding or refusal; None for plain writes."""
    text: str | None
    """Message template with `{name}` places."""
    source: str | None
    """`file:function` in this release."""
    evidence: Literal["source", "verified", "report"]
    guards: tuple[Guard, ...]
    """Outermost first: enclosing `when`s, earlier branches of `first` negated; the own `require` last."""
    reads: tuple[Reference, ...]
    """What its own values read."""
    writes: tuple[Reference, ...]
    returns_before: tuple[int, ...]
    """Statements earlier in the same step that may return from it, so that this one is not reached."""
    values: tuple[int, ...] = ()
    """Per entry of `writes`: index of its value in `Program.expressions`, -1 for a literal."""
    alias: bool = False
    logged: bool = True
    workaround: str | None = None
    """Of a known issue: what to do about it."""
    reference: str | None = None
    """Of a known issue: the public report."""


@dataclass(frozen=True, slots=True)
class Program:
    """The rules of one release, ready to run.

    Attributes:
        release: the release they are the rules of.
        digest: of the rules they were compiled from.
        statements: by index; order is textual order in the pipeline's steps.
        expressions: source text of every guard, for `evaluate` and for showing.
        writers: setting path, `var.x` or `fact.x` -> statements that may write it. A write to a leaf `a.b` also counts
            as a writer of `a`, and one to `a` as a writer of its leaves.
        parts: structured setting -> its leaves that have writers.
        fast: runs the compiled functions; raises NeedsInterpreter on the first unknown.
        interpret: runs the three-valued interpreter; same result where nothing is unknown.
        judge: what evaluates `expressions`; made when first asked for.
        rules: the rules themselves, for showing; decoded when first asked for.
    """

    release: str
    digest: str
    statements: tuple[StatementInfo, ...]
    expressions: tuple[str, ...]
    writers: Mapping[str, tuple[int, ...]]
    parts: Mapping[str, Sequence[str]]
    fast: Callable[[Inputs], Run]
    interpret: Callable[[Inputs], Run]
    judge: Callable[[], Judge]
    rules: Callable[[], ReleaseIR]

    def run(self, inputs: Inputs) -> Run:
        """Run the compiled rules, or the interpreter where something unknown is read."""
        try:
            return self.fast(inputs)
        except NeedsInterpreter:
            return self.interpret(inputs)
