"""What a check is: a scope, a tip, and a function from one subject to what is wrong with it. Knows no check."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Generic, Literal, NamedTuple, TypeAlias, TypeVar

from archcap.lint.fix import Fix
from archcap.load.parts import EngineNames, EngineParts, Releases
from archcap.load.strict_yaml import DataPath, Document
from archcap.model.architectures import Architecture, NameList
from archcap.model.base import Json
from archcap.model.engine import Setting
from archcap.model.registry import Registry
from archcap.model.releases import Interval
from archcap.model.rules import Statement, Step

Severity = Literal["error", "warning"]
Scanned: TypeAlias = Mapping[str, Mapping[str, Mapping[str, Sequence[Interval]]]]
"""What the scanner found: engine -> architecture -> capability -> intervals."""


class Flaw(NamedTuple):
    """One thing a check found.

    Attributes:
        path: below the subject's own path.
        message: what is wrong.
        suggestion: the nearest valid name.
        hint: what to do, over the check's tip.
        fixes: what mends it where that needs no judgment; their paths are below the subject's own path, too.
    """

    path: DataPath
    message: str
    suggestion: str | None = None
    hint: str | None = None
    fixes: tuple[Fix, ...] = ()


@dataclass(frozen=True)
class EngineContext:
    """One engine, for checks that look beyond their subject."""

    parts: EngineParts
    registry: Registry | None = None
    """The whole registry; None when it does not load."""
    scanned: Mapping[str, Mapping[str, Sequence[Interval]]] = field(default_factory=dict)

    @cached_property
    def releases(self) -> Releases | None:
        """The engine's releases."""
        return EngineNames(self.parts).releases


@dataclass(frozen=True, slots=True)
class FileSubject:
    """One file as it is written."""

    document: Document
    kind: str
    value: Json


@dataclass(frozen=True, slots=True)
class ArchitectureSubject:
    """One architecture."""

    context: EngineContext
    name: str
    record: Architecture


@dataclass(frozen=True, slots=True)
class ListSubject:
    """One list."""

    context: EngineContext
    name: str
    record: NameList


@dataclass(frozen=True, slots=True)
class SettingSubject:
    """One setting."""

    context: EngineContext
    name: str
    record: Setting


@dataclass(frozen=True, slots=True)
class StepSubject:
    """One step."""

    context: EngineContext
    name: str
    record: Step


@dataclass(frozen=True, slots=True)
class StatementSubject:
    """One statement, with the statements it stands in, outermost first."""

    context: EngineContext
    step: Step
    record: Statement
    around: tuple[Statement, ...]


class Placed(NamedTuple):
    """A flaw of an engine, with the document it stands in; its path is the whole one."""

    document: Document
    flaw: Flaw


S = TypeVar("S")
F = TypeVar("F", Flaw, Placed)


@dataclass(frozen=True, slots=True)
class Check(Generic[S, F]):
    """One check.

    Attributes:
        id: stable name, as problems give it.
        severity: of everything it finds.
        tip: what to do about it, unless the flaw knows better.
        find: yields what is wrong with one subject.
    """

    id: str
    severity: Severity
    tip: str
    find: Callable[[S], Iterator[F]]
