"""The types of expressions: which kinds of value, and which values of a choice, an expression can have.

A type says what is possible, never what is certain; only what can never be right is reported. Knows no place.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import get_args

from archcap.model.base import Json, JsonScalar
from archcap.model.engine import Assumption, Declared, EnvironmentVariable, SettingSpan, ValueType
from archcap.model.hardware import Platform
from archcap.rules import expr as x

_ALL = frozenset({"bool", "int", "float", "str", "none", "list", "dict", "tuple", "set"})
_KINDS: dict[str, frozenset[str]] = {
    "bool": frozenset({"bool"}), "int": frozenset({"int"}), "float": frozenset({"int", "float"}),
    "number": frozenset({"int", "float"}), "str": frozenset({"str"}), "list": frozenset({"list"}),
    "struct": frozenset({"dict"}), "any": _ALL,
}  # fmt: skip
_FAMILIES = {"bool": "number", "int": "number", "float": "number"}
_WORDS = {"none": "unset", "dict": "a mapping", "bool": "true/false", "int": "an integer", "float": "a number",
          "str": "text", "list": "a list", "tuple": "a tuple", "set": "a set"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Type:
    """What a value can be.

    Attributes:
        kinds: Python kinds it can have.
        choices: the only values it can have beside None, where they are known.
        open: choices can be extended, so others are possible.
        item: type of its items.
        name: what it is the value of, for messages.
    """

    kinds: frozenset[str] = _ALL
    choices: frozenset[JsonScalar] | None = None
    open: bool = False
    item: Type | None = None
    name: str = "it"

    @property
    def families(self) -> frozenset[str]:
        """Return the kinds with all numbers as one."""
        return frozenset(_FAMILIES.get(kind, kind) for kind in self.kinds)

    def words(self) -> str:
        """Return the kinds as prose."""
        kinds = self.kinds - {"int"} if "float" in self.kinds else self.kinds
        return " or ".join(sorted(_WORDS[kind] for kind in kinds))


ANY = Type()
BOOL, INT, NUMBER, TEXT = (Type(_KINDS[name]) for name in ("bool", "int", "number", "str"))


def declared_type(
    value_type: ValueType, optional: bool, choices: Iterable[JsonScalar], also: Iterable[Json], name: str,
    open_: bool = False, item: ValueType | None = None,
) -> Type:  # fmt: skip
    """Return the type of a declared name.

    Args:
        value_type: as declared.
        optional: whether None is a value.
        choices: the values it can have, none for any.
        also: further values it can have: default and sentinel.
        name: for messages.
        open_: whether choices can be extended.
        item: type of the items of a list.
    """
    extras = [value for value in also if value is not None]
    kinds = _KINDS[value_type].union(*(kinds_of(value) for value in extras))
    kinds |= {"none"} if optional or None in list(also) else set()
    allowed = frozenset(choices)
    if value_type == "list":
        items = Type(_KINDS[item or "any"], allowed or None, open_, name=f"an item of {name}")
        return Type(kinds, item=items, name=name)
    scalars = [value for value in extras if isinstance(value, str | int | float)]
    return Type(kinds, allowed.union(scalars) if allowed else None, open_, name=name)


def span_type(span: SettingSpan, name: str) -> Type:
    """Return the type of a setting over one interval."""
    also = [span.sentinel] if span.sentinel is not None else []
    also += [span.default] if span.default is not None else []
    return declared_type(span.type, span.optional, span.choices, also, f"`{name}`", span.open_choices, span.item)


def name_type(declared: Declared | Assumption | EnvironmentVariable, name: str) -> Type:
    """Return the type of a fact, variable, assumption or environment variable."""
    if isinstance(declared, Declared):
        return declared_type(declared.type, declared.optional, declared.choices, [declared.default], name)
    return declared_type(declared.type, declared.default is None, (), [declared.default], name)


def variable_type(declared: Declared, name: str) -> Type:
    """Return the type of a variable: before any rule writes it, it has its default."""
    return declared_type(declared.type, declared.optional, declared.choices, [declared.default], name)


def fact_type(declared: Declared, name: str) -> Type:
    """Return the type of a fact."""
    return declared_type(declared.type, declared.optional, declared.choices, [], name)


_HARDWARE = {
    "platform": Type(_KINDS["str"], frozenset(get_args(Platform)), name="`hw.platform`"),
    "vendor": TEXT, "arch": TEXT, "count": INT, "nodes": INT,
    "memory_mib": Type(frozenset({"int", "none"})), "major": Type(frozenset({"int", "none"})),
    "minor": Type(frozenset({"int", "none"})), "sm": Type(frozenset({"int", "none"})),
}  # fmt: skip


def hardware_type(name: str) -> Type:
    """Return the type of a property of the hardware."""
    known = _HARDWARE.get(name)
    return ANY if known is None else replace(known, name=f"`hw.{name}`")


def kinds_of(value: Json) -> frozenset[str]:
    """Return the kind of a literal."""
    if value is None:
        return frozenset({"none"})
    return frozenset({{bool: "bool", int: "int", float: "float", str: "str", list: "list"}.get(type(value), "dict")})


def const_type(node: x.Const) -> Type:
    """Return the type of a literal."""
    choices = None if node.value is None else frozenset({node.value})
    return Type(kinds_of(node.value), choices, name=repr(node.value))


def union(types: Iterable[Type]) -> Type:
    """Return what a value can be that is of one of *types*."""
    listed = list(types)
    if not listed:
        return ANY
    if len(listed) == 1:
        return listed[0]
    kinds = frozenset().union(*(one.kinds for one in listed))
    valued = [one for one in listed if one.kinds != {"none"}]
    choices = None
    if all(one.choices is not None for one in valued):
        choices = frozenset().union(*(one.choices or frozenset() for one in valued)) or None
    items = [one.item for one in listed if one.item is not None]
    item = union(items) if items and len(items) == len(valued) else None
    return Type(kinds, choices, any(one.open for one in listed), item)
