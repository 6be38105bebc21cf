"""The suspicions about a release as records for whoever shows them: ranked, worded, acceptances applied.

One pure function over the registry's records; no source and no scan is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from archcap.model.architectures import Accepted
from archcap.model.registry import EngineRegistry
from archcap.model.releases import parse_range
from archcap.model.siblings import SiblingGuide
from archcap.model.vocabulary import Vocabulary
from archcap.siblings.facts import Facts, Seen, facts_of_registry
from archcap.siblings.find import Finding, Item, findings
from archcap.siblings.rank import ranked
from archcap.siblings.words import consequence, patch, summary


@dataclass(frozen=True, slots=True)
class Suspect:
    """One suspicion, ready to be shown.

    Attributes:
        rank: from 1, the likeliest first.
        score: what the rank goes by.
        kind, what, shared: what was compared, what about, and what those compared have in common.
        lacking, having: names on both sides, with where that shows.
        text: what is suspect, in a sentence.
        consequence: what the engine does about it.
        patch: what a change would have to do.
        key: stays the same over versions of a source.
    """

    rank: int
    score: float
    kind: str
    what: str
    shared: str
    lacking: tuple[tuple[str, Seen], ...]
    having: tuple[tuple[str, Seen], ...]
    text: str
    consequence: str
    patch: str
    key: str


def suspects_of_registry(
    registry: EngineRegistry, vocabulary: Vocabulary, release: str, models_folder: str = "", accepted: bool = True
) -> tuple[Suspect, ...]:
    """Return the suspicions about a release of the registry.

    Args:
        registry: of the engine.
        vocabulary: what capabilities mean, and what their absence causes.
        release: one of the registry's.
        models_folder: folder of the engine's model modules, for the files that are named.
        accepted: whether what people accepted is left out.
    """
    facts = facts_of_registry(registry, vocabulary, release, models_folder)
    return suspects(facts, registry, vocabulary, accepted)


def suspects(
    facts: Facts,
    registry: EngineRegistry,
    vocabulary: Vocabulary,
    accepted: bool = True,
    before: Facts | None = None,
) -> tuple[Suspect, ...]:
    """Return the suspicions about facts, whichever way they were found.

    Args:
        facts: of one release or source.
        registry: of its engine, for what people accepted and what suspicions go by.
        vocabulary: what capabilities mean.
        accepted: whether what people accepted is left out.
        before: the facts before the changes that are looked at; what was suspect then is left out.
    """
    guide = registry.siblings or SiblingGuide(engine=facts.engine)
    found = findings(facts, vocabulary, guide)
    if accepted:
        found = list(unaccepted(found, frozenset(item for item, _ in acceptances(registry, facts.release))))
    if before is not None:
        known = {(one.kind, item) for one in findings(before, vocabulary, guide) for item in one.items}
        left = (one.without(i.name for i in one.items if (one.kind, i) in known) for one in found)
        found = [one for one in left if one is not None]
    return tuple(
        Suspect(
            one.rank, round(one.score, 3), one.finding.kind, one.finding.what, one.finding.shared,
            tuple(one.finding.lacking.items()), tuple(one.finding.having.items()),
            summary(one.finding, vocabulary), consequence(one.finding, vocabulary, guide),
            patch(one.finding, vocabulary, guide), one.finding.key,
        )
        for one in ranked(found, facts, guide.weights)
    )  # fmt: skip


def acceptances(registry: EngineRegistry, release: str) -> Iterator[tuple[Item, Accepted]]:
    """Yield what people have accepted that counts for a release."""
    for family in registry.families.values():
        for name, architecture in family.architectures.items():
            for one in architecture.accepted:
                if one.releases is None or parse_range(one.releases).holds(release):
                    yield Item(name, one.capability), one


def unaccepted(found: list[Finding], accepted: frozenset[Item]) -> Iterator[Finding]:
    """Yield suspicions without what is accepted of them."""
    for finding in found:
        left = finding.without(item.name for item in finding.items if item in accepted)
        if left is not None:
            yield left


def idle(registry: EngineRegistry, vocabulary: Vocabulary, releases: list[str]) -> Iterator[tuple[str, int]]:
    """Yield architecture and place of every acceptance that accepts nothing in any of *releases*."""
    guide = registry.siblings or SiblingGuide(engine=registry.engine.engine)
    written = [(n, at, one) for f in registry.families.values() for n, a in f.architectures.items()
               for at, one in enumerate(a.accepted)]  # fmt: skip
    if not written:
        return
    fires: set[tuple[str, Item]] = set()
    for release in releases:
        facts = facts_of_registry(registry, vocabulary, release)
        fires.update((release, item) for one in findings(facts, vocabulary, guide) for item in one.items)
    for name, at, one in written:
        span = releases[-1:] if one.releases is None else [r for r in releases if parse_range(one.releases).holds(r)]
        if not any((release, Item(name, one.capability)) in fires for release in span):
            yield name, at
