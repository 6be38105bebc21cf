"""Which values are surely JSON: what may hold a tuple or set is made plain where it is written.

Knows no text and no values; `codegen` and `interpret` ask it.
"""

from __future__ import annotations

from collections.abc import Iterable

from archcap.rules import expr as x
from archcap.rules.ir import DefineIR, Stmt, statements

NONE: frozenset[str] = frozenset()
_COLLECTING = ("min", "max", "sum", "sorted", "set", "tuple", "list")


class Plainness:
    """Answers for the rules of one release."""

    def __init__(self, defines: Iterable[DefineIR]) -> None:
        self._defines: frozenset[str] = NONE
        known = tuple(defines)
        grown = True
        while grown:  # a definition may stand on others
            more = frozenset(d.name for d in known if not any(self.may_collect(row.value) for row in d.rows))
            grown, self._defines = more != self._defines, more

    def locals_of(self, body: tuple[Stmt, ...]) -> frozenset[str]:
        """Return the `let` names of a step that never stand for a tuple or set."""
        lets = [let for stmt in statements(body) for let in stmt.lets]
        plain = frozenset(let.name for let in lets)
        shrunk = True
        while shrunk:
            less = plain - {let.name for let in lets if self.may_collect(let.value, plain)}
            shrunk, plain = less != plain, less
        return plain

    def may_collect(self, node: x.Expr, plain: frozenset[str] = NONE) -> bool:
        """Return whether the value of *node* may be, or hold, a tuple or set; the local names *plain* never are."""
        if isinstance(node, x.Display):
            return node.kind != "list" or any(self.may_collect(item, plain) for item in node.items)
        if isinstance(node, x.DictDisplay):
            return any(self.may_collect(value, plain) for value in node.values)
        if isinstance(node, x.IfElse):
            return self.may_collect(node.yes, plain) or self.may_collect(node.no, plain)
        if isinstance(node, x.Bool):
            return any(self.may_collect(item, plain) for item in node.items)
        if isinstance(node, x.Binary):
            sides = (node.left, node.right)
            return node.op in "|&^+-" and any(self.may_collect(side, plain) for side in sides)
        if isinstance(node, x.Call):
            return not node.engine and node.name in _COLLECTING
        if isinstance(node, x.Local):
            return node.name not in plain
        if isinstance(node, x.Defined):
            return node.name not in self._defines
        return isinstance(node, x.Index | x.Slice)
