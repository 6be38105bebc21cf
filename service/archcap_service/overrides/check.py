"""Checks an override against what a snapshot knows, as strictly as the registry's own files are checked.

Collects every problem, each with the nearest name. Changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from archcap.model.base import Record
from archcap.model.releases import nearest
from archcap.model.support import SupportValue
from archcap.model.vocabulary import Capability
from archcap.snapshot import ReleaseView, Snapshot
from archcap.suggest import nearest_name, one_of
from archcap_service.overrides.records import OverrideRequest
from archcap_service.overrides.spans import Span, read_releases, span_of

_KINDS: dict[str, tuple[type, str]] = {
    "boolean": (bool, "true or false"),
    "integer": (int, "a whole number"),
    "set": (tuple, "a list of text"),
    "string": (str, "text"),
}


class OverrideProblem(Record):
    """One thing that is wrong with an override.

    Attributes:
        field: the key that is wrong, "" when it is several together.
        message: what is wrong.
        suggestion: the nearest valid name.
    """

    field: str
    message: str
    suggestion: str | None = None


def newest_view(snapshot: Snapshot, engine: str) -> ReleaseView:
    """Return the newest release of *engine*: what it knows over all releases is the same in each."""
    return snapshot.release(engine, snapshot.releases(engine)[-1])


def check_override(
    statement: OverrideRequest, snapshot: Snapshot, now: datetime | None = None
) -> list[OverrideProblem]:
    """Return everything that is wrong with *statement*.

    Args:
        statement: what is to be overridden.
        snapshot: what it will be laid over.
        now: the time an expiry must lie after; None does not look at it.
    """
    problems = list(_unknown("engine", "engine", statement.engine, snapshot.engine_names))
    if problems:
        return problems
    view = newest_view(snapshot, statement.engine)
    problems += _names(statement, view)
    problems += _releases(statement, view)
    if not problems:
        problems += _somewhere(statement, view)
    capability = view.capabilities.get(statement.capability or "")
    if capability is not None:
        problems += _value(statement.value, capability)
    if now is not None and statement.expires is not None and statement.expires <= now:
        problems.append(OverrideProblem(field="expires", message="lies in the past"))
    return problems


def _unknown(field: str, what: str, name: str, known: Iterable[str]) -> Iterator[OverrideProblem]:
    names = list(known)
    if name not in names:
        near = nearest_name(name, names)
        yield OverrideProblem(field=field, message=f'unknown {what} "{name}"', suggestion=near)


def _names(statement: OverrideRequest, view: ReleaseView) -> Iterator[OverrideProblem]:
    if statement.capability is not None:
        yield from _unknown("capability", "capability", statement.capability, view.capabilities)
    if statement.architecture is not None:
        yield from _unknown("architecture", "architecture", statement.architecture, view.all_architectures)
    if statement.family is not None:
        families = {view.family_of(name) for name in view.all_architectures}
        yield from _unknown("family", "family", statement.family, families)
    if statement.list is not None:
        yield from _unknown("list", "list", statement.list, view.name_lists)
        yield from _member(statement, view)


def _member(statement: OverrideRequest, view: ReleaseView) -> Iterator[OverrideProblem]:
    """A name that no list and no family knows is a slip of the pen where the list holds architectures."""
    found = view.name_lists.get(str(statement.list))
    if found is None:
        return
    if found.kind != "architecture" and statement.architecture is not None:
        said = f'the list holds names of kind "{found.kind}"; give the name as `name`'
        yield OverrideProblem(field="architecture", message=said)
    if found.kind == "architecture" and statement.name is not None:
        known = {*view.all_architectures, *found.names}
        yield from _unknown("name", "architecture", statement.name, known)


def _releases(statement: OverrideRequest, view: ReleaseView) -> Iterator[OverrideProblem]:
    names = view.timeline.names
    try:
        interval = read_releases(statement.releases, names)
    except ValueError as error:
        yield OverrideProblem(field="releases", message=str(error).split("\n")[-1].strip() or str(error))
        return
    for bound in (interval.added, interval.removed):
        if bound is not None and bound not in names:
            said = f'unknown release "{bound}"'
            yield OverrideProblem(field="releases", message=said, suggestion=nearest(bound, names))


def _somewhere(statement: OverrideRequest, view: ReleaseView) -> Iterator[OverrideProblem]:
    """An override that touches nothing is a mistake."""
    span = span_of(read_releases(statement.releases, view.timeline.names), view.timeline)
    if span.first == span.end:
        yield OverrideProblem(field="releases", message="holds no release of the engine")
        return
    if statement.list is not None:
        return
    if not any(_exists(view, name, span) for name in architectures_of(statement, view)):
        said = f"{statement.architecture or statement.family or 'no architecture'} exists in none of these releases"
        yield OverrideProblem(field="releases", message=said)


def _exists(view: ReleaseView, name: str, span: Span) -> bool:
    return any(span_of(one, view.timeline).meet(span) for one in view.all_architectures[name].releases)


def architectures_of(statement: OverrideRequest, view: ReleaseView) -> list[str]:
    """Return the architectures a statement about a capability is about."""
    if statement.architecture is not None:
        return [statement.architecture]
    return [
        name for name in view.all_architectures if statement.family is None or view.family_of(name) == statement.family
    ]


def _value(value: SupportValue, capability: Capability) -> Iterator[OverrideProblem]:
    if value is False:
        return
    if capability.type == "enum":
        if value not in capability.values:
            near = nearest_name(value, capability.values) if isinstance(value, str) else None
            said = f"must be {one_of(capability.values)}, or false"
            yield OverrideProblem(field="value", message=said, suggestion=near)
        return
    kind, says = _KINDS[capability.type]
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        said = f"must be {says}" + ("" if capability.type == "boolean" else ", or false")
        yield OverrideProblem(field="value", message=said)
