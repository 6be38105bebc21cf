"""Orders suspicions by what later releases taught: which of the earlier ones somebody closed.

A suspicion is described by a few features. Each has a weight, the logarithm of how much more often a suspicion that has
it was closed within two releases than any; the weights are data. `learn` makes them, `precision` says their worth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log

from archcap.siblings.facts import Facts
from archcap.siblings.find import Finding, Item, stem

_AHEAD = 2
"""Releases within which a suspicion has to be closed to count as right."""
_COST = {"error": 1.5, "unsafe": 1.5, "silent": 0.5, "degrade": 0.0, "none": -1.0}
"""What an operator loses when a suspicion is right and nobody acts, beside the likelihood that it is right."""
_CERTAIN = {"pair": 6.4, "one-level": 3.0, "near-lists": 5.54, "list": 4.65}
"""What a kind of suspicion weighs by itself: of broken pairs and the like there are too few to learn from, and they are
wrong by the engine's own logic rather than by resemblance."""
_BY_NAME = 0.4
"""What it weighs that the engine decides by a list of names, which people keep by hand."""
_TWINS = 3.0
"""What it weighs that everybody who lacks the thing has a twin of the same name that has it."""
_LOWEST = -0.5
"""The least that a feature weighs: that nobody closed a suspicion yet does not make it wrong."""
_DOUBT = 8.0
"""How many suspicions of the usual kind a feature is thought to have been seen on before anything was."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A suspicion with its rank, from 1, and the sum of its weights."""

    rank: int
    score: float
    finding: Finding


def features(finding: Finding, facts: Facts) -> Iterator[str]:
    """Yield what describes a suspicion to the ranking."""
    yield f"kind {finding.kind}"
    yield f"effect {finding.effect}"
    if finding.kind in ("sibling", "pair", "unimplemented"):
        yield f"what {finding.what}"
    have, lack = len(finding.having), len(finding.lacking)
    if finding.kind in ("sibling", "list"):
        yield f"{finding.kind} share {_bucket(have / (have + lack))}"
        yield f"{finding.kind} lacking {min(lack, 4)}"
    if finding.kind in ("sibling", "list"):
        near = any(_near(one, other) for one in finding.lacking for other in finding.having)
        yield f"{finding.kind} {'same name' if near else 'other name'}"
    if finding.kind == "list":
        yield (
            "list of an override"
            if finding.what.startswith("model_override:")
            else ("list in a test" if "#" in finding.what else "named list")
        )


def twins(finding: Finding) -> bool:
    """Return whether each who lacks the thing has a twin that has it: the same name for another task."""
    stems = {stem(name) for name in finding.having}
    return finding.kind in ("sibling", "list") and all(stem(name) in stems for name in finding.lacking)


def _bucket(share: float) -> str:
    return "most" if share > 0.67 else "half" if share > 0.34 else "few"


def _near(one: str, other: str) -> bool:
    """Return whether two names have most of their stem in common."""
    a, b = stem(one), stem(other)
    common = next((at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    return common >= 0.6 * max(len(a), len(b))


def score(finding: Finding, facts: Facts, weights: Mapping[str, float]) -> float:
    """Return how much a suspicion weighs: what was learnt of its features, and what it costs to be right."""
    learnt = sum(weights.get(feature, 0.0) for feature in features(finding, facts))
    by_name = _BY_NAME if finding.kind == "sibling" and finding.by_name else 0.0
    return learnt + by_name + _COST.get(finding.effect, 0.0) + _CERTAIN.get(finding.kind, 0.0) + _TWINS * twins(finding)


def ranked(found: Sequence[Finding], facts: Facts, weights: Mapping[str, float]) -> list[Ranked]:
    """Return suspicions in order, the likeliest first; of equals the one about fewer comes first."""
    scored = [(score(one, facts, weights), one) for one in found]
    scored.sort(key=lambda pair: (-round(pair[0], 6), len(pair[1].lacking), pair[1].key))
    return [Ranked(rank, value, one) for rank, (value, one) in enumerate(scored, 1)]


@dataclass(frozen=True, slots=True)
class Past:
    """A release's suspicions, for learning."""

    facts: Facts
    found: Sequence[Finding]

    @property
    def items(self) -> frozenset[Item]:
        """Everything that is suspect in it."""
        return frozenset(item for one in self.found for item in one.items)


def closed(finding: Finding, later: Sequence[Past]) -> bool:
    """Return whether a later release closed a suspicion: half of those who lacked the thing, or more, have it there."""
    return any(
        2 * sum(_has(past.facts, name, finding) for name in finding.lacking) >= len(finding.lacking) for past in later
    )


def _has(facts: Facts, name: str, finding: Finding) -> bool:
    member = facts.members.get(name)
    if finding.kind == "sibling":
        return member is not None and finding.what in member.has
    if finding.kind in ("list", "near-lists"):
        listed = facts.lists.get(finding.what)
        return listed is not None and name in listed.names
    if finding.kind == "dead-name":
        listed = facts.lists.get(finding.what)
        return member is not None or (listed is not None and name not in listed.names)
    if finding.kind == "one-level":
        draft = facts.drafts.get(name)
        return draft is not None and "text" in draft.levels
    if finding.kind == "pair":
        return member is not None and finding.shared.rpartition(" ")[2] in member.has
    return any(finding.what in one.has for one in facts.members.values())


def learn(history: Sequence[Past]) -> dict[str, float]:
    """Return the weights that releases teach, given oldest first; the last has nothing after it to learn from."""
    seen: Counter[str] = Counter()
    right: Counter[str] = Counter()
    total = hits = 0
    for at, past in enumerate(history[:-1]):
        later = history[at + 1 : at + 1 + _AHEAD]
        for finding in past.found:
            was = closed(finding, later)
            total += 1
            hits += was
            for feature in features(finding, past.facts):
                seen[feature] += 1
                right[feature] += was
    if not hits:
        return {}
    usual = hits / total
    return {
        feature: round(max(log((right[feature] + _DOUBT * usual) / (seen[feature] + _DOUBT) / usual), _LOWEST), 3)
        for feature in sorted(seen)
        if seen[feature] > 1
    }


def precision(past: Past, later: Sequence[Past], weights: Mapping[str, float], first: int = 20) -> float:
    """Return the share of the first suspicions of a release that the next two releases closed."""
    top = ranked(past.found, past.facts, weights)[:first]
    return sum(closed(one.finding, later[:_AHEAD]) for one in top) / max(len(top), 1)


def distinct(history: Iterable[Past]) -> list[Past]:
    """Return releases without those that differ in nothing from the one before: rebuilt wheels."""
    kept: list[Past] = []
    for past in history:
        if kept and _same(kept[-1].facts, past.facts):
            kept[-1] = past
        else:
            kept.append(past)
    return kept


def _same(one: Facts, other: Facts) -> bool:
    def shape(facts: Facts) -> object:
        members = {n: frozenset(m.has) for n, m in facts.members.items()}
        return members, {i: frozenset(x.names) for i, x in facts.lists.items()}

    return shape(one) == shape(other)
