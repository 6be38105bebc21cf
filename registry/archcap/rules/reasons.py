"""Which of the names that a condition reads make it what it is. Knows no state: who evaluates is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from archcap.rules import expr as x
from archcap.rules.describe import reference_of
from archcap.rules.functions import RAISES
from archcap.rules.ir import DefineIR
from archcap.rules.run import Reference, Unknown
from archcap.rules.runtime import ABSENT

DEAR = 12
"""Nodes of an expression from which on what it is worth is kept."""
RAISED = Unknown(frozenset({"an exception of the engine"}))

Found = dict[Reference, None]
Why = Callable[[Any, Found], None]
"""Adds the names whose values alone make an expression what it is in a state that keeps what is `worth` keeping."""


_Truth = Callable[[Any], Any]


class Evaluates(Protocol):
    """Computes what conditions are worth in a state."""

    @property
    def defines(self) -> Mapping[str, DefineIR]:
        """The definitions of the release."""

    def truth(self, node: x.Expr) -> Callable[[Any], Any]:
        """Return what computes whether *node* is true: True, False or an unknown."""


def safe(run: Callable[[Any], Any], state: Any) -> Any:
    """Compute a value; where the engine's own code would raise nobody knows it."""
    try:
        return run(state)
    except RAISES:
        return RAISED


def lasts(node: x.Expr) -> bool:
    """Return whether a node is dear enough to be remembered, and is worth the same wherever it stands."""
    if not isinstance(node, x.Defined) and (type(node) not in _WHYS or x.size(node) < DEAR):
        return False
    return not any(isinstance(part, x.Local) for part in x.walk(node))


def remembered(run: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return what computes a value once for each state."""

    def kept(state: Any) -> Any:
        found = state.worth.get(run, ABSENT)
        if found is ABSENT:
            found = state.worth[run] = run(state)
        return found

    return kept


class Reasons:
    """Builds what tells the reasons of conditions, each once."""

    def __init__(self, evaluator: Evaluates) -> None:
        self.evaluator = evaluator
        self._shared: dict[tuple[x.Expr, bool | None], Why] = {}

    def of(self, node: x.Expr, truth: bool | None) -> Why | tuple[Reference, ...]:
        """Return what adds the reasons of a condition, or the reasons themselves where they are always the same.

        Args:
            node: the condition.
            truth: what it is known to be worth; so are its parts then, without asking.
        """
        parts = self._parts(node, truth)
        plain = dict.fromkeys(part for part in parts if isinstance(part, Reference))
        return tuple(plain) if all(isinstance(part, Reference) for part in parts) else _all_of(parts)

    def _why(self, node: x.Expr, truth: bool | None) -> Why:
        return _all_of(self._parts(node, truth))

    def _parts(self, node: x.Expr, truth: bool | None) -> list[Reference | Why]:
        """Return what a node reads whatever the state, and what adds the reasons of parts that depend on it."""
        if isinstance(node, x.Bool) and truth is (node.op == "and"):
            return [part for item in node.items for part in self._parts(item, truth)]
        special = _WHYS.get(type(node))
        if special is not None:
            found = self._shared.get((node, truth))
            if found is None:
                found = self._shared[node, truth] = _told_once(node, special(self, node, truth))
            return [found]
        about_a_value = isinstance(node, x.InList) and node.value is not None
        reference = None if about_a_value else reference_of(node)
        parts: list[Reference | Why] = [] if reference is None else [reference]
        below = not truth if truth is not None and isinstance(node, x.Unary) and node.op == "not" else None
        for child in x.children(node):
            parts += self._parts(child, below)
        return parts

    def why_bool(self, node: x.Bool, truth: bool | None) -> Why:
        """Return what adds what decides `and` / `or`; *truth* is what decides, or unknown."""
        decides = node.op == "or"
        items = tuple((self.evaluator.truth(item), self._why(item, decides)) for item in node.items)
        whole = _all_of([part for item in node.items for part in self._parts(item, None)])

        def why(state: Any, found: Found) -> None:
            for holds, because in items:
                try:
                    if holds(state) is decides:
                        because(state, found)
                        return
                except RAISES:
                    continue
            whole(state, found)

        return why

    def why_choice(self, node: x.IfElse, truth: bool | None) -> Why:
        """Return what adds what decides `a if b else c`."""
        holds = self.evaluator.truth(node.test)
        test, yes, no = self._why(node.test, None), self._why(node.yes, truth), self._why(node.no, truth)

        def why(state: Any, found: Found) -> None:
            test(state, found)
            taken = safe(holds, state)
            if taken is not False:
                yes(state, found)
            if taken is not True:
                no(state, found)

        return why

    def why_define(self, node: x.Defined, truth: bool | None) -> Why:
        """Return what adds what decides a definition: the condition and the value of the row taken."""
        rows: list[tuple[_Truth | None, Why | None, Why]] = []

        def why(state: Any, found: Found) -> None:
            if not rows:
                rows.extend(self._rows(node, truth))  # when first asked: few of the definitions ever are
            for when, because, value in rows:
                holds = True if when is None else safe(when, state)
                if holds is False:
                    continue
                if because is not None:
                    because(state, found)
                value(state, found)
                if holds is True:
                    return

        return why

    def _rows(self, node: x.Defined, truth: bool | None) -> list[tuple[_Truth | None, Why | None, Why]]:
        """Return a definition's rows with the arguments in place."""
        evaluator = self.evaluator
        define = evaluator.defines[node.name]
        values = dict(zip(define.params, node.args, strict=True))
        rows: list[tuple[_Truth | None, Why | None, Why]] = []
        for row in define.rows:
            value = self._why(x.replace_locals(row.value, values), truth)
            if row.when is None:
                rows.append((None, None, value))
            else:
                when = x.replace_locals(row.when, values)
                rows.append((evaluator.truth(when), self._why(when, None), value))
        return rows


def _told_once(node: x.Expr, why: Why) -> Why:
    if not lasts(node):
        return why

    def told(state: Any, found: Found) -> None:
        worth = state.worth
        if told not in worth:
            own: Found = {}
            why(state, own)
            worth[told] = own
        found.update(worth[told])

    return told


def _all_of(parts: Sequence[Reference | Why]) -> Why:
    """Return what adds several reasons one after another."""
    if len(parts) == 1 and not isinstance(parts[0], Reference):
        return parts[0]
    plain = dict.fromkeys(part for part in parts if isinstance(part, Reference))
    if all(isinstance(part, Reference) for part in parts):
        return lambda state, found: found.update(plain)
    whys = tuple(_adds(part) if isinstance(part, Reference) else part for part in parts)

    def why(state: Any, found: Found) -> None:
        for part in whys:
            part(state, found)

    return why


def _adds(reference: Reference) -> Why:
    return lambda state, found: found.setdefault(reference)


_WHYS: dict[type[x.Expr], Callable[[Reasons, Any, bool | None], Why]] = {
    x.Bool: Reasons.why_bool,
    x.IfElse: Reasons.why_choice,
    x.Defined: Reasons.why_define,
}
