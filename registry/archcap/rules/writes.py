"""How an interpreted run writes: settings, facts and environment, at once or at the end of an isolated step."""

from __future__ import annotations

from archcap.rules import expr as x
from archcap.rules.ir import Write
from archcap.rules.reads import read_path
from archcap.rules.run import KIND, NAME, VALUE, Event, Kind, Unknown
from archcap.rules.runtime import with_leaf
from archcap.rules.state import Result, State, Store, joined, needs_of, needs_of_event, unknown


def place_of(write: Write, state: State) -> Store:
    """Return where a write goes: an isolated step writes to what is its own."""
    if write.kind == "fact":
        return state.facts
    if write.kind in ("env", "env_if_unset"):
        return state.env
    if write.kind == "var":
        return state.vars if state.own_vars is None else state.own_vars
    return state.settings if state.own_settings is None else state.own_settings


def put_env(state: State, name: str, value: Result, needs: frozenset[str]) -> None:
    """Write an environment variable, surely or on a way that may not be taken."""
    written = state.env_written
    if needs:
        written[name] = joined(written[name], value, needs) if name in written else unknown(needs, needs_of(value))
        state.env_set[name] = True if state.env_set.get(name) is True else Unknown(needs)
    else:
        written[name], state.env_set[name] = value, True


def store(place: Store, path: x.Path, value: Result) -> bool:
    """Write a value or leaf; return False where what it is a leaf of is unknown, so that it might have raised."""
    if len(path) == 1:
        place.write(path[0], value)
        return True
    root = inner = place.read(path[0])
    for key in path[1:-1]:
        inner = inner.get(key) if type(inner) is dict else inner
    if type(root) is Unknown or type(inner) is Unknown:
        return False
    place.write(path[0], with_leaf(root, path[1:], value))
    return True


def commit(state: State) -> None:
    """Let the writes of an isolated step appear."""
    assert state.own_settings is not None
    assert state.own_vars is not None
    state.settings, state.vars = state.own_settings, state.own_vars
    state.journal.extend(state.pending)


def abandon(state: State, entry: State) -> None:
    """Drop what was pending when a step called by an isolated one was refused."""
    state.settings, state.vars = entry.settings, entry.vars
    state.journal = [*entry.journal, *(one for one in state.journal if one[KIND] not in (Kind.SET, Kind.VAR))]


def rejoin(state: State, event: Event) -> None:
    """Let what a step called by an isolated one wrote join the pending writes."""
    if event[KIND] not in (Kind.SET, Kind.VAR):
        state.journal.append(event)
        return
    path = tuple(event[NAME].split("."))
    place = state.own_settings if event[KIND] is Kind.SET else state.own_vars
    assert place is not None
    value: Result = event[VALUE]
    needs = needs_of_event(event)
    if needs:
        value = joined(read_path(place, path, state), value, needs)
    store(place, path, value)
    state.pending.append(event)
