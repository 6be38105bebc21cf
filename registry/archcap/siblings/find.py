"""Finds what looks forgotten: twins that differ, halves of a pair, depths in one level, lists that drifted apart.

Every suspicion is made of items, one per architecture (or name) and thing it lacks; they are what acceptances name and
what tells one version of a source from another.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from archcap.model.siblings import SiblingGuide
from archcap.model.vocabulary import Capability, Vocabulary
from archcap.siblings.facts import Facts, Member, Names, Seen

Kind = Literal["sibling", "list", "pair", "one-level", "near-lists", "dead-name", "unimplemented"]


class Item(NamedTuple):
    """What lacks what: an architecture and a capability, list or pair; or a name and a list."""

    name: str
    what: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One suspicion.

    Attributes:
        kind: what was compared.
        what: the capability, list or pair it is about.
        lacking: who lacks it, with where that shows.
        having: who has it, with where that shows.
        shared: what they have in common: a body, the stem of a name, the other list.
        stage, effect: what the engine does about it.
        by_name: whether the engine decides it by names that people keep, instead of by asking the class.
    """

    kind: Kind
    what: str
    lacking: Mapping[str, Seen]
    having: Mapping[str, Seen]
    shared: str
    stage: str
    effect: str
    by_name: bool = False

    @property
    def items(self) -> frozenset[Item]:
        """What it is made of."""
        return frozenset(Item(name, self.what) for name in self.lacking)

    @property
    def key(self) -> str:
        """A name that stays the same as long as it is about the same things."""
        return f"{self.kind}:{self.what}:{self.shared}"

    def without(self, names: Iterable[str]) -> Finding | None:
        """Return the finding without some of those who lack it; None when nobody is left."""
        gone = frozenset(names)
        left = {name: seen for name, seen in self.lacking.items() if name not in gone}
        of_list = self.kind == "near-lists"
        having = {n: seen for n, seen in self.having.items() if not of_list or n.partition(" ")[0] in left}
        return replace(self, lacking=left, having=having) if left else None


def findings(facts: Facts, vocabulary: Vocabulary, guide: SiblingGuide) -> list[Finding]:
    """Return every suspicion about a release, in no order that matters."""
    finder = _Finder(facts, vocabulary, guide)
    return [
        *finder.siblings(), *finder.lists(), *finder.pairs(), *finder.one_level(), *finder.near_lists(),
        *finder.dead_names(), *finder.unimplemented(),
    ]  # fmt: skip


class _Finder:
    def __init__(self, facts: Facts, vocabulary: Vocabulary, guide: SiblingGuide) -> None:
        self.facts = facts
        self.vocabulary = vocabulary
        self.guide = guide
        self.groups = list(groups(facts))
        self.kinds = {name: self._kind(member) for name, member in facts.members.items()}

    def _kind(self, member: Member) -> tuple[bool, ...]:
        task = bool(_TASK.search(member.name))
        return (task, *(self._is(member, trait) for trait in self.guide.traits))

    def _is(self, member: Member, trait: str) -> bool:
        return trait in member.has or any(one in member.has for one in self.guide.shown_by.get(trait, ()))

    def siblings(self) -> Iterator[Finding]:
        """Compare twins by what they can do."""
        names = sorted({c for member in self.facts.members.values() for c in member.has})
        for capability in names:
            if capability in self.guide.leave_out or capability in self.guide.traits:
                continue
            holders = self._holders(capability)
            described = self.vocabulary.capabilities[capability]
            absence = described.absence
            by_name = _by_name(described, self.facts.engine)
            for finding in self._differing("sibling", capability, holders):
                left = finding.without(n for n in finding.lacking if not self._concerned(n, finding))
                if left is not None:
                    yield replace(left, stage=absence.stage.value, effect=absence.effect, by_name=by_name)

    def _holders(self, capability: str) -> dict[str, Seen]:
        every = self.facts.members.items()
        return {n: m.has[capability] for n, m in every if capability in m.has and capability not in m.sometimes}

    def _concerned(self, name: str, finding: Finding) -> bool:
        """Return whether a capability means anything to an architecture that lacks it."""
        guide, member, capability = self.guide, self.facts.members[name], finding.what
        if capability in member.has:
            return False
        group = self.vocabulary.capabilities[capability].group
        trait = guide.only_for.get(capability, guide.only_for.get(group))
        if trait is not None and not self._is(member, trait):
            return False
        if guide.only_role.get(capability, _role(member)) != _role(member):
            return False
        apart = guide.apart.get(capability)
        if apart is None:
            return True
        return any(self._is(self.facts.members[n], apart) == self._is(member, apart) for n in finding.having)

    def lists(self) -> Iterator[Finding]:
        """Compare twins by the lists they are in."""
        for id_, listed in sorted(self.facts.lists.items()):
            if any(re.match(pattern, id_) for pattern in self.guide.leave_out_lists):
                continue
            if not listed.stands_for and (len(listed.names) > 1 or id_.startswith("model_override:")):
                for finding in self._differing("list", id_, listed.names):
                    left = finding.without(n for n in finding.lacking if not _of_a_line(n, finding.having))
                    if left is not None:
                        yield replace(left, stage="resolve", effect="silent", by_name=True)

    def _differing(self, kind: Kind, what: str, holders: Mapping[str, Seen]) -> Iterator[Finding]:
        """Yield the groups of twins of which some hold and some do not, kinds that never hold left out."""
        known = {self.kinds[n] for n in holders if n in self.kinds}
        if kind == "list" and not any(re.match(pattern, what) for pattern in self.guide.trait_lists):
            known |= {(task, *own[1:]) for task, *_ in known for own in self.kinds.values()}
        for shared, group in self.groups:
            having = {n: holders[n] for n in group if n in holders}
            if not having:
                continue
            lacking = {n: self.facts.members[n].seen for n in group if n not in holders and self._comparable(n, known)}
            if lacking:
                yield Finding(kind, what, lacking, having, shared, "", "")

    def _comparable(self, name: str, known: set[tuple[bool, ...]]) -> bool:
        """Return whether any holder is of this one's kind, trait by trait."""
        own = self.kinds[name]
        return all(any(other[at] == value for other in known) for at, value in enumerate(own))

    def pairs(self) -> Iterator[Finding]:
        """Find what has one half of a pair."""
        for pair in self.guide.pairs:
            concerned = {n: m for n, m in sorted(self.facts.members.items()) if pair.role in (None, _role(m))}
            held = {n: m for n, m in concerned.items() if pair.has in m.has}
            lacking = {n: m.has[pair.has] for n, m in held.items() if pair.lacks not in m.has}
            having = {n: m.has[pair.lacks] for n, m in held.items() if pair.lacks in m.has}
            if lacking and having:
                shared = f"{pair.has} without {pair.lacks}"
                yield Finding("pair", pair.id, lacking, having, shared, pair.stage, pair.effect)

    def one_level(self) -> Iterator[Finding]:
        """Find drafts whose depth is written where the engine does not read it when the configuration is nested."""
        nested = self.guide.nested
        by_draft: dict[str, dict[str, Seen]] = {}
        for name, draft in sorted(self.facts.drafts.items()):
            member = self.facts.members.get(name)
            if member is not None and nested in member.has and draft.levels == ("hf",):
                by_draft.setdefault(draft.becomes, {})[name] = draft.seen
        for becomes, lacking in by_draft.items():
            having = {n: d.seen for n, d in self.facts.drafts.items() if "text" in d.levels}
            yield Finding("one-level", "draft_depth", lacking, having, becomes, "init", "silent")

    def near_lists(self) -> Iterator[Finding]:
        """Find collections that hold nearly the same architectures."""
        lists = [one for _, one in sorted(self.facts.lists.items()) if len(one.names) >= _SMALLEST]
        seen: set[tuple[str, frozenset[str]]] = set()
        for one in lists:
            for other in lists:
                finding = self._near(one, other) if one is not other else None
                if finding is not None and (finding.what, frozenset(finding.lacking)) not in seen:
                    seen.add((finding.what, frozenset(finding.lacking)))
                    yield finding

    def _near(self, one: Names, other: Names) -> Finding | None:
        """Return the names that *one* has and *other* lacks, when the two are nearly the same."""
        common = one.names.keys() & other.names.keys()
        every = one.names.keys() | other.names.keys()
        if len(common) < len(every) * (_ALIKE if _same_words(one.id, other.id) else _MORE_ALIKE):
            return None
        missing = sorted(n for n in one.names.keys() - other.names.keys() if n in self.facts.members)
        if not missing:
            return None
        having = {f"{n} in {one.id}": one.names[n] for n in missing}
        lacking = dict.fromkeys(missing, other.seen)
        return Finding("near-lists", other.id, lacking, having, one.id, "resolve", "silent")

    def dead_names(self) -> Iterator[Finding]:
        """Find names in lists that no class of the release bears."""
        for id_, listed in sorted(self.facts.lists.items()):
            dead = {n: seen for n, seen in listed.names.items() if n not in self.facts.members and _CLASS.search(n)}
            alive = {n: seen for n, seen in listed.names.items() if n in self.facts.members}
            if dead and alive:
                yield Finding("dead-name", id_, dead, alive, "entry classes", "resolve", "none")

    def unimplemented(self) -> Iterator[Finding]:
        """Find hooks that the engine asks for and no class has."""
        for name, capability in sorted(self.vocabulary.capabilities.items()):
            probe = capability.probes.get(self.facts.engine)
            hook = (probe.method or probe.attribute) if probe is not None else None
            if hook is not None and name in self.facts.never:
                absence = capability.absence
                seen = {hook: Seen("", None)}
                yield Finding("unimplemented", name, seen, {}, "all entry classes", absence.stage.value, absence.effect)


def _role(member: Member) -> str:
    return "draft" if member.role == "draft" else "target"


def _of_a_line(name: str, holders: Iterable[str]) -> bool:
    """Return whether a name begins as one of *holders* does: lists name lines of models, not all who share a body."""
    return any(name[:_LINE] == other[:_LINE] for other in holders)


def _by_name(capability: Capability, engine: str) -> bool:
    """Return whether a capability is what a list of the engine says."""
    probe = capability.probes.get(engine)
    return probe is not None and (probe.set is not None or probe.named_in is not None)


def groups(facts: Facts) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield those who are compared with each other, with what they have in common.

    Targets that share a body, or wrap one another; drafts that share one; and the text-only and the multimodal class of
    one name. Drafts are not compared with targets: they are another thing by nature.
    """
    by_body: dict[tuple[str, str], list[str]] = {}
    by_stem: dict[tuple[str, str], list[str]] = {}
    for name, member in sorted(facts.members.items()):
        role = _role(member)
        if member.body or member.wraps:
            by_body.setdefault((member.body or member.wraps or "", role), []).append(name)
        by_stem.setdefault((stem(name), role), []).append(name)
    seen: list[set[str]] = []
    for (body, _), group in by_body.items():
        if len(group) > 1:
            seen.append(set(group))
            yield body, group
    for (name, _), group in by_stem.items():
        if len(group) > 1 and not any(set(group) <= other for other in seen):
            yield f"{name}*", group


def stem(name: str) -> str:
    """Return an architecture's name without the words for its task."""
    return _ENDS.sub("", name)


_ENDS = re.compile(r"(?:For(?:ConditionalGeneration|CausalLM|ImageTextToText)|Model)$")
_TASK = re.compile(r"Classification|Reward|Embedding|Model$")
_CLASS = re.compile(r"For[A-Z]|Model$|LMHead")
_LINE = 4
"""Letters by which the names of one line of models begin alike."""
_SMALLEST = 4
"""Names from which a collection is compared with others."""
_ALIKE, _MORE_ALIKE = 0.6, 0.85
"""Share of common names from which two collections look like one: with words in common, and without."""
_WORD = re.compile(r"[a-z]{4,}")
_COMMON = frozenset({"model", "models", "architectures", "archs", "arch", "supported", "overrides", "args", "configs",
                     "config", "server", "hook", "handle", "srt", "self", "name", "names"})  # fmt: skip


def _same_words(one: str, other: str) -> bool:
    """Return whether the names of two collections have a telling word in common."""
    return bool(_telling(one) & _telling(other))


def _telling(id_: str) -> set[str]:
    name = re.split(r"[.:]", id_.partition("#")[0])[-1]
    return set(_WORD.findall(name.lower())) - _COMMON
