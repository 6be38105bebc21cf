"""What the start page, the search and the comparison of releases show. Knows snapshots; knows no template."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from archcap.model.engine import Flag
from archcap.snapshot import ReleaseView, Snapshot
from archcap.snapshot.compare import Diff, SupportChange, diff
from archcap.suggest import nearest_names
from archcap_service.dashboard.examples import examples_of
from archcap_service.dashboard.render import link
from archcap_service.documents import release_view

MOST_HITS = 40


@dataclass(frozen=True, slots=True)
class Hit:
    """One thing the search has found."""

    kind: str
    name: str
    words: str
    path: str


@dataclass(frozen=True, slots=True)
class SearchPage:
    """What was looked for and what was found, by kind."""

    engine: str
    release: str
    text: str
    hits: tuple[tuple[str, tuple[Hit, ...]], ...]
    near: tuple[Hit, ...]

    @property
    def total(self) -> int:
        """How many hits there are."""
        return sum(len(hits) for _, hits in self.hits)


def search(snapshot: Snapshot, engine: str, text: str) -> SearchPage:
    """Return what fits *text* among architectures, capabilities, settings, checkpoints and steps of the newest release.

    Every word must occur in a name or in the words that describe it; a flag finds its setting.
    """
    view, _ = release_view(snapshot, engine, snapshot.releases(engine)[-1])
    everything = tuple(_everything(snapshot, view))
    words = [word for part in text.lower().split() if (word := part.strip().lstrip("-"))]
    found = [hit for hit, told in everything if words and all(_told(word, told) for word in words)]
    kinds = dict.fromkeys(hit.kind for hit, _ in everything)
    hits = [(kind, tuple(_best([hit for hit in found if hit.kind == kind], text))) for kind in kinds]
    near: list[Hit] = []
    if words and not found:
        names = {hit.name: hit for hit, _ in everything}
        near = [names[name] for name in nearest_names(text.strip()[:200], names, 5)]
    return SearchPage(engine, view.release, text, tuple(pair for pair in hits if pair[1]), tuple(near))


def _told(word: str, told: str) -> bool:
    return word in told or word.replace("-", "_") in told


def _best(hits: Sequence[Hit], text: str) -> list[Hit]:
    wanted = text.strip().lower().lstrip("-").replace("-", "_")

    def rank(hit: Hit) -> tuple[int, int, str]:
        name = hit.name.lower()
        return (0 if name == wanted else 1 if name.startswith(wanted) else 2, len(name), name)

    return sorted(hits, key=rank)[:MOST_HITS]


def _everything(snapshot: Snapshot, view: ReleaseView) -> Iterator[tuple[Hit, str]]:
    engine, release = view.engine.engine, view.release
    aka: dict[str, list[str]] = {}
    for checkpoint, about in snapshot.checkpoints.items():
        aka.setdefault(about.architecture, []).append(checkpoint)
    for name in sorted(view.all_architectures):
        words = f"family {view.family_of(name)}" + ("" if name in view.architectures else f", not in {release}")
        path = link("architectures", engine, release, name)
        yield Hit("architectures", name, words, path), f"{name} {words} {' '.join(aka.get(name, ()))}".lower()
    for name in sorted(view.capabilities):
        title = view.capabilities[name].title
        yield Hit("capabilities", name, title, link("capabilities", engine, release, name)), f"{name} {title}".lower()
    for name, span in sorted(view.spans.items()):
        flags = " ".join(flag.name if isinstance(flag, Flag) else flag for flag in span.flags)
        words = view.settings[name].title or flags
        path = link("rules", engine, release, "settings", name)
        yield Hit("settings", name, words, path), f"{name} {words} {flags}".lower()
    for name, about in sorted(snapshot.checkpoints.items()):
        path = link("check", engine=engine, release=release, checkpoint=name)
        yield Hit("checkpoints", name, about.architecture, path), f"{name} {about.architecture}".lower()


@dataclass(frozen=True, slots=True)
class CapabilityChange:
    """Who gained, lost or has in another way one capability between two releases."""

    capability: str
    title: str
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    changed: tuple[SupportChange, ...]


@dataclass(frozen=True, slots=True)
class ComparePage:
    """Two releases beside each other."""

    engine: str
    release: str
    before: str
    after: str
    releases: tuple[str, ...]
    found: Diff
    support: tuple[tuple[str, tuple[CapabilityChange, ...]], ...]
    new_ones: tuple[tuple[str, tuple[str, ...]], ...]


def compare(snapshot: Snapshot, engine: str, before: str, after: str) -> ComparePage:
    """Return what *after* differs in from *before*.

    Raises:
        RequestError: `unknown-engine`, `unknown-release`.
    """
    old, new = release_view(snapshot, engine, before)[0], release_view(snapshot, engine, after)[0]
    found = diff(snapshot, engine, old.release, new.release)
    by_family: dict[str, list[str]] = {}
    for name in found.architectures_added:
        by_family.setdefault(new.family_of(name), []).append(name)
    return ComparePage(
        engine=engine,
        release=new.release,
        before=old.release,
        after=new.release,
        releases=tuple(snapshot.releases(engine)),
        found=found,
        support=tuple(_support(snapshot, new, found)),
        new_ones=tuple((family, tuple(names)) for family, names in sorted(by_family.items())),
    )


def _support(snapshot: Snapshot, view: ReleaseView, found: Diff) -> Iterator[tuple[str, tuple[CapabilityChange, ...]]]:
    by_capability: dict[str, list[SupportChange]] = {}
    for one in found.support:
        by_capability.setdefault(one.capability, []).append(one)
    for group, about in snapshot.vocabulary.groups.items():
        names = sorted(name for name in by_capability if view.capabilities[name].group == group)
        if names:
            yield about.title, tuple(_change(view, name, by_capability[name]) for name in names)


def _change(view: ReleaseView, name: str, changes: Iterable[SupportChange]) -> CapabilityChange:
    held = list(changes)
    gained = tuple(one.architecture for one in held if one.kind == "gained")
    lost = tuple(one.architecture for one in held if one.kind == "lost")
    changed = tuple(one for one in held if one.kind == "changed")
    return CapabilityChange(name, view.capabilities[name].title, gained, lost, changed)


@dataclass(frozen=True, slots=True)
class ReleaseLine:
    """One release on the start page."""

    release: str
    before: str | None
    date: str | None
    architectures: int


@dataclass(frozen=True, slots=True)
class StartPage:
    """What the start page shows of an engine."""

    engine: str
    release: str
    title: str
    lines: tuple[ReleaseLine, ...]
    architectures: int
    capabilities: int
    settings: int
    families: int
    checkpoints: tuple[str, ...]
    gpus: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    examples: tuple[tuple[str, str], ...]
    launch: str


def start(snapshot: Snapshot, engine: str) -> StartPage:
    """Return what the start page shows."""
    names = snapshot.releases(engine)
    view, about = snapshot.release(engine, names[-1]), snapshot.engine(engine)
    lines = [
        ReleaseLine(name, names[at - 1] if at else None, about.releases[name].date,
                    len(snapshot.release(engine, name).architectures))
        for at, name in enumerate(names)
    ]  # fmt: skip
    return StartPage(
        engine=engine,
        release=view.release,
        title=about.title,
        lines=tuple(reversed(lines)),
        architectures=len(view.architectures),
        capabilities=len(view.capabilities),
        settings=len(view.spans),
        families=len({view.family_of(name) for name in view.architectures}),
        checkpoints=tuple(sorted(snapshot.checkpoints)),
        gpus=gpus(snapshot),
        examples=tuple(examples_of(snapshot, engine)),
        launch=" ".join(about.launch),
    )


def gpus(snapshot: Snapshot) -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
    """Return the hardware catalogue by vendor, for a picker."""
    vendors: dict[str, list[tuple[str, str]]] = {}
    for name, gpu in snapshot.hardware.items():
        vendors.setdefault(gpu.vendor, []).append((name, gpu.title))
    return tuple((vendor, tuple(sorted(found))) for vendor, found in sorted(vendors.items()))
