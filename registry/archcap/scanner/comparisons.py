"""Places in code where a name is compared with names written out: `==`, `in`, `startswith`, look-ups, set algebra.

Yields what is compared with what and where; which of the names are architectures is the caller's question.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from archcap.scanner.index import dotted
from archcap.scanner.static import Evaluator, Items, Ref, Static, Table, Unresolved

Form = Literal["equals", "in", "contains", "startswith", "endswith", "table", "set", "case", "substring"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One test of a subject against names.

    `names` are in textual order. `collection` is the dotted name of a module-level collection when the test uses one,
    so that the place is a use of it and no list of its own.
    """

    form: Form
    line: int
    subject: str
    names: tuple[str, ...]
    negated: bool = False
    collection: str | None = None
    target: str | None = None
    """Local name the result or the collection is bound to."""


@dataclass(slots=True)
class Locals:
    """Names bound in the function around a test, with the expressions they are bound to."""

    bound: dict[str, ast.expr] = field(default_factory=dict)


def comparisons(node: ast.AST, module: str, evaluator: Evaluator) -> Iterator[Comparison]:
    """Yield every comparison in *node*, a function or any other statement or expression, in textual order.

    Args:
        node: what to search, nested functions included.
        module: where its names are looked up.
        evaluator: of the source it stands in.
    """
    yield from _Finder(module, evaluator, local_names(node)).walk(node)


def local_names(node: ast.AST) -> dict[str, ast.expr]:
    """Return the names that plain assignments in *node* bind; a name bound twice to different things is left out."""
    bound: dict[str, ast.expr] = {}
    twice: set[str] = set()
    for one in ast.walk(node):
        if isinstance(one, ast.Assign) and len(one.targets) == 1 and isinstance(one.targets[0], ast.Name):
            name = one.targets[0].id
            if name in bound:
                twice.add(name)
            bound[name] = one.value
        elif isinstance(one, ast.For | ast.comprehension) and isinstance(one.target, ast.Name):
            twice.add(one.target.id)
    return {name: value for name, value in bound.items() if name not in twice}


class _Finder:
    def __init__(self, module: str, evaluator: Evaluator, local: Mapping[str, ast.expr]) -> None:
        self.module = module
        self.evaluator = evaluator
        self.local = local
        self.loops: dict[str, ast.expr] = {}

    def walk(self, node: ast.AST) -> Iterator[Comparison]:
        for one in ast.walk(node):
            if isinstance(one, ast.For | ast.comprehension) and isinstance(one.target, ast.Name):
                self.loops[one.target.id] = one.iter
        for one in ast.walk(node):
            handler = _HANDLERS.get(type(one))
            if handler is not None:
                yield from handler(self, one)

    def compare(self, node: ast.Compare) -> Iterator[Comparison]:
        left = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            negated = isinstance(operator, ast.NotEq | ast.NotIn)
            if isinstance(operator, ast.Eq | ast.NotEq):
                yield from self._equals(left, right, node.lineno, negated)
            elif isinstance(operator, ast.In | ast.NotIn):
                yield from self._in(left, right, node.lineno, negated)
            left = right

    def _equals(self, left: ast.expr, right: ast.expr, line: int, negated: bool) -> Iterator[Comparison]:
        for subject, value in ((left, right), (right, left)):
            names = self._names(value)
            if names and not isinstance(subject, ast.Constant):
                yield Comparison("equals", line, ast.unparse(subject), names[0], negated, names[1])
                return

    def _in(self, left: ast.expr, right: ast.expr, line: int, negated: bool) -> Iterator[Comparison]:
        if isinstance(left, ast.Constant) and isinstance(left.value, str):
            yield Comparison("contains", line, ast.unparse(right), (left.value,), negated)
            return
        if isinstance(left, ast.Name) and left.id in self.loops:
            each = self._names(self.loops[left.id])
            if each is not None and each[0]:
                yield Comparison("contains", line, ast.unparse(right), each[0], negated, each[1])
                return
        names = self._names(right)
        if names is not None:
            form: Form = "substring" if isinstance(right, ast.Constant) else "in"
            yield Comparison(form, line, ast.unparse(left), names[0], negated, names[1])

    def call(self, node: ast.Call) -> Iterator[Comparison]:
        function = node.func
        if not isinstance(function, ast.Attribute) or not node.args:
            return
        if function.attr in ("startswith", "endswith"):
            names = self._names(node.args[0])
            if names:
                form: Form = "startswith" if function.attr == "startswith" else "endswith"
                yield Comparison(form, node.lineno, ast.unparse(function.value), names[0])
        elif function.attr == "get":
            yield from self._look_up(function.value, node.args[0], node.lineno)
        elif function.attr in ("isdisjoint", "intersection", "issubset", "issuperset"):
            yield from self._sets(function.value, node.args[0], node.lineno)

    def subscript(self, node: ast.Subscript) -> Iterator[Comparison]:
        if isinstance(node.ctx, ast.Load) and not isinstance(node.slice, ast.Constant | ast.Slice):
            yield from self._look_up(node.value, node.slice, node.lineno)

    def _look_up(self, table: ast.expr, key: ast.expr, line: int) -> Iterator[Comparison]:
        if isinstance(key, ast.Constant):
            return
        value = self._value(table)
        if isinstance(value, Table):
            names = tuple(k for k, _ in value.pairs if isinstance(k, str))
            if names:
                yield Comparison("table", line, ast.unparse(key), names, collection=self._collection(table))

    def operation(self, node: ast.BinOp) -> Iterator[Comparison]:
        if isinstance(node.op, ast.BitAnd):
            yield from self._sets(node.left, node.right, node.lineno)

    def _sets(self, left: ast.expr, right: ast.expr, line: int) -> Iterator[Comparison]:
        for subject, value in ((left, right), (right, left)):
            names = self._names(value)
            if names:
                yield Comparison("set", line, ast.unparse(subject), names[0], collection=names[1])
                return

    def match(self, node: ast.Match) -> Iterator[Comparison]:
        for case in node.cases:
            for pattern in ast.walk(case.pattern):
                if isinstance(pattern, ast.MatchValue):
                    names = self._names(pattern.value)
                    if names:
                        yield Comparison("case", pattern.lineno, ast.unparse(node.subject), names[0])

    def _names(self, node: ast.expr) -> tuple[tuple[str, ...], str | None] | None:
        """Return the strings that *node* holds and the collection it names; None when it is no static collection."""
        value = self._value(node)
        if isinstance(value, str):
            return (value,), None
        if isinstance(value, Items):
            return tuple(_text(v) for v in value.values if _text(v)), self._collection(node)
        if isinstance(value, Table):
            return tuple(k for k, _ in value.pairs if isinstance(k, str)), self._collection(node)
        return None

    def _value(self, node: ast.expr) -> Static:
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) else None
        try:
            return self.evaluator.evaluate(node, self.module, self.local)
        except (Unresolved, RecursionError):
            return self._partly(node)

    def _partly(self, node: ast.expr) -> Static:
        """Return the known part of a collection that also holds what is not static."""
        if not isinstance(node, ast.List | ast.Tuple | ast.Set):
            return None
        values = [self._value(e.value if isinstance(e, ast.Starred) else e) for e in node.elts]
        flat: list[Static] = []
        for value in values:
            flat.extend(value.values if isinstance(value, Items) else [value] if value is not None else [])
        return Items("list", tuple(flat))

    def _collection(self, node: ast.expr) -> str | None:
        name = dotted(node)
        if name is None or name.split(".")[0] in self.local:
            return None
        symbol = self.evaluator.modules.resolve(self.module, name)
        return str(symbol) if symbol is not None and symbol.kind == "value" else None


def _text(value: Static) -> str:
    if isinstance(value, str):
        return value
    return value.symbol.name if isinstance(value, Ref) else ""


_HANDLERS: dict[type[ast.AST], Callable[..., Iterator[Comparison]]] = {
    ast.Compare: _Finder.compare,
    ast.Call: _Finder.call,
    ast.Subscript: _Finder.subscript,
    ast.BinOp: _Finder.operation,
    ast.Match: _Finder.match,
}
