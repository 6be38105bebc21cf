"""YAML text as the registry writes it: one fact per line, short forms, nothing quoted that need not be."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence

from archcap.model.base import Json

_PLAIN = re.compile(r"^[A-Za-z_./<>=+*-][A-Za-z0-9_./<>=+*@:()-]*( [A-Za-z0-9_./+*@()-]+)*$")
_UNSAFE = re.compile(
    r"^(?:[-+.]?[0-9].*|[-+]?\.(?:inf|nan)|null|~|true|false|yes|no|on|off|y|n|-|- .*|--|---|=|<<|.*:|[<>=*].*)$",
    re.IGNORECASE,
)
_RELEASE = re.compile(r"^[0-9]+\.[0-9]+\.[0-9]+(?:\.?(?:post|rc|dev|a|b)[0-9]+)?$")


def scalar(value: Json) -> str:
    """Return a scalar as YAML; strings plain where no reader can take them for something else."""
    if isinstance(value, str):
        if _RELEASE.match(value) or (_PLAIN.match(value) and not _UNSAFE.match(value) and ": " not in value):
            return value
        return json.dumps(value, ensure_ascii=False)
    if value is None:
        return "null"
    return json.dumps(value)


def flow(value: Json) -> str:
    """Return any value in flow style, on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(k)}: {flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow(v) for v in value) + "]"
    text = scalar(value)
    if isinstance(value, str) and text == value and re.search(r"[,\[\]{}]", text):
        return json.dumps(value)
    return text


def _key(key: str) -> str:
    return scalar(key)


def interval(added: str | None, removed: str | None, oldest: str, extra: Mapping[str, Json] | None = None) -> Json:
    """Return one stay in its shortest form: `0.5.18`, `"<=0.5.9"` or a mapping."""
    since = added if added is not None else f"<={oldest}"
    if removed is None and not extra:
        return since
    made: dict[str, Json] = {"added": since}
    if removed is not None:
        made["removed"] = removed
    return {**made, **(extra or {})}


def intervals(items: Iterable[Json]) -> Json:
    """Return several stays: one alone, else a list."""
    listed = list(items)
    return listed[0] if len(listed) == 1 else listed


def entry(key: str, value: Json, indent: int, width: int = 120) -> list[str]:
    """Return `key: value` as lines: one line where it fits, else a list of mappings one by one, and a text folded."""
    lead = " " * indent + _key(key) + ":"
    line = f"{lead} {flow(value)}"
    if isinstance(value, str) and len(line) > width and value == " ".join(value.split()):
        pad = " " * (indent + 2)
        folded = textwrap.wrap(value, width, initial_indent=pad, subsequent_indent=pad, break_long_words=False,
                               break_on_hyphens=False)  # fmt: skip
        return [f"{lead} >-", *folded]
    if (
        isinstance(value, list)
        and value
        and (len(line) > width or len(value) > 1)
        and any(isinstance(v, dict) for v in value)
    ):
        return [lead, *(" " * indent + "  - " + flow(v) for v in value)]
    return [line]


def block(lines: Sequence[str]) -> str:
    """Return lines as a file's text."""
    return "\n".join(lines) + "\n"
