"""What a condition is worth in a given state, and which of the names it reads made it so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from archcap.rules import expr as x
from archcap.rules.conditions import Condition
from archcap.rules.describe import reference_of
from archcap.rules.evaluate import Evaluator, literal
from archcap.rules.functions import RAISES
from archcap.rules.ir import Definitions
from archcap.rules.reads import Eval
from archcap.rules.run import Function, Inputs, Moment, Reference, Unknown, Value, Values
from archcap.rules.state import Result, State, Store

_ABSENT = object()
_DEAR = 12
"""Nodes of an expression from which on what it is worth is kept."""


Found = dict[Reference, None]
Why = Callable[[State, Found], None]
"""Adds the names whose values alone make an expression what it is in a state."""


class _Layers(dict[str, Result]):
    """Values looked up where they stand, the first place that has one; holds none itself."""

    __slots__ = ("_layers",)

    def __init__(self, *layers: Values) -> None:
        super().__init__()
        self._layers = layers

    def get(self, name: str, default: Result = None, /) -> Result:
        for layer in self._layers:
            value = layer.get(name, _ABSENT)
            if value is not _ABSENT:
                return value
        return default

    def __missing__(self, name: str) -> Result:
        value = self.get(name, _ABSENT)
        if value is _ABSENT:
            raise KeyError(name)
        return value

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.get(name, _ABSENT) is not _ABSENT


class _Then(State):
    """The state at one moment, to read only: its stores are made when first read, without a copy of what they show."""

    __slots__ = ("defaults", "moment", "worth")

    moment: Moment
    worth: dict[object, Result]
    """What was computed already, by what computes it."""
    defaults: Mapping[str, Mapping[str, Value]]

    def __getattr__(self, name: str) -> Store:
        kind = _STORES.get(name)
        if kind is None:
            raise AttributeError(name)
        store = Store({})
        store.unknown = _Layers(self.moment.values(kind), *([self.defaults[name]] if name in self.defaults else ()))
        setattr(self, name, store)
        return store


_STORES = {"settings": "setting", "vars": "var", "facts": "fact", "env": "env"}


class Remembering(Evaluator):
    """Evaluates in states that nothing changes: what conditions share is computed once for each state."""

    def kept(self, node: x.Expr, run: Eval) -> Eval:
        """Return *run*, or what runs it once for each state."""
        if not _lasts(node):
            return run

        def remembered(state: State) -> Result:
            worth = state.worth  # type: ignore[attr-defined]
            if run not in worth:
                worth[run] = run(state)
            return worth[run]

        return remembered


def _lasts(node: x.Expr) -> bool:
    """Return whether a node is dear enough to be remembered, and is worth the same wherever it stands."""
    if not isinstance(node, x.Defined) and (type(node) not in _WHYS or x.size(node) < _DEAR):
        return False
    return not any(isinstance(part, x.Local) for part in x.walk(node))


def _told_once(node: x.Expr, why: Why) -> Why:
    if not _lasts(node):
        return why

    def told(state: State, found: Found) -> None:
        worth = state.worth  # type: ignore[attr-defined]
        if told not in worth:
            own: Found = {}
            why(state, own)
            worth[told] = own
        found.update(worth[told])

    return told


class Judge:
    """Evaluates the conditions of one program; never raises for reasons of data."""

    def __init__(
        self, definitions: Definitions, condition: Callable[[int], Condition], functions: Mapping[str, Function]
    ) -> None:
        self.evaluator = Remembering(definitions)
        self.vars = {name: literal(node) for name, node in definitions.vars}
        self.condition, self.functions = condition, functions
        self._values: dict[int, Eval] = {}
        self._whys: dict[int, Why | tuple[Reference, ...]] = {}
        self._shared: dict[x.Expr, Why] = {}
        self._last: tuple[Moment, Inputs, State] | None = None

    def _state(self, inputs: Inputs, moment: Moment) -> State:
        """Return a state as of *moment*; chains of causes ask many times for the same one, so it is kept."""
        last = self._last
        if last is None or last[0] is not moment or last[1] is not inputs:
            last = self._last = (moment, inputs, self._made(inputs, moment))
        return last[2]

    def _made(self, inputs: Inputs, moment: Moment) -> State:
        state = _Then.of(inputs if inputs.functions else replace(inputs, functions=self.functions))
        state.moment, state.defaults = moment, {"vars": self.vars, "env": self.evaluator.env}
        state.worth = {}
        state.env_set = dict.fromkeys(inputs.env_set, True)
        state.own_settings = state.own_vars = None
        return state

    def evaluate(self, index: int, inputs: Inputs, moment: Moment) -> Value | Unknown:
        """Return the value of condition *index*.

        Args:
            index: into `Program.expressions`.
            inputs: what the run was given.
            moment: the values in force; of a variable that it lacks, the default.
        Returns:
            The value, local names computed at the same moment; an `Unknown` where something is unknown, or the
            condition raises.
        """
        node = self.condition(index).closed
        if node is None:
            return Unknown(frozenset({"a local name"}))
        state = self._state(inputs, moment)
        result: Value | Unknown = _safe(self._value(index, node), state)
        if isinstance(result, Unknown):
            result = _safe(self.evaluator.truth(node), state)
        return result

    def _value(self, index: int, node: x.Expr) -> Eval:
        if index not in self._values:
            self._values[index] = self.evaluator.value(node)
        return self._values[index]

    def reasons(self, index: int, inputs: Inputs, moment: Moment) -> tuple[Reference, ...]:
        """Return the names whose values alone make condition *index* what it is at a moment.

        Of a conjunction that fails it is the first part that fails, of a disjunction that holds the first that holds;
        of a choice, the test and the side taken. Where a part is unknown, everything it reads.
        """
        why = self._whys.get(index)
        if why is None:
            why = self._whys[index] = self._reasons_of(self.condition(index))
        if isinstance(why, tuple):
            return why
        found: Found = {}
        why(self._state(inputs, moment), found)
        return tuple(found)

    def _reasons_of(self, condition: Condition) -> Why | tuple[Reference, ...]:
        """Return the reasons themselves where they are the same in every state."""
        node = condition.open if condition.closed is None else condition.closed
        parts = [None] if type(node) in _WHYS else self._parts(node)
        plain = dict.fromkeys(part for part in parts if isinstance(part, Reference))
        return tuple(plain) if all(isinstance(part, Reference) for part in parts) else self._why(node)

    def _why(self, node: x.Expr) -> Why:
        special = _WHYS.get(type(node))
        if special is not None:
            found = self._shared.get(node)
            if found is None:
                found = self._shared[node] = _told_once(node, special(self, node))
            return found
        parts = self._parts(node)
        plain = {part: None for part in parts if isinstance(part, Reference)}
        if len(plain) == len(parts):
            return lambda state, found: found.update(plain)
        whys = tuple(_adds(part) if isinstance(part, Reference) else part for part in parts)

        def why(state: State, found: Found) -> None:
            for part in whys:
                part(state, found)

        return why

    def _parts(self, node: x.Expr) -> list[Reference | Why]:
        """Return what an operation reads whatever the state, and what adds the reasons of parts that depend on it."""
        about_a_value = isinstance(node, x.InList) and node.value is not None
        reference = None if about_a_value else reference_of(node)
        found: list[Reference | Why] = [] if reference is None else [reference]
        for child in x.children(node):
            found += [self._why(child)] if type(child) in _WHYS else self._parts(child)
        return found

    def why_bool(self, node: x.Bool) -> Why:
        """Return what adds what decides `and` / `or`."""
        decides = node.op == "or"
        truth = self.evaluator.truth
        items = tuple((truth(item), self._why(item)) for item in node.items)

        def why(state: State, found: Found) -> None:
            for holds, because in items:
                if _safe(holds, state) is decides:
                    because(state, found)
                    return
            for _, because in items:
                because(state, found)

        return why

    def why_choice(self, node: x.IfElse) -> Why:
        """Return what adds what decides `a if b else c`."""
        truth = self.evaluator.truth(node.test)
        test, yes, no = self._why(node.test), self._why(node.yes), self._why(node.no)

        def why(state: State, found: Found) -> None:
            test(state, found)
            holds = _safe(truth, state)
            if holds is not False:
                yes(state, found)
            if holds is not True:
                no(state, found)

        return why

    def why_define(self, node: x.Defined) -> Why:
        """Return what adds what decides a definition: the condition and the value of the row taken."""
        rows: list[tuple[Eval | None, Why | None, Why]] = []

        def why(state: State, found: Found) -> None:
            if not rows:
                rows.extend(self._rows(node))  # when first asked: few of the definitions ever are
            for when, because, value in rows:
                holds = True if when is None else _safe(when, state)
                if holds is False:
                    continue
                if because is not None:
                    because(state, found)
                value(state, found)
                if holds is True:
                    return

        return why

    def _rows(self, node: x.Defined) -> list[tuple[Eval | None, Why | None, Why]]:
        """Return a definition's rows with the arguments in place."""
        evaluator = self.evaluator
        define = evaluator.defines[node.name]
        values = dict(zip(define.params, node.args, strict=True))
        rows: list[tuple[Eval | None, Why | None, Why]] = []
        for row in define.rows:
            value = self._why(x.replace_locals(row.value, values))
            if row.when is None:
                rows.append((None, None, value))
            else:
                when = x.replace_locals(row.when, values)
                rows.append((evaluator.truth(when), self._why(when), value))
        return rows


def _safe(run: Eval, state: State) -> Any:
    try:
        return run(state)
    except RAISES:
        return Unknown(frozenset({"an exception of the engine"}))


def _adds(reference: Reference) -> Why:
    return lambda state, found: found.setdefault(reference)


_WHYS: dict[type[x.Expr], Callable[[Judge, Any], Why]] = {
    x.Bool: Judge.why_bool,
    x.IfElse: Judge.why_choice,
    x.Defined: Judge.why_define,
}
