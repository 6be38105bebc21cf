"""Names and records of the registry by kind, for `list` and `show`. Knows no layout."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from archcap.errors import RequestError
from archcap.model.base import Record
from archcap.model.releases import parse_range, version
from archcap.snapshot import ReleaseView, Snapshot
from archcap.suggest import nearest_names

Rows = list[tuple[str, str]]
"""Names with a few words on each, sorted by name unless order means something."""


@dataclass(frozen=True, slots=True)
class Filter:
    """Which architectures are meant.

    Attributes:
        having: capabilities they must have.
        lacking: capabilities they must not have.
        family: the family they belong to.
        conditional: whether support that depends on the configuration counts as having.
    """

    having: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()
    family: str | None = None
    conditional: bool = False

    @property
    def empty(self) -> bool:
        """Whether everything passes."""
        return not (self.having or self.lacking or self.family)


def rows_of(kind: str, view: ReleaseView, snapshot: Snapshot, wanted: Filter) -> Rows:
    """Return the names of one kind.

    Raises:
        RequestError: a capability or family of the filter is unknown, or the kind takes no filter.
    """
    if not wanted.empty and kind != "architectures":
        raise RequestError("usage", f"{kind} cannot be filtered", "only architectures take --with, --without, --family")
    if kind == "architectures":
        return _architectures(view, snapshot, wanted)
    return _LISTED[kind](view, snapshot)


def record_of(kind: str, name: str, view: ReleaseView, snapshot: Snapshot) -> Record:
    """Return one thing's record.

    Raises:
        RequestError: `unknown-…`, with the nearest names.
    """
    return known(kind, name, _RECORDS[kind](view, snapshot))


def known(kind: str, name: str, all_of_kind: Mapping[str, Record]) -> Record:
    """Return the one called *name*.

    Raises:
        RequestError: `unknown-…`, with the nearest names.
    """
    found = all_of_kind.get(name)
    if found is None:
        near = nearest_names(name, all_of_kind) if kind != "release" else []  # numbers alike are not near
        hint = f"did you mean {', '.join(near)}?" if near else f"{_extent(kind, all_of_kind)} are known"
        raise RequestError(f"unknown-{kind}", f"unknown {kind} {name!r}", hint)
    return found


def _extent(kind: str, names: Mapping[str, Record]) -> str:
    ordered = sorted(names, key=version) if kind == "release" else []
    return f"{ordered[0]} to {ordered[-1]}" if ordered else str(len(names))


def _architectures(view: ReleaseView, snapshot: Snapshot, wanted: Filter) -> Rows:
    for capability in (*wanted.having, *wanted.lacking):
        known("capability", capability, view.capabilities)
    if wanted.family is not None:
        known("family", wanted.family, snapshot.registry_of(view.engine.engine).families)
    return [(name, view.family_of(name)) for name in sorted(view.architectures) if _passes(name, view, wanted)]


def _passes(name: str, view: ReleaseView, wanted: Filter) -> bool:
    if wanted.family is not None and view.family_of(name) != wanted.family:
        return False
    always, conditional = view.capabilities_of(name)
    has = always | {capability for capability, _ in conditional} if wanted.conditional else always
    return has.issuperset(wanted.having) and has.isdisjoint(wanted.lacking)


def _settings(view: ReleaseView, snapshot: Snapshot) -> Rows:
    return [(name, view.settings[name].title or view.spans[name].type) for name in sorted(view.spans)]


def _families(view: ReleaseView, snapshot: Snapshot) -> Rows:
    families = snapshot.registry_of(view.engine.engine).families
    return [(name, families[name].title or _count(families[name].architectures)) for name in sorted(families)]


def _releases(view: ReleaseView, snapshot: Snapshot) -> Rows:
    engine = view.engine
    return [(name, engine.releases[name].date or "") for name in snapshot.releases(engine.engine)]


def _steps(view: ReleaseView, snapshot: Snapshot) -> Rows:
    steps = snapshot.registry_of(view.engine.engine).steps
    return [(name, steps[name].title or steps[name].stage) for name in steps]


def _known_issues(view: ReleaseView, snapshot: Snapshot) -> Rows:
    """Return the issues that hold in the release, each with what it is about."""
    issues = snapshot.registry_of(view.engine.engine).known_issues
    held = {name: one for name, one in issues.items() if parse_range(one.releases).holds(view.release)}
    return [(name, f"{held[name].severity}  {held[name].source}") for name in sorted(held)]


def _lists(view: ReleaseView, snapshot: Snapshot) -> Rows:
    counted = [(name, _count(names, "name"), view.name_lists[name].title or "") for name, names in view.lists.items()]
    return sorted((name, f"{count}  {title}".rstrip()) for name, count, title in counted)


def _count(things: Iterable[object], word: str = "architecture") -> str:
    number = len(list(things))
    return f"{number} {word}" + ("" if number == 1 else "s")


_LISTED: dict[str, Callable[[ReleaseView, Snapshot], Rows]] = {
    "capabilities": lambda view, _: [(name, view.capabilities[name].title) for name in sorted(view.capabilities)],
    "settings": _settings,
    "releases": _releases,
    "lists": _lists,
    "steps": _steps,
    "known-issues": _known_issues,
    "families": _families,
    "hardware": lambda _, snapshot: [(name, snapshot.hardware[name].title) for name in sorted(snapshot.hardware)],
    "checkpoints": lambda _, snapshot: [
        (name, snapshot.checkpoints[name].architecture) for name in sorted(snapshot.checkpoints)
    ],
    "engines": lambda _, snapshot: [(name, snapshot.engine(name).title) for name in snapshot.engine_names],
}
KINDS = ("architectures", *_LISTED)

_RECORDS: dict[str, Callable[[ReleaseView, Snapshot], Mapping[str, Record]]] = {
    "architecture": lambda view, _: view.all_architectures,
    "capability": lambda view, _: view.capabilities,
    "setting": lambda view, _: view.settings,
    "step": lambda view, snapshot: snapshot.registry_of(view.engine.engine).steps,
    "known-issue": lambda view, snapshot: snapshot.registry_of(view.engine.engine).known_issues,
    "list": lambda view, _: view.name_lists,
    "release": lambda view, _: view.engine.releases,
    "family": lambda view, snapshot: snapshot.registry_of(view.engine.engine).families,
    "hardware": lambda _, snapshot: snapshot.hardware,
    "checkpoint": lambda _, snapshot: snapshot.checkpoints,
}
SHOWN = tuple(_RECORDS)
