"""One file's index: what it binds, its classes with their members, and where in the text each of them stands.

Content in, index out: it knows neither the file's name nor any other file, so it can be cached by content hash.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

Span = tuple[int, int, int, int]
"""Line and byte column of the beginning, line and byte column of the end, as `ast` counts them."""


@dataclass(slots=True)
class Import:
    """A name bound by an import: `module` is as written, `name` None for a module import."""

    module: str
    name: str | None
    level: int
    line: int
    guards: tuple[str, ...] = ()


@dataclass(slots=True)
class Value:
    """An assigned expression. `change` is `=` or what is done to the value the name already has (`+=`, `append`, …)."""

    span: Span
    guards: tuple[str, ...] = ()
    change: str = "="


@dataclass(slots=True)
class Function:
    """A function or method: its parameters in order, and what its body returns when that is one plain expression."""

    span: Span
    params: tuple[str, ...]
    takes_any: bool = False
    """It takes `**kwargs`."""
    decorators: tuple[str, ...] = ()
    guards: tuple[str, ...] = ()
    returns: str | None = None
    """Text of the expression when the body is a single `return`."""


@dataclass(slots=True)
class Member:
    """A class attribute or an assignment to `self.name`; `callee` is what is called or named to make the value."""

    line: int
    callees: tuple[str, ...]
    method: str | None = None
    """The method that assigns it; None in the class body."""
    span: Span | None = None


@dataclass(slots=True)
class Class:
    """A class statement."""

    span: Span
    bases: tuple[str, ...]
    decorators: tuple[str, ...] = ()
    guards: tuple[str, ...] = ()
    methods: dict[str, Function] = field(default_factory=dict)
    members: dict[str, list[Member]] = field(default_factory=dict)
    annotations: dict[str, Span] = field(default_factory=dict)
    """Annotated class-level names in order: span of the whole statement."""
    super_inits: int = 0


@dataclass(slots=True)
class FileIndex:
    """What one file holds; `error` says why nothing could be read, as (line, message)."""

    imports: dict[str, list[Import]] = field(default_factory=dict)
    stars: list[Import] = field(default_factory=list)
    values: dict[str, list[Value]] = field(default_factory=dict)
    functions: dict[str, list[Function]] = field(default_factory=dict)
    classes: dict[str, list[Class]] = field(default_factory=dict)
    calls: list[tuple[str, Span]] = field(default_factory=list)
    """Call statements at module level: (callee, span)."""
    error: tuple[int, str] | None = None


def index_file(content: bytes) -> FileIndex:
    """Index one file's content.

    Args:
        content: the file as it is on disk.
    Returns:
        The index; for a file that is no Python (syntax, encoding) an empty one with `error`.
    """
    index = FileIndex()
    try:
        tree = ast.parse(content)
    except SyntaxError as error:
        index.error = (error.lineno or 1, error.msg)
        return index
    except (ValueError, RecursionError, MemoryError) as error:
        index.error = (1, str(error) or type(error).__name__)
        return index
    _Indexer(index).block(tree.body, ())
    return index


def span_of(node: ast.AST) -> Span:
    """Return where *node* stands."""
    return (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]


def dotted(node: ast.expr) -> str | None:
    """Return `a.b.c` for a chain of names, else None."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    parts.append(node.id)
    return ".".join(reversed(parts))


class _Indexer:
    """Fills an index from statements; a method per kind of statement."""

    def __init__(self, index: FileIndex) -> None:
        self.index = index

    def block(self, statements: Sequence[ast.stmt], guards: tuple[str, ...]) -> None:
        for statement in statements:
            handler = _MODULE.get(type(statement))
            if handler is not None:
                handler(self, statement, guards)

    def import_(self, node: ast.Import, guards: tuple[str, ...]) -> None:
        for alias in node.names:
            bound = alias.asname or alias.name.split(".")[0]
            module = alias.name if alias.asname else bound
            self.index.imports.setdefault(bound, []).append(Import(module, None, 0, node.lineno, guards))

    def import_from(self, node: ast.ImportFrom, guards: tuple[str, ...]) -> None:
        for alias in node.names:
            made = Import(node.module or "", alias.name, node.level, node.lineno, guards)
            if alias.name == "*":
                self.index.stars.append(made)
            else:
                self.index.imports.setdefault(alias.asname or alias.name, []).append(made)

    def assign(self, node: ast.Assign, guards: tuple[str, ...]) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.index.values.setdefault(target.id, []).append(Value(span_of(node.value), guards))

    def annotated(self, node: ast.AnnAssign, guards: tuple[str, ...]) -> None:
        if isinstance(node.target, ast.Name) and node.value is not None:
            self.index.values.setdefault(node.target.id, []).append(Value(span_of(node.value), guards))

    def augmented(self, node: ast.AugAssign, guards: tuple[str, ...]) -> None:
        if isinstance(node.target, ast.Name):
            change = _OPERATORS.get(type(node.op), "?=")
            self.index.values.setdefault(node.target.id, []).append(Value(span_of(node.value), guards, change))

    def expression(self, node: ast.Expr, guards: tuple[str, ...]) -> None:
        call = node.value
        if not isinstance(call, ast.Call):
            return
        callee = dotted(call.func)
        if callee is None:
            return
        self.index.calls.append((callee, span_of(call)))
        name, _, method = callee.partition(".")
        if method in _CHANGES and len(call.args) == 1:
            self.index.values.setdefault(name, []).append(Value(span_of(call.args[0]), guards, method))

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, guards: tuple[str, ...]) -> None:
        self.index.functions.setdefault(node.name, []).append(function_index(node, guards))

    def class_(self, node: ast.ClassDef, guards: tuple[str, ...]) -> None:
        made = Class(span_of(node), _names(node.bases), _decorators(node.decorator_list), guards)
        self.class_block(made, node.body, ())
        self.index.classes.setdefault(node.name, []).append(made)

    def class_block(self, into: Class, statements: Sequence[ast.stmt], guards: tuple[str, ...]) -> None:
        for node in statements:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                into.methods[node.name] = function_index(node, guards)
                _self_members(into, node)
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        _member(into, target.id, node.value, None)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                into.annotations[node.target.id] = span_of(node)
                if node.value is not None:
                    _member(into, node.target.id, node.value, None)
            elif isinstance(node, ast.If):
                self.class_block(into, node.body, guards)
                self.class_block(into, node.orelse, guards)

    def if_(self, node: ast.If, guards: tuple[str, ...]) -> None:
        test = ast.unparse(node.test)
        self.block(node.body, (*guards, test))
        self.block(node.orelse, (*guards, f"not ({test})"))

    def try_(self, node: ast.Try, guards: tuple[str, ...]) -> None:
        self.block(node.body, guards)
        for handler in node.handlers:
            self.block(handler.body, (*guards, "except"))
        self.block(node.orelse, guards)
        self.block(node.finalbody, guards)

    def nested(self, node: ast.With | ast.For | ast.While, guards: tuple[str, ...]) -> None:
        self.block(node.body, guards)


_CHANGES = frozenset({"append", "extend", "add", "update", "remove", "discard"})
_OPERATORS: dict[type[ast.operator], str] = {ast.Add: "+=", ast.BitOr: "|=", ast.Sub: "-="}
_MODULE: dict[type[ast.stmt], Callable[..., None]] = {
    ast.Import: _Indexer.import_,
    ast.ImportFrom: _Indexer.import_from,
    ast.Assign: _Indexer.assign,
    ast.AnnAssign: _Indexer.annotated,
    ast.AugAssign: _Indexer.augmented,
    ast.Expr: _Indexer.expression,
    ast.FunctionDef: _Indexer.function,
    ast.AsyncFunctionDef: _Indexer.function,
    ast.ClassDef: _Indexer.class_,
    ast.If: _Indexer.if_,
    ast.Try: _Indexer.try_,
    ast.With: _Indexer.nested,
    ast.For: _Indexer.nested,
    ast.While: _Indexer.nested,
}


def function_index(node: ast.FunctionDef | ast.AsyncFunctionDef, guards: tuple[str, ...] = ()) -> Function:
    """Return the index of one function statement."""
    arguments = node.args
    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    return Function(
        span_of(node),
        tuple(a.arg for a in every),
        arguments.kwarg is not None,
        _decorators(node.decorator_list),
        guards,
        _single_return(node.body),
    )


def _single_return(body: Sequence[ast.stmt]) -> str | None:
    rest = [s for s in body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    if len(rest) == 1 and isinstance(rest[0], ast.Return) and rest[0].value is not None:
        return dotted(rest[0].value) or ast.unparse(rest[0].value)
    return None


def _names(nodes: Iterable[ast.expr]) -> tuple[str, ...]:
    return tuple(dotted(n) or ast.unparse(n) for n in nodes)


def _decorators(nodes: Iterable[ast.expr]) -> tuple[str, ...]:
    return tuple(dotted(n) or ast.unparse(n) for n in nodes)


def statements_of(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield every statement of *body* in textual order, nested blocks included, nested functions and classes not."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        for name in ("body", "orelse", "finalbody"):
            block = getattr(statement, name, None)
            if block:
                yield from statements_of(block)
        for handler in getattr(statement, "handlers", ()):
            yield from statements_of(handler.body)
        for case in getattr(statement, "cases", ()):
            yield from statements_of(case.body)


def _self_members(into: Class, function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    for statement in statements_of(function.body):
        if isinstance(statement, ast.Assign):
            targets, value = statement.targets, statement.value
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            targets, value = [statement.target], statement.value
        else:
            continue
        for target in targets:
            for one in target.elts if isinstance(target, ast.Tuple) else (target,):
                if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name) and one.value.id == "self":
                    _member(into, one.attr, value, function.name)


def _member(into: Class, name: str, value: ast.expr, method: str | None) -> None:
    made = Member(value.lineno, tuple(_callees(value)), method, span_of(value))
    into.members.setdefault(name, []).append(made)


def _callees(value: ast.expr) -> Iterator[str]:
    """Yield what a value is made of: a called name (`X()` for `X(...)`), or the plain name."""
    if isinstance(value, ast.IfExp):
        yield from _callees(value.body)
        yield from _callees(value.orelse)
    elif isinstance(value, ast.BoolOp):
        for part in value.values:
            yield from _callees(part)
    elif isinstance(value, ast.Call):
        name = dotted(value.func)
        yield f"{name}()" if name else "?()"
    else:
        name = dotted(value)
        if name:
            yield name
