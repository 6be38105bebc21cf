"""What a run knew at one point of its trace: who wrote a name last, and what everything was worth then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from archcap.model.base import Json
from archcap.rules.run import Event, Inputs, Kind, Run, Unknown

_WRITES = {"setting": Kind.SET, "var": Kind.VAR, "fact": Kind.FACT, "env": Kind.ENV}
_LAST_WRITE = Kind.ENV


@dataclass(frozen=True, slots=True)
class State:
    """What had been written before one event; everything else is as the inputs say.

    Settings are hundreds and writes are few, so only the writes are kept.
    """

    settings: dict[str, Json | Unknown]
    vars: dict[str, Json | Unknown]
    facts: dict[str, Json | Unknown]
    env: dict[str, Json | Unknown]
    inputs: Inputs

    def place(self, kind: str) -> dict[str, Json | Unknown]:
        """Return the writes of one kind of name."""
        return {"setting": self.settings, "var": self.vars, "fact": self.facts, "env": self.env}[kind]

    def given(self, kind: str) -> Mapping[str, Json]:
        """Return what the inputs say of one kind of name; variables begin with their declared defaults."""
        if kind == "setting":
            return self.inputs.raw
        return self.inputs.facts if kind == "fact" else self.inputs.env if kind == "env" else {}


def last_write(trace: Sequence[Event], before: int, kind: str, name: str) -> int | None:
    """Return the index of the last event before *before* that wrote *name*, a leaf of it, or what it is a leaf of."""
    wanted = _WRITES[kind]
    for index in range(min(before, len(trace)) - 1, -1, -1):
        event = trace[index]
        if event.kind == wanted and _touches(event.name, name):
            return index
    return None


def _touches(written: str, read: str) -> bool:
    return written == read or written.startswith(read + ".") or read.startswith(written + ".")


def state_before(run: Run, inputs: Inputs, before: int) -> State:
    """Return the values in force before event *before* of the trace."""
    state = State({}, {}, {}, {}, inputs)
    places = {Kind.SET: state.settings, Kind.VAR: state.vars, Kind.FACT: state.facts, Kind.ENV: state.env}
    for kind, _, name, value in run.trace[:before]:
        if kind <= _LAST_WRITE:
            if "." in name:
                _write_leaf(state, name, value)
            else:
                places[kind][name] = value
    return state


def _write_leaf(state: State, name: str, value: Json) -> None:
    """Write one leaf of a structured setting; nothing else has leaves."""
    head, *path = name.split(".")
    root = state.settings[head] if head in state.settings else state.inputs.raw.get(head)
    state.settings[head] = _with_leaf(root if isinstance(root, dict) else {}, path, value)


def _with_leaf(node: dict[str, Json], path: Sequence[str], value: Json) -> dict[str, Json]:
    head, *rest = path
    child = node.get(head)
    return {**node, head: _with_leaf(child if isinstance(child, dict) else {}, rest, value) if rest else value}


def value_of(state: State, kind: str, name: str) -> Json | Unknown:
    """Return the value of a setting path, variable, fact or env in *state*."""
    place, given = state.place(kind), state.given(kind)
    head, *path = (name,) if name in place or name in given else name.split(".")
    value: Json | Unknown = place[head] if head in place else given.get(head)
    for part in path:
        value = value.get(part) if isinstance(value, dict) else None
    return value
