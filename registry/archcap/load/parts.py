"""The files of a registry as far as they could be read, and the names that other files may mention.

What the checks across files work on. Knows files' records; knows no check.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

from archcap.errors import Problem
from archcap.load.files import Kind, SourceFile
from archcap.load.strict_yaml import DataPath, Document
from archcap.load.words import Wording
from archcap.model.architectures import Family, ListsFile
from archcap.model.base import Record
from archcap.model.checkpoints import CheckpointsFile
from archcap.model.config_classes import ConfigClassesFile
from archcap.model.engine import Engine, Names, SettingsFile
from archcap.model.hardware import HardwareFile
from archcap.model.known_issues import KnownIssuesFile
from archcap.model.releases import Interval, version
from archcap.model.releases import nearest as nearest_release
from archcap.model.rules import PipelineFile, RulesFile, Statement
from archcap.model.siblings import SiblingGuide
from archcap.model.vocabulary import Vocabulary

R = TypeVar("R", bound=Record)


class Found(NamedTuple):
    """Something a check across files found wrong, and the document it stands in."""

    document: Document
    wording: Wording


def found(document: Document, wordings: Iterable[Wording]) -> Iterator[Found]:
    """Yield *wordings* with the document they stand in."""
    return (Found(document, wording) for wording in wordings)


@dataclass(frozen=True, slots=True)
class Part(Generic[R]):
    """One file with its valid entries."""

    file: SourceFile
    document: Document
    record: R


class Releases:
    """The releases of an engine, in order, and intervals as half-open ranges over their positions.

    Attributes:
        names: every release, oldest first.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names: tuple[str, ...] = tuple(sorted(names, key=version))
        self.at: Mapping[str, int] = {name: index for index, name in enumerate(self.names)}

    def unknown(self, release: str | None) -> bool:
        """Return whether *release* is given and no release of the engine."""
        return release is not None and release not in self.at

    def range(self, interval: Interval) -> tuple[int, int] | None:
        """Return the positions [first, end) the interval covers, or None when a bound is unknown."""
        first = 0 if interval.added is None else self.at.get(interval.added)
        end = len(self.names) if interval.removed is None else self.at.get(interval.removed)
        return None if first is None or end is None else (first, end)

    def word(self, path: DataPath, release: str) -> Wording:
        """Return the wording for a release nobody knows."""
        try:
            near = nearest_release(release, self.names)
        except ValueError:
            near = self.names[-1]
        return Wording(path, f'unknown release "{release}"', suggestion=near, hint=None)


@dataclass(slots=True)
class EngineParts:
    """The files of one engine.

    Attributes:
        name: its folder's name.
        documents: every file by kind, unreadable ones included.
    """

    name: str
    documents: dict[Kind, list[Document]] = field(default_factory=dict)
    engine: Part[Engine] | None = None
    settings: list[Part[SettingsFile]] = field(default_factory=list)
    lists: list[Part[ListsFile]] = field(default_factory=list)
    names: list[Part[Names]] = field(default_factory=list)
    families: list[Part[Family]] = field(default_factory=list)
    rules: list[Part[RulesFile]] = field(default_factory=list)
    pipeline: Part[PipelineFile] | None = None
    siblings: Part[SiblingGuide] | None = None
    config_classes: list[Part[ConfigClassesFile]] = field(default_factory=list)
    known_issues: Part[KnownIssuesFile] | None = None

    def keys(self, kind: Kind, section: str) -> frozenset[str] | None:
        """Return the keys of *section* over all files of *kind*, valid or not; None when unreadable or missing."""
        return _keys(self.documents, kind, section)


_NEEDED: frozenset[Kind] = frozenset({"vocabulary", "engine", "settings", "architectures"})


def _keys(documents: Mapping[Kind, Sequence[Document]], kind: Kind, section: str) -> frozenset[str] | None:
    found = documents.get(kind, ())
    return section_keys(found, section) if found or kind not in _NEEDED else None


def section_keys(documents: Sequence[Document], section: str) -> frozenset[str] | None:
    """Return the keys of *section* over *documents*, whether their entries are valid or not.

    Returns:
        None when a document or its section cannot be read: then nobody can say that a name is unknown.
    """
    keys: set[str] = set()
    for document in documents:
        part = document.value.get(section) if isinstance(document.value, dict) else None
        if part is None and isinstance(document.value, dict):
            continue
        if not isinstance(part, dict):
            return None
        keys |= part.keys()
    return frozenset(keys)


class Group(NamedTuple):
    """Intervals that speak of one thing, and where they stand."""

    document: Document
    path: DataPath
    intervals: Sequence[Interval]
    may_be_empty: bool = False
    may_overlap: bool = False


def interval_groups(engine: EngineParts) -> Iterator[Group]:
    """Yield every group of intervals in the files of *engine*."""
    for family in engine.families:
        for name, architecture in family.record.architectures.items():
            path: DataPath = ("architectures", name)
            yield Group(family.document, (*path, "releases"), architecture.releases)
            for capability, entries in architecture.support.items():
                yield Group(family.document, (*path, "support", capability), entries)
    for lists in engine.lists:
        for name, entry in lists.record.lists.items():
            for member, stays in entry.names.items():
                yield Group(lists.document, ("lists", name, "names", member), stays)
    yield from _spans(engine)


def _spans(engine: EngineParts) -> Iterator[Group]:
    for settings in engine.settings:
        for name, setting in settings.record.settings.items():
            yield Group(settings.document, ("settings", name, "spans"), setting.spans)
    for declared in engine.names:
        for name, variable in declared.record.env.items():
            yield Group(declared.document, ("env", name, "spans"), variable.spans, may_be_empty=True)
    for classes in engine.config_classes:
        for name, config_class in classes.record.config_classes.items():
            yield Group(classes.document, ("config_classes", name), config_class, may_overlap=True)
    if engine.engine is not None:
        for name, flags in engine.engine.record.loose_flags.items():
            yield Group(engine.engine.document, ("loose_flags", name), flags)


class EngineNames:
    """The names one engine's files may mention; None where a file that declares them cannot be read."""

    def __init__(self, parts: EngineParts) -> None:
        self._parts = parts

    @cached_property
    def releases(self) -> Releases | None:
        """The engine's releases; None when engine.yaml does not tell."""
        keys = self._parts.keys("engine", "releases")
        try:
            return Releases(keys) if keys else None
        except ValueError:
            return None

    @cached_property
    def settings(self) -> frozenset[str] | None:
        """Names of settings."""
        return self._parts.keys("settings", "settings")

    @cached_property
    def lists(self) -> frozenset[str] | None:
        """Ids of lists."""
        return self._parts.keys("lists", "lists")

    @cached_property
    def steps(self) -> frozenset[str] | None:
        """Names of steps."""
        return self._parts.keys("rules", "steps")

    @cached_property
    def architectures(self) -> frozenset[str] | None:
        """Names of architectures."""
        return self._parts.keys("architectures", "architectures")


@dataclass(slots=True)
class RegistryParts:
    """Every file of a registry.

    Attributes:
        documents: the files outside engines' folders by kind, unreadable ones included.
    """

    documents: dict[Kind, list[Document]] = field(default_factory=dict)
    vocabulary: Part[Vocabulary] | None = None
    hardware: Part[HardwareFile] | None = None
    checkpoints: list[Part[CheckpointsFile]] = field(default_factory=list)
    engines: dict[str, EngineParts] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def keys(self, kind: Kind, section: str) -> frozenset[str] | None:
        """Return the keys of *section* over all files of *kind* outside engines; None when missing or unreadable."""
        return _keys(self.documents, kind, section)


def statements(path: DataPath, block: Iterable[Statement]) -> Iterator[tuple[DataPath, Statement]]:
    """Yield every statement of *block* and below, in textual order, with its path."""
    for index, statement in enumerate(block):
        here = (*path, index)
        yield here, statement
        for key, inner in (("do", statement.do), ("first", statement.first), ("else", statement.otherwise)):
            if inner:
                yield from statements((*here, key), inner)
