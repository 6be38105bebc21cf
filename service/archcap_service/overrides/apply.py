"""Lays overrides over a snapshot: replaced parts in, a new snapshot out; later overrides win over earlier ones.

An override that no longer fits (its architecture left the registry) is left out and reported, never guessed at.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from archcap.model.architectures import Architecture, Family, ListEntry, ListsFile
from archcap.model.base import Record
from archcap.model.support import Support
from archcap.snapshot import ReleaseView, Snapshot
from archcap_service.overrides.check import OverrideProblem, architectures_of, check_override, newest_view
from archcap_service.overrides.records import Override, OverrideRequest
from archcap_service.overrides.spans import Span, bounds, cut, in_order, read_releases, span_of

R = TypeVar("R", bound=Record)


@dataclass(frozen=True, slots=True)
class Applied:
    """A snapshot with overrides laid over it.

    Attributes:
        snapshot: the registry as it then stands.
        unfit: overrides that were left out, each with what is wrong with it.
    """

    snapshot: Snapshot
    unfit: tuple[tuple[Override, tuple[OverrideProblem, ...]], ...] = ()


def apply_overrides(base: Snapshot, overrides: Iterable[Override], names: Snapshot | None = None) -> Applied:
    """Return *base* with *overrides* laid over it, in their order.

    Args:
        base: what they are laid over; other overrides may have been already.
        overrides: the statements.
        names: the registry without any override, which knows the same names and has been read already.
    """
    edits = _Edits(base, names or base)
    unfit: list[tuple[Override, tuple[OverrideProblem, ...]]] = []
    for override in overrides:
        problems = check_override(override.statement, names or base)
        if problems:
            unfit.append((override, tuple(problems)))
        else:
            edits.make(override)
    return Applied(edits.snapshot(), tuple(unfit))


class _Edits:
    """Parts that overrides have changed so far; each is put into the snapshot once, at the end."""

    def __init__(self, base: Snapshot, names: Snapshot) -> None:
        self._base = base
        self._names = names
        self._families: dict[str, Family] = {}
        self._lists: dict[str, ListsFile] = {}

    def make(self, override: Override) -> None:
        statement = override.statement
        view = newest_view(self._names, statement.engine)
        span = span_of(read_releases(statement.releases, view.timeline.names), view.timeline)
        if statement.list is not None:
            self._list(override, view, span)
            return
        by_family: dict[str, list[str]] = {}
        for name in architectures_of(statement, view):
            by_family.setdefault(view.family_of(name), []).append(name)
        for family, names in by_family.items():
            self._family(override, family, names, view, span)

    def snapshot(self) -> Snapshot:
        made = self._base
        for path, record in (*self._families.items(), *self._lists.items()):
            made = made.with_part_replaced(path, record)
        return made

    def _family(self, override: Override, family: str, names: list[str], view: ReleaseView, span: Span) -> None:
        path = f"engines/{override.statement.engine}/families/{family}"
        record = self._families.get(path) or Family.model_validate_json(self._base.part(path))
        changed = {name: _supported(record.architectures[name], override, view, span) for name in names}
        self._families[path] = _with(record, architectures={**record.architectures, **changed})

    def _list(self, override: Override, view: ReleaseView, span: Span) -> None:
        path = f"engines/{override.statement.engine}/lists"
        record = self._lists.get(path) or ListsFile.model_validate_json(self._base.part(path))
        list_id, member = str(override.statement.list), override.statement.member
        found = record.lists[list_id]
        stays = cut(found.names.get(member, ()), span, view.timeline)
        if override.statement.value:
            stay = ListEntry(**bounds(span, view.timeline), source=_source(override), note=override.statement.reason)
            stays = in_order((*stays, stay), view.timeline)
        names = {name: kept for name, kept in {**found.names, member: stays}.items() if kept}
        self._lists[path] = _with(record, lists={**record.lists, list_id: _with(found, names=names)})


def _supported(architecture: Architecture, override: Override, view: ReleaseView, span: Span) -> Architecture:
    """Return *architecture* with the stated support in every release of *span* that has it."""
    statement = override.statement
    capability = str(statement.capability)
    kept = cut(architecture.support.get(capability, ()), span, view.timeline)
    held = (span_of(one, view.timeline).meet(span) for one in architecture.releases)
    stated = [_support(statement, override, part, architecture, view) for part in held if part is not None]
    entries = in_order((*kept, *stated), view.timeline)
    support = dict(sorted({**architecture.support, capability: entries}.items()))
    return _with(architecture, support={name: one for name, one in support.items() if one})


def _support(
    statement: OverrideRequest, override: Override, part: Span, architecture: Architecture, view: ReleaseView
) -> Support:
    ends = bounds(part, view.timeline)
    last = next((one for one in architecture.releases if span_of(one, view.timeline).end >= part.end), None)
    if ends["removed"] is None and last is not None:
        ends["removed"] = last.removed
    added, removed = ends["added"], ends["removed"]
    return Support(added=added, removed=removed, value=statement.value, source=_source(override), note=statement.reason)


def _source(override: Override) -> str:
    return f"override {override.id}"


def _with(record: R, **changes: object) -> R:
    return record.model_copy(update=changes)
