"""Conditions outside the rules: the `when` of conditional support, over the configuration and `hw.platform` alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from archcap.errors import DataError, Problem
from archcap.model.engine import Names
from archcap.rules import expr as x
from archcap.rules.evaluate import Evaluator
from archcap.rules.functions import RAISES
from archcap.rules.ir import Definitions
from archcap.rules.names import Universe
from archcap.rules.parse import Flaw, Scope, parse
from archcap.rules.run import Inputs, Unknown, Value
from archcap.rules.state import State

_PLATFORM = frozenset({"platform"})
_CONFIG_ONLY = Universe({}, Names(), frozenset(), {}, {}, frozenset(), _PLATFORM, frozenset())


def condition_flaws(text: str) -> list[Flaw]:
    """Return what is wrong with a condition over the configuration."""
    return parse(text, Scope(_CONFIG_ONLY))[1]


@lru_cache(maxsize=4096)
def condition(text: str) -> Callable[[Inputs], Value | Unknown]:
    """Return what decides a condition over the configuration (`hf.get(…)`, `text.get(…)`).

    Returns:
        A function of a run's inputs: True, False, or an `Unknown`; a condition that raises is unknown.
    Raises:
        DataError: *text* is no such condition.
    """
    node, flaws = parse(text, Scope(_CONFIG_ONLY))
    if flaws:
        raise DataError([Problem("", None, text, flaw.message, flaw.expected, flaw.suggestion) for flaw in flaws])
    return _Condition(node)


class _Condition:
    def __init__(self, node: x.Expr) -> None:
        self._truth = Evaluator(Definitions((), (), (), ())).truth(node)

    def __call__(self, inputs: Inputs) -> Value | Unknown:
        """Return whether the condition holds."""
        try:
            return self._truth(State.of(inputs))  # type: ignore[no-any-return]
        except RAISES:
            return Unknown(frozenset({"config"}))
