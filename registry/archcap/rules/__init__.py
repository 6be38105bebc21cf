"""The rule language: checked, compiled per release to plain functions, and interpreted where something is unknown.

Knows no engine and reads no file; `docs/rules.md` is its reference.
"""

from archcap.rules.check import check_engine
from archcap.rules.condition import condition, condition_flaws
from archcap.rules.program import compile_release, load_program, source_of_release

__all__ = ["check_engine", "compile_release", "condition", "condition_flaws", "load_program", "source_of_release"]
