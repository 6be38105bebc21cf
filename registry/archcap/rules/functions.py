"""The pure functions and methods every expression may use, with the names of what they are called in Python.

Knows no engine; an engine's own functions arrive by name.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

Builtin = Callable[..., Any]

BUILTINS: dict[str, Builtin] = {
    "str": str, "int": int, "float": float, "bool": bool, "round": round, "min": min, "max": max, "len": len,
    "any": any, "all": all, "sum": sum, "abs": abs, "sorted": sorted, "set": set, "tuple": tuple, "list": list,
    "ceil": math.ceil, "floor": math.floor, "upper": str.upper, "lower": str.lower,
}  # fmt: skip
"""Called by these names in expressions and in generated code."""

ARITY: dict[str, tuple[int, int]] = {
    "str": (0, 1), "int": (0, 2), "float": (0, 1), "bool": (0, 1), "round": (1, 2), "min": (1, 20), "max": (1, 20),
    "len": (1, 1), "any": (1, 1), "all": (1, 1), "sum": (1, 2), "abs": (1, 1), "sorted": (1, 1), "set": (0, 1),
    "tuple": (0, 1), "list": (0, 1), "ceil": (1, 1), "floor": (1, 1), "upper": (1, 1), "lower": (1, 1),
}  # fmt: skip
"""Least and most positional arguments."""

KEYWORDS: dict[str, tuple[str, ...]] = {"min": ("default",), "max": ("default",), "sorted": ("reverse",)}
LOOPS = frozenset({"any", "all", "sum", "sorted", "len", "min", "max", "set", "tuple", "list"})
"""Functions that take a generator."""

METHODS: dict[str, tuple[int, int]] = {
    "lower": (0, 0), "upper": (0, 0), "startswith": (1, 1), "endswith": (1, 1), "strip": (0, 1), "split": (0, 2),
    "get": (1, 2),
}  # fmt: skip
"""Methods of values, with least and most arguments."""

RAISES = (TypeError, ValueError, ArithmeticError, LookupError, AttributeError)
"""What an expression may raise; it is the engine's own exception, so a refusal."""


def raised_text(error: BaseException) -> str:
    """Return how a refusal words an exception of the engine's own code."""
    says = str(error)
    return f"{type(error).__name__}: {says}" if says else type(error).__name__
