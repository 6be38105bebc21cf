"""The smallest changes that make a launch start.

Only settings behind a blocker are changed, and only to what a person would try: back to the default, to a choice, to a
value the rules compare with. Every fix has been resolved again.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal

from archcap.errors import RequestError
from archcap.model.base import Json
from archcap.model.engine import Setting, SettingSpan
from archcap.model.releases import version
from archcap.model.resolution import Fix
from archcap.resolver import wording
from archcap.resolver.knowledge import SnapshotView
from archcap.resolver.outcome import Bar, Outcome, outcome_of, statement_of
from archcap.resolver.provenance import named, provenance, read_of_peer
from archcap.resolver.subject import Subject, subject_of
from archcap.rules.run import STATEMENT, Program, Unknown
from archcap.suggest import nearest_names

_STARTS = ("ok", "adjusted")
_STAGES = ("parse", "resolve", "load", "init", "request")
_MOST_TRIES, _MOST_SHOWN, _MOST_ALIKE, _MOST_VALUES = 900, 12, 3, 24
_MOST_RANKS = 64
_LAST_TRIES = 400
"""What is left for the last attempt, whatever the others took."""

Change = tuple[str, Json]


@dataclass(frozen=True, slots=True)
class _Try:
    changes: tuple[Change, ...]
    outcome: Outcome
    both: bool = False
    """Whether the changes are made on the other server of a pair as well."""


@dataclass(slots=True)
class _Search:
    """One search; `left` bounds the work, so that an answer always comes."""

    snapshot: SnapshotView
    left: int = _MOST_TRIES
    found: list[_Try] = field(default_factory=list)

    def single(self, start: Outcome, base: tuple[Change, ...] = (), both: bool = False) -> list[_Try]:
        """Try every one change behind the first blocker of *start*; return those that get further without starting.

        Args:
            start: what is to be cured.
            base: the changes that lead to it.
            both: whether each change is made on the other server of a pair as well: of what the blocker itself reads.
        """
        partial: list[_Try] = []
        for change in _changes(start, both):
            if self._covered((*base, change)):
                continue
            tried = self._try(start, base, change, both)
            if tried is None:
                continue
            if tried.outcome.verdict in _STARTS:
                self.found.append(tried)
            elif _reach(tried.outcome) > _reach(start):
                partial.append(tried)
        return partial

    def on_the_peer(self, start: Outcome, peer: Outcome, change: Change) -> Outcome | None:
        """Return what becomes of the launch when the other server of its pair alone makes *change*."""
        if self.left <= 0:
            return None
        self.left -= 1
        try:
            other = outcome_of(changed(peer.subject, [change]), self.snapshot)
            return outcome_of(replace(start.subject, peer=other.subject), self.snapshot, other)
        except RequestError:
            return None

    def taken_back(self, start: Outcome, known: Iterable[_Try]) -> Iterator[_Try]:
        """Yield what becomes of the launch without each thing the user gave, apart from what is *known*."""
        done = {tried.changes for tried in known}
        for name in start.subject.settings:
            span, setting = start.subject.view.spans.get(name), start.subject.view.settings.get(name)
            if span is None or setting is None or policy(setting, span) == "never":
                continue
            tried = None if ((name, span.default),) in done else self._try(start, (), (name, span.default), False)
            if tried is not None:
                yield tried

    def _covered(self, changes: tuple[Change, ...]) -> bool:
        asked = {(name, _key(value)) for name, value in changes}
        return any({(name, _key(value)) for name, value in done.changes} <= asked for done in self.found)

    def _try(self, start: Outcome, base: tuple[Change, ...], change: Change, both: bool) -> _Try | None:
        if self.left <= 0 or any(name == change[0] for name, _ in base):
            return None
        self.left -= 1
        try:
            subject, peer = changed(start.subject, [change]), start.peer
            if both and subject.peer is not None:
                subject, peer = replace(subject, peer=changed(subject.peer, [change])), None
            return _Try((*base, change), outcome_of(subject, self.snapshot, peer), both)
        except RequestError:
            return None


def fixes_of(outcome: Outcome, snapshot: SnapshotView) -> tuple[Fix, ...]:
    """Return the smallest changes that start, the smallest first; none when one or two settings cannot cure it.

    Two changes are tried only where every single one costs something; first those that get further one by one, and
    where none does, those of which one takes back what the user gave.
    """
    search = _Search(snapshot)
    partial = search.single(outcome)
    there: list[Fix] = []
    if outcome.peer is not None:
        search.single(outcome, both=True)
        if not search.found:
            there = list(_on_the_peer(outcome, outcome.peer, search))
    later = list(_later_releases(outcome, snapshot, search))
    if not any(_keeps_everything(outcome, tried) for tried in search.found):
        for tried in partial:
            search.single(tried.outcome, tried.changes)
    if not (search.found or there or later):
        search.left = max(search.left, _LAST_TRIES)
        for tried in search.taken_back(outcome, partial):
            search.single(tried.outcome, tried.changes)
    here = [_fix(outcome, tried, None) for tried in search.found]
    return _shown([*here, *there, *(fix for fix in later if not any(_within(done, fix) for done in here))])


def _on_the_peer(outcome: Outcome, peer: Outcome, search: _Search) -> Iterator[Fix]:
    """Yield the single changes of the other server alone with which both start."""
    tries = _changes_as_here(outcome, peer) if peer.verdict in _STARTS else _changes(peer)
    for change in tries:
        tried = search.on_the_peer(outcome, peer, change)
        if tried is not None and tried.verdict in _STARTS:
            fix = _fix(peer, _Try((change,), tried), None)
            yield replace(fix, changes={}, peer_changes=fix.changes)


def _changes_as_here(outcome: Outcome, peer: Outcome) -> Iterator[Change]:
    """Yield what the peer may change against the first blocker: what that reads of it, then what it was given."""
    if outcome.blockers and not outcome.barred:
        read = read_of_peer(outcome, outcome.blockers[0])
        for name in dict.fromkeys([*read, *peer.subject.settings]):
            value = outcome.run.settings.get(name)
            if value is not None and not isinstance(value, Unknown) and value != peer.run.settings.get(name):
                yield name, value
            yield from ((name, value) for value in _domain(peer, name))


def _keeps_everything(outcome: Outcome, tried: _Try) -> bool:
    return tried.outcome.verdict == "ok" and _fix(outcome, tried, None).gives_up is None


def _within(small: Fix, large: Fix) -> bool:
    return small.changes.items() <= large.changes.items()


def _later_releases(outcome: Outcome, snapshot: SnapshotView, search: _Search) -> Iterator[Fix]:
    """Yield what starts on the first later release where anything does: the launch unchanged, else with one change."""
    request = outcome.subject.request
    at = version(outcome.subject.view.release)
    for release in snapshot.releases(request.engine):
        if version(release) <= at or search.left <= 0:
            continue
        found = list(_on_release(outcome, snapshot, release, search))
        if found:
            yield from found
            return


def _on_release(outcome: Outcome, snapshot: SnapshotView, release: str, search: _Search) -> Iterator[Fix]:
    request = outcome.subject.request.model_copy(update={"release": release})
    search.left -= 1
    try:
        there = outcome_of(subject_of(request, snapshot), snapshot)
    except RequestError:
        return
    if there.verdict in _STARTS:
        yield _fix(outcome, _Try((), there), release)
    elif _first_blocker(there) != _first_blocker(outcome):
        local = _Search(snapshot, left=min(search.left, 120))
        local.single(there)
        yield from (_fix(there, tried, release) for tried in local.found)


def changed(subject: Subject, changes: Iterable[Change]) -> Subject:
    """Return *subject* with settings changed; a change to an unset default takes the setting away."""
    settings = dict(subject.settings)
    for name, value in changes:
        if value is None and subject.view.defaults.get(name) is None:
            settings.pop(name, None)
        else:
            settings[name] = value
    return replace(subject, settings=settings)


def _first_blocker(outcome: Outcome) -> str | None:
    if outcome.barred and outcome.barred[0].setting is not None:
        return outcome.barred[0].rule
    if outcome.blockers:
        return statement_of(outcome.subject, outcome.run.trace[outcome.blockers[0]][STATEMENT]).id
    return outcome.barred[0].rule if outcome.barred else None


def _reach(outcome: Outcome) -> tuple[int, int]:
    """Return how far the launch gets before its first blocker; later is further."""
    if outcome.barred and outcome.barred[0].setting is not None:
        return (-1, -1)
    if not outcome.blockers:
        return (len(_STAGES), 0)
    info = statement_of(outcome.subject, outcome.run.trace[outcome.blockers[0]][STATEMENT])
    return (_STAGES.index(info.stage), info.index)


def _changes(outcome: Outcome, both: bool = False) -> Iterator[Change]:
    """Yield the single changes worth trying against the first blocker, the nearest first.

    Of a linked pair the first is to do as the peer does.
    """
    for bar in outcome.barred:
        if bar.setting is not None:
            yield from ((bar.setting, choice) for choice in _choices(bar, outcome.subject.view.spans[bar.setting]))
            return
    if not outcome.blockers:
        return
    names = (named if both else provenance)(outcome, outcome.blockers[0])
    yield from _as_the_peer(outcome, names)
    if not both:
        yield from _beside_the_peer(outcome)
    for name in names:
        for value in _domain(outcome, name):
            yield name, value


def _choices(bar: Bar, span: SettingSpan) -> Iterator[Json]:
    """Yield what may stand for a value that is no choice: what is spelled like it, the default, then the others."""
    near = nearest_names(wording.value_text(bar.value), map(str, span.choices), _MOST_ALIKE)
    yield from dict.fromkeys([*(one for one in span.choices if str(one) in near), span.default, *span.choices])


def _as_the_peer(outcome: Outcome, names: Iterable[str]) -> Iterator[Change]:
    """Yield the settings that came to another value on the peer, with that value."""
    theirs = {} if outcome.peer is None else outcome.peer.run.settings
    for name in names:
        value = theirs.get(name)
        if value is not None and not isinstance(value, Unknown) and value != outcome.run.settings.get(name):
            yield name, value


def _beside_the_peer(outcome: Outcome) -> Iterator[Change]:
    """Yield every choice of the settings that the first blocker reads on both servers of a pair: a role, a protocol."""
    theirs = read_of_peer(outcome, outcome.blockers[0])
    for name in named(outcome, outcome.blockers[0]):
        span = outcome.subject.view.spans.get(name)
        if name in theirs and span is not None:
            yield from ((name, one) for one in span.choices if one != outcome.run.settings.get(name))


def _domain(outcome: Outcome, name: str) -> Iterator[Json]:
    view = outcome.subject.view
    span, setting = view.spans.get(name), view.settings.get(name)
    if span is None or setting is None or policy(setting, span) == "never":
        return
    asked = outcome.subject.settings.get(name, span.default)
    final = outcome.run.settings.get(name)
    seen = {_key(asked)} if isinstance(final, Unknown) else {_key(asked), _key(final)}
    if name in outcome.subject.settings:
        seen.discard(_key(final) if _key(final) == _key(span.default) and asked != span.default else "")
    for value in _values(view.program, name, span, setting, asked):
        if _key(value) not in seen:
            seen.add(_key(value))
            yield value


def _values(program: Program, name: str, span: SettingSpan, setting: Setting, asked: Json) -> list[Json]:
    values: list[Json] = [span.default]
    if policy(setting, span) == "free":
        values += _free_values(program, name, span)
    elif isinstance(asked, int) and not isinstance(asked, bool):
        values = [*_smaller(asked, span.default), span.default]
    return values[:_MOST_VALUES]


def _free_values(program: Program, name: str, span: SettingSpan) -> list[Json]:
    if span.type == "bool":
        return [True, False]
    choices: list[Json] = [choice for choice in span.choices if choice != span.sentinel]
    return choices or compared_with(program).get(name, [])


def _smaller(asked: int, default: Json) -> Sequence[int]:
    """Return smaller numbers, the largest first: halves, and of what counts ranks the powers of two."""
    floor = default if isinstance(default, int) else 1
    smaller: set[int] = {asked >> times for times in range(1, asked.bit_length())}
    if asked <= _MOST_RANKS:
        smaller |= {1 << times for times in range(asked.bit_length()) if 1 << times < asked}
    return sorted([value for value in smaller if value > floor], reverse=True)


def policy(setting: Setting, span: SettingSpan) -> str:
    """Return how a fix may change a setting: as the registry says, else `free` where the engine would choose itself."""
    if setting.fix is not None:
        return setting.fix
    return "free" if span.sentinel is not None and span.choices else "reduce"


@lru_cache(maxsize=64)
def _literals(expressions: tuple[str, ...]) -> Mapping[str, list[Json]]:
    found: dict[str, dict[str, Json]] = {}
    for text in expressions:
        for node in ast.walk(ast.parse(text, mode="eval")):
            if isinstance(node, ast.Compare) and isinstance(node.left, ast.Name):
                for value in _constants(node.comparators[0]):
                    found.setdefault(node.left.id, {})[_key(value)] = value
    return {name: list(values.values()) for name, values in found.items()}


def _constants(node: ast.expr) -> Iterator[Json]:
    items = node.elts if isinstance(node, (ast.Tuple, ast.List, ast.Set)) else [node]
    for item in items:
        if isinstance(item, ast.Constant) and isinstance(item.value, (bool, int, float, str)):
            yield item.value


def compared_with(program: Program) -> Mapping[str, list[Json]]:
    """Return, by setting, the literals that the program's conditions compare it with."""
    return _literals(program.expressions)


def _key(value: Json | Unknown) -> str:
    return f"{type(value).__name__}:{value!r}"


def _fix(start: Outcome, tried: _Try, release: str | None) -> Fix:
    changes = dict(tried.changes)
    lost = wording.gives_up(start.subject.view, changes, start.subject.settings)
    verdict: Literal["ok", "adjusted"] = "ok" if tried.outcome.verdict == "ok" else "adjusted"
    return Fix(changes, release, verdict, lost, changes if tried.both else None)


def _shown(fixes: Iterable[Fix]) -> tuple[Fix, ...]:
    """Return the smallest fixes first, few of each kind."""
    ordered = sorted(fixes, key=lambda fix: len(fix.changes or fix.peer_changes or ()) + (fix.release is not None))
    alike: dict[tuple[str, ...], int] = {}
    shown: list[Fix] = []
    for fix in ordered:
        kind = (*sorted(fix.changes), *sorted(fix.peer_changes or ()), fix.release or "")
        alike[kind] = alike.get(kind, 0) + 1
        if alike[kind] <= _MOST_ALIKE:
            shown.append(fix)
    return tuple(shown[:_MOST_SHOWN])
