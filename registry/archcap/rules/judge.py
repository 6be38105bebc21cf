"""What a condition is worth in a given state, and which of the names it reads made it so."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from archcap.rules import expr as x
from archcap.rules.conditions import Condition
from archcap.rules.describe import reference_of
from archcap.rules.functions import RAISES
from archcap.rules.interpret import Interpreter
from archcap.rules.reads import Eval
from archcap.rules.run import Function, Inputs, Reference, Unknown, Value
from archcap.rules.state import Result, State, Store

_ABSENT = object()


class Values(Protocol):
    """Values by name, read one at a time."""

    def get(self, name: str, default: Any, /) -> Any:
        """Return a value, *default* where there is none."""


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


def _store(*layers: Values) -> Store:
    """Return a store to read only, without a copy of what it stands on."""
    store = Store({})
    store.unknown = _Layers(*layers)
    return store


class Judge:
    """Evaluates the conditions of one program; never raises for reasons of data."""

    def __init__(
        self, interpreter: Interpreter, conditions: Sequence[Condition], functions: Mapping[str, Function]
    ) -> None:
        self.interpreter, self.conditions, self.functions = interpreter, conditions, functions
        self._values: dict[int, Eval] = {}
        self._truths: dict[int, Eval] = {}
        self._whys: dict[int, Why] = {}
        self._last: tuple[Values, Inputs, State] | None = None

    def _state(self, inputs: Inputs, settings: Values, vars: Values, facts: Values, env: Values) -> State:
        """Return a state with the given values; chains of causes ask many times for the same one, so it is kept."""
        last = self._last
        if last is None or last[0] is not settings or last[1] is not inputs:
            last = self._last = (settings, inputs, self._made(inputs, settings, vars, facts, env))
        return last[2]

    def _made(self, inputs: Inputs, settings: Values, vars: Values, facts: Values, env: Values) -> State:
        interpreter = self.interpreter
        state = State.of(inputs if inputs.functions else replace(inputs, functions=self.functions))
        state.settings = _store(settings, inputs.raw)
        state.vars = _store(vars, interpreter.vars)
        state.facts = _store(facts, inputs.facts)
        state.env = _store(env, inputs.env, interpreter.evaluator.env)
        state.env_set = dict.fromkeys(inputs.env_set, True)
        state.own_settings = state.own_vars = None
        return state

    def evaluate(
        self, index: int, inputs: Inputs, settings: Values, vars: Values, facts: Values,
        env: Values | None = None, lets: Mapping[str, Value | Unknown] | None = None,
    ) -> Value | Unknown:  # fmt: skip
        """Return the value of condition *index* in a state.

        Args:
            index: into `Program.expressions`.
            inputs: what the run was given.
            settings: values by setting; those left out are as given.
            vars: values by variable; those left out are the defaults.
            facts: values by fact.
            env: values by environment variable; those left out are as given.
            lets: values of local names; without them what they stand for is computed in the same state.
        Returns:
            The value; an `Unknown` where something is unknown, or the condition raises.
        """
        condition = self.conditions[index]
        if lets:
            state = self._made(inputs, settings, vars, facts, env or {})
            state.locals = dict(lets)
            found: Value | Unknown = _safe(self.interpreter.evaluator.value(condition.open), state)
            return found
        if condition.closed is None:
            return Unknown(frozenset({"a local name"}))
        state = self._state(inputs, settings, vars, facts, env or {})
        value = self._values.get(index)
        if value is None:
            value = self._values[index] = self.interpreter.evaluator.value(condition.closed)
        result: Value | Unknown = _safe(value, state)
        if isinstance(result, Unknown):
            result = _safe(self._truth(index, condition.closed), state)
        return result

    def _truth(self, index: int, node: x.Expr) -> Eval:
        if index not in self._truths:
            self._truths[index] = self.interpreter.evaluator.truth(node)
        return self._truths[index]

    def reasons(
        self, index: int, inputs: Inputs, settings: Values, vars: Values, facts: Values, env: Values | None = None
    ) -> tuple[Reference, ...]:  # fmt: skip
        """Return the names whose values alone make condition *index* what it is in a state.

        Of a conjunction that fails it is the first part that fails, of a disjunction that holds the first that holds;
        of a choice, the test and the side taken. Where a part is unknown, everything it reads.
        """
        why = self._whys.get(index)
        if why is None:
            condition = self.conditions[index]
            why = self._whys[index] = self._why(condition.open if condition.closed is None else condition.closed)
        found: Found = {}
        why(self._state(inputs, settings, vars, facts, env or {}), found)
        return tuple(found)

    def _why(self, node: x.Expr) -> Why:
        special = _WHYS.get(type(node))
        if special is not None:
            return special(self, node)
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
        truth = self.interpreter.evaluator.truth
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
        truth = self.interpreter.evaluator.truth(node.test)
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
        evaluator = self.interpreter.evaluator
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
