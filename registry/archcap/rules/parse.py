"""From the text of an expression to a resolved tree: the checked subset of Python.

Parses with `ast`, admits listed nodes only, gives every name its meaning and collects what is wrong instead of raising.
Nothing is ever evaluated here. Types are `types.py`'s matter.
"""

from __future__ import annotations

import ast
import math
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from archcap.rules import expr as x
from archcap.rules.functions import ARITY, BUILTINS, KEYWORDS, LOOPS, METHODS
from archcap.rules.names import NAMED_CALLS, RESERVED, ROOTS, Universe
from archcap.suggest import nearest_name

MAX_CHARS, MAX_NODES, MAX_DEPTH, MAX_INT, MAX_TEXT = 4000, 600, 40, 2**63, 500
HARMLESS_CHARS = 160
"""So short an expression cannot grow beyond what recursion takes."""

_COMPARE = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.In: "in",
    ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not",
}  # fmt: skip
_BINARY = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.BitOr: "|",
    ast.BitAnd: "&", ast.BitXor: "^",
}  # fmt: skip
_WORDS = {
    ast.Lambda: "lambda", ast.ListComp: "a list comprehension", ast.SetComp: "a set comprehension",
    ast.DictComp: "a dict comprehension", ast.JoinedStr: "an f-string", ast.Await: "await", ast.Yield: "yield",
    ast.NamedExpr: ":=", ast.Starred: "*", ast.GeneratorExp: "a generator outside any, all, sum and their like",
    ast.Pow: "**", ast.LShift: "<<", ast.RShift: ">>", ast.MatMult: "@", ast.Invert: "~",
}  # fmt: skip

NOTHING = x.Local("")
"""Stands for what could not be understood; it can be anything."""


@dataclass(frozen=True, slots=True)
class Flaw:
    """One thing wrong with an expression or a statement, without its place."""

    message: str
    expected: str | None = None
    suggestion: str | None = None
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Scope:
    """What surrounds an expression.

    Attributes:
        universe: the engine's names.
        locals: lets and parameters in force.
        each: names unrolled at load, with their value here.
        isolated: whether the step reads its entry.
    """

    universe: Universe
    locals: frozenset[str] = frozenset()
    each: Mapping[str, str | int] = field(default_factory=dict)
    isolated: bool = False


@lru_cache(maxsize=20_000)
def _tree(text: str) -> ast.expr | str:
    if len(text) > MAX_CHARS:
        return f"is longer than {MAX_CHARS} characters"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(" ".join(text.split("\n")).strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"is no expression: {getattr(error, 'msg', None) or 'it nests too deeply'}"
    return body if len(text) <= HARMLESS_CHARS else _bounded(body)


def _bounded(body: ast.expr) -> ast.expr | str:
    level: list[ast.AST] = [body]
    count, depth = 0, 0
    while level:
        count, depth = count + len(level), depth + 1
        if count > MAX_NODES:
            return f"has more than {MAX_NODES} parts; split it with a definition"
        if depth > MAX_DEPTH:
            return f"nests deeper than {MAX_DEPTH} levels; split it with a definition"
        level = [
            child
            for node in level
            for child in ast.iter_child_nodes(node)
            if not isinstance(child, ast.expr_context | ast.operator | ast.cmpop | ast.boolop | ast.unaryop)
        ]
    return body


def parse(text: str, scope: Scope) -> tuple[x.Expr, list[Flaw]]:
    """Return the tree of *text* and everything wrong with it; a flawed part stands as `NOTHING`."""
    tree = _tree(text)
    if isinstance(tree, str):
        return NOTHING, [Flaw(f"`{_short(text)}` {tree}")]
    parser = _Parser(scope)
    return parser.node(tree, scope.locals), parser.flaws


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "…"


class _Parser:
    """Turns one tree; `flaws` collects."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.universe = scope.universe
        self.flaws: list[Flaw] = []

    def node(self, node: ast.expr, names: frozenset[str]) -> x.Expr:
        """Return the tree below *node*, with *names* the locals in force."""
        handler = _HANDLERS.get(type(node))
        return self.refused(node) if handler is None else handler(self, node, names)

    def flaw(self, message: str, expected: str | None = None, suggestion: str | None = None) -> x.Expr:
        """Record something wrong and stand in for it."""
        self.flaws.append(Flaw(message, expected, suggestion))
        return NOTHING

    def refused(self, node: ast.AST) -> x.Expr:
        """Record a form the language does not have."""
        word = _WORDS.get(type(node), type(node).__name__)
        return self.flaw(f"{word} is not part of the rule language")

    def unknown(self, kind: str, name: str, known: Iterable[str]) -> x.Expr:
        """Record a name nobody knows."""
        return self.flaw(f"unknown {kind} `{_short(name)}`", suggestion=nearest_name(name, known))

    # -- leaves ---------------------------------------------------------------

    def constant(self, node: ast.Constant, names: frozenset[str]) -> x.Expr:
        """Read a scalar literal of a sane size."""
        value = node.value
        if isinstance(value, str) and len(value) > MAX_TEXT:
            return self.flaw(f"a text of more than {MAX_TEXT} characters")
        if isinstance(value, int) and abs(value) > MAX_INT:
            return self.flaw("an integer beyond 64 bits")
        if isinstance(value, float) and not math.isfinite(value):
            return self.flaw("a number beyond what a float holds")
        if value is None or isinstance(value, bool | int | float | str):
            return x.Const(value)
        return self.flaw(f"{type(value).__name__} literals are not part of the rule language")

    def name(self, node: ast.Name, names: frozenset[str]) -> x.Expr:
        """Give a bare name its meaning."""
        name = node.id
        if name in names:
            return x.Local(name)
        if name in self.scope.each:
            return x.Const(self.scope.each[name])
        if name in self.universe.settings:
            return x.Setting((name,))
        if name in _ALONE:
            return _ALONE[name]
        if name in self.universe.defines:
            return self._bare_define(name)
        return self._misplaced(name) if name in RESERVED else self._unknown_name(name, names)

    def _bare_define(self, name: str) -> x.Expr:
        params = self.universe.defines[name]
        if params:
            return self.flaw(f"`{name}` takes {len(params)} arguments: {', '.join(params)}", f"{name}(…)")
        return x.Defined(name)

    def _misplaced(self, name: str) -> x.Expr:
        form = f"{name}.…" if name in ROOTS else f"{name}(…)"
        return self.flaw(f"`{name}` cannot stand alone", f"{form}")

    def _unknown_name(self, name: str, names: frozenset[str]) -> x.Expr:
        if name.startswith("__"):
            return self.flaw(f"`{_short(name)}` is not part of the rule language")
        universe = self.universe
        for root, known in (("fact", universe.names.facts), ("var", universe.names.vars)):
            if name in known:
                return self.flaw(f"unknown name `{name}`", suggestion=f"{root}.{name}")
        known_names = {*names, *self.scope.each, *universe.settings, *universe.defines, *RESERVED, *universe.functions}
        return self.unknown("name", name, known_names)

    # -- attribute chains ------------------------------------------------------

    def attribute(self, node: ast.Attribute, names: frozenset[str]) -> x.Expr:
        """Read `fact.x` and its like, or a leaf of a structured setting."""
        chain = _chain(node)
        if any(part.startswith("_") for part in chain[1:]) or not chain:
            return self.flaw(f"`.{node.attr}` is not part of the rule language")
        root = chain[0]
        if root in names or root in self.scope.each:
            return self.flaw(f"`{root}` has no `.{chain[1]}`: only settings have leaves")
        if root in self.universe.settings:
            return self.leaf(chain)
        if root == "peer":
            return self.peer(chain[1:])
        reader = _ROOT_READERS.get(root)
        if reader is None:
            return self._unknown_name(root, names) if root not in RESERVED else self._misplaced(root)
        if len(chain) != 2:
            return self.flaw(f"`{'.'.join(chain)}` goes too deep", f"{root}.name")
        return reader(self, chain[1])

    def leaf(self, chain: tuple[str, ...]) -> x.Expr:
        """Read a leaf of a structured setting, which some release must have."""
        if chain[0] not in self.universe.structured:
            return self.flaw(f"setting `{chain[0]}` has no leaves")
        fields = {f for span in self.universe.settings[chain[0]].spans for f in span.fields}
        path = ".".join(chain[1:])
        if fields and path not in fields and not any(f.startswith(path + ".") for f in fields):
            return self.unknown(f"leaf of {chain[0]}", path, fields)
        return x.Setting(chain)

    def fact(self, name: str) -> x.Expr:
        """Read a fact."""
        known = self.universe.names.facts
        return x.Fact(name) if name in known else self.unknown("fact", name, known)

    def var(self, name: str) -> x.Expr:
        """Read a variable."""
        known = self.universe.names.vars
        return x.Var(name) if name in known else self.unknown("variable", name, known)

    def hardware(self, name: str) -> x.Expr:
        """Read a property of the hardware."""
        known = self.universe.hardware
        return x.Hardware(name) if known is None or name in known else self.unknown("hardware field", name, known)

    def assume(self, name: str) -> x.Expr:
        """Read an assumption."""
        known = self.universe.names.assumptions
        return x.Assume(name) if name in known else self.unknown("assumption", name, known)

    def peer(self, chain: tuple[str, ...]) -> x.Expr:
        """Read what a name of the peer's came to: `peer.page_size`, `peer.fact.x`, `peer.var.x`."""
        reader = _PEER_READERS.get(chain[0])
        if reader is not None and len(chain) == 2:
            found = reader(self, chain[1])
            return x.PeerValue(chain[0], chain[1:]) if found is not NOTHING else NOTHING  # type: ignore[arg-type]
        path = self._setting_path(".".join(chain))
        return NOTHING if path is None else x.PeerValue("setting", path)

    # -- operators ---------------------------------------------------------------

    def boolean(self, node: ast.BoolOp, names: frozenset[str]) -> x.Expr:
        """Read `and` / `or`."""
        op = "and" if isinstance(node.op, ast.And) else "or"
        return x.Bool(op, tuple(self.node(value, names) for value in node.values))  # type: ignore[arg-type]

    def unary(self, node: ast.UnaryOp, names: frozenset[str]) -> x.Expr:
        """Read `not`, `-`, `+`; a signed literal is a literal."""
        item = self.node(node.operand, names)
        if isinstance(node.op, ast.Not):
            return x.Unary("not", item)
        if isinstance(node.op, ast.USub | ast.UAdd):
            minus = isinstance(node.op, ast.USub)
            if isinstance(item, x.Const) and type(item.value) in (int, float):
                return x.Const(-item.value if minus else item.value)  # type: ignore[operator]
            return x.Unary("-" if minus else "+", item)
        return self.refused(node.op)

    def binary(self, node: ast.BinOp, names: frozenset[str]) -> x.Expr:
        """Read arithmetic; joined literal texts are one literal."""
        op = _BINARY.get(type(node.op))
        if op is None:
            return self.refused(node.op)
        left, right = self.node(node.left, names), self.node(node.right, names)
        if op == "+" and _is_text(left) and _is_text(right):
            return x.Const(left.value + right.value)  # type: ignore[union-attr,operator]
        if op in ("*", "%") and any(_is_sequence(side) for side in (left, right)):
            return self.flaw(f"`{op}` takes numbers only")
        return x.Binary(op, left, right)

    def compare(self, node: ast.Compare, names: frozenset[str]) -> x.Expr:
        """Read a chain of comparisons."""
        ops = tuple(_COMPARE[type(op)] for op in node.ops)
        items = tuple(self.node(item, names) for item in (node.left, *node.comparators))
        for op, left, right in zip(ops, items, items[1:], strict=False):
            if op in ("is", "is not") and not (_is_single(left) or _is_single(right)):
                return self.flaw(f"`{op}` compares with None, True or False only", "==" if op == "is" else "!=")
        return x.Compare(ops, items)

    def if_else(self, node: ast.IfExp, names: frozenset[str]) -> x.Expr:
        """Read `a if b else c`."""
        return x.IfElse(*(self.node(part, names) for part in (node.test, node.body, node.orelse)))

    def subscript(self, node: ast.Subscript, names: frozenset[str]) -> x.Expr:
        """Read `a[i]` and `a[i:j]`."""
        value = self.node(node.value, names)
        if isinstance(node.slice, ast.Slice):
            bounds = (node.slice.lower, node.slice.upper, node.slice.step)
            return x.Slice(value, *(None if bound is None else self.node(bound, names) for bound in bounds))
        return x.Index(value, self.node(node.slice, names))

    def display(self, node: ast.Tuple | ast.List | ast.Set, names: frozenset[str]) -> x.Expr:
        """Read a tuple, list or set."""
        kind = type(node).__name__.lower()
        return x.Display(kind, tuple(self.node(item, names) for item in node.elts))  # type: ignore[arg-type]

    def mapping(self, node: ast.Dict, names: frozenset[str]) -> x.Expr:
        """Read a mapping."""
        if any(key is None for key in node.keys):
            return self.flaw("** is not part of the rule language")
        keys = tuple(self.node(key, names) for key in node.keys if key is not None)
        return x.DictDisplay(keys, tuple(self.node(value, names) for value in node.values))

    # -- calls -----------------------------------------------------------------

    def call(self, node: ast.Call, names: frozenset[str]) -> x.Expr:
        """Read a call: of a name, of a root's method, of a value's method."""
        if isinstance(node.func, ast.Name):
            return self._call_name(node.func.id, node, names)
        if isinstance(node.func, ast.Attribute):
            return self._call_attribute(node.func, node, names)
        return self.flaw("only names and methods can be called")

    def _call_name(self, name: str, node: ast.Call, names: frozenset[str]) -> x.Expr:
        if name in names or name in self.scope.each:
            return self.flaw(f"`{name}` is a value and cannot be called")
        if name in NAMED_CALLS:
            return self._named(name, node, names)
        if name in BUILTINS:
            return self._builtin(name, node, names)
        if name in self.universe.functions:
            return x.Call(name, self._plain(name, node, names), engine=True)
        if name in self.universe.defines:
            return self._call_define(name, node, names)
        if name in self.universe.settings:
            return self.flaw(f"`{name}` is a setting and cannot be called")
        if name.startswith("__"):
            return self.flaw(f"`{_short(name)}` is not part of the rule language")
        known = {*BUILTINS, *self.universe.functions, *NAMED_CALLS, *self.universe.defines}
        return self.unknown("function", name, known)

    def _call_define(self, name: str, node: ast.Call, names: frozenset[str]) -> x.Expr:
        params = self.universe.defines[name]
        args = self._plain(name, node, names)
        if len(args) != len(params):
            return self.flaw(f"`{name}` takes {len(params)} arguments, not {len(args)}")
        return x.Defined(name, args)

    def _plain(self, name: str, node: ast.Call, names: frozenset[str]) -> tuple[x.Expr, ...]:
        if node.keywords:
            self.flaw(f"`{name}` takes no keyword arguments")
        return tuple(self.node(arg, names) for arg in node.args)

    def _builtin(self, name: str, node: ast.Call, names: frozenset[str]) -> x.Expr:
        least, most = ARITY[name]
        if not least <= len(node.args) <= most:
            wanted = str(least) if least == most else f"{least} to {most}"
            return self.flaw(f"`{name}` takes {wanted} arguments, not {len(node.args)}")
        keywords = []
        for keyword in node.keywords:
            if keyword.arg not in KEYWORDS.get(name, ()):
                return self.flaw(f"`{name}` takes no argument `{keyword.arg}`")
            keywords.append((keyword.arg, self.node(keyword.value, names)))
        if isinstance(node.args[0] if node.args else None, ast.GeneratorExp) and name in LOOPS:
            rest = tuple(self.node(arg, names) for arg in node.args[1:])
            return x.Call(name, (self._loop(node.args[0], names), *rest), tuple(keywords))
        return x.Call(name, tuple(self.node(arg, names) for arg in node.args), tuple(keywords))

    def _loop(self, node: ast.expr, names: frozenset[str]) -> x.Expr:
        assert isinstance(node, ast.GeneratorExp)
        part = node.generators[0]
        if len(node.generators) != 1 or part.is_async or not isinstance(part.target, ast.Name):
            return self.flaw("a generator has one `for` over one plain name")
        name = part.target.id
        if name in RESERVED or name in names or name in self.scope.each or name in self.universe.settings:
            return self.flaw(f"`{name}` already means something here; call the loop's name otherwise")
        inner = names | {name}
        source = self.node(part.iter, names)
        return x.Loop(self.node(node.elt, inner), name, source, tuple(self.node(c, inner) for c in part.ifs))

    def _call_attribute(self, func: ast.Attribute, node: ast.Call, names: frozenset[str]) -> x.Expr:
        chain = _chain(func)
        root = ".".join(chain[:-1])
        if root in ("hf", "text", "draft.hf", "draft.text") and chain[0] not in names:
            return self._config(root, func.attr, node, names)
        if root == "draft" and "draft" not in names:
            return self._draft(func.attr, node, names)
        if func.attr not in METHODS:
            if func.attr.startswith("_"):
                return self.flaw(f"`.{_short(func.attr)}` is not part of the rule language")
            return self.unknown("method", func.attr, METHODS)
        least, most = METHODS[func.attr]
        if not least <= len(node.args) <= most:
            return self.flaw(f"`.{func.attr}` takes {least} to {most} arguments, not {len(node.args)}")
        value = self.node(func.value, names)
        return x.Method(value, func.attr, self._plain("." + func.attr, node, names))

    def _config(self, root: str, method: str, node: ast.Call, names: frozenset[str]) -> x.Expr:
        if method not in ("get", "has"):
            return self.unknown(f"method of {root}", method, ("get", "has"))
        if not 1 <= len(node.args) <= (2 if method == "get" else 1):
            return self.flaw(f"`{root}.{method}` takes a path" + (" and a default" if method == "get" else ""))
        key = self._text(node.args[0], f"{root}.{method}")
        args = self._plain(f"{root}.{method}", node, names)
        if key is None:
            return NOTHING
        path = tuple(key.split("."))
        if not all(path):
            return self.flaw(f"`{key}` is no path of keys")
        return x.Config(root, path, args[1] if len(args) > 1 else None, method == "has")  # type: ignore[arg-type]

    def _draft(self, method: str, node: ast.Call, names: frozenset[str]) -> x.Expr:
        if method == "has":
            return self.has(node, names, draft=True)
        if method == "in_list":
            return self.in_list(node, names, draft=True)
        return self.unknown("method of draft", method, ("has", "in_list", "hf", "text"))

    # -- calls that name something ------------------------------------------------

    def _named(self, name: str, node: ast.Call, names: frozenset[str]) -> x.Expr:
        if name == "has":
            return self.has(node, names)
        if name == "in_list":
            return self.in_list(node, names)
        if len(node.args) != 1 or node.keywords:
            return self.flaw(f"`{name}` takes one name")
        key = self._text(node.args[0], name)
        return NOTHING if key is None else _NAMED[name](self, key)

    def _text(self, node: ast.expr, name: str) -> str | None:
        before = len(self.flaws)
        value = self.node(node, frozenset())
        if isinstance(value, x.Const) and isinstance(value.value, str):
            return value.value
        if len(self.flaws) == before:
            self.flaw(f"`{name}` takes its name as text known at load")
        return None

    def _setting_path(self, key: str) -> x.Path | None:
        chain = tuple(key.split("."))
        if chain[0] not in self.universe.settings:
            self.unknown("setting", chain[0], self.universe.settings)
            return None
        if len(chain) == 1:
            return chain
        found = self.leaf(chain)
        return found.path if isinstance(found, x.Setting) else None

    def setting(self, key: str) -> x.Expr:
        """Read `setting("x")`."""
        path = self._setting_path(key)
        return NOTHING if path is None else x.Setting(path)

    def raw(self, key: str) -> x.Expr:
        """Read `raw("x")`."""
        path = self._setting_path(key)
        return NOTHING if path is None else x.Raw(path)

    def user_set(self, key: str) -> x.Expr:
        """Read `user_set("x")`."""
        path = self._setting_path(key)
        return NOTHING if path is None else x.UserSet(".".join(path))

    def own(self, key: str) -> x.Expr:
        """Read `own("x")`, which only an isolated step has."""
        if not self.scope.isolated:
            return self.flaw('`own("…")` has a meaning only in a step with `isolation: entry`')
        if key.startswith("var."):
            name = key.removeprefix("var.")
            return x.Own(("var", name)) if isinstance(self.var(name), x.Var) else NOTHING
        path = self._setting_path(key)
        return NOTHING if path is None else x.Own(path)

    def env(self, key: str) -> x.Expr:
        """Read `env("X")`."""
        known = self.universe.names.env
        return x.Env(key) if key in known else self.unknown("environment variable", key, known)

    def env_set(self, key: str) -> x.Expr:
        """Read `env_set("X")`."""
        known = self.universe.names.env
        return x.EnvSet(key) if key in known else self.unknown("environment variable", key, known)

    def has(self, node: ast.Call, names: frozenset[str], draft: bool = False) -> x.Expr:
        """Read `has("capability")`."""
        if len(node.args) != 1 or node.keywords:
            return self.flaw("`has` takes one capability")
        key = self._text(node.args[0], "has")
        if key is None:
            return NOTHING
        if key not in self.universe.capabilities:
            return self.unknown("capability", key, self.universe.capabilities)
        return x.Has(key, draft)

    def in_list(self, node: ast.Call, names: frozenset[str], draft: bool = False) -> x.Expr:
        """Read `in_list("id")` and `in_list("id", value)`."""
        if len(node.args) not in ((1,) if draft else (1, 2)) or node.keywords:
            return self.flaw("`in_list` takes a list" + ("" if draft else " and perhaps a value"))
        key = self._text(node.args[0], "in_list")
        value = self.node(node.args[1], names) if len(node.args) > 1 else None
        if key is None:
            return NOTHING
        kind = self.universe.lists.get(key)
        if kind is None:
            return self.unknown("list", key, self.universe.lists)
        if value is not None:
            return x.InList(key, value, draft)
        return self._whose(key, kind, draft)

    def _whose(self, key: str, kind: str, draft: bool) -> x.Expr:
        if kind == "architecture":
            return x.InList(key, None, draft)
        if kind == "model_type":
            return x.InList(key, x.Config("draft.hf" if draft else "hf", ("model_type",)), draft)
        return self.flaw(f"list `{key}` is of kind {kind}: say whose name is asked", f'in_list("{key}", value)')


def _chain(node: ast.expr) -> tuple[str, ...]:
    """Return the names of `a.b.c`; empty when it starts from something else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ()
    return (node.id, *reversed(parts))


def _is_single(node: x.Expr) -> bool:
    return isinstance(node, x.Const) and (node.value is None or isinstance(node.value, bool))


def _is_text(node: x.Expr) -> bool:
    return isinstance(node, x.Const) and isinstance(node.value, str)


def _is_sequence(node: x.Expr) -> bool:
    if isinstance(node, x.Const):
        return isinstance(node.value, str)
    if isinstance(node, x.Call):
        return not node.engine and node.name in ("str", "list", "tuple", "sorted", "upper", "lower")
    return isinstance(node, x.Display | x.DictDisplay)


_Handler = Callable[[_Parser, Any, frozenset[str]], x.Expr]
_HANDLERS: dict[type[ast.expr], _Handler] = {
    ast.Constant: _Parser.constant, ast.Name: _Parser.name, ast.Attribute: _Parser.attribute,
    ast.BoolOp: _Parser.boolean, ast.UnaryOp: _Parser.unary, ast.BinOp: _Parser.binary,
    ast.Compare: _Parser.compare, ast.IfExp: _Parser.if_else, ast.Subscript: _Parser.subscript,
    ast.Tuple: _Parser.display, ast.List: _Parser.display, ast.Set: _Parser.display, ast.Dict: _Parser.mapping,
    ast.Call: _Parser.call,
}  # fmt: skip
_ALONE: dict[str, x.Expr] = {"profile": x.Profile(), "peer": x.HasPeer()}
"""Roots that are also names."""
_PEER_READERS: dict[str, Callable[[_Parser, str], x.Expr]] = {"fact": _Parser.fact, "var": _Parser.var}
_ROOT_READERS: dict[str, Callable[[_Parser, str], x.Expr]] = {
    "fact": _Parser.fact, "var": _Parser.var, "hw": _Parser.hardware, "assume": _Parser.assume,
}  # fmt: skip
_NAMED: dict[str, Callable[[_Parser, str], x.Expr]] = {
    "setting": _Parser.setting, "raw": _Parser.raw, "user_set": _Parser.user_set, "own": _Parser.own,
    "env": _Parser.env, "env_set": _Parser.env_set,
}  # fmt: skip
