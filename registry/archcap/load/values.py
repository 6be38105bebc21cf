"""Values against their declared types: defaults, choices, sentinels, support values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import get_args

from archcap.load.parts import EngineParts, Found
from archcap.load.strict_yaml import DataPath
from archcap.load.words import Wording, show
from archcap.model.base import Json
from archcap.model.engine import Assumption, Declared, EnvironmentVariable, Names, SettingSpan
from archcap.model.hardware import Platform
from archcap.model.support import Support, SupportValue
from archcap.model.vocabulary import Capability, Vocabulary
from archcap.suggest import nearest_name, one_of

_SAYS = {
    "bool": "true or false", "int": "a whole number", "float": "a number", "number": "a number", "str": "text",
    "list": "a list", "struct": "a mapping",
}
_TYPES: dict[str, type | tuple[type, ...]] = {
    "int": int, "float": (int, float), "number": (int, float), "str": str, "struct": dict
}
_SUPPORT_SAYS = {"boolean": "true or false", "integer": "a whole number", "set": "a list of text", "string": "text"}


def fits(kind: str, value: Json, item: str | None = None) -> bool:
    """Return whether *value* is of the value type *kind*; None is a question of `optional`, not of type.

    Args:
        kind: a `model.engine.ValueType`.
        value: what is given.
        item: type of a list's items, if they have one.
    """
    if value is None or kind == "any":
        return True
    if isinstance(value, bool):
        return kind == "bool"
    if kind == "list":
        return isinstance(value, list) and (item is None or all(fits(item, part) for part in value))
    return kind in _TYPES and isinstance(value, _TYPES[kind])


def check_values(vocabulary: Vocabulary | None, engine: EngineParts) -> Iterator[Found]:
    """Yield every value that is not of its declared type or not among its choices."""
    for settings in engine.settings:
        for name, setting in settings.record.settings.items():
            for index, span in enumerate(setting.spans):
                for wording in _span(("settings", name, "spans", index), span):
                    yield Found(settings.document, wording)
    for declared in engine.names:
        for path, entry in _named(declared.record):
            for wording in _declared(path, entry):
                yield Found(declared.document, wording)
    yield from _support(vocabulary, engine)


def _named(names: Names) -> Iterator[tuple[DataPath, Declared | Assumption | EnvironmentVariable]]:
    for section in ("facts", "vars", "assumptions", "env"):
        for name, entry in getattr(names, section).items():
            yield (section, name), entry


def _span(path: DataPath, span: SettingSpan) -> Iterator[Wording]:
    for key, value in (("default", span.default), ("sentinel", span.sentinel), ("const", span.const)):
        below = (*path, key)
        if not fits(span.type, value, span.item):
            yield Wording(below, f"found {show(value)}", _SAYS[span.type] + (f" of {span.item}" if span.item else ""))
        elif value is not None and span.choices and not span.open_choices:
            yield from _chosen(below, value, span.choices)
    for index, choice in enumerate(span.choices):
        kind = span.item or "any" if span.type == "list" else span.type
        if not fits(kind, choice):
            yield Wording((*path, "choices", index), f"found {show(choice)}", _SAYS[kind])


def _chosen(path: DataPath, value: Json, choices: tuple[str | int, ...]) -> Iterator[Wording]:
    shown = [str(choice) for choice in choices]
    for part in value if isinstance(value, list) else [value]:
        if part not in choices:
            near = nearest_name(part, shown) if isinstance(part, str) else None
            yield Wording(path, f"found {show(part)}", f"a choice, {one_of(shown)}", near)


def _declared(path: DataPath, entry: Declared | Assumption | EnvironmentVariable) -> Iterator[Wording]:
    if not fits(entry.type, entry.default):
        yield Wording((*path, "default"), f"found {show(entry.default)}", _SAYS[entry.type])
    if isinstance(entry, Declared) and entry.choices and isinstance(entry.default, str):
        yield from _chosen((*path, "default"), entry.default, entry.choices)
    for platform, value in (entry.platforms if isinstance(entry, Assumption) else {}).items():
        below = (*path, "platforms", platform)
        if platform not in get_args(Platform):
            known = get_args(Platform)
            yield Wording(below, f'found "{platform}"', one_of(known), nearest_name(platform, known))
        elif not fits(entry.type, value):
            yield Wording(below, f"found {show(value)}", _SAYS[entry.type])


def _support(vocabulary: Vocabulary | None, engine: EngineParts) -> Iterator[Found]:
    known = vocabulary.capabilities if vocabulary is not None else {}
    for family in engine.families:
        for name, architecture in family.record.architectures.items():
            for capability, entries in architecture.support.items():
                if capability not in known:
                    continue
                path: DataPath = ("architectures", name, "support", capability)
                for wording in _support_values(path, known[capability], entries):
                    yield Found(family.document, wording)


def _support_values(path: DataPath, capability: Capability, entries: Sequence[Support]) -> Iterator[Wording]:
    for index, entry in enumerate(entries):
        if entry.value is not True or capability.type != "boolean":
            yield from _support_value((*path, index), capability, entry.value)


def _support_value(path: DataPath, capability: Capability, value: SupportValue) -> Iterator[Wording]:
    below = (*path, "value")
    kind = capability.type
    if kind == "enum":
        if capability.values and value not in capability.values:
            near = nearest_name(value, capability.values) if isinstance(value, str) else None
            yield Wording(below, f"found {show(value)}", one_of(capability.values), near)
        return
    types = {"boolean": bool, "integer": int, "set": tuple, "string": str}
    if not isinstance(value, types[kind]) or (kind == "integer" and isinstance(value, bool)):
        yield Wording(below, f"found {show(value)}", _SUPPORT_SAYS[kind])
