"""Expressions as Python text over the context of a run. Knows precedence and the short names of `runtime.Context`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from archcap.rules import expr as x
from archcap.rules.ir import DefineIR

_IF, _OR, _AND, _NOT, _COMPARE, _UNARY, _ATOM = 1, 2, 3, 4, 5, 11, 12
_LEVEL = {"|": 6, "^": 7, "&": 8, "+": 9, "-": 9, "*": 10, "/": 10, "//": 10, "%": 10}
_VIEWS = {"hf": "HF", "text": "TX", "draft.hf": "DH", "draft.text": "DT"}


SHORT = 12
"""Nodes of a definition up to which it stands where it is used; a call costs as much."""


def short_defines(defines: Iterable[DefineIR]) -> dict[str, tuple[tuple[str, ...], x.Expr]]:
    """Return the definitions that are one short expression, each with its parameters."""
    return {
        define.name: (define.params, define.rows[0].value)
        for define in defines
        if len(define.rows) == 1 and define.rows[0].when is None and x.size(define.rows[0].value) <= SHORT
    }


class Numbers:
    """Numbers what generated code reads by number.

    Attributes:
        settings: the number of each setting.
        lists: the number of each list that is asked for an architecture, in the order they are met.
    """

    def __init__(self, settings: Iterable[str]) -> None:
        self.settings = {name: number for number, name in enumerate(settings)}
        self.lists: dict[str, int] = {}

    def of_list(self, name: str) -> int:
        """Return the number of a list."""
        return self.lists.setdefault(name, len(self.lists))


class Emitter:
    """Writes expressions of one function.

    Attributes:
        used: names of the context that were needed; the function reads them into locals first.
        read: the settings met, with their numbers.
        short: definitions so short that their text stands where they are used: parameters and expression.
        numbers: where the settings stand, and the lists that are asked for an architecture.
        shared: calls whose value a local name holds already.
    """

    def __init__(
        self, short: Mapping[str, tuple[tuple[str, ...], x.Expr]] | None = None, numbers: Numbers | None = None
    ) -> None:
        self.used: set[str] = set()
        self.read: set[tuple[int, str]] = set()
        self.short, self.numbers = short or {}, numbers or Numbers(())
        self.shared: dict[x.Expr, str] = {}

    def text(self, node: x.Expr, level: int = 0) -> str:
        """Return *node* as Python text, in brackets where *level* binds tighter."""
        text, own = _EMIT[type(node)](self, node)
        return f"({text})" if own < level else text

    def use(self, name: str) -> str:
        """Return the context's name, noting its use."""
        self.used.add(name)
        return name

    def setting(self, path: x.Path, root: str = "S") -> str:
        """Return a read of a setting or leaf."""
        number = self.numbers.settings[path[0]]
        self.read.add((number, path[0]))
        head = f"{self.use(root)}[{number}]"
        return head if len(path) == 1 else leaf_text(head, path[1:])

    def named(self, name: str, key: str) -> tuple[str, int]:
        """Return a read of a named value."""
        return f"{self.use(name)}[{key!r}]", _ATOM

    def own(self, path: x.Path) -> str:
        """Return a read of what an isolated step wrote, else of its entry."""
        if path[0] == "var":
            return f"(OV[{path[1]!r}] if {path[1]!r} in OV else {self.use('V')}[{path[1]!r}])"
        key = path[0]
        head = f"(O[{key!r}] if {key!r} in O else {self.setting(path[:1])})"
        return head if len(path) == 1 else leaf_text(head, path[1:])


def leaf_text(head: str, path: x.Path) -> str:
    """Return the read of a leaf below *head*."""
    function = {1: "leaf1", 2: "leaf2"}.get(len(path), "leaf")
    return f"{function}({head}, {', '.join(repr(part) for part in path)})"


def _const(e: Emitter, n: x.Const) -> tuple[str, int]:
    if isinstance(n.value, float) and not math.isfinite(n.value):
        return f"float({str(n.value)!r})", _ATOM
    negative = isinstance(n.value, int | float) and not isinstance(n.value, bool) and n.value < 0
    return repr(n.value), _UNARY if negative else _ATOM


def _local(e: Emitter, n: x.Local) -> tuple[str, int]:
    return f"let_{n.name}", _ATOM


def _setting(e: Emitter, n: x.Setting) -> tuple[str, int]:
    return e.setting(n.path), _ATOM


def _own(e: Emitter, n: x.Own) -> tuple[str, int]:
    return e.own(n.path), _ATOM


def _raw(e: Emitter, n: x.Raw) -> tuple[str, int]:
    return e.setting(n.path, "R"), _ATOM


def _user_set(e: Emitter, n: x.UserSet) -> tuple[str, int]:
    return f"{n.name!r} in {e.use('U')}", _COMPARE


def _env_set(e: Emitter, n: x.EnvSet) -> tuple[str, int]:
    return f"{n.name!r} in {e.use('N')}", _COMPARE


def _profile(e: Emitter, n: x.Profile) -> tuple[str, int]:
    return f"{e.use('K')}['profile']", _ATOM


def _has_peer(e: Emitter, n: x.HasPeer) -> tuple[str, int]:
    return f"{e.use('P')} is not NO_PEER", _COMPARE


def _peer_value(e: Emitter, n: x.PeerValue) -> tuple[str, int]:
    head = f"{e.use('P')}[{(n.kind, n.path[0])!r}]"
    return (head if len(n.path) == 1 else leaf_text(head, n.path[1:])), _ATOM


def _has(e: Emitter, n: x.Has) -> tuple[str, int]:
    return f"{n.capability!r} in {e.use('DC' if n.draft else 'C')}", _COMPARE


def _in_list(e: Emitter, n: x.InList) -> tuple[str, int]:
    if n.value is None:
        return f"{e.use('DM' if n.draft else 'M')}[{e.numbers.of_list(n.list)}]", _ATOM
    return f"in_names({e.use('LS')}[{n.list!r}], {e.text(n.value)})", _ATOM


def _config(e: Emitter, n: x.Config) -> tuple[str, int]:
    view = e.use(_VIEWS[n.view])
    if n.has:
        return f"config_has({view}, {n.path!r})", _ATOM
    default = "" if n.default is None else f", {e.text(n.default)}"
    if len(n.path) == 1:
        return f"{view}.get({n.path[0]!r}{default})", _ATOM
    return f"config_at({view}, {n.path!r}{default})", _ATOM


def _bool(e: Emitter, n: x.Bool) -> tuple[str, int]:
    level = _OR if n.op == "or" else _AND
    return f" {n.op} ".join(e.text(item, level + 1) for item in n.items), level


def _unary(e: Emitter, n: x.Unary) -> tuple[str, int]:
    if n.op == "not":
        return f"not {e.text(n.item, _NOT)}", _NOT
    return f"{n.op}{e.text(n.item, _ATOM)}", _UNARY


def _binary(e: Emitter, n: x.Binary) -> tuple[str, int]:
    level = _LEVEL[n.op]
    return f"{e.text(n.left, level)} {n.op} {e.text(n.right, level + 1)}", level


def _compare(e: Emitter, n: x.Compare) -> tuple[str, int]:
    parts = [e.text(n.items[0], _COMPARE + 1)]
    for op, item in zip(n.ops, n.items[1:], strict=True):
        parts.append(f"{op} {e.text(item, _COMPARE + 1)}")
    return " ".join(parts), _COMPARE


def _if_else(e: Emitter, n: x.IfElse) -> tuple[str, int]:
    return f"{e.text(n.yes, _OR)} if {e.text(n.test, _OR)} else {e.text(n.no, _IF)}", _IF


def _index(e: Emitter, n: x.Index) -> tuple[str, int]:
    return f"{e.text(n.value, _ATOM)}[{e.text(n.index)}]", _ATOM


def _slice(e: Emitter, n: x.Slice) -> tuple[str, int]:
    bounds = ["" if bound is None else e.text(bound) for bound in (n.start, n.end)]
    step = "" if n.step is None else ":" + e.text(n.step)
    return f"{e.text(n.value, _ATOM)}[{bounds[0]}:{bounds[1]}{step}]", _ATOM


def _display(e: Emitter, n: x.Display) -> tuple[str, int]:
    items = ", ".join(e.text(item) for item in n.items)
    if n.kind == "list":
        return f"[{items}]", _ATOM
    if n.kind == "set":
        return f"{{{items}}}", _ATOM
    return f"({items},)" if len(n.items) == 1 else f"({items})", _ATOM


def _dict(e: Emitter, n: x.DictDisplay) -> tuple[str, int]:
    pairs = zip(n.keys, n.values, strict=True)
    return "{" + ", ".join(f"{e.text(key)}: {e.text(value)}" for key, value in pairs) + "}", _ATOM


def _method(e: Emitter, n: x.Method) -> tuple[str, int]:
    value = e.text(n.value, _ATOM)
    if isinstance(n.value, x.Const):
        value = f"({value})"
    return f"{value}.{n.name}({', '.join(e.text(arg) for arg in n.args)})", _ATOM


def _call(e: Emitter, n: x.Call) -> tuple[str, int]:
    shared = e.shared.get(n)
    if shared is not None:
        return shared, _ATOM
    names = _names_asked(n)
    if names is not None:
        return f"any_in_names({e.use('LS')}[{names[0]!r}], {e.text(names[1])})", _ATOM
    args = [e.text(arg) for arg in n.args]
    if n.args and isinstance(n.args[0], x.Loop):
        args[0] = f"[{args[0]}]" if n.name == "len" else f"({args[0]})"
    args += [f"{key}={e.text(value)}" for key, value in n.keywords]
    function = f"{e.use('fn')}[{n.name!r}]" if n.engine else n.name
    return f"{function}({', '.join(args)})", _ATOM


def _names_asked(n: x.Call) -> tuple[str, x.Expr] | None:
    """Return the list and the values of `any(in_list("…", value) for value in values)`, which needs no loop."""
    loop = n.args[0] if n.name == "any" and not n.engine and len(n.args) == 1 else None
    if not isinstance(loop, x.Loop) or loop.conditions or not isinstance(loop.item, x.InList):
        return None
    return (loop.item.list, loop.source) if loop.item.value == x.Local(loop.name) else None


def _loop(e: Emitter, n: x.Loop) -> tuple[str, int]:
    conditions = "".join(f" if {e.text(condition, _OR)}" for condition in n.conditions)
    return f"{e.text(n.item)} for let_{n.name} in {e.text(n.source, _OR)}{conditions}", _IF


def _defined(e: Emitter, n: x.Defined) -> tuple[str, int]:
    short = e.short.get(n.name)
    if short is not None and all(isinstance(arg, x.Const | x.Setting | x.Fact) for arg in n.args):
        node = x.replace_locals(short[1], dict(zip(short[0], n.args, strict=True)))
        return _EMIT[type(node)](e, node)
    args = ", ".join(["X", *(e.text(arg) for arg in n.args)])
    return f"define_{n.name}({args})", _ATOM


_Emit = Callable[[Emitter, Any], tuple[str, int]]
_EMIT: Mapping[type[x.Expr], _Emit] = {
    x.Const: _const, x.Local: _local, x.Setting: _setting, x.Own: _own, x.Raw: _raw, x.UserSet: _user_set,
    x.Var: lambda e, n: e.named("V", n.name), x.Fact: lambda e, n: e.named("F", n.name),
    x.Hardware: lambda e, n: e.named("H", n.name), x.Assume: lambda e, n: e.named("A", n.name),
    x.Env: lambda e, n: e.named("E", n.name), x.EnvSet: _env_set, x.HasPeer: _has_peer, x.PeerValue: _peer_value,
    x.Profile: _profile, x.Has: _has,
    x.InList: _in_list, x.Config: _config, x.Bool: _bool, x.Unary: _unary, x.Binary: _binary, x.Compare: _compare,
    x.IfElse: _if_else, x.Index: _index, x.Slice: _slice, x.Display: _display, x.DictDisplay: _dict,
    x.Method: _method, x.Call: _call, x.Loop: _loop, x.Defined: _defined,
}  # fmt: skip
