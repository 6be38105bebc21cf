"""What a condition is worth in a given state, and which of the names it reads made it so."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from archcap.rules import expr as x
from archcap.rules.conditions import Condition
from archcap.rules.describe import reference_of
from archcap.rules.functions import RAISES
from archcap.rules.interpret import Interpreter
from archcap.rules.run import Function, Inputs, Reference, Unknown, Value
from archcap.rules.state import State

Values = Mapping[str, Value | Unknown]


class Judge:
    """Evaluates the conditions of one program; never raises for reasons of data."""

    def __init__(
        self, interpreter: Interpreter, conditions: Sequence[Condition], functions: Mapping[str, Function]
    ) -> None:
        self.interpreter, self.conditions, self.functions = interpreter, conditions, functions
        self._plain: dict[x.Expr, tuple[Reference | x.Expr, ...]] = {}
        self._rows: dict[x.Defined, tuple[tuple[x.Expr | None, x.Expr], ...]] = {}
        self._first: tuple[Inputs, State] | None = None
        self._last: tuple[Values, Inputs, State] | None = None

    def state(self, inputs: Inputs, settings: Values, vars: Values, facts: Values, env: Values) -> State:
        """Return a state with the given values, which the caller must not change afterwards.

        Chains of causes ask many times for the same one, so the last is kept.
        """
        last = self._last
        if last is not None and last[0] is settings and last[1] is inputs:
            return last[2]
        state = self._made(inputs, settings, vars, facts, env)
        self._last = (settings, inputs, state)
        return state

    def _start(self, inputs: Inputs) -> State:
        """Return the state before the first step, kept as long as the same inputs are asked about."""
        first = self._first
        if first is None or first[0] is not inputs:
            ready = inputs if inputs.functions else replace(inputs, functions=self.functions)
            first = self._first = (inputs, self.interpreter.start(ready))
        return first[1]

    def _made(self, inputs: Inputs, settings: Values, vars: Values, facts: Values, env: Values) -> State:
        state = self._start(inputs).fork()
        state.settings.update(settings)
        state.vars.update(vars)
        state.facts.update(facts)
        state.env.update(env)
        return state

    def evaluate(
        self, index: int, inputs: Inputs, settings: Values, vars: Values, facts: Values,
        env: Values | None = None, lets: Values | None = None,
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
        state = self.state(inputs, settings, vars, facts, env or {})
        condition = self.conditions[index]
        node = condition.closed
        if lets:
            state.locals = dict(lets)
            node = condition.open
        if node is None:
            return Unknown(frozenset({"a local name"}))
        result: Value | Unknown = self._value(node, state)
        return self._truth(node, state) if isinstance(result, Unknown) else result

    def _value(self, node: x.Expr, state: State) -> Any:
        try:
            return self.interpreter.evaluator.value(node)(state)
        except RAISES:
            return Unknown(frozenset({"an exception of the engine"}))

    def reasons(
        self, index: int, inputs: Inputs, settings: Values, vars: Values, facts: Values, env: Values | None = None
    ) -> tuple[Reference, ...]:  # fmt: skip
        """Return the names whose values alone make condition *index* what it is in a state.

        Of a conjunction that fails it is the first part that fails, of a disjunction that holds the first that holds;
        of a choice, the test and the side taken. Where a part is unknown, everything it reads.
        """
        condition = self.conditions[index]
        state = self.state(inputs, settings, vars, facts, env or {})
        node = condition.open if condition.closed is None else condition.closed
        return tuple(dict.fromkeys(self._reasons(node, state)))

    def _reasons(self, node: x.Expr, state: State) -> Iterator[Reference]:
        special = _REASONS.get(type(node))
        if special is not None:
            yield from special(self, node, state)
            return
        plain = self._plain.get(node)
        if plain is None:
            plain = self._plain[node] = self._plain_reasons(node)
        for part in plain:
            if isinstance(part, Reference):
                yield part
            else:
                yield from self._reasons(part, state)

    def _plain_reasons(self, node: x.Expr) -> tuple[Reference | x.Expr, ...]:
        """Return what an operation reads whatever the state, and its parts that depend on the state."""
        about_a_value = isinstance(node, x.InList) and node.value is not None
        reference = None if about_a_value else reference_of(node)
        found: list[Reference | x.Expr] = [] if reference is None else [reference]
        for child in x.children(node):
            found += [child] if type(child) in _REASONS else self._plain_reasons(child)
        return tuple(found)

    def _truth(self, node: x.Expr, state: State) -> Any:
        try:
            return self.interpreter.evaluator.truth(node)(state)
        except RAISES:
            return Unknown(frozenset({"an exception of the engine"}))

    def bool_reasons(self, node: x.Bool, state: State) -> Iterator[Reference]:
        """Yield what decides `and` / `or`."""
        decides = node.op == "or"
        for item in node.items:
            if self._truth(item, state) is decides:
                yield from self._reasons(item, state)
                return
        for item in node.items:
            yield from self._reasons(item, state)

    def choice_reasons(self, node: x.IfElse, state: State) -> Iterator[Reference]:
        """Yield what decides `a if b else c`."""
        yield from self._reasons(node.test, state)
        test = self._truth(node.test, state)
        if test is not False:
            yield from self._reasons(node.yes, state)
        if test is not True:
            yield from self._reasons(node.no, state)

    def define_reasons(self, node: x.Defined, state: State) -> Iterator[Reference]:
        """Yield what decides a definition: the condition and the value of the row taken."""
        for when, value in self._rows_of(node):
            test: Any = True if when is None else self._truth(when, state)
            if test is False:
                continue
            if when is not None:
                yield from self._reasons(when, state)
            yield from self._reasons(value, state)
            if test is True:
                return

    def _rows_of(self, node: x.Defined) -> tuple[tuple[x.Expr | None, x.Expr], ...]:
        """Return a definition's rows with the arguments in place."""
        if node not in self._rows:
            define = self.interpreter.evaluator.defines[node.name]
            values = dict(zip(define.params, node.args, strict=True))
            self._rows[node] = tuple(
                (None if row.when is None else x.replace_locals(row.when, values), x.replace_locals(row.value, values))
                for row in define.rows
            )
        return self._rows[node]


_REASONS: dict[type[x.Expr], Callable[[Judge, Any, State], Iterator[Reference]]] = {
    x.Bool: Judge.bool_reasons,
    x.IfElse: Judge.choice_reasons,
    x.Defined: Judge.define_reasons,
}
