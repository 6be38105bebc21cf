"""Turns whatever an engine keeps in its settings into JSON. Knows no engine."""

from __future__ import annotations

import enum

_DEEPEST = 8


def plain(value: object, depth: int = 0) -> object:
    """Return *value* as JSON has it."""
    if isinstance(value, enum.Enum):
        return value.value if isinstance(value.value, str | int) else value.name
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if depth > _DEEPEST:
        return repr(value)
    if isinstance(value, dict):
        return {str(plain(key)): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, depth + 1) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(item, depth + 1) for item in value), key=repr)
    return _plain_object(value, depth)


def _plain_object(value: object, depth: int) -> object:
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__}"
    fields = getattr(value, "__struct_fields__", None) or getattr(value, "__dataclass_fields__", None)
    if fields is not None:
        return {name: plain(getattr(value, name, None), depth + 1) for name in fields}
    item = getattr(value, "item", None)
    if callable(item):
        try:
            return plain(item(), depth + 1)
        except Exception:
            return repr(value)
    return repr(value)
