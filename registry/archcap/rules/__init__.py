"""The rule language: checked, compiled per release to plain functions, and interpreted where something is unknown.

Knows no engine and reads no file; `docs/rules.md` is its reference. Names are imported when first used: a launch on
compiled rules needs neither the checker nor the compiler.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from archcap.rules.check import check_engine
    from archcap.rules.compiling import compile_release, source_of_release
    from archcap.rules.program import load_program
    from archcap.rules.run import Inputs, Unknown, Value
    from archcap.rules.support import condition_flaws

__all__ = ["check_engine", "compile_release", "condition", "condition_flaws", "load_program", "source_of_release"]

_HOMES = {
    "check_engine": "check",
    "compile_release": "compiling",
    "condition_flaws": "support",
    "load_program": "program",
    "source_of_release": "compiling",
}


def condition(text: str) -> Callable[[Inputs], Value | Unknown]:
    """Return what decides a condition of support over the configuration; see `archcap.rules.support.condition`."""
    from archcap.rules.support import condition as made

    return made(text)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
