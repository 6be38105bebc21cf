"""Three-valued evaluation of expressions: Kleene's logic over values that may be unknown.

Turns a tree into closures once; each takes the state of a run. An unknown that meets an operation which might raise is
a hazard, because the engine's own code could have stopped there. Knows no statement.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from archcap.rules import expr as x
from archcap.rules.functions import BUILTINS, RAISES
from archcap.rules.ir import Definitions
from archcap.rules.reads import READS, Eval, hazard
from archcap.rules.run import Function, Unknown, Value
from archcap.rules.state import NOTHING, Result, State, needs_of, same, unknown

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "|": operator.or_, "&": operator.and_, "^": operator.xor, "==": operator.eq,
    "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "is": operator.is_, "is not": operator.is_not, "in": lambda a, b: a in b, "not in": lambda a, b: a not in b,
}  # fmt: skip
_HARMLESS = frozenset({"==", "!=", "is", "is not"})


def literal(node: x.Expr) -> Value:
    """Return the value of a literal."""
    if isinstance(node, x.Const):
        return node.value
    if isinstance(node, x.DictDisplay):
        return {str(literal(key)): literal(value) for key, value in zip(node.keys, node.values, strict=True)}
    assert isinstance(node, x.Display)
    return [literal(item) for item in node.items]


class Evaluator:
    """Builds closures, one per distinct expression; definitions are those of one release."""

    def __init__(self, definitions: Definitions) -> None:
        self.defines = {define.name: define for define in definitions.defines}
        self.fact_needs = dict(definitions.fact_needs)
        self.env = {name: literal(node) for name, node in definitions.env}
        self._values: dict[x.Expr, Eval] = {}
        self._truths: dict[x.Expr, Eval] = {}
        self._defined: dict[str, Eval] = {}
        self._defined_truths: dict[str, Eval] = {}

    def value(self, node: x.Expr) -> Eval:
        """Return what computes the value of *node*."""
        found = self._values.get(node)
        if found is None:
            found = self._values[node] = self.kept(node, self.closure(node))
        return found

    def closure(self, node: x.Expr) -> Eval:
        """Return what computes the value of *node*, made anew."""
        return _VALUES[type(node)](self, node)

    def truth(self, node: x.Expr) -> Eval:
        """Return what computes whether *node* is true: True, False or an unknown."""
        found = self._truths.get(node)
        if found is None:
            found = self._truths[node] = self.kept(node, self._truth(node))
        return found

    def kept(self, node: x.Expr, run: Eval) -> Eval:
        """Return what stands for *run*, which computes *node*, from now on."""
        return run

    def _truth(self, node: x.Expr) -> Eval:
        special = _TRUTHS.get(type(node))
        if special is not None:
            return special(self, node)
        value = self.value(node)
        if x.is_boolean(node):
            return value

        def truth(state: State) -> Result:
            result = value(state)
            return result if type(result) is Unknown else bool(result)

        return truth

    def define(self, name: str, truth: bool) -> Eval:
        """Return what computes a definition's value or truth, its parameters in place."""
        table = self._defined_truths if truth else self._defined
        if name not in table:
            rows = self.defines[name].rows
            pick = self.truth if truth else self.value
            table[name] = _rows([(None if r.when is None else self.truth(r.when), pick(r.value)) for r in rows])
        return table[name]


def _rows(rows: Sequence[tuple[Eval | None, Eval]]) -> Eval:
    def run(state: State) -> Result:
        possible: list[Result] = []
        needs = NOTHING
        for when, value in rows:
            holds = True if when is None else (guarded(when, state, needs) if needs else when(state))
            if holds is False:
                continue
            sure = holds is True and not needs
            possible.append(value(state) if sure else guarded(value, state, needs | needs_of(holds)))
            if holds is True:
                break
            needs |= holds.needs
        return _agreed(possible, needs)

    return run


def _agreed(possible: list[Result], needs: frozenset[str]) -> Result:
    if not possible:
        return None
    result = possible[0]
    for other in possible[1:]:
        if type(result) is not Unknown and type(other) is not Unknown and same(result, other):
            continue
        result = unknown(needs, needs_of(result), needs_of(other))
    return result


def guarded(run: Eval, state: State, needs: frozenset[str]) -> Result:
    """Compute something that the full run may never reach: an exception there is a hazard, not a refusal."""
    try:
        return run(state)
    except RAISES:
        state.notes.hazards |= needs
        return unknown(needs)


def _bool_truth(ev: Evaluator, n: x.Bool) -> Eval:
    items = [ev.truth(item) for item in n.items]
    decides = n.op == "or"

    def run(state: State) -> Result:
        needs = NOTHING
        for item in items:
            result = guarded(item, state, needs) if needs else item(state)
            if result is decides:
                return decides
            if type(result) is Unknown:
                needs |= result.needs
        return Unknown(needs) if needs else not decides

    return run


def _bool_value(ev: Evaluator, n: x.Bool) -> Eval:
    if x.is_boolean(n):
        return ev.truth(n)
    values = [ev.value(item) for item in n.items]
    decides = n.op == "or"

    def run(state: State) -> Result:
        result: Result = None
        for position, value in enumerate(values):
            result = value(state)
            if type(result) is Unknown:
                return _open(state, position, result)
            if bool(result) is decides:
                return result
        return result

    def _open(state: State, position: int, first: Unknown) -> Result:
        needs = first.needs
        for value in values[position + 1 :]:
            result = guarded(value, state, needs)
            needs |= needs_of(result)
            if type(result) is not Unknown and bool(result) is decides:
                break
        return Unknown(needs)

    return run


def _not(ev: Evaluator, n: x.Unary) -> Eval:
    item = ev.truth(n.item)

    def run(state: State) -> Result:
        result = item(state)
        return result if type(result) is Unknown else not result

    return run


def _unary(ev: Evaluator, n: x.Unary) -> Eval:
    if n.op == "not":
        return _not(ev, n)
    item = ev.value(n.item)
    apply = operator.neg if n.op == "-" else operator.pos

    def run(state: State) -> Result:
        result = item(state)
        return hazard(state, result) if type(result) is Unknown else apply(result)

    return run


def _binary(ev: Evaluator, n: x.Binary) -> Eval:
    left, right, apply = ev.value(n.left), ev.value(n.right), _OPERATORS[n.op]

    def run(state: State) -> Result:
        first, second = left(state), right(state)
        if type(first) is Unknown or type(second) is Unknown:
            return hazard(state, first, second)
        return apply(first, second)

    return run


def _compare(ev: Evaluator, n: x.Compare) -> Eval:
    if len(n.ops) == 1:
        return _comparison(ev, n.ops[0], n.items[0], n.items[1])
    return _chain(ev, n)


def _chain(ev: Evaluator, n: x.Compare) -> Eval:
    items = [ev.value(item) for item in n.items]
    ops = [(op, _OPERATORS[op]) for op in n.ops]

    def run(state: State) -> Result:
        needs = NOTHING
        left = items[0](state)
        for (op, apply), item in zip(ops, items[1:], strict=True):
            right = guarded(item, state, needs) if needs else item(state)
            if type(left) is Unknown or type(right) is Unknown:
                needs |= needs_of(left) | needs_of(right)
                state.notes.hazards |= NOTHING if op in _HARMLESS else needs
            else:
                result = guarded(partial(_applied, apply, left, right), state, needs) if needs else apply(left, right)
                if type(result) is Unknown:
                    needs |= result.needs
                elif not result:
                    return False
            left = right
        return Unknown(needs) if needs else True

    return run


def _applied(apply: Callable[[Result, Result], Result], left: Result, right: Result, state: State) -> Result:
    return apply(left, right)


def _comparison(ev: Evaluator, op: str, left_node: x.Expr, right_node: x.Expr) -> Eval:
    if op in ("in", "not in") and isinstance(right_node, x.Display):
        return _member(ev, left_node, right_node, op == "in")
    left, right, apply = ev.value(left_node), ev.value(right_node), _OPERATORS[op]
    harmless = op in _HARMLESS

    def run(state: State) -> Result:
        first, second = left(state), right(state)
        if type(first) is Unknown or type(second) is Unknown:
            return unknown(needs_of(first), needs_of(second)) if harmless else hazard(state, first, second)
        return apply(first, second)

    return run


def _member(ev: Evaluator, left_node: x.Expr, right_node: x.Display, wanted: bool) -> Eval:
    left, items, is_set = ev.value(left_node), [ev.value(item) for item in right_node.items], right_node.kind == "set"

    def run(state: State) -> Result:
        value = left(state)
        values = [item(state) for item in items]
        known = [item for item in values if type(item) is not Unknown]
        needs = needs_of(value).union(*(needs_of(item) for item in values if type(item) is Unknown))
        if is_set:
            known = list(set(known))
            if type(value) is not Unknown:
                hash(value)
            if needs:
                state.notes.hazards |= needs
        if type(value) is not Unknown and value in known:
            return wanted
        return Unknown(needs) if needs else not wanted

    return run


def _if_else(ev: Evaluator, n: x.IfElse) -> Eval:
    return _rows([(ev.truth(n.test), ev.value(n.yes)), (None, ev.value(n.no))])


def _if_else_truth(ev: Evaluator, n: x.IfElse) -> Eval:
    return _rows([(ev.truth(n.test), ev.truth(n.yes)), (None, ev.truth(n.no))])


# -- collections and calls -------------------------------------------------------------


def _strict(ev: Evaluator, nodes: Sequence[x.Expr], apply: Callable[..., Result], harmless: bool = False) -> Eval:
    """Return what applies a function to values that must all be known."""
    parts = [ev.value(node) for node in nodes]

    def run(state: State) -> Result:
        values = [part(state) for part in parts]
        if any(type(value) is Unknown for value in values):
            if harmless:
                return unknown(*(needs_of(value) for value in values if type(value) is Unknown))
            return hazard(state, *(value for value in values if type(value) is Unknown))
        return apply(*values)

    return run


def _index(ev: Evaluator, n: x.Index) -> Eval:
    return _strict(ev, (n.value, n.index), operator.getitem)


def _slice(ev: Evaluator, n: x.Slice) -> Eval:
    bounds = [x.Const(None) if bound is None else bound for bound in (n.start, n.end, n.step)]
    return _strict(ev, (n.value, *bounds), lambda value, *parts: value[slice(*parts)])


def _display(ev: Evaluator, n: x.Display) -> Eval:
    make = {"tuple": tuple, "list": list, "set": set}[n.kind]
    return _strict(ev, n.items, lambda *items: make(items), harmless=n.kind != "set")


def _dict(ev: Evaluator, n: x.DictDisplay) -> Eval:
    count = len(n.keys)
    return _strict(ev, (*n.keys, *n.values), lambda *parts: dict(zip(parts[:count], parts[count:], strict=True)))


def _method(ev: Evaluator, n: x.Method) -> Eval:
    name = n.name
    return _strict(ev, (n.value, *n.args), lambda value, *args: getattr(value, name)(*args))


def _call(ev: Evaluator, n: x.Call) -> Eval:
    if n.args and isinstance(n.args[0], x.Loop):
        return _call_loop(ev, n, n.args[0])
    names = [name for name, _ in n.keywords]
    nodes = (*n.args, *(value for _, value in n.keywords))
    count = len(n.args)
    if n.engine:
        return _call_engine(ev, n)
    function = BUILTINS[n.name]
    if n.name == "bool" and n.args:
        return ev.truth(n.args[0])
    return _strict(ev, nodes, lambda *parts: function(*parts[:count], **dict(zip(names, parts[count:], strict=True))))


def _call_engine(ev: Evaluator, n: x.Call) -> Eval:
    name = n.name
    parts = [ev.value(node) for node in n.args]

    def run(state: State) -> Result:
        values = [part(state) for part in parts]
        if any(type(value) is Unknown for value in values):
            return hazard(state, *(value for value in values if type(value) is Unknown))
        function: Function = state.inputs.functions[name]
        return function(*values)

    return run


def _call_loop(ev: Evaluator, n: x.Call, loop: x.Loop) -> Eval:
    source, name = ev.value(loop.source), loop.name
    logical = n.name in ("any", "all")
    item = ev.truth(loop.item) if logical else ev.value(loop.item)
    conditions = [ev.truth(condition) for condition in loop.conditions]
    rest = [ev.value(arg) for arg in n.args[1:]]
    keywords = [(key, ev.value(value)) for key, value in n.keywords]
    function = BUILTINS[n.name]

    def run(state: State) -> Result:
        values = source(state)
        if type(values) is Unknown:
            return hazard(state, values)
        values = iter(values)
        more = [part(state) for part in rest]
        options = {key: part(state) for key, part in keywords}
        outer = state.locals
        state.locals = dict(outer)
        try:
            if logical:
                return _logical(state, values, name, item, conditions, n.name == "any")
            made = _made(state, values, name, item, conditions)
        finally:
            state.locals = outer
        args = [made, *more]
        needs = [needs_of(part) for part in (*args, *options.values()) if type(part) is Unknown]
        return hazard(state, unknown(*needs)) if needs else function(*args, **options)

    return run


def _logical(
    state: State, values: Iterable[Result], name: str, item: Eval, conditions: Sequence[Eval], decides: bool
) -> Result:
    needs = NOTHING
    for value in values:
        state.locals[name] = value
        taken = _conditions(state, conditions, needs)
        if taken is False:
            continue
        result = guarded(item, state, needs | needs_of(taken)) if needs or taken is not True else item(state)
        if taken is True and result is decides:
            return decides
        if result is not (not decides):
            needs |= needs_of(taken) | needs_of(result)
    return Unknown(needs) if needs else not decides


def _conditions(state: State, conditions: Sequence[Eval], outer: frozenset[str]) -> Result:
    """Return whether an item is taken; *outer* is what it takes to come so far."""
    needs = NOTHING
    for condition in conditions:
        open_ = outer | needs
        result = guarded(condition, state, open_) if open_ else condition(state)
        if result is False:
            return False
        needs |= needs_of(result)
    return Unknown(needs) if needs else True


def _made(state: State, values: Iterable[Result], name: str, item: Eval, conditions: Sequence[Eval]) -> Result:
    made: list[Result] = []
    needs = NOTHING
    for value in values:
        state.locals[name] = value
        taken = _conditions(state, conditions, needs)
        if taken is False:
            continue
        made.append(guarded(item, state, needs | needs_of(taken)) if needs or taken is not True else item(state))
        needs |= needs_of(taken) | (needs_of(made[-1]) if type(made[-1]) is Unknown else NOTHING)
    return Unknown(needs) if needs else made


def _defined(ev: Evaluator, n: x.Defined, truth: bool = False) -> Eval:
    name, params = n.name, ev.defines[n.name].params
    args = [ev.value(arg) for arg in n.args]
    run: list[Eval] = []

    def bare(state: State) -> Result:
        if not run:
            run.append(ev.define(name, truth))
        return run[0](state)

    def call(state: State) -> Result:
        if not run:
            run.append(ev.define(name, truth))
        outer = state.locals
        state.locals = dict(zip(params, [arg(state) for arg in args], strict=True))
        try:
            return run[0](state)
        finally:
            state.locals = outer

    return call if params else bare


_VALUES: dict[type[x.Expr], Callable[[Evaluator, Any], Eval]] = {
    **READS,
    x.Bool: _bool_value, x.Unary: _unary, x.Binary: _binary, x.Compare: _compare, x.IfElse: _if_else, x.Index: _index,
    x.Slice: _slice, x.Display: _display, x.DictDisplay: _dict, x.Method: _method, x.Call: _call, x.Defined: _defined,
}  # fmt: skip
_TRUTHS: dict[type[x.Expr], Callable[[Evaluator, Any], Eval]] = {
    x.Bool: _bool_truth, x.IfElse: _if_else_truth, x.Defined: lambda ev, n: _defined(ev, n, truth=True),
}  # fmt: skip
