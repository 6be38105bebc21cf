"""What the pages of one architecture and of one capability show. Knows snapshots; knows no template."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from archcap.model.architectures import Architecture, DraftRewrite
from archcap.model.base import Json
from archcap.model.releases import held_when
from archcap.model.vocabulary import Capability
from archcap.rules.run import OF_DRAFT
from archcap.snapshot import ReleaseView, Snapshot
from archcap.snapshot.compare import Happening, Holding, history, holdings
from archcap_service.dashboard.presence import ABSENT, NO, Rail, architecture_rails, capability_rails
from archcap_service.documents import known, release_view
from archcap_service.holders import holders
from archcap_service.rule_documents import rows_of, uses_of


@dataclass(frozen=True, slots=True)
class SupportLine:
    """What an architecture has of one capability."""

    capability: str
    title: str
    state: str
    since: str | None
    rail: Rail
    held: tuple[Holding, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """What else is to be said: values, conditions, notes."""
        return tuple(text for one in self.held for text in _notes(one))

    @property
    def sources(self) -> tuple[str, ...]:
        """Where people know it from."""
        return tuple(dict.fromkeys(one.source for one in self.held if one.source))


def _notes(one: Holding) -> Iterator[str]:
    if one.value is not True:
        yield ", ".join(one.value) if isinstance(one.value, tuple) else str(one.value)
    if one.when:
        yield f"when {one.when}"
    if one.platform:
        yield f"on {one.platform}"
    if one.note:
        yield one.note


@dataclass(frozen=True, slots=True)
class SupportGroup:
    """A group's capabilities: those the architecture has or will have, and the titles of those it never has."""

    title: str
    lines: tuple[SupportLine, ...]
    never: tuple[tuple[str, str], ...]

    @property
    def count(self) -> int:
        """How many it has in the release."""
        return sum(line.since is not None for line in self.lines)

    @property
    def total(self) -> int:
        """How many there are."""
        return len(self.lines) + len(self.never)


@dataclass(frozen=True, slots=True)
class Sibling:
    """An architecture on the same decoder body, and what the two differ in."""

    name: str
    more: tuple[str, ...]
    less: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ArchitecturePage:
    """Everything known of one architecture."""

    engine: str
    release: str
    releases: tuple[str, ...]
    name: str
    family: str
    about: Architecture
    exists: bool
    when: str
    rail: Rail
    checkpoints: tuple[str, ...]
    groups: tuple[SupportGroup, ...]
    drafts: tuple[DraftRewrite, ...]
    siblings: tuple[Sibling, ...]
    history: tuple[tuple[str, bool, tuple[Happening, ...]], ...]
    titles: Mapping[str, str]


def architecture_of(snapshot: Snapshot, engine: str, release: str, name: str) -> ArchitecturePage:
    """Return what is known of an architecture, also where the release lacks it and another has it.

    Raises:
        RequestError: `unknown-engine`, `unknown-release`, `unknown-architecture`.
    """
    view, _ = release_view(snapshot, engine, release)
    known("architecture", name, view.all_architectures)
    about = view.all_architectures[name]
    own, rails = architecture_rails(snapshot, engine, name)
    happenings = history(snapshot, engine, name)
    return ArchitecturePage(
        engine=engine,
        release=view.release,
        releases=tuple(snapshot.releases(engine)),
        name=name,
        family=view.family_of(name),
        about=about,
        exists=name in view.architectures,
        when=held_when(about.releases, view.release) or "",
        rail=own,
        checkpoints=tuple(sorted(one for one, is_ in snapshot.checkpoints.items() if is_.architecture == name)),
        groups=tuple(_groups(view, snapshot, about, rails)),
        drafts=tuple(one for one in about.draft if one.holds(view.release)),
        siblings=tuple(_siblings(view, name, about)),
        history=tuple(_by_release(happenings)),
        titles={one: found.title for one, found in view.capabilities.items()},
    )


def _by_release(happenings: tuple[Happening, ...]) -> Iterator[tuple[str, bool, tuple[Happening, ...]]]:
    """Yield the releases in which something happened, the newest first; the first known one comes last."""
    for release, same in reversed([(key, tuple(one)) for key, one in groupby(happenings, lambda one: one.release)]):
        yield release, same[0].or_earlier, same


def _groups(
    view: ReleaseView, snapshot: Snapshot, about: Architecture, rails: Mapping[str, Rail]
) -> Iterator[SupportGroup]:
    at = view.timeline.position(view.release)
    for group, meaning in snapshot.vocabulary.groups.items():
        names = sorted(name for name, one in view.capabilities.items() if one.group == group)
        lines = [_line(view, about, name, rails[name], at) for name in names if name in rails and rails[name].held]
        lines.sort(key=lambda line: line.since is None)
        had = {line.capability for line in lines}
        never = tuple((name, view.capabilities[name].title) for name in names if name not in had)
        yield SupportGroup(meaning.title, tuple(lines), never)


def _line(view: ReleaseView, about: Architecture, name: str, its: Rail, at: int) -> SupportLine:
    run = next(run for run in its.runs if run.start <= at < run.start + run.length)
    state = NO if run.state == ABSENT else run.state
    held = holdings(about.support.get(name, ()), view.release)
    return SupportLine(name, view.capabilities[name].title, state, its.since(at), its, held)


def _siblings(view: ReleaseView, name: str, about: Architecture) -> Iterator[Sibling]:
    if about.body is None:
        return
    mine = _held(view, name)
    for other, found in view.architectures.items():
        if other != name and found.body == about.body:
            theirs = _held(view, other)
            yield Sibling(other, tuple(sorted(theirs - mine)), tuple(sorted(mine - theirs)))


def _held(view: ReleaseView, name: str) -> set[str]:
    always, conditional = view.capabilities_of(name)
    return set(always) | {capability for capability, _ in conditional}


@dataclass(frozen=True, slots=True)
class Holder:
    """An architecture that has the capability in some release."""

    name: str
    family: str
    state: str
    since: str | None
    rail: Rail
    when: str | None
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CapabilityStep:
    """What one release brought and took away."""

    release: str
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    holders: int


@dataclass(frozen=True, slots=True)
class CapabilityPage:
    """Everything known of one capability."""

    engine: str
    release: str
    releases: tuple[str, ...]
    name: str
    about: Capability
    group: str
    probes: tuple[tuple[str, str], ...]
    holders: tuple[Holder, ...]
    others: tuple[Holder, ...]
    total: int
    history: tuple[CapabilityStep, ...]
    rules: tuple[Json, ...]


def capability_of(snapshot: Snapshot, engine: str, release: str, name: str) -> CapabilityPage:
    """Return what is known of a capability.

    Raises:
        RequestError: `unknown-engine`, `unknown-release`, `unknown-capability`.
    """
    view, _ = release_view(snapshot, engine, release)
    known("capability", name, view.capabilities)
    about, rails = view.capabilities[name], capability_rails(snapshot, engine, name)
    conditions = view.conditional_set(name)
    at = view.timeline.position(view.release)
    everybody = [_holder(view, one, its, at, name, conditions) for one, its in rails.items()]
    probe = about.probes.get(engine)
    return CapabilityPage(
        engine=engine,
        release=view.release,
        releases=tuple(snapshot.releases(engine)),
        name=name,
        about=about,
        group=snapshot.vocabulary.groups[about.group].title,
        probes=tuple(_probes(probe.model_dump(mode="json", exclude_defaults=True)) if probe else ()),
        holders=tuple(one for one in everybody if one.since is not None),
        others=tuple(one for one in everybody if one.since is None),
        total=len(view.architectures),
        history=tuple(reversed(list(_capability_history(rails, snapshot.releases(engine))))),
        rules=tuple(_rules(view, name)),
    )


def _holder(view: ReleaseView, name: str, its: Rail, at: int, capability: str, conditions: Mapping[str, str]) -> Holder:
    run = next(run for run in its.runs if run.start <= at < run.start + run.length)
    held = holdings(view.all_architectures[name].support.get(capability, ()), view.release)
    sources = tuple(dict.fromkeys(one.source for one in held if one.source))
    return Holder(name, view.family_of(name), run.state, its.since(at), its, conditions.get(name), sources)


def _capability_history(rails: Mapping[str, Rail], releases: Sequence[str]) -> Iterator[CapabilityStep]:
    before: set[str] = set()
    for at, release in enumerate(releases):
        now = {name for name, its in rails.items() if its.since(at) is not None}
        if now != before:
            yield CapabilityStep(release, tuple(sorted(now - before)), tuple(sorted(before - now)), len(now))
        before = now


def _probes(given: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    for key, value in given.items():
        if isinstance(value, list):
            text = ", ".join(map(str, value))
        elif isinstance(value, dict):
            text = ", ".join(f"{inner} {word}" for inner, word in value.items())
        else:
            text = str(value)
        yield key.replace("_", " "), text


def _rules(view: ReleaseView, name: str) -> Iterator[Json]:
    uses = uses_of(view)
    keys = (f"has.{name}", f"has.{OF_DRAFT}{name}")
    infos = {info.index: info for key in keys for info in uses.readers.get(key, ())}
    yield from rows_of([infos[index] for index in sorted(infos)], uses, view.program)


@dataclass(frozen=True, slots=True)
class VocabularyPage:
    """Every capability by group, with how many architectures have it."""

    engine: str
    release: str
    releases: tuple[str, ...]
    total: int
    groups: tuple[tuple[str, str, str, tuple[tuple[str, Capability, int, int], ...]], ...]


def vocabulary_of(snapshot: Snapshot, engine: str, release: str) -> VocabularyPage:
    """Return the vocabulary as a release fills it.

    Raises:
        RequestError: `unknown-engine`, `unknown-release`.
    """
    view, _ = release_view(snapshot, engine, release)
    groups = []
    for name, group in snapshot.vocabulary.groups.items():
        rows = []
        for one in sorted(key for key, about in view.capabilities.items() if about.group == name):
            always, sometimes = holders(snapshot, view, one)
            rows.append((one, view.capabilities[one], len(always), len(sometimes)))
        groups.append((name, group.title, group.meaning, tuple(rows)))
    return VocabularyPage(
        engine, view.release, tuple(snapshot.releases(engine)), len(view.architectures), tuple(groups)
    )
