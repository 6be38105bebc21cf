"""Trees of frozen records as compact JSON text, equal parts stored once, so that a generated module can carry them.

Knows the record classes of this package and no rule.
"""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from typing import Any

from archcap.rules import expr, ir
from archcap.rules.conditions import Condition
from archcap.rules.run import Guard, Reference, StatementInfo

_CLASSES: tuple[type[Any], ...] = (
    *expr.NODES, ir.Write, ir.Shown, ir.Let, ir.Stmt, ir.StepIR, ir.Row, ir.DefineIR, ir.ReleaseIR, Condition,
    Reference, Guard, StatementInfo,
)  # fmt: skip
_TAGS = {cls: tag for tag, cls in enumerate(_CLASSES, 1)}
_FIELDS: dict[type[Any], tuple[str, ...]] = {
    cls: tuple(f.name for f in fields(cls)) if is_dataclass(cls) else cls._fields for cls in _CLASSES
}


def encode(value: object) -> str:
    """Return *value*, a scalar, a record or a tuple of such, as JSON text.

    The text is a table of rows, parts before wholes; the last row is *value*. A row is a tag (0 for a tuple) and
    parts: a scalar as it is, anything else as the bracketed number of its row.
    """
    table: list[str] = []
    known: dict[str, int] = {}

    def pack(part: object) -> object:
        if part is None or isinstance(part, str | bool | int | float):
            return part
        tag, parts = _parts(part)
        row = json.dumps([tag, *(pack(one) for one in parts)], separators=(",", ":"), ensure_ascii=False)
        if row not in known:
            known[row] = len(table)
            table.append(row)
        return [known[row]]

    pack((value,))
    return "[" + ",".join(table) + "]"


def _parts(value: object) -> tuple[int, list[object]]:
    cls: type[Any] = type(value)
    if isinstance(value, tuple) and cls is tuple:
        return 0, list(value)
    if cls not in _TAGS:
        raise TypeError(f"cannot encode {cls.__name__}")
    return _TAGS[cls], [getattr(value, name) for name in _FIELDS[cls]]


def decode(text: str) -> Any:
    """Return what `encode` wrote."""
    built: list[Any] = []
    for tag, *row in json.loads(text):
        parts = [built[part[0]] if type(part) is list else part for part in row]
        built.append(_CLASSES[tag - 1](*parts) if tag else tuple(parts))
    return built[-1][0]
