"""Unquoted scalars: what they mean, and which ones are refused because YAML versions disagree on them.

Only `null`, `true`, `false`, decimal integers and decimal fractions mean anything but text. Everything another YAML
reader would take for a boolean, a date or a number in disguise is a `Trap`. Knows no file and no record.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

_CONSTANTS: dict[str, None | bool] = {"": None, "~": None, "null": None, "true": True, "false": False}
_TRUE_WORDS = frozenset({"yes", "on", "y", "true"})
_FALSE_WORDS = frozenset({"no", "off", "n", "false"})
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
_FRACTION = re.compile(r"-?(?:0|[1-9][0-9]*)\.[0-9]+(?:[eE][-+]?[0-9]+)?")
_LARGEST = 2**63

Scalar = None | bool | int | float | str


@dataclass(frozen=True, slots=True)
class Trap:
    """A scalar that is refused.

    Attributes:
        text: as written.
        meant: what it most likely stands for, so that later checks can go on.
        message: what is wrong with it.
        hint: how to write it instead.
    """

    text: str
    meant: Scalar
    message: str
    hint: str


def _quote(text: str) -> str:
    return f'write "{text}"'


def _octal(text: str) -> tuple[Scalar, str, str]:
    digits = text.lstrip("+-").lstrip("0") or "0"
    return text, f"{text} is octal to some YAML readers and decimal to others", f'write {digits}, or "{text}" for text'


def _based(text: str) -> tuple[Scalar, str, str]:
    sign = -1 if text.startswith("-") else 1
    value = sign * int(text.lstrip("+-").replace("_", ""), 0)
    return value, f"{text} is a number to some YAML readers and text to others", f"write {value}"


def _plain_number(text: str) -> tuple[Scalar, str, str]:
    value = float(text.replace("_", ""))
    said = f"{text} is a number to some YAML readers and text to others"
    if not math.isfinite(value):
        return text, f"{text} is out of range", "write a number between -1e308 and 1e308"
    shown = str(int(value)) if value.is_integer() and abs(value) < _LARGEST and "." not in text else repr(value)
    return value, said, f'write {shown}, or "{text}" for text'


def _sexagesimal(text: str) -> tuple[Scalar, str, str]:
    return text, f"{text} is a number to base 60 to some YAML readers", _quote(text)


def _timestamp(text: str) -> tuple[Scalar, str, str]:
    return text, f"{text} is a date to some YAML readers and text to others", _quote(text)


def _no_number(text: str) -> tuple[Scalar, str, str]:
    return text, f"{text} is no number that JSON can hold", "leave the value out or give a finite number"


_SHAPES = (
    (re.compile(r"[-+]?0[0-9_]+"), _octal),
    (re.compile(r"[-+]?0(?:o[0-7][0-7_]*|x[0-9a-fA-F][0-9a-fA-F_]*|b[01][01_]*)"), _based),
    (re.compile(r"\+[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?|[-+]?[0-9]+(?:_[0-9]+)+(?:\.[0-9]+)?"), _plain_number),
    (re.compile(r"[-+]?(?:[0-9]+|[0-9]+\.|[0-9]*\.[0-9]+|[0-9]+\.[0-9]+)[eE][-+]?[0-9]+"), _plain_number),
    (re.compile(r"[-+]?(?:[0-9]+\.|\.[0-9]+|0[0-9]+\.[0-9]+)"), _plain_number),
    (re.compile(r"[-+]?[0-9]+(?::[0-5]?[0-9])+(?:\.[0-9]*)?"), _sexagesimal),
    (re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:(?:[Tt]|[ \t]+)[0-9].*)?"), _timestamp),
    (re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"), _no_number),
)


def resolve_plain(text: str) -> Scalar | Trap:
    """Return what the unquoted scalar *text* means, or the `Trap` it is."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if text[0] in "-+.0123456789":
        return _numeric(text)
    folded = text.lower()
    if folded in _TRUE_WORDS or folded in _FALSE_WORDS:
        return _truth(text, folded in _TRUE_WORDS)
    if folded == "null":
        said = f"{text} is nothing to some YAML readers and text to others"
        return Trap(text, None, said, f'write null, or "{text}" for text')
    return text


def _truth(text: str, meant: bool) -> Trap:
    word = "true" if meant else "false"
    return Trap(text, meant, f"{text} is a truth value to some YAML readers", f'write {word}, or "{text}" for text')


def _numeric(text: str) -> Scalar | Trap:
    if _INTEGER.fullmatch(text):
        return _integer(text)
    if _FRACTION.fullmatch(text):
        value = float(text)
        return value if math.isfinite(value) else Trap(text, *_plain_number(text))
    for shape, read in _SHAPES:
        if shape.fullmatch(text):
            return Trap(text, *read(text))
    return text


def _integer(text: str) -> int | Trap:
    if len(text) < 19 or (len(text) <= 20 and -_LARGEST <= int(text) < _LARGEST):
        return int(text)
    return Trap(text, text, f"{text[:24]} does not fit 64 bits", _quote(text[:24]))
