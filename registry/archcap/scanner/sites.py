"""Places in code where something is keyed by names written out: tests, tables, collections, registrations.

Finds them in the text of one piece of code, without knowing what the names are or what other modules hold: what a test
compares with is kept as the strings that stand there and the names of collections that do (`refs`).
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

_HINTS = (
    re.compile(rb'"(?:[A-Z][a-z]+[A-Z0-9_]|[A-Z][A-Z0-9_]+[a-z])[A-Za-z0-9_]*"'),
    re.compile(rb"'(?:[A-Z][a-z]+[A-Z0-9_]|[A-Z][A-Z0-9_]+[a-z])[A-Za-z0-9_]*'"),
    re.compile(rb"model_type"),
    re.compile(rb"arch(?:s|itectures?)?\b"),
    re.compile(rb"ARCH"),
    re.compile(rb"_(?:TYPES?|MODELS|TARGETS)(?![a-z])"),
    re.compile(rb"models\b[^\n=]*=[ ]*\["),
    re.compile(rb"isinstance\([^()]*\(?[^()]*Config"),
    re.compile(rb"re\.(?:search|match)\("),
    re.compile(rb"model_path"),
)
"""What a line must hold to be looked at: a quoted class name (two capitals, or a digit), or a word that says what
something is keyed by. Apart from each other, for each then begins with bytes that are found fast."""

_PATH_TEST = re.compile(rb"\bin\b[^\n]*model_path")

_KEYED = re.compile(r"model_?type|arch|model_path|model_name|config_class|model_cls|processor_class", re.IGNORECASE)
_CLASS_NAME = re.compile(r"^[A-Z][A-Za-z0-9_]*[a-z][A-Za-z0-9_]*$")
_TABLES = re.compile(r"ARCH|MODEL|TYPE|TARGET|MAPPING|REGISTRY|CONFIG|archs|models\b|types\b|params\b", re.IGNORECASE)


class Site(NamedTuple):
    """One place.

    Attributes:
        form: `eq`, `in`, `has` (a name in the subject), `starts`, `ends`, `substring`, `regex`, `isinstance`, `lookup`,
            `set`, `case`, `decorator`, `collection`, `table` (a dictionary), `assign`, `keyword`, `argument`, `return`,
            `mutation`; and `import`, which is no site but says where a name in a function comes from.
        line: of the expression that is keyed.
        owner: qualified name of the function or method; "" at module level, `Class.` in a class body.
        subject: text of what is compared, assigned to or called.
        names: the strings (or classes) written out.
        refs: names of collections that are compared with, or that the collection is built from.
        negated: `!=` or `not in`.
    """

    form: str
    line: int
    owner: str
    subject: str
    names: tuple[str, ...]
    refs: tuple[str, ...] = ()
    negated: bool = False


class Shape(NamedTuple):
    """The strings and the names of collections an expression holds."""

    names: tuple[str, ...]
    refs: tuple[str, ...]


def sites_of(body: Sequence[ast.stmt], lines: Sequence[int], owner: str | None) -> list[Site]:
    """Return the sites of parsed statements, in textual order.

    Args:
        body: statements; for *owner* a single class statement that stands for the methods.
        lines: the ones of their source that hold a hint, in order.
        owner: the class whose methods they are.
    """
    if not lines:
        return []
    finder = _Finder(lines)
    if owner is None:
        finder.block(body, "")
    else:
        (node,) = body
        assert isinstance(node, ast.ClassDef)
        finder.block(node.body, f"{owner}.")
    finder.found.sort(key=lambda site: site.line)
    return finder.found


def hinted_lines(text: bytes) -> list[int]:
    """Return the lines of a text that can hold a site, in order."""
    lines: list[int] = []
    line, at = 1, 0
    for place in sorted(_hints(text)):
        line += text.count(b"\n", at, place)
        at = place
        if not lines or lines[-1] != line:
            lines.append(line)
    return lines


def _hints(text: bytes) -> Iterator[int]:
    """Yield the places of hints; `arch` inside another word (`search`) is none, a path only where it is tested."""
    for hint in _HINTS:
        for match in hint.finditer(text):
            start = match.start()
            if text[start : start + 4] == b"arch" and text[start - 1 : start].isalpha():
                continue
            if hint is _HINTS[-1] and not _PATH_TEST.search(text, text.rfind(b"\n", 0, start) + 1, match.end()):
                continue
            yield start


class _Finder:
    """Walks statements that span a hinted line, and all expressions in them."""

    def __init__(self, lines: Sequence[int]) -> None:
        self.lines = lines
        self.found: list[Site] = []
        self.owner = ""
        self.loops: dict[str, Shape] = {}

    def hinted(self, node: ast.stmt | ast.expr) -> bool:
        at = bisect_left(self.lines, node.lineno)
        return at < len(self.lines) and self.lines[at] <= (node.end_lineno or node.lineno)

    def block(self, statements: Sequence[ast.stmt], owner: str) -> None:
        for statement in statements:
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                self.definition(statement, owner)
            elif self.hinted(statement):
                self.owner = owner
                self.statement(statement, owner)

    def definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, owner: str) -> None:
        self.owner = owner
        for decorator in node.decorator_list:
            if self.hinted(decorator):
                self.decorator(decorator, owner + node.name)
        if not self.hinted(node):
            return
        if isinstance(node, ast.ClassDef):
            self.block(node.body, f"{owner}{node.name}.")
        else:
            inside = owner and not owner.endswith(".")
            self.block(node.body, owner if inside else owner + node.name)

    def decorator(self, node: ast.expr, owner: str) -> None:
        if not isinstance(node, ast.Call):
            return
        self.owner = owner
        self.expression(node)
        names = tuple(_constants(node.args))
        refs = tuple(a.value.id for a in node.args if isinstance(a, ast.Starred) and isinstance(a.value, ast.Name))
        if names or refs:
            self.add("decorator", node.lineno, _text(node.func), Shape(names, refs), owner=owner)

    def statement(self, node: ast.stmt, owner: str) -> None:
        if isinstance(node, ast.ImportFrom):
            self.imported(node)
            return
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                self.part(node, field, value)
            elif isinstance(value, list) and value:
                if isinstance(value[0], ast.stmt):
                    self.nested(node, field, value, owner)
                else:
                    for one in value:
                        self.other(one, owner)

    def imported(self, node: ast.ImportFrom) -> None:
        """Note the collections that a function imports: a test's name is looked up there."""
        module = "." * node.level + (node.module or "")
        for alias in node.names:
            if self.owner and _TABLES.search(alias.name):
                site = Site("import", node.lineno, self.owner, alias.asname or alias.name, (), (module, alias.name))
                self.found.append(site)

    def nested(self, node: ast.stmt, field: str, block: list[ast.stmt], owner: str) -> None:
        if isinstance(node, ast.For) and field == "body":
            target = node.target.elts[0] if isinstance(node.target, ast.Tuple) else node.target
            if isinstance(target, ast.Name):
                self.loops[target.id] = self.shape(node.iter)
        self.block(block, owner)
        self.owner = owner

    def other(self, node: object, owner: str) -> None:
        if isinstance(node, ast.expr):
            self.expression(node)
        elif isinstance(node, ast.ExceptHandler | ast.match_case):
            self.block(node.body, owner)
        elif isinstance(node, ast.withitem):
            self.expression(node.context_expr)

    def part(self, node: ast.stmt, field: str, value: ast.expr) -> None:
        """Look at one expression of a statement: as what it is to the statement, and inside."""
        if not self.hinted(value):
            return
        if field == "value":
            role = _ROLES.get(type(node))
            if role is not None:
                role(self, node, value)
        if isinstance(node, ast.Match):
            self.match(node)
        self.expression(value)

    def assigned(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign, value: ast.expr) -> None:
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        for one in _alternatives(value):
            if isinstance(one, ast.Constant):
                if isinstance(one.value, str):
                    self.add("assign", one.lineno, _text(target), Shape((one.value,), ()))
            else:
                shape = self.shape(one)
                form = "table" if isinstance(one, ast.Dict) else "collection"
                if shape.names or (shape.refs and not isinstance(one, ast.Name | ast.Attribute)):
                    self.add(form, one.lineno, _text(target), shape)

    def returned(self, node: ast.Return, value: ast.expr) -> None:
        for one in _alternatives(value):
            if isinstance(one, ast.Constant) and isinstance(one.value, str):
                self.add("return", one.lineno, "return", Shape((one.value,), ()))

    def match(self, node: ast.Match) -> None:
        for case in node.cases:
            names = tuple(_constants([p.value for p in ast.walk(case.pattern) if isinstance(p, ast.MatchValue)]))
            if names:
                self.add("case", case.pattern.lineno, _text(node.subject), Shape(names, ()))

    def expression(self, node: ast.expr) -> None:
        """Look at an expression and everything in it."""
        if not self.hinted(node):
            return
        nodes = list(ast.walk(node))
        for one in nodes:
            if type(one) is ast.comprehension and isinstance(one.target, ast.Name):
                self.loops[one.target.id] = self.shape(one.iter)
        for one in nodes:
            handler = _HANDLERS.get(type(one))
            if handler is not None:
                handler(self, one)

    def compare(self, node: ast.Compare) -> None:
        left = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            negated = isinstance(operator, ast.NotEq | ast.NotIn)
            if isinstance(operator, ast.Eq | ast.NotEq):
                self.equal(node.lineno, left, right, negated)
            elif isinstance(operator, ast.In | ast.NotIn):
                self.member(node.lineno, left, right, negated)
            left = right

    def equal(self, line: int, left: ast.expr, right: ast.expr, negated: bool) -> None:
        for subject, value in ((left, right), (right, left)):
            shape = self.shape(value)
            if shape.names and not isinstance(subject, ast.Constant):
                self.add("eq", line, _text(subject), shape, negated)
                return

    def member(self, line: int, left: ast.expr, right: ast.expr, negated: bool) -> None:
        if isinstance(left, ast.Constant):
            if isinstance(left.value, str):
                form = "has" if _CLASS_NAME.match(left.value) else "substring"
                self.add(form, line, _text(right), Shape((left.value,), ()), negated)
            return
        if isinstance(left, ast.Name) and left.id in self.loops:
            each = self.loops[left.id]
            if each.names or (each.refs and not _KEYED.search(each.refs[0])):
                self.add("has", line, _text(right), each, negated)
                if each.names:
                    return
        self.add("in", line, _text(left), self.shape(right), negated)

    def call(self, node: ast.Call) -> None:
        function = node.func
        if isinstance(function, ast.Name) and function.id == "isinstance" and len(node.args) == 2:
            names = tuple(n for n in _class_names(node.args[1]) if n.endswith("Config") or "_Config" in n)
            if names:
                self.add("isinstance", node.lineno, _text(node.args[0]), Shape(names, ()))
            return
        if isinstance(function, ast.Attribute) and node.args:
            form = _METHODS.get(function.attr)
            if form is not None:
                self.method(node, function, form)
        self.arguments(node)

    def method(self, node: ast.Call, function: ast.Attribute, form: str) -> None:
        first = node.args[0]
        if form == "lookup":
            if not isinstance(first, ast.Constant):
                self.lookup(node.lineno, function.value, first)
        elif form == "regex":
            if isinstance(first, ast.Constant) and isinstance(first.value, str) and len(node.args) > 1:
                self.add("regex", node.lineno, _text(node.args[1]), Shape((first.value,), ()))
        elif form == "set":
            self.algebra(node.lineno, function.value, first)
        else:
            self.add(form, node.lineno, _text(function.value), self.shape(first))

    def arguments(self, node: ast.Call) -> None:
        callee = _text(node.func)
        if callee in _COLLECTIONS:
            return
        for argument in node.args:
            if isinstance(argument, ast.Constant) and _is_class_name(argument.value):
                form = "mutation" if callee.rpartition(".")[2] in _MUTATIONS else "argument"
                self.add(form, node.lineno, callee, Shape((str(argument.value),), ()))
            elif isinstance(argument, ast.List | ast.Tuple | ast.Set | ast.Dict):
                shape = self.shape(argument)
                if any(_CLASS_NAME.match(n) for n in shape.names):
                    self.add("argument", argument.lineno, callee, shape)
        for keyword in node.keywords:
            for one in _alternatives(keyword.value):
                shape = self.shape(one)
                if keyword.arg and any(_CLASS_NAME.match(n) for n in shape.names):
                    self.add("keyword", node.lineno, keyword.arg, shape)

    def subscript(self, node: ast.Subscript) -> None:
        if isinstance(node.ctx, ast.Load) and not isinstance(node.slice, ast.Constant | ast.Slice | ast.Tuple):
            self.lookup(node.lineno, node.value, node.slice)

    def lookup(self, line: int, table: ast.expr, key: ast.expr) -> None:
        shape = self.shape(table)
        name = _text(table)
        if _KEYED.search(_text(key)) and (shape.names or shape.refs or name):
            self.add("lookup", line, _text(key), Shape(shape.names, shape.refs or (name,)))

    def operation(self, node: ast.BinOp) -> None:
        if isinstance(node.op, ast.BitAnd):
            self.algebra(node.lineno, node.left, node.right)

    def algebra(self, line: int, left: ast.expr, right: ast.expr) -> None:
        for subject, value in ((left, right), (right, left)):
            shape = self.shape(value)
            if shape.names:
                self.add("set", line, _text(subject), shape)
                return

    def table(self, node: ast.Dict) -> None:
        """A dictionary that stands in an expression and holds names: as keys, or as values of `architectures`."""
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str) and _KEYED.search(key.value):
                names = self.shape(value).names
                if any(_CLASS_NAME.match(n) for n in names):
                    self.add("table", node.lineno, key.value, Shape(names, ()))

    def add(
        self, form: str, line: int, subject: str, shape: Shape, negated: bool = False, owner: str | None = None
    ) -> None:
        """Keep a site, unless nothing in it says that it is keyed by what is looked for."""
        if _worth_keeping(form, subject, shape):
            self.found.append(
                Site(form, line, self.owner if owner is None else owner, subject, shape.names, shape.refs, negated)
            )

    def shape(self, node: ast.expr) -> Shape:
        """Return the strings *node* holds, and the collections it names."""
        names: list[str] = []
        refs: list[str] = []
        _collect(node, names, refs)
        return Shape(tuple(names), tuple(refs))


def _collect(node: ast.expr | None, names: list[str], refs: list[str]) -> None:
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            names.append(node.value)
    elif isinstance(node, ast.Name | ast.Attribute):
        refs.append(_text(node))
    else:
        for part in _parts(node):
            _collect(part, names, refs)


def _parts(node: ast.expr | None) -> Sequence[ast.expr | None]:
    """Return what a collection is built from."""
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return node.elts
    if isinstance(node, ast.Dict):
        return node.keys
    if isinstance(node, ast.Starred):
        return [node.value]
    if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
        return [node.generators[0].iter]
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.args if node.func.id in _COLLECTIONS and len(node.args) == 1 else []
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return [node.func.value] if node.func.attr in ("keys", "values", "items") else []
    return []


def _worth_keeping(form: str, subject: str, shape: Shape) -> bool:
    if any(_CLASS_NAME.match(name) for name in shape.names):
        return True
    if form in ("assign", "return", "collection", "table", "keyword", "argument", "mutation", "decorator"):
        return form in ("collection", "table") and bool(_KEYED.search(subject) or _TABLES.search(subject))
    if _KEYED.search(subject):
        return bool(shape.names or shape.refs)
    return form in ("in", "has") and any(_KEYED.search(ref) for ref in shape.refs) and not _KEYED.search(subject)


def _is_class_name(value: object) -> bool:
    return isinstance(value, str) and _CLASS_NAME.match(value) is not None


def _alternatives(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.IfExp):
        yield from _alternatives(node.body)
        yield from _alternatives(node.orelse)
    elif isinstance(node, ast.BoolOp):
        for value in node.values:
            yield from _alternatives(value)
    else:
        yield node


def _constants(nodes: Sequence[ast.expr]) -> Iterator[str]:
    for node in nodes:
        for one in ast.walk(node):
            if isinstance(one, ast.Constant) and isinstance(one.value, str):
                yield one.value


def _class_names(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Tuple):
        for element in node.elts:
            yield from _class_names(element)
    elif isinstance(node, ast.BinOp):
        yield from _class_names(node.left)
        yield from _class_names(node.right)
    elif isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return ast.unparse(node)


_COLLECTIONS = frozenset({"frozenset", "set", "list", "tuple", "sorted"})
_MUTATIONS = frozenset({"append", "add", "remove", "discard", "extend", "update", "insert"})
_METHODS = {
    "startswith": "starts", "endswith": "ends", "get": "lookup", "isdisjoint": "set", "intersection": "set",
    "issubset": "set", "search": "regex", "match": "regex", "fullmatch": "regex",
}  # fmt: skip
_ROLES: dict[type[ast.stmt], Callable[..., None]] = {
    ast.Assign: _Finder.assigned,
    ast.AnnAssign: _Finder.assigned,
    ast.AugAssign: _Finder.assigned,
    ast.Return: _Finder.returned,
}
_HANDLERS: dict[type[ast.AST], Callable[..., None]] = {
    ast.Compare: _Finder.compare,
    ast.Call: _Finder.call,
    ast.Subscript: _Finder.subscript,
    ast.BinOp: _Finder.operation,
    ast.Dict: _Finder.table,
}
