"""The state of an interpreted run on one way through the rules: values that are known, and values that are not.

Knows no expression and no statement.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import compress, count
from operator import is_not
from typing import Any, Self, TypeAlias

from archcap.rules.run import KIND, NAME, STATEMENT, VALUE, Event, Inputs, Kind, Unknown
from archcap.rules.runtime import Known

Result: TypeAlias = Any
"""A value as Python computes with it (JSON, or a tuple or set on the way), or an `Unknown`."""

NOTHING: frozenset[str] = frozenset()
_ABSENT = object()
_COMPOSED = (Unknown, dict)


class Store:
    """Values by name: `known` holds settled ones, `unknown` the others, a structured one with its known leaves.

    A copy shares both with its original until either is written to.
    """

    __slots__ = ("_shared", "known", "unknown")

    def __init__(self, known: Mapping[str, Result]) -> None:
        self.known: dict[str, Result] = dict(known)
        self.unknown: dict[str, Result] = {}
        self._shared = False

    def read(self, name: str, default: Result = None) -> Result:
        """Return a value, or what is known of it; *default* where there is none."""
        value = self.known.get(name, _ABSENT)
        return self.unknown.get(name, default) if value is _ABSENT else value

    def write(self, name: str, value: Result) -> None:
        """Replace a value."""
        if self._shared:
            self.known, self.unknown, self._shared = self.known.copy(), self.unknown.copy(), False
        if type(value) in _COMPOSED and needs_of(value):
            self.known.pop(name, None)
            self.unknown[name] = value
        else:
            self.known[name] = value
            if self.unknown:
                self.unknown.pop(name, None)

    def update(self, values: Mapping[str, Result]) -> None:
        """Replace many values."""
        if not values:
            return
        self.known, self._shared = {**self.known, **values}, False
        self.unknown = {name: value for name, value in self.unknown.items() if name not in values}
        for name, value in values.items():
            if type(value) in _COMPOSED:
                self.write(name, value)

    def holds(self, name: str) -> bool:
        """Return whether there is a value, known or not."""
        return name in self.known or name in self.unknown

    def copy(self) -> Store:
        """Return a copy to write to."""
        other = object.__new__(Store)
        other.known, other.unknown = self.known, self.unknown
        other._shared = self._shared = True
        return other

    def take(self, known: dict[str, Result], written: Iterable[str]) -> None:
        """Replace all known values by *known*, in which *written* are settled now."""
        if self.unknown:
            self.unknown = {name: value for name, value in self.unknown.items() if name not in written}
        self.known, self._shared = known, False

    def readable(self) -> dict[str, Result]:
        """Return a copy for generated code, where reading what is unknown raises `NeedsInterpreter`."""
        return Known(self.known) if self.unknown else self.known.copy()

    def values(self) -> dict[str, Result]:
        """Return all values; a structured one with an unknown leaf is unknown as a whole."""
        return {**self.known, **{name: whole(value) for name, value in self.unknown.items()}}


@dataclass(slots=True)
class Notes:
    """What evaluation notes on the side.

    Attributes:
        hazards: needs of unknowns that met an operation which might raise.
        assumed: assumptions read, in order.
        met_unknown: whether anything unknown was read at all.
    """

    hazards: set[str] = field(default_factory=set)
    assumed: dict[str, None] = field(default_factory=dict)
    met_unknown: bool = False

    def append(self, name: str) -> None:
        """Note that an assumption was read."""
        self.assumed[name] = None


class Unsure(tuple[Kind, int, str, Result]):
    """A trace entry of a way that may not be taken."""

    needs: frozenset[str]


def unsure(event: Event, needs: frozenset[str]) -> Unsure:
    """Return *event* as one that needs *needs* to be sure of; what it wrote is unknown.

    Always a new object: two traces share an entry only where their ways had not split.
    """
    value: Result = unknown(needs, needs_of(event[VALUE]))
    entry = Unsure((event[KIND], event[STATEMENT], event[NAME], value))
    entry.needs = needs | needs_of_event(event)
    return entry


def sure(event: Event) -> Event:
    """Return a trace entry as a plain one."""
    kind, statement, name, value = event
    return kind, statement, name, value


def needs_of_event(event: Event) -> frozenset[str]:
    """Return what it takes to be sure of a trace entry."""
    return event.needs if isinstance(event, Unsure) else NOTHING


class State:
    """Everything an expression may read at one point of one way.

    Attributes:
        own_settings: what an isolated step has made of the settings so far; None elsewhere.
        journal: the trace on this way.
        pending: writes of an isolated step, which appear at its end.
        needs: what tells this way from those it split from; empty where it is surely taken.
    """

    __slots__ = (
        "env", "env_set", "env_written", "facts", "inputs", "journal", "locals", "needs", "notes", "own_settings",
        "own_vars", "pending", "settings", "vars",
    )  # fmt: skip

    inputs: Inputs
    notes: Notes
    settings: Store
    vars: Store
    facts: Store
    env: Store
    env_set: dict[str, Result]
    env_written: dict[str, Result]
    locals: dict[str, Result]
    own_settings: Store | None
    own_vars: Store | None
    journal: list[Event]
    pending: list[Event]
    needs: frozenset[str]

    def __init__(self, inputs: Inputs, variables: Mapping[str, Result], env: Mapping[str, Result]) -> None:
        self.inputs, self.notes = inputs, Notes()
        self.settings, self.vars = Store(inputs.raw.copy()), Store(variables)
        self.facts, self.env = Store(inputs.facts), Store({**env, **inputs.env})
        self.env_set = dict.fromkeys(inputs.env_set, True)
        self.env_written, self.locals = {}, {}
        self.own_settings, self.own_vars = None, None
        self.journal, self.pending = [], []
        self.needs = NOTHING

    @classmethod
    def of(cls, inputs: Inputs) -> Self:
        """Return a state for expressions that read the inputs alone."""
        state = object.__new__(cls)
        state.inputs, state.notes, state.locals = inputs, Notes(), {}
        return state

    def fork(self) -> State:
        """Return a copy that shares nothing which a statement changes."""
        other = object.__new__(State)
        other.inputs, other.notes, other.needs = self.inputs, self.notes, self.needs
        other.settings, other.vars = self.settings.copy(), self.vars.copy()
        other.facts, other.env = self.facts.copy(), self.env.copy()
        other.env_set, other.env_written = self.env_set.copy(), self.env_written.copy()
        other.locals = self.locals.copy()
        other.own_settings = None if self.own_settings is None else self.own_settings.copy()
        other.own_vars = None if self.own_vars is None else self.own_vars.copy()
        other.journal, other.pending = self.journal.copy(), self.pending.copy()
        return other

    def join(self, other: State, base: frozenset[str], fact_needs: Mapping[str, tuple[str, ...]]) -> State:
        """Return the state where two ways meet, made of this one.

        Args:
            other: the other way.
            base: what both ways needed before they split.
            fact_needs: what must be given for a fact, for one that only one way knows.
        """
        needs = (self.needs | other.needs) - base or self.needs | other.needs
        since = _since(self.journal, other.journal)
        self._join_written(other, since, needs, fact_needs)
        pending = _since(self.pending, other.pending)
        if self.own_settings is not None and other.own_settings is not None and pending[1]:
            _join_store(self.own_settings, other.own_settings, _roots(pending, Kind.SET), needs)
        if self.own_vars is not None and other.own_vars is not None and pending[1]:
            _join_store(self.own_vars, other.own_vars, _roots(pending, Kind.VAR), needs)
        if self.locals:
            theirs = other.locals
            self.locals = {k: joined(mine, theirs[k], needs) for k, mine in self.locals.items() if k in theirs}
        self.journal = _merged(self.journal, other.journal, since, needs)
        self.pending = _merged(self.pending, other.pending, pending, needs)
        self.needs |= other.needs
        return self

    def _join_written(
        self, other: State, since: tuple[int, list[Event]], needs: frozenset[str],
        fact_needs: Mapping[str, tuple[str, ...]],
    ) -> None:  # fmt: skip
        if not since[1]:
            return
        _join_store(self.settings, other.settings, _roots(since, Kind.SET), needs)
        _join_store(self.vars, other.vars, _roots(since, Kind.VAR), needs)
        for name in _roots(since, Kind.FACT):
            extra = frozenset() if self.facts.holds(name) and other.facts.holds(name) else fact_needs.get(name) or ()
            _join_store(self.facts, other.facts, (name,), needs | frozenset(extra))
        names = _roots(since, Kind.ENV)
        _join_store(self.env, other.env, names, needs)
        for name in names:
            for mine, theirs in ((self.env_set, other.env_set), (self.env_written, other.env_written)):
                mine[name] = joined(mine.get(name, _ABSENT), theirs.get(name, _ABSENT), needs)
                if mine[name] is _ABSENT:
                    del mine[name]


def _since(mine: list[Event], theirs: list[Event]) -> tuple[int, list[Event]]:
    """Return how much two traces share, and what came later on either way."""
    # Linear: after ways have split they may meet the same entry at the same place again, pending before they did.
    shared = next(compress(count(), map(is_not, mine, theirs)), min(len(mine), len(theirs)))
    return shared, [*mine[shared:], *theirs[shared:]]


def _merged(
    mine: list[Event], theirs: list[Event], since: tuple[int, list[Event]], needs: frozenset[str]
) -> list[Event]:
    shared, later = since
    if not later:
        return mine
    return [*mine[:shared], *(unsure(event, needs) for event in later if event[KIND] in WRITES)]


def _roots(since: tuple[int, list[Event]], kind: Kind) -> Iterable[str]:
    """Return the names written since two ways split, without leaves."""
    return dict.fromkeys(event[NAME].split(".", 1)[0] for event in since[1] if event[KIND] is kind)


WRITES = frozenset({Kind.SET, Kind.VAR, Kind.FACT, Kind.ENV})


def _join_store(mine: Store, theirs: Store, names: Iterable[str], needs: frozenset[str]) -> None:
    for name in names:
        one, other = mine.read(name, _ABSENT), theirs.read(name, _ABSENT)
        if one is not other:
            mine.write(name, joined(one, other, needs))


# -- values ---------------------------------------------------------------------------


def unknown(needs: frozenset[str], *more: Iterable[str]) -> Unknown:
    """Return an unknown that needs all of *needs* and *more*."""
    for part in more:
        if part:
            needs = needs.union(part)
    return _unknown(needs)


@lru_cache(maxsize=4096)
def _unknown(needs: frozenset[str]) -> Unknown:
    return Unknown(needs or frozenset({"more of the launch"}))


def needs_of(value: Result) -> frozenset[str]:
    """Return what an unknown, or a structured value with unknown leaves, needs."""
    if type(value) is Unknown:
        return value.needs
    if type(value) is dict:
        return NOTHING.union(*(needs_of(part) for part in value.values()))
    return NOTHING


def whole(value: Result) -> Result:
    """Return a structured value, unknown when any leaf is."""
    if type(value) is dict:
        needs = needs_of(value)
        return Unknown(needs) if needs else value
    return value


def joined(first: Result, second: Result, needs: frozenset[str]) -> Result:
    """Return the value on two ways that *needs* tells apart: itself where equal, else unknown; leaf by leaf."""
    if first is second or same(first, second):
        return first
    if type(first) is dict and type(second) is dict and first.keys() == second.keys():
        return {key: joined(first[key], second[key], needs) for key in first}
    return unknown(needs, needs_of(first), needs_of(second))


def same(first: Result, second: Result) -> bool:
    """Return whether two values are equal in type as well, down to their parts."""
    if type(first) is not type(second):
        return False
    if isinstance(first, list | tuple):
        return len(first) == len(second) and all(map(same, first, second))
    if isinstance(first, dict):
        return list(first) == list(second) and all(same(first[key], second[key]) for key in first)
    return bool(first == second) or (first != first and second != second)
