"""The records that stored rules are made of, in the order of their tags: change it and `program.FORMAT` changes."""

from __future__ import annotations

from archcap.rules import expr, ir
from archcap.rules.conditions import Condition
from archcap.rules.program import STATEMENTS

RULES = (*expr.NODES, ir.Write, ir.Shown, ir.Let, ir.Stmt, ir.StepIR, ir.Row, ir.DefineIR, ir.ReleaseIR, Condition)

__all__ = ["RULES", "STATEMENTS"]
