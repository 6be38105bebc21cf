"""A file's index: what it binds, its classes with their members, its sites, and where in the text each of them stands.

Content in, index out: it knows neither the file's name nor any other file, so its pieces can be cached by content.
"""

from __future__ import annotations

import ast
import codecs
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from archcap.scanner.chunks import Chunk, chunks
from archcap.scanner.sites import Site, hinted_lines, sites_of

Span = tuple[int, int, int, int]
"""Line and byte column of the beginning, line and byte column of the end, as `ast` counts them."""


class Import(NamedTuple):
    """A name bound by an import: `module` is as written, `name` None for a module import."""

    module: str
    name: str | None
    level: int
    line: int
    guards: tuple[str, ...] = ()


class Value(NamedTuple):
    """An assigned expression. `change` is `=` or what is done to the value the name already has (`+=`, `append`, …)."""

    span: Span
    guards: tuple[str, ...] = ()
    change: str = "="


class Function(NamedTuple):
    """A function or method: its parameters in order, and what its body returns when that is one plain expression."""

    span: Span
    params: tuple[str, ...]
    decorators: tuple[str, ...] = ()
    guards: tuple[str, ...] = ()


class Member(NamedTuple):
    """A class attribute or an assignment to `self.name`; `callees` are what is called or named to make the value."""

    span: Span
    callees: tuple[str, ...]
    method: str | None = None
    """The method that assigns it; None in the class body."""

    @property
    def line(self) -> int:
        """The line its value begins in."""
        return self.span[0]


@dataclass(slots=True)
class Class:
    """A class statement."""

    span: Span
    bases: tuple[str, ...]
    decorators: tuple[str, ...] = ()
    guards: tuple[str, ...] = ()
    methods: dict[str, list[Function]] = field(default_factory=dict)
    """Several under one name when platforms define it differently."""
    members: dict[str, list[Member]] = field(default_factory=dict)
    annotations: dict[str, Span] = field(default_factory=dict)
    """Annotated class-level names in order: span of the whole statement."""


@dataclass(slots=True)
class FileIndex:
    """What one file holds; `error` says why nothing could be read, as (line, message)."""

    imports: dict[str, list[Import]] = field(default_factory=dict)
    stars: list[Import] = field(default_factory=list)
    values: dict[str, list[Value]] = field(default_factory=dict)
    functions: dict[str, list[Function]] = field(default_factory=dict)
    classes: dict[str, list[Class]] = field(default_factory=dict)
    patches: list[tuple[str, str, Member]] = field(default_factory=list)
    """Attributes given to classes after their statement: (class, attribute, value)."""
    calls: list[Span] = field(default_factory=list)
    """Call statements at module level."""
    sites: list[Site] = field(default_factory=list)
    error: tuple[int, str] | None = None


class Unreadable(Exception):
    """A text that is no Python."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.message = message


def parse(text: bytes) -> ast.Module:
    """Parse *text*.

    Raises:
        Unreadable: it is no Python, or not in the encoding it says.
    """
    try:
        return ast.parse(text)
    except SyntaxError as error:
        raise Unreadable(error.lineno or _bad_line(text), error.msg) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise Unreadable(_bad_line(text), str(error) or type(error).__name__) from error


def _bad_line(text: bytes) -> int:
    """Return the line that is to blame when the parser names none: the first that is no UTF-8 or holds a null byte."""
    for number, line in enumerate(text.split(b"\n"), 1):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError:
            return number
        if b"\0" in line:
            return number
    return 1


def index_file(content: bytes) -> FileIndex:
    """Index one file's content, whole; an unreadable one has an `error` and nothing else."""
    try:
        return index_statements(parse(content).body, hinted_lines(content), None)
    except Unreadable as error:
        return FileIndex(error=(error.line, error.message))


def pieces(content: bytes) -> list[Chunk]:
    """Return the pieces a file is indexed by, with their hints; one where it cannot be cut."""
    lines = hinted_lines(content)
    if content.startswith(codecs.BOM_UTF8) or b"coding" in content[:200] or b"\f" in content:
        return [Chunk(0, content, hints=tuple(lines))]
    cut = chunks(content)
    return _marked(cut, lines) if lines else cut


def _marked(cut: list[Chunk], lines: list[int]) -> list[Chunk]:
    """Give each of the pieces of a file its hints."""
    start = 0
    for number, chunk in enumerate(cut):
        last = cut[number + 1].line if number + 1 < len(cut) else lines[-1]
        end = bisect_right(lines, last, start)
        if end > start:
            cut[number] = chunk._replace(hints=tuple(line - chunk.line for line in lines[start:end]))
        start = end
    return cut


def index_chunk(chunk: Chunk) -> FileIndex:
    """Index a piece of a file; its line numbers count from the piece.

    Those of methods count from a line before it, for a method is read as the body of a class.

    Raises:
        Unreadable: it does not parse by itself.
    """
    if chunk.owner is not None:
        body = parse(b"class _:\n" + chunk.text).body
        return index_statements(body, [line + 1 for line in chunk.hints], chunk.owner)
    body = parse(_closed(chunk.text)).body
    if chunk.cut and not (isinstance(body[-1], ast.ClassDef) and body[-1].body[0].col_offset == 4):
        raise Unreadable(1, "a class that is not indented by four")
    return index_statements(body, chunk.hints, None)


def name_only(name: str, owner: str | None) -> FileIndex:
    """Return the index of a function of which only the name is known, as of a piece of its own."""
    made = {name: [Function((1 if owner is None else 2, 0, 1, 0), ())]}
    if owner is None:
        return FileIndex(functions=made)
    return FileIndex(classes={owner: [Class((0, 0, 0, 0), (), methods=made)]})


def are_python(together: Sequence[Chunk]) -> bool:
    """Return whether pieces are Python, without making syntax trees of them.

    The compiler reads everything before it does anything with it; a feature that no Python has stops it there.
    """
    top = [_closed(chunk.text) for chunk in together if chunk.owner is None]
    methods: dict[str, list[bytes]] = {}
    for chunk in together:
        if chunk.owner is not None:
            methods.setdefault(chunk.owner, [b"class _:\n"]).append(chunk.text)
    try:
        text = b"".join([_STOP, *top, *(t for texts in methods.values() for t in texts)])
        compile(text, "", "exec", dont_inherit=True)
    except SyntaxError as error:
        return error.lineno == 1 and _NO_FEATURE in error.msg
    except (ValueError, RecursionError, MemoryError):
        return False
    return True


_NO_FEATURE = "archcap_stops_here"
_STOP = f"from __future__ import {_NO_FEATURE}\n".encode()


def _closed(text: bytes) -> bytes:
    """Give a class a body whose methods are pieces of their own."""
    if text.startswith((b"class ", b"@")) and _bodiless(text):
        return text.rstrip() + b"\n    pass\n"
    return text


_HEAD = re.compile(rb":[ \t]*(?:#[^\n]*)?\s*\Z")


def _bodiless(text: bytes) -> bool:
    return _HEAD.search(text) is not None


def index_statements(body: Sequence[ast.stmt], lines: Sequence[int], owner: str | None) -> FileIndex:
    """Index parsed statements; *lines* hold hints of sites, *owner* names the class whose methods they are."""
    index = FileIndex()
    indexer = _Indexer(index)
    if owner is None:
        indexer.block(body, ())
    else:
        (node,) = body
        assert isinstance(node, ast.ClassDef)
        made = Class((0, 0, 0, 0), ())
        indexer.class_block(made, node.body, ())
        index.classes[owner] = [made]
    index.sites = sites_of(body, lines, owner)
    return index


def span_of(node: ast.AST) -> Span:
    """Return where *node* stands."""
    return (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]


def dotted(node: ast.expr) -> str | None:
    """Return `a.b.c` for a chain of names, else None."""
    if isinstance(node, ast.Name):
        return node.id
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
        self.loops: dict[str, tuple[str, ...]] = {}

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
            elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
                self.patch(target.value.id, target.attr, node.value)

    def patch(self, name: str, attribute: str, value: ast.expr) -> None:
        """Note `Name.attribute = value`; *name* may be the variable of the loop around."""
        for owner in self.loops.get(name, (name,)):
            self.index.patches.append((owner, attribute, Member(span_of(value), tuple(_callees(value)))))

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
        self.index.calls.append(span_of(call))
        name, _, method = callee.partition(".")
        if method in _CHANGES and len(call.args) == 1:
            self.index.values.setdefault(name, []).append(Value(span_of(call.args[0]), guards, method))

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, guards: tuple[str, ...]) -> None:
        self.index.functions.setdefault(node.name, []).append(_function(node, guards))

    def class_(self, node: ast.ClassDef, guards: tuple[str, ...]) -> None:
        made = Class(span_of(node), _names(node.bases), _names(node.decorator_list), guards)
        self.class_block(made, node.body, ())
        self.index.classes.setdefault(node.name, []).append(made)

    def class_block(self, into: Class, statements: Sequence[ast.stmt], guards: tuple[str, ...]) -> None:
        for node in statements:
            kind = type(node)
            if kind is ast.FunctionDef or kind is ast.AsyncFunctionDef:
                assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
                into.methods.setdefault(node.name, []).append(_function(node, guards))
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
                test = ast.unparse(node.test)
                self.class_block(into, node.body, (*guards, test))
                self.class_block(into, node.orelse, (*guards, f"not ({test})"))

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
        if (
            isinstance(node, ast.For)
            and isinstance(node.target, ast.Name)
            and isinstance(node.iter, ast.Tuple | ast.List)
        ):
            self.loops[node.target.id] = tuple(e.id for e in node.iter.elts if isinstance(e, ast.Name))
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


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef, guards: tuple[str, ...]) -> Function:
    arguments = node.args
    params = [a.arg for a in arguments.args]
    if arguments.posonlyargs:
        params = [a.arg for a in arguments.posonlyargs] + params
    if arguments.kwonlyargs:
        params += [a.arg for a in arguments.kwonlyargs]
    decorators = _names(node.decorator_list) if node.decorator_list else ()
    return Function(span_of(node), tuple(params), decorators, guards)


def _names(nodes: Iterable[ast.expr]) -> tuple[str, ...]:
    return tuple(dotted(n) or ast.unparse(n) for n in nodes)


_LEAVES = frozenset({
    ast.Expr, ast.Return, ast.Raise, ast.Assert, ast.Pass, ast.Import, ast.ImportFrom, ast.AugAssign, ast.Delete,
    ast.Break, ast.Continue, ast.Global, ast.Nonlocal, ast.Assign, ast.AnnAssign, ast.FunctionDef, ast.AsyncFunctionDef,
    ast.ClassDef,
})  # fmt: skip


def statements_of(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Return every statement of *body* in textual order, nested blocks included, nested functions and classes not."""
    found: list[ast.stmt] = []
    _collect(body, found)
    return found


def _collect(body: Sequence[ast.stmt], found: list[ast.stmt]) -> None:
    for statement in body:
        found.append(statement)
        kind = type(statement)
        if kind in _LEAVES:
            continue
        if kind in _PLAIN_BLOCKS:
            _collect(statement.body, found)  # type: ignore[attr-defined]
            if statement.orelse:  # type: ignore[attr-defined]
                _collect(statement.orelse, found)  # type: ignore[attr-defined]
            continue
        for part in (statement, *getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            _collect(getattr(part, "body", ()), found)
        for name in ("orelse", "finalbody"):
            _collect(getattr(statement, name, ()), found)


_PLAIN_BLOCKS = frozenset({ast.If, ast.For, ast.AsyncFor, ast.While})


def _self_members(into: Class, function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    for statement in statements_of(function.body):
        if type(statement) is ast.Assign:
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
    into.members.setdefault(name, []).append(Member(span_of(value), tuple(_callees(value)), method))


def _callees(value: ast.expr) -> Iterator[str]:
    """Yield what a value is made of: a called name (`X()` for `X(...)`), or the plain name."""
    if isinstance(value, ast.Call):
        name = dotted(value.func)
        yield f"{name}()" if name else "?()"
    elif isinstance(value, ast.IfExp):
        yield from _callees(value.body)
        yield from _callees(value.orelse)
    elif isinstance(value, ast.BoolOp):
        for part in value.values:
            yield from _callees(part)
    else:
        name = dotted(value)
        if name:
            yield name
