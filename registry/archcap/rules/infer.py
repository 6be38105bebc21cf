"""Infers the type of every part of an expression in one release and reports what can never be right.

Asks `TypeEnv` for the types of names. Knows no statement; literals that name a model are its business too, because it
knows which side of a comparison holds choices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from archcap.model.base import JsonScalar
from archcap.model.registry import EngineRegistry
from archcap.rules import expr as x
from archcap.rules import types as t
from archcap.rules.ir import DefineIR
from archcap.rules.parse import Flaw
from archcap.rules.types import ANY, BOOL, INT, NUMBER, TEXT, Type
from archcap.suggest import nearest_name, one_of

_SEQUENCES = frozenset({"list", "tuple"})
_SIZED = frozenset({"list", "tuple", "str", "dict", "set"})


MODEL_TYPE = "a model type"
"""What a banned word is that also means other things: layer kinds and formats share names with model types."""


def _reads_model_type(node: x.Expr) -> bool:
    if isinstance(node, x.Config):
        return node.path[-1] == "model_type"
    return isinstance(node, x.Fact) and node.name.endswith("model_type")


@dataclass(slots=True)
class TypeEnv:
    """The types of names in one release.

    Attributes:
        reg: the engine.
        release: the release.
        define: name -> its rows in this release.
        profiles: launch profiles that architectures name.
        banned: names of architectures, model types and checkpoints, with what each is.
    """

    reg: EngineRegistry
    release: str
    define: Callable[[str], DefineIR]
    profiles: frozenset[str]
    banned: Mapping[str, str]
    _settings: dict[str, Type | None] = field(default_factory=dict)
    _defines: dict[str, Type] = field(default_factory=dict)

    def setting(self, name: str) -> Type | None:
        """Return the type of a setting, None where the release does not have it."""
        if name not in self._settings:
            setting = self.reg.settings.get(name)
            span = None if setting is None else setting.at(self.release)
            self._settings[name] = None if span is None else t.span_type(span, name)
        return self._settings[name]

    def defined(self, name: str) -> Type:
        """Return what a definition can yield."""
        if name not in self._defines:
            self._defines[name] = ANY
            define = self.define(name)
            locals_ = dict.fromkeys(define.params, ANY)
            self._defines[name] = t.union(Inference(self, locals_).of(row.value) for row in define.rows)
        return self._defines[name]


class Inference:
    """Infers types with given local names; `flaws` collects."""

    def __init__(self, env: TypeEnv, locals_: Mapping[str, Type], isolated: bool = False) -> None:
        self.env, self.locals = env, dict(locals_)
        self.flaws: list[Flaw] = []
        self.excused: set[int] = set()
        """Literals (by identity) that are choices of what they are compared with."""

    def flaw(self, message: str, expected: str | None = None, suggestion: str | None = None) -> None:
        """Report something."""
        self.flaws.append(Flaw(message, expected, suggestion))

    def of(self, node: x.Expr) -> Type:
        """Return the type of *node*, checking everything below it."""
        return _INFER[type(node)](self, node)

    def names(self, node: x.Expr) -> None:
        """Report literals that name an architecture, a checkpoint, or, beside a read of it, a model type."""
        for part in x.walk(node):
            if isinstance(part, x.Const) and isinstance(part.value, str) and id(part) not in self.excused:
                kind = self.env.banned.get(part.value)
                if kind is not None and (kind != MODEL_TYPE or any(map(_reads_model_type, x.walk(node)))):
                    self.flaw(f"{part.value!r} is {kind}: a rule names no model", "a list, a capability or the profile")

    # -- names ---------------------------------------------------------------

    def setting(self, path: x.Path) -> Type:
        """Return the type of a setting or leaf."""
        found = self.env.setting(path[0])
        if found is None:
            self.flaw(f"unknown setting `{path[0]}` in this release")
            return ANY
        if len(path) == 1:
            return found
        span = self.env.reg.settings[path[0]].at(self.env.release)
        leaf = ".".join(path[1:])
        if span is not None and span.fields and not any(f == leaf or f.startswith(leaf + ".") for f in span.fields):
            self.flaw(f"`{path[0]}` has no leaf `{leaf}` in this release", suggestion=nearest_name(leaf, span.fields))
        if "dict" not in found.kinds:
            self.flaw(f"`{path[0]}` is {found.words()} and has no leaves")
        return Type(name=f"`{'.'.join(path)}`")

    # -- what can never be right ------------------------------------------------

    def comparable(self, left: Type, right: Type, op: str) -> None:
        """Report a comparison of kinds that are never equal, or never in order."""
        if left.kinds == {"none"} or right.kinds == {"none"}:
            if op in ("<", "<=", ">", ">="):
                self.flaw(f"`{op}` with None always raises")
            return
        shared = left.families & right.families
        if not (shared - {"none"} if op not in ("==", "!=", "is", "is not") else shared):
            self.flaw(f"compares {_described(left)} with {_described(right)}")

    def chosen(self, one: Type, node: x.Expr, other: Type) -> None:
        """Report a literal that is none of the choices it is compared with."""
        if not isinstance(node, x.Const) or node.value is None or other.choices is None:
            return
        if other is one or isinstance(node.value, bool):
            return
        if node.value in other.choices:
            self.excused.add(id(node))
        elif not other.open and one.families & other.families:
            self.no_choice(node.value, other)

    def no_choice(self, value: JsonScalar, other: Type) -> None:
        """Report a value that is not among the choices of *other*."""
        names = sorted(str(choice) for choice in other.choices or ())
        self.flaw(f"{value!r} is no choice of {other.name}", one_of(names), nearest_name(str(value), names))

    def written(self, node: x.Expr, target: Type) -> None:
        """Report a value that the target can never hold."""
        for alternative in alternatives(node, self.env):
            if isinstance(alternative, x.Const):
                self._literal(alternative, target)
                continue
            found = self.of(alternative)
            if not found.families & target.families:
                self.flaw(f"writes {found.words()} to {target.name}", target.words())
            elif isinstance(alternative, x.Display) and target.item is not None:
                for item in alternative.items:
                    self.written(item, target.item)

    def _literal(self, node: x.Const, target: Type) -> None:
        value = node.value
        if not t.kinds_of(value) <= target.kinds:
            self.flaw(f"writes {value!r} to {target.name}", target.words())
        elif value is not None and target.choices is not None:
            if value in target.choices:
                self.excused.add(id(node))
            elif not target.open:
                self.no_choice(value, target)

    def needs(self, found: Type, kinds: frozenset[str], what: str) -> None:
        """Report an operand that is never of the kinds an operation takes."""
        if not found.kinds & kinds:
            self.flaw(f"{what} takes {Type(kinds).words()}, not {_described(found)}")


def _described(found: Type) -> str:
    return found.words() if found.name == "it" else f"{found.name} ({found.words()})"


def alternatives(node: x.Expr, env: TypeEnv) -> Iterator[x.Expr]:
    """Yield the expressions one of which is the value of *node*."""
    if isinstance(node, x.IfElse):
        yield from alternatives(node.yes, env)
        yield from alternatives(node.no, env)
    elif isinstance(node, x.Bool) and node.op == "or":
        for item in node.items:
            yield from alternatives(item, env)
    else:
        yield node


# -- one function per node ---------------------------------------------------------


def _local(i: Inference, n: x.Local) -> Type:
    return i.locals.get(n.name, ANY)


def _setting(i: Inference, n: x.Setting | x.Raw) -> Type:
    return i.setting(n.path)


def _own(i: Inference, n: x.Own) -> Type:
    if n.path[0] == "var":
        return t.variable_type(i.env.reg.names.vars[n.path[1]], f"`var.{n.path[1]}`")
    return i.setting(n.path)


def _user_set(i: Inference, n: x.UserSet) -> Type:
    i.setting(tuple(n.name.split(".")))
    return BOOL


def _var(i: Inference, n: x.Var) -> Type:
    return t.variable_type(i.env.reg.names.vars[n.name], f"`var.{n.name}`")


def _fact(i: Inference, n: x.Fact) -> Type:
    return t.fact_type(i.env.reg.names.facts[n.name], f"`fact.{n.name}`")


def _hardware(i: Inference, n: x.Hardware) -> Type:
    return t.hardware_type(n.name)


def _assume(i: Inference, n: x.Assume) -> Type:
    return t.name_type(i.env.reg.names.assumptions[n.name], f"`assume.{n.name}`")


def _env(i: Inference, n: x.Env) -> Type:
    return t.name_type(i.env.reg.names.env[n.name], f"`{n.name}`")


def _peer_value(i: Inference, n: x.PeerValue) -> Type:
    if n.kind == "setting":
        found = i.setting(n.path)
    elif n.kind == "fact":
        found = t.fact_type(i.env.reg.names.facts[n.path[0]], "")
    else:
        found = t.variable_type(i.env.reg.names.vars[n.path[0]], "")
    return replace(found, name=f"`peer.{'.'.join(n.path)}`")


def _profile(i: Inference, n: x.Profile) -> Type:
    return Type(frozenset({"str", "none"}), i.env.profiles, name="`profile`")


def _in_list(i: Inference, n: x.InList) -> Type:
    if n.value is not None:
        i.needs(i.of(n.value), frozenset({"str"}), f"in_list({n.list!r}, …)")
    return BOOL


def _config(i: Inference, n: x.Config) -> Type:
    if n.default is not None:
        i.of(n.default)
    return BOOL if n.has else ANY


def _bool(i: Inference, n: x.Bool) -> Type:
    return t.union([i.of(item) for item in n.items])


def _unary(i: Inference, n: x.Unary) -> Type:
    found = i.of(n.item)
    if n.op == "not":
        return BOOL
    i.needs(found, frozenset({"bool", "int", "float"}), f"`{n.op}`")
    return NUMBER


def _binary(i: Inference, n: x.Binary) -> Type:
    left, right = i.of(n.left), i.of(n.right)
    if not left.families & right.families & _OPERANDS.get(n.op, frozenset({"number"})):
        i.flaw(f"`{n.op}` between {_described(left)} and {_described(right)}")
        return ANY
    shared = left.families & right.families
    if shared == {"number"}:
        whole = n.op in ("+", "-", "*", "//", "%") and "float" not in left.kinds | right.kinds
        return INT if whole else NUMBER
    return Type(left.kinds | right.kinds | ({"float"} if n.op == "/" else set()))


_OPERANDS = {
    "+": frozenset({"number", "str", "list", "tuple"}), "-": frozenset({"number", "set"}),
    "|": frozenset({"number", "set"}), "&": frozenset({"number", "set"}), "^": frozenset({"number", "set"}),
}  # fmt: skip


def _compare(i: Inference, n: x.Compare) -> Type:
    found = [i.of(item) for item in n.items]
    for op, left, right, a, b in zip(n.ops, n.items, n.items[1:], found, found[1:], strict=False):
        if op in ("in", "not in"):
            _member(i, left, right, a, b)
            continue
        i.comparable(a, b, op)
        if op in ("==", "!=", "is", "is not"):
            i.chosen(a, left, b)
            i.chosen(b, right, a)
    return BOOL


def _member(i: Inference, left: x.Expr, right: x.Expr, found: Type, container: Type) -> None:
    if isinstance(right, x.Display):
        for item in right.items:
            kind = i.of(item) if not isinstance(item, x.Const) else t.const_type(item)
            i.comparable(found, kind, "==")
            i.chosen(kind, item, found)
            i.chosen(found, left, kind if not isinstance(item, x.Const) else ANY)
        return
    i.needs(container, _SIZED, "`in`")
    if container.kinds == {"str"}:
        i.needs(found, frozenset({"str"}), "`in` a text")
    elif container.item is not None and not container.kinds & {"str", "dict"}:
        i.comparable(found, container.item, "==")
        i.chosen(found, left, container.item)


def _if_else(i: Inference, n: x.IfElse) -> Type:
    i.of(n.test)
    return t.union([i.of(n.yes), i.of(n.no)])


def _index(i: Inference, n: x.Index) -> Type:
    found = i.of(n.value)
    i.of(n.index)
    i.needs(found, _SIZED - {"set"}, "a subscript")
    return found.item or ANY


def _slice(i: Inference, n: x.Slice) -> Type:
    found = i.of(n.value)
    i.needs(found, _SEQUENCES | {"str"}, "a slice")
    for bound in (n.start, n.end, n.step):
        if bound is not None:
            i.needs(i.of(bound), frozenset({"int", "bool", "none"}), "a slice's bound")
    return Type(found.kinds & (_SEQUENCES | {"str"}) or ANY.kinds, item=found.item)


def _display(i: Inference, n: x.Display) -> Type:
    items = [i.of(item) for item in n.items]
    return Type(frozenset({n.kind}), item=t.union(items) if items else None)


def _dict(i: Inference, n: x.DictDisplay) -> Type:
    for part in (*n.keys, *n.values):
        i.of(part)
    return Type(frozenset({"dict"}))


def _method(i: Inference, n: x.Method) -> Type:
    found = i.of(n.value)
    args = [i.of(arg) for arg in n.args]
    i.needs(found, frozenset({"dict"}) if n.name == "get" else frozenset({"str"}), f"`.{n.name}`")
    if n.name in ("startswith", "endswith"):
        i.needs(args[0], frozenset({"str", "tuple"}), f"`.{n.name}`")
        return BOOL
    if n.name == "get":
        return ANY
    return Type(frozenset({"list"}), item=TEXT) if n.name == "split" else TEXT


def _call(i: Inference, n: x.Call) -> Type:
    found = [i.of(arg) for arg in n.args]
    for _, value in n.keywords:
        i.of(value)
    if n.engine:
        return ANY
    takes = _TAKES.get(n.name)
    if takes is not None and found and not (n.name in ("min", "max") and len(found) > 1):
        i.needs(found[0], takes, f"`{n.name}`")
    result = _RESULTS.get(n.name)
    if result is not None:
        return result
    if n.name in ("min", "max"):
        return t.union(found) if len(found) > 1 else _item(found[0])
    return Type(frozenset({n.name if n.name != "sorted" else "list"}), item=found[0].item if found else None)


def _item(found: Type) -> Type:
    return found.item or ANY


_TEXTS = frozenset({"str"})
_TAKES = {
    "len": _SIZED, "upper": _TEXTS, "lower": _TEXTS, "any": _SIZED, "all": _SIZED, "sum": _SIZED - {"str"},
    "sorted": _SIZED, "set": _SIZED, "tuple": _SIZED, "list": _SIZED, "min": _SIZED, "max": _SIZED,
    "abs": frozenset({"bool", "int", "float"}), "ceil": frozenset({"bool", "int", "float"}),
    "floor": frozenset({"bool", "int", "float"}), "round": frozenset({"bool", "int", "float"}),
    "int": frozenset({"bool", "int", "float", "str"}), "float": frozenset({"bool", "int", "float", "str"}),
}  # fmt: skip
_RESULTS = {
    "str": TEXT, "upper": TEXT, "lower": TEXT, "int": INT, "len": INT, "ceil": INT, "floor": INT, "float": NUMBER,
    "bool": BOOL, "any": BOOL, "all": BOOL, "sum": ANY, "abs": NUMBER, "round": NUMBER,
}  # fmt: skip


def _loop(i: Inference, n: x.Loop) -> Type:
    source = i.of(n.source)
    i.needs(source, _SIZED, "`for`")
    outer = i.locals
    i.locals = {**outer, n.name: source.item or (TEXT if source.kinds == {"str"} else ANY)}
    for condition in n.conditions:
        i.of(condition)
    item = i.of(n.item)
    i.locals = outer
    return Type(frozenset({"list"}), item=item)


def _defined(i: Inference, n: x.Defined) -> Type:
    for arg in n.args:
        i.of(arg)
    return i.env.defined(n.name)


_INFER: dict[type[x.Expr], Callable[[Inference, Any], Type]] = {
    x.Const: lambda i, n: t.const_type(n), x.Local: _local, x.Setting: _setting, x.Own: _own, x.Raw: _setting,
    x.UserSet: _user_set, x.Var: _var, x.Fact: _fact, x.Hardware: _hardware, x.Assume: _assume, x.Env: _env,
    x.EnvSet: lambda i, n: BOOL, x.HasPeer: lambda i, n: BOOL, x.PeerValue: _peer_value, x.Profile: _profile,
    x.Has: lambda i, n: BOOL, x.InList: _in_list,
    x.Config: _config, x.Bool: _bool, x.Unary: _unary, x.Binary: _binary, x.Compare: _compare, x.IfElse: _if_else,
    x.Index: _index, x.Slice: _slice, x.Display: _display, x.DictDisplay: _dict, x.Method: _method, x.Call: _call,
    x.Loop: _loop, x.Defined: _defined,
}  # fmt: skip
