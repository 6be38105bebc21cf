"""Values of expressions that can be known without running anything: literals, collections, names of either.

What cannot be known raises `Unresolved` with the place; nothing is guessed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from archcap.scanner.index import Value, dotted
from archcap.scanner.modules import Modules, Symbol


class Unresolved(Exception):
    """An expression whose value only running it would tell."""

    def __init__(self, reason: str, line: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


class Ref(NamedTuple):
    """A class, function or other thing that is a value but no literal."""

    symbol: Symbol


@dataclass(frozen=True)
class Items:
    """A collection; order is kept for sets too."""

    kind: str
    values: tuple[Static, ...]


@dataclass(frozen=True)
class Table:
    """A dictionary."""

    pairs: tuple[tuple[Static, Static], ...]


Scalar: TypeAlias = None | bool | int | float | str
Static: TypeAlias = "Scalar | Ref | Items | Table"


class Evaluator:
    """Evaluates expressions of one source's modules.

    Attributes:
        modules: the source.
        predicates: functions that say what the machine is, by bare name, with what they say of the usual one.
        asked: which of them were read, in order.
    """

    def __init__(self, modules: Modules, predicates: Mapping[str, bool] | None = None) -> None:
        self.modules = modules
        self.predicates = predicates or {}
        self.asked: list[str] = []
        self._named: dict[Symbol, Static | Unresolved] = {}
        self.platform_changes: dict[Symbol, list[Value]] = {}

    def evaluate(self, node: ast.expr, module: str, local: Mapping[str, ast.expr] | None = None) -> Static:
        """Return the value of *node* as it stands in *module*.

        Args:
            node: the expression.
            module: where its names are looked up.
            local: names bound in the function around it.
        Raises:
            Unresolved: the value depends on running code.
        """
        handler = _HANDLERS.get(type(node))
        if handler is None:
            raise Unresolved(f"{type(node).__name__} is not static", node.lineno)
        return handler(self, node, module, local or {})

    def named(self, symbol: Symbol) -> Static:
        """Return the value of a module-level name, with its unconditional later changes."""
        if symbol.kind in ("class", "function"):
            return Ref(symbol)
        if symbol.kind != "value":
            raise Unresolved(f"{symbol} is outside the source")
        if symbol not in self._named:
            self._named[symbol] = Unresolved(f"{symbol} is defined by itself")
            try:
                self._named[symbol] = self._assigned(symbol)
            except Unresolved as error:
                self._named[symbol] = error
        found = self._named[symbol]
        if isinstance(found, Unresolved):
            raise found
        return found

    def _assigned(self, symbol: Symbol) -> Static:
        file = self.modules.file(symbol)
        result: Static = None
        given = False
        for value in file.index.values[symbol.name]:
            if value.guards and given:
                self.platform_changes.setdefault(symbol, []).append(value)
                continue
            new = self.evaluate(file.expression(value.span), symbol.module)
            result = new if value.change == "=" else self._changed(result, value.change, new, value.span[0])
            given = True
        return result

    def _changed(self, old: Static, change: str, new: Static, line: int) -> Static:
        if not isinstance(old, Items):
            raise Unresolved(f"{change} on what is no collection", line)
        if change in ("append", "add"):
            return Items(old.kind, (*old.values, new))
        if change in ("extend", "update", "+=", "|=") and isinstance(new, Items):
            return Items(old.kind, (*old.values, *new.values))
        if change in ("remove", "discard"):
            return Items(old.kind, tuple(v for v in old.values if v != new))
        raise Unresolved(f"{change} is not followed", line)

    # expressions, a method per node type

    def _constant(self, node: ast.Constant, module: str, local: Mapping[str, ast.expr]) -> Static:
        if isinstance(node.value, bytes | complex) or node.value is Ellipsis:
            raise Unresolved("constant of another kind", node.lineno)
        return node.value

    def _items(self, node: ast.List | ast.Tuple | ast.Set, module: str, local: Mapping[str, ast.expr]) -> Static:
        values: list[Static] = []
        for element in node.elts:
            if isinstance(element, ast.Starred):
                values.extend(_values(self.evaluate(element.value, module, local), element.lineno))
            else:
                values.append(self.evaluate(element, module, local))
        return Items(_KINDS[type(node)], tuple(values))

    def _table(self, node: ast.Dict, module: str, local: Mapping[str, ast.expr]) -> Static:
        pairs: list[tuple[Static, Static]] = []
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                inner = self.evaluate(value, module, local)
                if not isinstance(inner, Table):
                    raise Unresolved("** of what is no dictionary", node.lineno)
                pairs.extend(inner.pairs)
            else:
                pairs.append((self.evaluate(key, module, local), self._soft(value, module, local)))
        return Table(tuple(pairs))

    def _soft(self, node: ast.expr, module: str, local: Mapping[str, ast.expr]) -> Static:
        """Evaluate a dictionary's value; what is not static becomes None, for the keys are what is asked for."""
        try:
            return self.evaluate(node, module, local)
        except Unresolved:
            return None

    def _name(self, node: ast.Name, module: str, local: Mapping[str, ast.expr]) -> Static:
        if node.id in local:
            rest = {k: v for k, v in local.items() if k != node.id}
            return self.evaluate(local[node.id], module, rest)
        symbol = self.modules.resolve(module, node.id)
        if symbol is None:
            raise Unresolved(f"{node.id} is not bound in {module}", node.lineno)
        return self.named(symbol)

    def _attribute(self, node: ast.Attribute, module: str, local: Mapping[str, ast.expr]) -> Static:
        text = dotted(node)
        if text is None:
            if node.attr in ("value", "name"):
                return self._enum_part(node, module, local)
            raise Unresolved(f".{node.attr} of an expression", node.lineno)
        if isinstance(node.value, ast.Name) and node.value.id in local:
            return self._of_local(self._name(node.value, module, local), node)
        symbol = self.modules.resolve(module, text)
        if symbol is not None:
            return self.named(symbol)
        if node.attr in ("value", "name"):
            owner = dotted(node.value)
            enum, _, member = (owner or "").rpartition(".")
            holder = self.modules.resolve(module, enum) if enum else None
            if holder is not None and holder.kind == "class":
                return member if node.attr == "name" else self.class_attribute(holder, member, node.lineno)
        head, _, name = text.rpartition(".")
        owner_symbol = self.modules.resolve(module, head)
        if owner_symbol is not None and owner_symbol.kind == "class":
            return self.class_attribute(owner_symbol, name, node.lineno)
        raise Unresolved(f"{text} is not static", node.lineno)

    def _of_local(self, value: Static, node: ast.Attribute) -> Static:
        """Return a part of an enumeration's member that a comprehension is at."""
        if isinstance(value, Table):
            for key, held in value.pairs:
                if key == node.attr:
                    return held
        raise Unresolved(f".{node.attr} of a local", node.lineno)

    def _enum_part(self, node: ast.Attribute, module: str, local: Mapping[str, ast.expr]) -> Static:
        raise Unresolved(f".{node.attr} of an expression", node.lineno)

    def class_attribute(self, owner: Symbol, name: str, line: int = 0) -> Static:
        """Return the value of a name assigned in a class body: its own, or a base's."""
        own = self.modules.file(owner).index.classes.get(owner.name, ())
        members = [(owner, member) for made in own for member in made.members.get(name, ()) if member.method is None]
        for one, member in members or self.modules.members(owner, name):
            if member.method is None:
                node = self.modules.file(one).expression(member.span)
                return self.evaluate(node, one.module, self._siblings(one, name))
        raise Unresolved(f"{owner}.{name} is not static", line)

    def _siblings(self, owner: Symbol, name: str) -> dict[str, ast.expr]:
        """Return the other names of a class body, which its expressions may use bare."""
        file = self.modules.file(owner)
        found: dict[str, ast.expr] = {}
        for made in file.index.classes[owner.name]:
            for other, members in made.members.items():
                if other != name and members[0].method is None:
                    found[other] = file.expression(members[0].span)
        return found

    def enum_members(self, owner: Symbol) -> list[tuple[str, Static]]:
        """Return names and values of an enumeration's members in order."""
        found: list[tuple[str, Static]] = []
        for made in self.modules.file(owner).index.classes[owner.name]:
            for name, members in made.members.items():
                if not name.startswith("_") and members[0].method is None:
                    found.append((name, self.class_attribute(owner, name)))
        return found

    def _binary(self, node: ast.BinOp, module: str, local: Mapping[str, ast.expr]) -> Static:
        left = self.evaluate(node.left, module, local)
        right = self.evaluate(node.right, module, local)
        if isinstance(left, Items) and isinstance(right, Items):
            if isinstance(node.op, ast.Add | ast.BitOr):
                return Items(left.kind, (*left.values, *right.values))
            if isinstance(node.op, ast.Sub):
                return Items(left.kind, tuple(v for v in left.values if v not in right.values))
        operation = _ARITHMETIC.get(type(node.op))
        if operation is not None and isinstance(left, int | float) and isinstance(right, int | float):
            return operation(left, right)
        if isinstance(node.op, ast.Add) and isinstance(left, str) and isinstance(right, str):
            return left + right
        raise Unresolved("operation on what is not static", node.lineno)

    def _unary(self, node: ast.UnaryOp, module: str, local: Mapping[str, ast.expr]) -> Static:
        value = self.evaluate(node.operand, module, local)
        if isinstance(node.op, ast.USub) and isinstance(value, int | float):
            return -value
        if isinstance(node.op, ast.Not) and isinstance(value, bool):
            return not value
        raise Unresolved("unary operation", node.lineno)

    def _subscript(self, node: ast.Subscript, module: str, local: Mapping[str, ast.expr]) -> Static:
        value = self.evaluate(node.value, module, local)
        key = self.evaluate(node.slice, module, local)
        if isinstance(value, Items) and isinstance(key, int) and -len(value.values) <= key < len(value.values):
            return value.values[key]
        if isinstance(value, Table):
            for one, held in value.pairs:
                if one == key:
                    return held
        raise Unresolved("subscript", node.lineno)

    def _call(self, node: ast.Call, module: str, local: Mapping[str, ast.expr]) -> Static:
        callee = dotted(node.func)
        if callee in _COLLECTIONS and not node.keywords:
            if not node.args:
                return Items(_COLLECTIONS[callee], ())
            return Items(_COLLECTIONS[callee], _values(self._iterable(node.args[0], module, local), node.lineno))
        if callee in _FIELDS:
            return self._field(node, module, local)
        if isinstance(node.func, ast.Attribute) and not node.args:
            method = _METHODS.get(node.func.attr)
            if method is not None:
                return method(self.evaluate(node.func.value, module, local), node.lineno)
        if callee is not None and not node.args and not node.keywords:
            name = callee.rpartition(".")[2]
            if name in self.predicates:
                self.asked.append(name)
                return self.predicates[name]
            return self._returned(callee, node, module)
        raise Unresolved(f"call of {callee or 'an expression'}", node.lineno)

    def _field(self, node: ast.Call, module: str, local: Mapping[str, ast.expr]) -> Static:
        for keyword in node.keywords:
            if keyword.arg == "default":
                return self.evaluate(keyword.value, module, local)
            if keyword.arg == "default_factory":
                if isinstance(keyword.value, ast.Lambda):
                    return self.evaluate(keyword.value.body, module, local)
                return self.evaluate(ast.copy_location(ast.Call(keyword.value, [], []), node), module, local)
        raise Unresolved("field without default", node.lineno)

    def _returned(self, callee: str, node: ast.Call, module: str) -> Static:
        symbol = self.modules.resolve(module, callee)
        if symbol is None or symbol.kind != "function":
            raise Unresolved(f"call of {callee}", node.lineno)
        file = self.modules.file(symbol)
        function = file.statement(file.deep.functions[symbol.name][-1].span)
        assert isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        return self._last_return(function, symbol.module)

    def _last_return(self, function: ast.FunctionDef | ast.AsyncFunctionDef, module: str) -> Static:
        """Evaluate the final `return` of a function without parameters, under its local imports and assignments."""
        last = function.body[-1]
        if not isinstance(last, ast.Return) or last.value is None:
            raise Unresolved(f"{function.name} does not end in a plain return", function.lineno)
        local: dict[str, ast.expr] = {}
        for statement in function.body:
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                local[statement.targets[0].id] = statement.value
            elif isinstance(statement, ast.ImportFrom):
                for alias in statement.names:
                    local[alias.asname or alias.name] = _import_path(statement, alias)
        return self.evaluate(last.value, module, local)

    def _joined(self, node: ast.JoinedStr, module: str, local: Mapping[str, ast.expr]) -> Static:
        parts: list[str] = []
        for part in node.values:
            inner = part.value if isinstance(part, ast.FormattedValue) else part
            parts.append(str(self.evaluate(inner, module, local)))
        return "".join(parts)

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, module: str, local: Mapping[str, ast.expr]
    ) -> Static:
        generator = node.generators[0]
        if len(node.generators) > 1 or not isinstance(generator.target, ast.Name):
            raise Unresolved("comprehension", node.lineno)
        if not all(_not_none(test, generator.target.id) for test in generator.ifs):
            raise Unresolved("filtered comprehension", node.lineno)
        values: list[Static] = []
        for value in self._each(generator.iter, module, local):
            if generator.ifs and value.held is None:
                continue
            values.append(self.evaluate(node.elt, module, {**local, generator.target.id: value}))
        return Items("list", tuple(values))

    def _each(self, node: ast.expr, module: str, local: Mapping[str, ast.expr]) -> list[_Known]:
        over = self._iterable(node, module, local)
        if isinstance(over, Items):
            return [_Known(value) for value in over.values]
        raise Unresolved("iteration over what is not static", node.lineno)

    def _iterable(self, node: ast.expr, module: str, local: Mapping[str, ast.expr]) -> Static:
        value = self.evaluate(node, module, local)
        if isinstance(value, Ref) and value.symbol.kind == "class":
            members = self.enum_members(value.symbol)
            return Items("list", tuple(Table((("name", n), ("value", v))) for n, v in members))
        if isinstance(value, Table):
            return Items("list", tuple(k for k, _ in value.pairs))
        return value

    def _known(self, node: _Known, module: str, local: Mapping[str, ast.expr]) -> Static:
        return node.held

    def _path(self, node: _Path, module: str, local: Mapping[str, ast.expr]) -> Static:
        target = self.modules.below(node.module) if node.module.startswith(self.modules.package) else None
        symbol = None if target is None else self.modules.resolve(target, node.name)
        if symbol is None:
            raise Unresolved(f"{node.module}.{node.name} is outside the source")
        return self.named(symbol)


class _Known(ast.expr):
    """A value already known, in the place of an expression."""

    def __init__(self, held: Static) -> None:
        super().__init__()
        self.held = held
        self.lineno = 0


class _Path(ast.expr):
    """A name imported inside a function."""

    def __init__(self, module: str, name: str) -> None:
        super().__init__()
        self.module = module
        self.name = name
        self.lineno = 0


def _import_path(node: ast.ImportFrom, alias: ast.alias) -> ast.expr:
    return _Path(node.module or "", alias.name)


def _not_none(test: ast.expr, name: str) -> bool:
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.left, ast.Name)
        and test.left.id == name
        and isinstance(test.ops[0], ast.IsNot)
        and isinstance(test.comparators[0], ast.Constant)
        and test.comparators[0].value is None
    )


def _values(value: Static, line: int) -> tuple[Static, ...]:
    if isinstance(value, Items):
        return value.values
    if isinstance(value, Table):
        return tuple(k for k, _ in value.pairs)
    raise Unresolved("not a collection", line)


def _text_method(name: str) -> Callable[[Static, int], Static]:
    def run(value: Static, line: int) -> Static:
        if not isinstance(value, str):
            raise Unresolved(f"{name} of what is no text", line)
        return str(getattr(value, name)())

    return run


def _keys(value: Static, line: int) -> Static:
    return Items("list", _values(value, line))


def _table_values(value: Static, line: int) -> Static:
    if not isinstance(value, Table):
        raise Unresolved("values of what is no dictionary", line)
    return Items("list", tuple(v for _, v in value.pairs))


_METHODS: dict[str, Callable[[Static, int], Static]] = {
    "lower": _text_method("lower"),
    "upper": _text_method("upper"),
    "keys": _keys,
    "values": _table_values,
}
_COLLECTIONS = {"frozenset": "set", "set": "set", "list": "list", "tuple": "tuple", "sorted": "list"}
_FIELDS = frozenset({"dataclasses.field", "field", "msgspec.field"})
_KINDS: dict[type[ast.expr], str] = {ast.List: "list", ast.Tuple: "tuple", ast.Set: "set"}
_ARITHMETIC: dict[type[ast.operator], Callable[[int | float, int | float], Static]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Pow: pow,
    ast.FloorDiv: lambda a, b: a // b if b else None,
}
_HANDLERS: dict[type[ast.AST], Callable[..., Static]] = {
    ast.Constant: Evaluator._constant,
    ast.List: Evaluator._items,
    ast.Tuple: Evaluator._items,
    ast.Set: Evaluator._items,
    ast.Dict: Evaluator._table,
    ast.Name: Evaluator._name,
    ast.Attribute: Evaluator._attribute,
    ast.BinOp: Evaluator._binary,
    ast.UnaryOp: Evaluator._unary,
    ast.Subscript: Evaluator._subscript,
    ast.Call: Evaluator._call,
    ast.JoinedStr: Evaluator._joined,
    ast.ListComp: Evaluator._comprehension,
    ast.SetComp: Evaluator._comprehension,
    ast.GeneratorExp: Evaluator._comprehension,
    _Known: Evaluator._known,
    _Path: Evaluator._path,
}
