"""A release's rules as the code generator and the interpreter take them: filtered, unrolled, with every name resolved.

Knows no YAML and no registry; `lower.py` makes it, `coding.py` stores it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from archcap.model.base import JsonScalar
from archcap.rules.expr import Expr, Path

WriteKind = Literal["set", "default", "var", "fact", "env", "env_if_unset"]
StageName = Literal["parse", "resolve", "load", "init", "request"]


@dataclass(frozen=True, slots=True)
class Write:
    """One value a statement writes; `sentinel` beside None is what a `default` overwrites."""

    kind: WriteKind
    path: Path
    value: Expr
    sentinel: JsonScalar = None


@dataclass(frozen=True, slots=True)
class Shown:
    """A `{name}` place of a message, with what fills it."""

    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Let:
    """A local name and its value."""

    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Stmt:
    """One statement of one release; `path` leads to it in its file."""

    index: int
    id: str
    path: str
    when: Expr | None = None
    lets: tuple[Let, ...] = ()
    require: Expr | None = None
    refuse: bool = False
    finding: bool = False
    shown: tuple[Shown, ...] = ()
    writes: tuple[Write, ...] = ()
    call: str | None = None
    body: tuple[Stmt, ...] | None = None
    first: tuple[Stmt, ...] | None = None
    returns: bool = False
    stop: Literal["pipeline", "stage"] | None = None


@dataclass(frozen=True, slots=True)
class StepIR:
    """One step of one release."""

    name: str
    stage: StageName
    isolated: bool
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a definition; the last has no condition."""

    when: Expr | None
    value: Expr


@dataclass(frozen=True, slots=True)
class DefineIR:
    """A definition of one release."""

    name: str
    params: tuple[str, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class ReleaseIR:
    """All rules of one release.

    Attributes:
        steps: in textual order: the pipeline's, each followed by those it calls first.
        pipeline: step names in order.
        env: environment variable -> default.
        fact_needs: fact -> what must be given for it.
    """

    engine: str
    release: str
    steps: tuple[StepIR, ...]
    pipeline: tuple[str, ...]
    defines: tuple[DefineIR, ...]
    vars: tuple[tuple[str, Expr], ...]
    env: tuple[tuple[str, Expr], ...]
    fact_needs: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Definitions:
    """What the expressions of a release refer to; see `ReleaseIR`."""

    defines: tuple[DefineIR, ...]
    vars: tuple[tuple[str, Expr], ...]
    env: tuple[tuple[str, Expr], ...]
    fact_needs: tuple[tuple[str, tuple[str, ...]], ...]

    @classmethod
    def of(cls, ir: ReleaseIR) -> Definitions:
        """Return those of *ir*."""
        return cls(ir.defines, ir.vars, ir.env, ir.fact_needs)


def statements(body: tuple[Stmt, ...]) -> Iterator[Stmt]:
    """Yield every statement below *body* in textual order."""
    for stmt in body:
        yield stmt
        yield from statements(stmt.body or ())
        yield from statements(stmt.first or ())


def expressions(stmt: Stmt) -> Iterator[Expr]:
    """Yield the expressions of the statement itself, in the order they are read."""
    if stmt.when is not None:
        yield stmt.when
    yield from (let.value for let in stmt.lets)
    if stmt.require is not None:
        yield stmt.require
    yield from (shown.value for shown in stmt.shown)
    yield from (write.value for write in stmt.writes)
