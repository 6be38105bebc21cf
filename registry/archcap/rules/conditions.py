"""The conditions of a program, as answers show and evaluate them. Knows no statement."""

from __future__ import annotations

from dataclasses import dataclass

from archcap.rules.expr import Expr


@dataclass(frozen=True, slots=True)
class Condition:
    """An expression of a guard: as written, and with local names replaced by what they stand for (None: too large)."""

    text: str
    open: Expr
    closed: Expr | None
