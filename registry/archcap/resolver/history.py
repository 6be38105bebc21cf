"""What a run knew at one point of its trace: who wrote a name last, and what everything was worth then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from archcap.model.base import Json
from archcap.rules.run import Event, Inputs, Kind, Run, Unknown

_WRITES = {"setting": Kind.SET, "var": Kind.VAR, "fact": Kind.FACT, "env": Kind.ENV}


@dataclass(frozen=True, slots=True)
class State:
    """Everything as it was before one event."""

    settings: dict[str, Json | Unknown]
    vars: dict[str, Json | Unknown]
    facts: dict[str, Json | Unknown]
    env: dict[str, Json | Unknown]


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
    state = State(dict(inputs.raw), {}, dict(inputs.facts), dict(inputs.env))
    places = {Kind.SET: state.settings, Kind.VAR: state.vars, Kind.FACT: state.facts, Kind.ENV: state.env}
    for event in run.trace[:before]:
        place = places.get(event.kind)
        if place is not None:
            _write(place, event.name, event.value)
    return state


def _write(place: dict[str, Json | Unknown], name: str, value: Json) -> None:
    if "." not in name:
        place[name] = value
        return
    head, *path = name.split(".")
    root = place.get(head)
    place[head] = _with_leaf(root if isinstance(root, dict) else {}, path, value)


def _with_leaf(node: dict[str, Json], path: Sequence[str], value: Json) -> dict[str, Json]:
    head, *rest = path
    child = node.get(head)
    return {**node, head: _with_leaf(child if isinstance(child, dict) else {}, rest, value) if rest else value}


def value_of(state: State, kind: str, name: str) -> Json | Unknown:
    """Return the value of a setting path, variable, fact or env in *state*."""
    place = {"setting": state.settings, "var": state.vars, "fact": state.facts, "env": state.env}[kind]
    if name in place:
        return place[name]
    value: Json | Unknown = place.get(name.split(".", 1)[0])
    for part in name.split(".")[1:]:
        value = value.get(part) if isinstance(value, dict) else None
    return value
