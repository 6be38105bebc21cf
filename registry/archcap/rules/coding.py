"""Trees of frozen records as compact JSON text, equal parts stored once, so that a generated module can carry them.

The classes are given by the caller. Knows no rule.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any


def encode(value: object, classes: Sequence[type[Any]]) -> str:
    """Return *value*, a scalar, a record or a tuple of such, as JSON text.

    The text is a table of rows, parts before wholes; the last row is *value*. A row is a tag (0 for a tuple, else the
    place of its class in *classes* from 1) and parts: a scalar as it is, anything else as the bracketed number of its
    row.
    """
    table: list[str] = []
    known: dict[str, int] = {}
    tags = {cls: tag for tag, cls in enumerate(classes, 1)}

    def pack(part: object) -> object:
        if part is None or isinstance(part, str | bool | int | float):
            return part
        parts = list(part) if isinstance(part, tuple) else [getattr(part, name) for name in _fields(type(part))]
        tag = 0 if type(part) is tuple else tags[type(part)]
        row = json.dumps([tag, *(pack(one) for one in parts)], separators=(",", ":"), ensure_ascii=False)
        if row not in known:
            known[row] = len(table)
            table.append(row)
        return [known[row]]

    pack((value,))
    return "[" + ",".join(table) + "]"


def _fields(cls: type[Any]) -> tuple[str, ...]:
    if not is_dataclass(cls):
        raise TypeError(f"cannot encode {cls.__name__}")
    return tuple(field.name for field in fields(cls))


def decode(text: str, classes: Sequence[type[Any]]) -> Any:
    """Return what `encode` wrote with the same *classes*."""
    built: list[Any] = []
    for tag, *row in json.loads(text):
        parts = [built[part[0]] if type(part) is list else part for part in row]
        built.append(classes[tag - 1](*parts) if tag else tuple(parts))
    return built[-1][0]


class Stored:
    """What `encode` wrote, of which a part is made when first asked for: most are never."""

    def __init__(self, text: str, classes: Sequence[type[Any]]) -> None:
        self._rows: list[list[Any]] = json.loads(text)
        self._classes = classes
        self._made: dict[int, Any] = {}

    def part(self, *path: int) -> Any:
        """Return the part at *path*: the place in the whole, then in that part, and so on; fields count in order."""
        part = self._row(path[:-1])[path[-1] + 1]
        return self._value(part[0]) if type(part) is list else part

    def _row(self, path: Sequence[int]) -> list[Any]:
        row = self._rows[self._rows[-1][1][0]]
        for place in path:
            row = self._rows[row[place + 1][0]]
        return row

    def _value(self, number: int) -> Any:
        """Return the record of a row; its parts stand before it."""
        made, waiting = self._made, [number]
        while waiting:
            at = waiting[-1]
            if at in made:
                waiting.pop()
                continue
            tag, *row = self._rows[at]
            missing = [part[0] for part in row if type(part) is list and part[0] not in made]
            if missing:
                waiting += missing
                continue
            waiting.pop()
            parts = [made[part[0]] if type(part) is list else part for part in row]
            made[at] = self._classes[tag - 1](*parts) if tag else tuple(parts)
        return made[number]
