"""Validation errors in our own words: what was expected, what was found, and the nearest valid name.

Knows pydantic's error records and the models; knows no file. `records` places what this module words.
"""

from __future__ import annotations

import json
import re
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from archcap.load.strict_yaml import DataPath
from archcap.model.architectures import Architecture
from archcap.model.base import Json
from archcap.model.engine import Setting, SettingSpan
from archcap.model.releases import Interval
from archcap.suggest import nearest_name, one_of

_TYPES = {
    "string_type": "text",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "none_required": "null",
}
MISSING_KEY = "the key is missing"
UNKNOWN_KEY = "unknown key"
_HINTS: dict[tuple[type[BaseModel] | None, str], str] = {
    (Architecture, "releases"): "write added: and the release it came with",
}
_NAME_PATTERN = "a name of letters, digits and _, not starting with a digit"
_ID_PATTERN = "an id of letters, digits and _ . : @ / + -"
_ALSO_KEYS: dict[type[BaseModel], frozenset[str]] = {
    SettingSpan: frozenset(Setting.model_fields),
    Architecture: frozenset({"added", "removed"}),
}


@dataclass(frozen=True, slots=True)
class Wording:
    """What one or several validation errors at one place say.

    Attributes:
        path: steps into the value, a missing or unknown key included.
        message: as in `archcap.errors.Problem`.
        expected: likewise.
        suggestion: likewise.
        hint: likewise.
        quote: the value is a number where text belongs, so quoting it as written may be the cure.
    """

    path: DataPath
    message: str
    expected: str | None = None
    suggestion: str | None = None
    hint: str | None = None
    quote: bool = False


def word_errors(model: type[BaseModel], value: Json, errors: Iterable[ErrorDetails]) -> list[Wording]:
    """Return the wordings of *errors*, one per place; branches of a union speak as one."""
    placed: dict[DataPath, list[ErrorDetails]] = {}
    for error in errors:
        placed.setdefault(_data_path(value, error), []).append(error)
    deeper = {path[:length] for path in placed for length in range(len(path))}
    worded = [
        _word(model, value, path, found)
        for path, found in placed.items()
        if not (path in deeper and all(error["type"] in _TYPES for error in found))
    ]
    meant = {(*wording.path[:-1], wording.suggestion) for wording in worded if wording.message == UNKNOWN_KEY}
    return [wording for wording in worded if wording.message != MISSING_KEY or wording.path not in meant]


def _data_path(value: Json, error: ErrorDetails) -> DataPath:
    """Return the steps of the error's location that lead into *value*; union branches drop out."""
    location = error["loc"]
    steps: list[str | int] = []
    for index, step in enumerate(location):
        below = child(value, step)
        if below is not None:
            steps.append(step)
            value = below[0]
        elif index == len(location) - 1 and error["type"] == "missing":
            steps.append(step)
    return tuple(steps)


def child(value: Json, step: str | int) -> tuple[Json] | None:
    """Return the value below *step* in a tuple, or None when there is none."""
    if isinstance(value, dict) and isinstance(step, str) and step in value:
        return (value[step],)
    if isinstance(value, list) and isinstance(step, int) and step < len(value):
        return (value[step],)
    return None


def _word(model: type[BaseModel], value: Json, path: DataPath, errors: Sequence[ErrorDetails]) -> Wording:
    error = errors[0]
    kind = error["type"]
    if kind == "missing":
        return _missing(model, path)
    if kind == "extra_forbidden":
        return _unknown_key(model, path)
    if kind == "value_error":
        return _refused(value, path, error)
    if kind in _TYPES:
        return _wrong_type(model, path, errors)
    return _wrong_value(path, error)


def _missing(model: type[BaseModel], path: DataPath) -> Wording:
    if isinstance(path[-1], int):
        return Wording(path, "an item is missing", hint="add it")
    owner = record_at(model, path[:-1])
    return Wording(path, MISSING_KEY, hint=_HINTS.get((owner, path[-1]), "add it"))


def _unknown_key(model: type[BaseModel], path: DataPath) -> Wording:
    if not re.fullmatch(r"[\w.-]+", str(path[-1])):
        return Wording(path, UNKNOWN_KEY, hint="a comma inside { } ends unquoted text: put the text in quotes")
    owner = record_at(model, path[:-1])
    known = sorted(_keys(owner)) if owner is not None else []
    near = nearest_name(str(path[-1]), known)
    hint = None if near else f"known here: {', '.join(known)}"
    return Wording(path, UNKNOWN_KEY, suggestion=near, hint=hint)


def _keys(model: type[BaseModel]) -> set[str]:
    own = {field.alias or name for name, field in model.model_fields.items()}
    return own | _ALSO_KEYS.get(model, frozenset())


def _refused(value: Json, path: DataPath, error: ErrorDetails) -> Wording:
    """Word what a model's own validator said; when it quotes a value below, point at that value."""
    said = str(error.get("ctx", {}).get("error", error["msg"]))
    for step in path:
        value = (child(value, step) or (None,))[0]
    for key, part in value.items() if isinstance(value, dict) else ():
        if isinstance(part, str) and repr(part) in said:
            return Wording((*path, key), said)
    return Wording(path, said)


def _wrong_type(model: type[BaseModel], path: DataPath, errors: Sequence[ErrorDetails]) -> Wording:
    found = errors[0]["input"]
    owner = record_at(model, path)
    if owner is not None and issubclass(owner, Interval) and not isinstance(path[-1], str):
        expected = "a release, a mapping, or a list of them"
    elif path and path[-1] in ("added", "removed"):
        expected = "a release"
    else:
        expected = " or ".join(dict.fromkeys(_TYPES[error["type"]] for error in errors if error["type"] in _TYPES))
    number = isinstance(found, int | float) and not isinstance(found, bool)
    quote = number and ("text" in expected or "release" in expected)
    return Wording(path, f"found {show(found)}", expected, quote=quote)


def _wrong_value(path: DataPath, error: ErrorDetails) -> Wording:
    found, context, kind = error["input"], error.get("ctx", {}), error["type"]
    if kind in ("literal_error", "enum"):
        choices = re.findall(r"'([^']*)'", str(context.get("expected", ""))) or [str(context.get("expected")).lower()]
        near = nearest_name(found, choices) if isinstance(found, str) else None
        return Wording(path, f"found {show(found)}", one_of(choices), near)
    if kind == "string_pattern_mismatch":
        pattern = str(context.get("pattern"))
        return Wording(path, f"found {show(found)}", _NAME_PATTERN if "[A-Za-z_]" in pattern else _ID_PATTERN)
    if kind == "string_too_short":
        return Wording(path, "the text is empty", hint="write something or leave the key out")
    if kind == "string_too_long":
        return Wording(path, f"found {len(str(found))}", f"at most {context.get('max_length')} characters")
    if kind == "too_long":
        return Wording(path, f"found {context.get('actual_length')}", f"at most {context.get('max_length')} items")
    return Wording(path, f"{error['msg'][:1].lower()}{error['msg'][1:]}, found {show(found)}")


def show(value: object) -> str:
    """Return *value* as "found …" prints it: text in quotes, collections by size, the rest as JSON."""
    if isinstance(value, str):
        return f'"{value}"' if len(value) <= 60 else f'"{value[:57]}…"'
    if isinstance(value, Mapping):
        return "an empty mapping" if not value else f"a mapping with {', '.join(list(map(str, value))[:4])}"
    if isinstance(value, Sequence):
        return f"a list of {len(value)}"
    return "nothing" if value is None else json.dumps(value)


def record_at(model: type[BaseModel], path: Sequence[str | int]) -> type[BaseModel] | None:
    """Return the record class that stands at *path* below *model*, or None where none does."""
    annotation: object = model
    for step in path:
        annotation = _below(annotation, step)
    return next(iter(_records(annotation)), None)


def _below(annotation: object, step: str | int) -> object:
    for record in _records(annotation):
        for name, field in record.model_fields.items():
            if step in (name, field.alias):
                return field.annotation
    for part in _union(annotation):
        origin, arguments = typing.get_origin(part), typing.get_args(part)
        if origin is dict and isinstance(step, str):
            return arguments[1]
        if origin is tuple and isinstance(step, int):
            return arguments[min(step, len(arguments) - 1)] if Ellipsis not in arguments else arguments[0]
    return None


def _records(annotation: object) -> list[type[BaseModel]]:
    return [part for part in _union(annotation) if isinstance(part, type) and issubclass(part, BaseModel)]


def _union(annotation: object) -> list[object]:
    origin = typing.get_origin(annotation)
    if origin in (typing.Union, types.UnionType):
        return [inner for part in typing.get_args(annotation) for inner in _union(part)]
    if origin is typing.Annotated:
        return _union(typing.get_args(annotation)[0])
    return [annotation]
