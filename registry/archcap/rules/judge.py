"""What a condition is worth in a given state, and which of the names it reads made it so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from archcap.rules import expr as x
from archcap.rules.conditions import Condition
from archcap.rules.evaluate import Evaluator, literal
from archcap.rules.functions import RAISES
from archcap.rules.ir import Definitions
from archcap.rules.past import Compiled, Layers, Past, Pasts
from archcap.rules.reads import Eval
from archcap.rules.reasons import RAISED, Found, Reasons, Why, lasts, remembered, safe
from archcap.rules.run import Function, Inputs, Moment, NeedsInterpreter, Reference, Unknown, Value
from archcap.rules.runtime import ABSENT, Context, Layout
from archcap.rules.state import Result, State, Store, whole

_NOT_CLOSED = Unknown(frozenset({"a local name"}))


class _Stored(Layers):
    """Values of a store, read only."""

    __slots__ = ()

    def get(self, name: str, default: Result = None, /) -> Result:
        try:
            return self[name]
        except KeyError:
            return default

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.get(name, ABSENT) is not ABSENT


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
        store.unknown = _Stored(self.moment.values(kind), *([self.defaults[name]] if name in self.defaults else ()))
        setattr(self, name, store)
        return store


_STORES = {"settings": "setting", "vars": "var", "facts": "fact", "env": "env"}


class Remembering(Evaluator):
    """Evaluates in states that nothing changes: what conditions share is computed once for each state."""

    def closure(self, node: x.Expr) -> Eval:
        """Return what computes the value of *node*; a whole setting stands in one place of a past state."""
        if isinstance(node, x.Setting) and len(node.path) == 1:
            return _setting(node.path[0])
        return super().closure(node)

    def kept(self, node: x.Expr, run: Eval) -> Eval:
        """Return *run*, or what runs it once for each state."""
        return remembered(run) if lasts(node) else run


def _setting(name: str) -> Eval:
    def run(state: State) -> Result:
        value = state.settings.unknown[name]
        return whole(value) if type(value) is dict else value

    return run


_Why = Why | tuple[Reference, ...]


class Judge:
    """Evaluates the conditions of one program; never raises for reasons of data.

    After a run of compiled rules conditions are compiled code as well; they are evaluated in three values after any
    other run, and where that code meets something unknown.
    """

    def __init__(
        self, definitions: Definitions, condition: Callable[[int], Condition], functions: Mapping[str, Function],
        namespace: Mapping[str, Any], layout: Layout,
    ) -> None:  # fmt: skip
        self.evaluator, self.pasts = Remembering(definitions), Pasts(definitions, namespace, layout)
        self.vars = {name: literal(node) for name, node in definitions.vars}
        self.condition, self.functions = condition, functions
        self._values: dict[int, Eval] = {}
        self._compiled: dict[int, Compiled] = {}
        self._over_states, self._over_pasts = Reasons(self.evaluator), Reasons(self.pasts)
        self._told: dict[tuple[int, bool | None], _Why] = {}
        self._said: dict[tuple[int, bool | None], _Why] = {}
        self._last: tuple[Moment, Inputs, State] | None = None
        self._past: tuple[Moment, Past] | None = None

    def _at(self, inputs: Inputs, moment: Moment, context: Context) -> Past:
        """Return what compiled code reads at *moment*; chains of causes ask many times for the same one."""
        past = self._past
        if past is None or past[0] is not moment:
            past = self._past = (moment, self.pasts.at(moment, inputs, context))
        return past[1]

    def _state(self, inputs: Inputs, moment: Moment) -> State:
        """Return a state as of *moment*; it is kept like what compiled code reads."""
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
        context = moment.context
        if context is None:
            return self._in_three_values(index, inputs, moment)
        run = self._compiled.get(index)
        if run is None:
            run = self._compiled[index] = self._compiled_of(self.condition(index).closed)
        try:
            result: Value = run(self._at(inputs, moment, context))
        except NeedsInterpreter:
            return self._in_three_values(index, inputs, moment)
        except RAISES:
            return RAISED
        return result

    def _compiled_of(self, node: x.Expr | None) -> Compiled:
        return _not_closed if node is None else self.pasts.value(node)

    def _in_three_values(self, index: int, inputs: Inputs, moment: Moment) -> Value | Unknown:
        node = self.condition(index).closed
        if node is None:
            return _NOT_CLOSED
        state = self._state(inputs, moment)
        result: Value | Unknown = safe(self._value(index, node), state)
        if isinstance(result, Unknown):
            result = safe(self.evaluator.truth(node), state)
        return result

    def _value(self, index: int, node: x.Expr) -> Eval:
        if index not in self._values:
            self._values[index] = self.evaluator.value(node)
        return self._values[index]

    def reasons(self, index: int, inputs: Inputs, moment: Moment, truth: bool | None = None) -> tuple[Reference, ...]:
        """Return the names whose values alone make condition *index* what it is at a moment.

        Of a conjunction that fails it is the first part that fails, of a disjunction that holds the first that holds;
        of a choice, the test and the side taken. Where a part is unknown, everything it reads.

        Args:
            index: into `Program.expressions`.
            inputs: what the run was given.
            moment: the values in force.
            truth: what the condition is worth, where that is known; so are its parts then, without asking.
        """
        key, context = (index, truth), moment.context
        if context is not None:
            why = self._said.get(key)
            if why is None:
                why = self._said[key] = self._why(self._over_pasts, key)
            if isinstance(why, tuple):
                return why
            try:
                return _told(why, self._at(inputs, moment, context))
            except NeedsInterpreter:
                pass  # something unknown is read: asked again in three values
        return self._reasons_in_three_values(key, inputs, moment)

    def _reasons_in_three_values(
        self, key: tuple[int, bool | None], inputs: Inputs, moment: Moment
    ) -> tuple[Reference, ...]:
        why = self._told.get(key)
        if why is None:
            why = self._told[key] = self._why(self._over_states, key)
        if isinstance(why, tuple):
            return why
        return _told(why, self._state(inputs, moment))

    def _why(self, reasons: Reasons, key: tuple[int, bool | None]) -> _Why:
        condition = self.condition(key[0])
        return reasons.of(condition.open if condition.closed is None else condition.closed, key[1])


def _told(why: Why, state: State | Past) -> tuple[Reference, ...]:
    found: Found = {}
    why(state, found)
    return tuple(found)


def _not_closed(past: Past) -> Unknown:
    return _NOT_CLOSED
