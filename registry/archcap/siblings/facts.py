"""What siblings are compared by: the facts of one release, whichever way they were found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from archcap.model.registry import EngineRegistry
from archcap.model.releases import version
from archcap.model.support import support_at
from archcap.model.vocabulary import Vocabulary


class Seen(NamedTuple):
    """Where something stands in the engine's source. `line` None: only the file is known."""

    file: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Member:
    """An architecture of the release."""

    name: str
    role: str
    body: str | None
    wraps: str | None
    seen: Seen
    has: Mapping[str, Seen]
    """Capabilities, conditional ones included, with where they show."""
    sometimes: frozenset[str] = frozenset()
    """Those that hang on the configuration: nobody is suspected because of them."""


@dataclass(frozen=True, slots=True)
class Names:
    """A collection of architecture names in the source."""

    id: str
    seen: Seen
    names: Mapping[str, Seen]
    stands_for: bool = False
    """Whether a capability is defined by it: twins are compared by the capability then."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What a checkpoint becomes that serves as its own draft, and the configuration levels its depth is written to."""

    becomes: str
    depth: int | None
    levels: tuple[str, ...]
    seen: Seen


@dataclass(frozen=True, slots=True)
class Facts:
    """One release, ready to be compared."""

    engine: str
    release: str
    members: Mapping[str, Member]
    lists: Mapping[str, Names] = field(default_factory=dict)
    drafts: Mapping[str, Draft] = field(default_factory=dict)
    never: frozenset[str] = frozenset()
    """Capabilities that no architecture has had in any known release."""


def of_the_source(id_: str) -> bool:
    """Return whether a list's id is one that scans give: a dotted name, a place in a function, or an override."""
    return "." in id_ or id_.startswith("model_override:")


def dotted(id_: str) -> str:
    """Return the dotted path of the collection, or of the function whose test it is."""
    return id_.partition("#")[0].replace("/", ".").replace(".py:", ".")


def probed(vocabulary: Vocabulary, engine: str) -> frozenset[str]:
    """Return the collections and functions that probes look into."""
    found: set[str] = set()
    for capability in vocabulary.capabilities.values():
        probe = capability.probes.get(engine)
        for value in (probe.set, probe.named_in) if probe is not None else ():
            found.update((value,) if isinstance(value, str) else value or ())
    return frozenset(found)


def facts_of_registry(registry: EngineRegistry, vocabulary: Vocabulary, release: str, models_folder: str = "") -> Facts:
    """Return the facts of a release as the registry has them; of places it knows the files only.

    Args:
        registry: of the engine.
        vocabulary: tells which lists capabilities stand for.
        release: one of the registry's.
        models_folder: folder of the engine's model modules, with a slash at its end.
    """
    engine = registry.engine.engine
    members: dict[str, Member] = {}
    drafts: dict[str, Draft] = {}
    for family in registry.families.values():
        for name, one in family.architectures.items():
            if not one.exists(release):
                continue
            seen = Seen(f"{models_folder}{(one.module or '').replace('.', '/')}.py")
            held = {c: s for c, entries in one.support.items() if (s := support_at(entries, release)) is not None}
            sometimes = frozenset(c for c, s in held.items() if s.state == "conditional")
            members[name] = Member(name, one.role, one.body, one.wraps, seen, dict.fromkeys(held, seen), sometimes)
            rewrite = next((d for d in one.draft if d.holds(release) and not d.algorithms), None)
            if rewrite is not None:
                drafts[name] = Draft(rewrite.architecture, rewrite.depth, rewrite.levels, seen)
    lists: dict[str, Names] = {}
    standing = probed(vocabulary, engine)
    for id_, listed in registry.lists.items():
        names = listed.at(release)
        if names and listed.kind == "architecture" and of_the_source(id_):
            place = Seen(_place(listed.source, release).partition(":")[0])
            lists[id_] = Names(id_, place, dict.fromkeys(sorted(names), place), dotted(id_) in standing)
    return Facts(engine, release, members, lists, drafts, never_had(registry, vocabulary))


def never_had(registry: EngineRegistry, vocabulary: Vocabulary) -> frozenset[str]:
    """Return the capabilities that no architecture of an engine has had in any release."""
    every = (one for family in registry.families.values() for one in family.architectures.values())
    return frozenset(vocabulary.capabilities) - {capability for one in every for capability in one.support}


def _place(source: str | dict[str, str], release: str) -> str:
    if isinstance(source, str):
        return source
    at = max((r for r in source if version(r) <= version(release)), key=version, default=next(iter(source)))
    return source[at]
