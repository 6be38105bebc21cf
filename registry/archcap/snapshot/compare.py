"""Releases of an engine against each other: what two differ in, and how an architecture came to what it has.

Pure, over records; returns records. Knows no wording and no snapshot.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

from archcap.errors import RequestError
from archcap.model.architectures import Architecture
from archcap.model.base import Json
from archcap.model.engine import Flag, Setting, SettingSpan
from archcap.model.registry import EngineRegistry
from archcap.model.releases import version
from archcap.model.support import Support, SupportValue
from archcap.suggest import nearest_name

V = TypeVar("V")


class Engines(Protocol):
    """Whatever knows engines: a snapshot."""

    def registry_of(self, engine: str) -> EngineRegistry:
        """Return everything known of *engine*."""


@dataclass(frozen=True, slots=True)
class Holding:
    """What an architecture has of a capability in one release.

    Attributes:
        state: `yes`, `partial`, `unvalidated` or `conditional`.
        value: True, or the value of a capability that has values.
        when: the condition of conditional support.
        platform: where it holds, None for everywhere.
        source: where a person knows it from.
        note: which part, or why.
    """

    state: Literal["yes", "partial", "unvalidated", "conditional"]
    value: SupportValue
    when: str | None = None
    platform: str | None = None
    source: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class SupportChange:
    """A capability that an architecture of both releases has in one way before and in another after."""

    architecture: str
    capability: str
    kind: Literal["gained", "lost", "changed"]
    before: tuple[Holding, ...]
    after: tuple[Holding, ...]


@dataclass(frozen=True, slots=True)
class ListChange:
    """Names that came to a list and names that left it."""

    list_id: str
    added: tuple[str, ...]
    removed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SettingChange:
    """One thing about a setting that differs; `added` and `removed` are about the setting itself."""

    setting: str
    kind: Literal["added", "removed", "default", "choices", "flags", "type", "sentinel"]
    before: Json = None
    after: Json = None


@dataclass(frozen=True, slots=True)
class Diff:
    """What two releases of one engine differ in."""

    engine: str
    before: str
    after: str
    architectures_added: tuple[str, ...]
    architectures_removed: tuple[str, ...]
    support: tuple[SupportChange, ...]
    lists: tuple[ListChange, ...]
    settings: tuple[SettingChange, ...]

    @property
    def empty(self) -> bool:
        """Whether the releases do not differ in anything recorded."""
        return not (
            self.architectures_added or self.architectures_removed or self.support or self.lists or self.settings
        )


@dataclass(frozen=True, slots=True)
class Happening:
    """One step of an architecture's history.

    Attributes:
        release: when.
        kind: what; of the architecture itself when *capability* is None.
        capability: which one it came to have, lost, or has in another way.
        holdings: what it has from then on.
        or_earlier: the release is the oldest known one: it may have been so before.
    """

    release: str
    kind: Literal["added", "removed", "gained", "lost", "changed"]
    capability: str | None = None
    holdings: tuple[Holding, ...] = ()
    or_earlier: bool = False


def diff(registry: Engines, engine: str, before: str, after: str) -> Diff:
    """Return what release *after* differs in from release *before*.

    Raises:
        RequestError: `unknown-engine` or `unknown-release`.
    """
    reg = registry.registry_of(engine)
    for release in (before, after):
        _known("release", release, reg.engine.releases)
    old, new = _existing(reg, before), _existing(reg, after)
    return Diff(
        engine=engine,
        before=before,
        after=after,
        architectures_added=tuple(sorted(new.keys() - old.keys())),
        architectures_removed=tuple(sorted(old.keys() - new.keys())),
        support=tuple(_support_changes(old, new, before, after)),
        lists=tuple(_list_changes(reg, before, after)),
        settings=tuple(_setting_changes(reg.settings, before, after)),
    )


def history(
    registry: Engines, engine: str, architecture: str, capability: str | None = None
) -> tuple[Happening, ...]:
    """Return how *architecture* came to what it has, oldest first; with *capability*, that one alone.

    Raises:
        RequestError: `unknown-engine`, `unknown-architecture`, or `unknown-capability` when it never had it.
    """
    reg = registry.registry_of(engine)
    known = {name: found for family in reg.families.values() for name, found in family.architectures.items()}
    _known("architecture", architecture, known)
    found = known[architecture]
    if capability is not None:
        _known("capability", capability, found.support)
    wanted = sorted(found.support) if capability is None else [capability]
    return tuple(_happenings(found, wanted, sorted(reg.engine.releases, key=version)))


def _happenings(found: Architecture, wanted: Sequence[str], releases: Sequence[str]) -> Iterator[Happening]:
    existed = False
    had: dict[str, tuple[Holding, ...]] = {}
    for index, release in enumerate(releases):
        exists = found.exists(release)
        if exists != existed:
            yield Happening(release, "added" if exists else "removed", or_earlier=index == 0)
        for name in wanted if exists else ():
            now = holdings(found.support[name], release)
            if now != had.get(name, ()):
                yield Happening(release, _kind(had.get(name, ()), now), name, now, or_earlier=index == 0)
            had[name] = now
        existed = exists


def holdings(entries: Iterable[Support], release: str) -> tuple[Holding, ...]:
    """Return the *entries* that hold in *release* and say more than no; the general one first."""
    held = [entry for entry in entries if entry.holds(release) and entry.value is not False]
    held.sort(key=lambda entry: entry.platform or "")
    return tuple(Holding(e.state, e.value, e.when, e.platform, e.source, e.note) for e in held)


def _kind(before: tuple[Holding, ...], after: tuple[Holding, ...]) -> Literal["gained", "lost", "changed"]:
    if not before:
        return "gained"
    return "changed" if after else "lost"


def _existing(reg: EngineRegistry, release: str) -> dict[str, Architecture]:
    return {
        name: architecture
        for family in reg.families.values()
        for name, architecture in family.architectures.items()
        if architecture.exists(release)
    }


def _support_changes(
    old: Mapping[str, Architecture], new: Mapping[str, Architecture], before: str, after: str
) -> Iterator[SupportChange]:
    for name in sorted(old.keys() & new.keys()):
        for capability, entries in sorted(new[name].support.items()):
            was, now = holdings(entries, before), holdings(entries, after)
            if was != now:
                yield SupportChange(name, capability, _kind(was, now), was, now)


def _list_changes(reg: EngineRegistry, before: str, after: str) -> Iterator[ListChange]:
    for list_id, names in sorted(reg.lists.items()):
        old, new = names.at(before), names.at(after)
        if old != new:
            yield ListChange(list_id, tuple(sorted(new - old)), tuple(sorted(old - new)))


def _setting_changes(settings: Mapping[str, Setting], before: str, after: str) -> Iterator[SettingChange]:
    for name, setting in sorted(settings.items()):
        old, new = setting.at(before), setting.at(after)
        if old is None and new is not None:
            yield SettingChange(name, "added", after=new.default)
        elif old is not None and new is None:
            yield SettingChange(name, "removed", before=old.default)
        elif old is not None and new is not None and old != new:
            yield from _span_changes(name, old, new)


def _span_changes(name: str, old: SettingSpan, new: SettingSpan) -> Iterator[SettingChange]:
    if _typed(old.default) != _typed(new.default):
        yield SettingChange(name, "default", old.default, new.default)
    if set(old.choices) != set(new.choices) or old.open_choices != new.open_choices:
        yield SettingChange(name, "choices", [*old.choices], [*new.choices])
    if _type(old) != _type(new):
        yield SettingChange(name, "type", _type(old), _type(new))
    if _typed(old.sentinel) != _typed(new.sentinel):
        yield SettingChange(name, "sentinel", old.sentinel, new.sentinel)
    if _spellings(old) != _spellings(new):
        yield SettingChange(name, "flags", [*_spellings(old)], [*_spellings(new)])


def _typed(value: Json) -> tuple[str, Json]:
    """Tell 1, 1.0 and true apart."""
    return type(value).__name__, value


def _type(span: SettingSpan) -> str:
    item = f" of {span.item}" if span.item else ""
    return f"{span.type}{item}{', optional' if span.optional else ''}"


def _spellings(span: SettingSpan) -> tuple[str, ...]:
    return tuple(sorted(flag.name if isinstance(flag, Flag) else flag for flag in span.flags))


def _known(what: str, name: str, known: Mapping[str, V]) -> None:
    if name in known:
        return
    near = nearest_name(name, known)
    hint = f"did you mean {near}?" if near else None
    raise RequestError(f"unknown-{what}", f"unknown {what} {name!r}", hint)
