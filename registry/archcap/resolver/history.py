"""What a run knew at one point of its trace: who wrote a name last, and what everything was worth then.

Reads the trace where it is asked to; nothing is replayed, because settings are hundreds and questions are few.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

from archcap.model.base import Json
from archcap.model.values import plain_record
from archcap.rules.run import Event, Inputs, Kind, Run, Unknown

_KINDS: dict[int, str] = {Kind.SET: "setting", Kind.VAR: "var", Kind.FACT: "fact", Kind.ENV: "env"}
_NOBODY: Mapping[str, list[int]] = {}

Places = Mapping[str, list[int]]
"""Where in a trace each name, or a leaf of it, was written."""


class Writes:
    """What had been written of one kind of name before one event."""

    __slots__ = ("_before", "_given", "_places", "_trace", "_values")

    def __init__(self, trace: Sequence[Event], places: Places, given: Mapping[str, Json], before: int) -> None:
        self._trace, self._places, self._given, self._before = trace, places, given, before
        self._values: dict[str, Json | Unknown] = {}

    def get(self, name: str, default: Json | Unknown = None) -> Json | Unknown:
        """Return the value last written, *default* where nobody wrote one."""
        if name in self._values:
            return self._values[name]
        if name not in self:
            return default
        value = self._values[name] = self._read(name)
        return value

    def __contains__(self, name: object) -> bool:
        places = self._places.get(name) if isinstance(name, str) else None
        return places is not None and places[0] < self._before

    def _read(self, name: str) -> Json | Unknown:
        """Return the last whole value with the leaves written since in their places."""
        places = self._places[name]
        places = places[: bisect_left(places, self._before)]
        whole = next((at for at in reversed(places) if self._trace[at].name == name), -1)
        value: Json | Unknown = self._trace[whole].value if whole >= 0 else self._given.get(name)
        for at in places:
            if at > whole:
                path = self._trace[at].name.split(".")[1:]
                value = _with_leaf(value if isinstance(value, dict) else {}, path, self._trace[at].value)
        return value


def _with_leaf(node: dict[str, Json], path: Sequence[str], value: Json) -> dict[str, Json]:
    head, *rest = path
    child = node.get(head)
    return {**node, head: _with_leaf(child if isinstance(child, dict) else {}, rest, value) if rest else value}


@plain_record
class State:
    """What had been written before one event; everything else is as the inputs say."""

    settings: Writes
    vars: Writes
    facts: Writes
    env: Writes
    inputs: Inputs

    def place(self, kind: str) -> Writes:
        """Return the writes of one kind of name."""
        return {"setting": self.settings, "var": self.vars, "fact": self.facts, "env": self.env}[kind]

    def given(self, kind: str) -> Mapping[str, Json]:
        """Return what the inputs say of one kind of name; variables begin with their declared defaults."""
        if kind == "setting":
            return self.inputs.raw
        return self.inputs.facts if kind == "fact" else self.inputs.env if kind == "env" else {}


class History:
    """The trace of one run, by name. Made at no cost; the first question indexes it."""

    __slots__ = ("_places", "_returns", "_states", "inputs", "run")

    def __init__(self, run: Run, inputs: Inputs) -> None:
        self.run, self.inputs = run, inputs
        self._places: dict[str, dict[str, list[int]]] | None = None
        self._states: dict[int, State] = {}
        self._returns: dict[int, int] | None = None

    def places(self, kind: str) -> Places:
        """Return where each name of one kind was written, leaves under the setting they belong to."""
        if self._places is None:
            self._places = _indexed(self.run.trace)
        return self._places.get(kind, _NOBODY)

    @property
    def returns(self) -> Mapping[int, int]:
        """Where in the trace each statement ended its step."""
        if self._returns is None:
            ended = Kind.RETURN
            self._returns = {index: at for at, (kind, index, _, _) in enumerate(self.run.trace) if kind == ended}
        return self._returns

    def before(self, event: int) -> State:
        """Return the values in force before event *event* of the trace."""
        state = self._states.get(event)
        if state is None:
            inputs = self.inputs
            state = self._states[event] = State(
                self._writes("setting", inputs.raw, event),
                self._writes("var", {}, event),
                self._writes("fact", inputs.facts, event),
                self._writes("env", inputs.env, event),
                inputs,
            )
        return state

    def _writes(self, kind: str, given: Mapping[str, Json], before: int) -> Writes:
        return Writes(self.run.trace, self.places(kind), given, before)

    def last_write(self, before: int, kind: str, name: str) -> int | None:
        """Return the index of the last event before *before* that wrote *name*, part of it, or what it is part of."""
        trace = self.run.trace
        places = self.places(kind).get(name.split(".", 1)[0], ())
        for at in reversed(places[: bisect_left(places, before)]):
            if _touches(trace[at].name, name):
                return at
        return None


def _indexed(trace: Sequence[Event]) -> dict[str, dict[str, list[int]]]:
    found: dict[str, dict[str, list[int]]] = {kind: {} for kind in _KINDS.values()}
    by_kind: dict[int, dict[str, list[int]]] = {int(kind): found[name] for kind, name in _KINDS.items()}
    for at, (kind, _, name, _) in enumerate(trace):
        places = by_kind.get(kind)
        if places is not None:
            head = name.split(".", 1)[0] if "." in name else name
            if head in places:
                places[head].append(at)
            else:
                places[head] = [at]
    return found


def _touches(written: str, read: str) -> bool:
    return written == read or written.startswith(read + ".") or read.startswith(written + ".")


def value_of(state: State, kind: str, name: str) -> Json | Unknown:
    """Return the value of a setting path, variable, fact or env in *state*."""
    place, given = state.place(kind), state.given(kind)
    head, *path = (name,) if name in place or name in given else name.split(".")
    value: Json | Unknown = place.get(head) if head in place else given.get(head)
    for part in path:
        value = value.get(part) if isinstance(value, dict) else None
    return value
