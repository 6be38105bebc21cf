"""Expressions as trees of small records, names resolved: checker, code generator and interpreter share them.

Knows no text form (`parse.py` reads it) and no values; nodes are frozen and hashable: equal ones are one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias

from archcap.model.base import Json, JsonScalar

ConfigName = Literal["hf", "text", "draft.hf", "draft.text"]
Path = tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Const:
    """A literal scalar; 1, 1.0 and True are three literals."""

    value: JsonScalar

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Const):
            return False
        return type(self.value) is type(other.value) and repr(self.value) == repr(other.value)

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


@dataclass(frozen=True, slots=True)
class Local:
    """A `let` name, a parameter of a definition, or the variable of a comprehension."""

    name: str


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting, or a leaf of a structured one; inside an isolated step as it was at entry."""

    path: Path


@dataclass(frozen=True, slots=True)
class Own:
    """A setting as the isolated step has written it so far; a path of ("var", name) is a variable."""

    path: Path


@dataclass(frozen=True, slots=True)
class Raw:
    """A setting before any rule ran."""

    path: Path


@dataclass(frozen=True, slots=True)
class UserSet:
    """Whether the user gave the setting."""

    name: str


@dataclass(frozen=True, slots=True)
class Var:
    """A variable of the resolution."""

    name: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact of the checkpoint."""

    name: str


@dataclass(frozen=True, slots=True)
class Hardware:
    """A property of the hardware."""

    name: str


@dataclass(frozen=True, slots=True)
class Assume:
    """Something assumed of the machine; reading it is recorded."""

    name: str


@dataclass(frozen=True, slots=True)
class Env:
    """An environment variable's value."""

    name: str


@dataclass(frozen=True, slots=True)
class EnvSet:
    """Whether the environment variable was set, by the user or an earlier statement."""

    name: str


@dataclass(frozen=True, slots=True)
class HasPeer:
    """Whether the launch is one of a linked pair."""


@dataclass(frozen=True, slots=True)
class PeerValue:
    """What a setting, a fact or a variable came to in the peer's own run."""

    kind: Literal["setting", "fact", "var"]
    path: Path


@dataclass(frozen=True, slots=True)
class Profile:
    """The launch profile of the architecture."""


@dataclass(frozen=True, slots=True)
class Has:
    """Whether the architecture (of the draft) has the capability."""

    capability: str
    draft: bool = False


@dataclass(frozen=True, slots=True)
class InList:
    """Whether a list holds the value; without one, the architecture (of the draft)."""

    list: str
    value: Expr | None = None
    draft: bool = False


@dataclass(frozen=True, slots=True)
class Config:
    """A read of the checkpoint's configuration: its value, or whether it is there."""

    view: ConfigName
    path: Path
    default: Expr | None = None
    has: bool = False


@dataclass(frozen=True, slots=True)
class Bool:
    """`and` / `or`, which yield an operand as Python does."""

    op: Literal["and", "or"]
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Unary:
    """`not`, `-` or `+`."""

    op: Literal["not", "-", "+"]
    item: Expr


@dataclass(frozen=True, slots=True)
class Binary:
    """Arithmetic or a set operation."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Compare:
    """A chain of comparisons: *items* has one more than *ops*."""

    ops: tuple[str, ...]
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class IfElse:
    """`yes if test else no`."""

    test: Expr
    yes: Expr
    no: Expr


@dataclass(frozen=True, slots=True)
class Index:
    """A subscript of a value."""

    value: Expr
    index: Expr


@dataclass(frozen=True, slots=True)
class Slice:
    """A slice of a value."""

    value: Expr
    start: Expr | None
    end: Expr | None
    step: Expr | None


@dataclass(frozen=True, slots=True)
class Display:
    """A tuple, list or set written out."""

    kind: Literal["tuple", "list", "set"]
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class DictDisplay:
    """A mapping written out."""

    keys: tuple[Expr, ...]
    values: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Method:
    """A call of a listed method of a value."""

    value: Expr
    name: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a listed pure function, or of one the engine registered."""

    name: str
    args: tuple[Expr, ...]
    keywords: tuple[tuple[str, Expr], ...] = ()
    engine: bool = False


@dataclass(frozen=True, slots=True)
class Loop:
    """A generator: the sole argument of `any`, `all`, `sum` and their like."""

    item: Expr
    name: str
    source: Expr
    conditions: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Defined:
    """A use of a definition."""

    name: str
    args: tuple[Expr, ...] = ()


Expr: TypeAlias = (
    Const | Local | Setting | Own | Raw | UserSet | Var | Fact | Hardware | Assume | Env | EnvSet | HasPeer | PeerValue
    | Profile | Has | InList | Config | Bool | Unary | Binary | Compare | IfElse | Index | Slice | Display
    | DictDisplay | Method | Call | Loop | Defined
)  # fmt: skip

NODES: tuple[type[Expr], ...] = (
    Const, Local, Setting, Own, Raw, UserSet, Var, Fact, Hardware, Assume, Env, EnvSet, HasPeer, PeerValue, Profile,
    Has, InList, Config, Bool, Unary, Binary, Compare, IfElse, Index, Slice, Display, DictDisplay, Method, Call, Loop,
    Defined,
)  # fmt: skip

_FIELDS: dict[type[Expr], tuple[str, ...]] = {node: tuple(f.name for f in fields(node)) for node in NODES}
_NODE_SET = frozenset(NODES)


def _given(*nodes: Expr | None) -> tuple[Expr, ...]:
    return tuple(node for node in nodes if node is not None)


_CHILDREN: dict[type[Expr], Callable[[Any], tuple[Expr, ...]]] = {
    InList: lambda n: _given(n.value),
    Config: lambda n: _given(n.default),
    Bool: lambda n: n.items,
    Unary: lambda n: (n.item,),
    Binary: lambda n: (n.left, n.right),
    Compare: lambda n: n.items,
    IfElse: lambda n: (n.test, n.yes, n.no),
    Index: lambda n: (n.value, n.index),
    Slice: lambda n: _given(n.value, n.start, n.end, n.step),
    Display: lambda n: n.items,
    DictDisplay: lambda n: (*n.keys, *n.values),
    Method: lambda n: (n.value, *n.args),
    Call: lambda n: (*n.args, *(value for _, value in n.keywords)),
    Loop: lambda n: (n.item, n.source, *n.conditions),
    Defined: lambda n: n.args,
}


def children(node: Expr) -> tuple[Expr, ...]:
    """Return the direct parts of *node*."""
    parts = _CHILDREN.get(type(node))
    return () if parts is None else parts(node)


def walk(node: Expr) -> list[Expr]:
    """Return *node* and everything below it, outermost first."""
    found: list[Expr] = []
    waiting = [node]
    while waiting:
        node = waiting.pop()
        found.append(node)
        waiting.extend(reversed(children(node)))
    return found


def size(node: Expr) -> int:
    """Return the number of nodes."""
    return len(walk(node))


def literal(value: Json) -> Expr:
    """Return *value* written out."""
    if isinstance(value, list):
        return Display("list", tuple(literal(item) for item in value))
    if isinstance(value, dict):
        return DictDisplay(tuple(Const(key) for key in value), tuple(literal(item) for item in value.values()))
    return Const(value)


def is_boolean(node: Expr) -> bool:
    """Return whether *node* always yields True or False, so that its truth is its value."""
    if isinstance(node, Const):
        return isinstance(node.value, bool)
    if isinstance(node, Bool):
        return all(is_boolean(item) for item in node.items)
    if isinstance(node, Unary):
        return node.op == "not"
    if isinstance(node, Config):
        return node.has
    if isinstance(node, IfElse):
        return is_boolean(node.yes) and is_boolean(node.no)
    if isinstance(node, Method):
        return node.name in ("startswith", "endswith")
    if isinstance(node, Call):
        return node.name in ("any", "all", "bool") and not node.engine
    return isinstance(node, Compare | UserSet | EnvSet | HasPeer | Has | InList)


def replace_locals(node: Expr, values: dict[str, Expr]) -> Expr:
    """Return *node* with every local that *values* names replaced."""
    if isinstance(node, Local):
        return values.get(node.name, node)
    if isinstance(node, Loop) and node.name in values:
        values = {name: value for name, value in values.items() if name != node.name}
    cls: Any = type(node)
    parts = [_replaced(getattr(node, name), values) for name in _FIELDS[cls]]
    result: Expr = cls(*parts)
    return result


def _replaced(value: object, values: dict[str, Expr]) -> object:
    if type(value) in _NODE_SET:
        return replace_locals(value, values)  # type: ignore[arg-type]
    if type(value) is tuple:
        return tuple(_replaced(part, values) for part in value)
    return value
