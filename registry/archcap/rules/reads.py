"""What an expression reads: settings, facts, the machine, the configuration and the registry, known or not.

One closure per kind of leaf; operations on what is read are in `archcap.rules.evaluate`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from archcap.rules import expr as x
from archcap.rules.run import NOT_THERE, ConfigView, Unknown
from archcap.rules.runtime import ABSENT, UNSURE, in_names, leaf, look
from archcap.rules.state import NOTHING, Result, State, Store, needs_of, whole

if TYPE_CHECKING:
    from archcap.rules.evaluate import Evaluator

Eval = Callable[[State], Result]
_VIEWS = {"hf": "hf", "text": "text", "draft.hf": "draft_hf", "draft.text": "draft_text"}


def hazard(state: State, *values: Result) -> Unknown:
    """Return the unknown that an operation on unknown operands yields, noting that it might have raised."""
    needs = NOTHING.union(*(needs_of(value) for value in values))
    state.notes.hazards |= needs
    return Unknown(needs)


# -- leaves ----------------------------------------------------------------------


def _const(ev: Evaluator, n: x.Const) -> Eval:
    value = n.value
    return lambda state: value


def _local(ev: Evaluator, n: x.Local) -> Eval:
    name = n.name
    return lambda state: state.locals[name]


def read_path(store: Store, path: x.Path, state: State) -> Result:
    """Return a setting or leaf of *store*."""
    value = store.read(path[0])
    for key in path[1:]:
        if type(value) is Unknown:
            return hazard(state, value)
        value = leaf(value, key)
    return whole(value) if type(value) is dict else value


def _setting(ev: Evaluator, n: x.Setting) -> Eval:
    path = n.path
    if len(path) > 1:
        return lambda state: read_path(state.settings, path, state)
    name = path[0]

    def run(state: State) -> Result:
        settings = state.settings
        return settings.known[name] if name in settings.known else whole(settings.unknown[name])

    return run


def _own(ev: Evaluator, n: x.Own) -> Eval:
    path = n.path
    if path[0] == "var":
        return lambda state: (state.vars if state.own_vars is None else state.own_vars).read(path[1])
    return lambda state: read_path(state.settings if state.own_settings is None else state.own_settings, path, state)


def _raw(ev: Evaluator, n: x.Raw) -> Eval:
    path = n.path
    return lambda state: leaf(state.inputs.raw[path[0]], *path[1:])


def _user_set(ev: Evaluator, n: x.UserSet) -> Eval:
    name = n.name
    return lambda state: name in state.inputs.user


def _var(ev: Evaluator, n: x.Var) -> Eval:
    name = n.name
    return lambda state: state.vars.read(name)


def met(state: State, *needs: str) -> Unknown:
    """Return the unknown that a read met, noting that there was one."""
    state.notes.met_unknown = True
    return Unknown(frozenset(needs))


def _fact(ev: Evaluator, n: x.Fact) -> Eval:
    name = n.name
    needs = tuple(ev.fact_needs.get(name) or (f"fact.{name}",))

    def run(state: State) -> Result:
        value = state.facts.read(name, ABSENT)
        return met(state, *needs) if value is ABSENT else value

    return run


def _hardware(ev: Evaluator, n: x.Hardware) -> Eval:
    name = n.name
    return lambda state: state.inputs.hw[name] if name in state.inputs.hw else met(state, "hardware")


def _assume(ev: Evaluator, n: x.Assume) -> Eval:
    name = n.name

    def run(state: State) -> Result:
        if name not in state.inputs.assume:
            return met(state, f"assumption.{name}")
        state.notes.assumed[name] = None
        return state.inputs.assume[name]

    return run


def _env(ev: Evaluator, n: x.Env) -> Eval:
    name = n.name
    return lambda state: state.env.read(name)


def _env_set(ev: Evaluator, n: x.EnvSet) -> Eval:
    name = n.name
    return lambda state: state.env_set.get(name, False)


def _profile(ev: Evaluator, n: x.Profile) -> Eval:
    def run(state: State) -> Result:
        inputs = state.inputs
        unknown_here = inputs.architecture is None and inputs.profile is None
        return met(state, "architecture") if unknown_here else inputs.profile

    return run


def _has_peer(ev: Evaluator, n: x.HasPeer) -> Eval:
    return lambda state: state.inputs.peer is not None


def _peer_value(ev: Evaluator, n: x.PeerValue) -> Eval:
    kind, (name, *path) = n.kind, n.path

    def run(state: State) -> Result:
        peer = state.inputs.peer
        value = NOT_THERE if peer is None else peer.value(kind, name)
        if isinstance(value, Unknown):
            unmet = met(state, *value.needs)
            return hazard(state, unmet) if path else unmet
        return leaf(value, *path)

    return run


def _has(ev: Evaluator, n: x.Has) -> Eval:
    name = n.capability
    return (lambda state: _draft_holds(name, state)) if n.draft else (lambda state: _holds(name, state))


def _holds(name: str, state: State) -> Result:
    inputs = state.inputs
    if inputs.architecture is None:
        return met(state, "architecture")
    if name in inputs.unknown_capabilities:
        return met(state, *(inputs.unknown_capabilities[name] or (f"capability:{name}",)))
    return name in inputs.capabilities


def _draft_holds(name: str, state: State) -> Result:
    if state.inputs.draft_architecture is None:
        return met(state, "draft_architecture")
    return name in state.inputs.draft_capabilities


def _in_list(ev: Evaluator, n: x.InList) -> Eval:
    key, draft = n.list, n.draft
    if n.value is not None:
        value = ev.value(n.value)

        def run(state: State) -> Result:
            result = value(state)
            return result if type(result) is Unknown else in_names(state.inputs.lists.get(key, NOTHING), result)

        return run

    def listed(state: State) -> Result:
        name = state.inputs.draft_architecture if draft else state.inputs.architecture
        if name is None:
            return met(state, "draft_architecture" if draft else "architecture")
        return in_names(state.inputs.lists.get(key, NOTHING), name)

    return listed


def _config(ev: Evaluator, n: x.Config) -> Eval:
    attribute, path, has = _VIEWS[n.view], n.path, n.has
    default = None if n.default is None else ev.value(n.default)

    def run(state: State) -> Result:
        view: ConfigView = getattr(state.inputs, attribute)
        otherwise = None if default is None else default(state)
        if view.data is None:
            return met(state, view.root)
        value = look(view, path)
        if value is UNSURE:
            return met(state, f"{view.root}.{'.'.join(path)}")
        if has:
            return value is not ABSENT
        return otherwise if value is ABSENT else value

    return run


# -- logic --------------------------------------------------------------------------


READS: dict[type[x.Expr], Callable[[Evaluator, Any], Eval]] = {
    x.Const: _const,
    x.Local: _local,
    x.Setting: _setting,
    x.Own: _own,
    x.Raw: _raw,
    x.UserSet: _user_set,
    x.Var: _var,
    x.Fact: _fact,
    x.Hardware: _hardware,
    x.Assume: _assume,
    x.Env: _env,
    x.EnvSet: _env_set,
    x.HasPeer: _has_peer,
    x.PeerValue: _peer_value,
    x.Profile: _profile,
    x.Has: _has,
    x.InList: _in_list,
    x.Config: _config,
}
"""What makes the closure of each kind of leaf."""
