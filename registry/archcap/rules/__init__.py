"""The rule language: checked, compiled per release to plain functions, and interpreted where something is unknown.

Knows no engine and reads no file; `docs/rules.md` is its reference.
"""

from archcap.rules.condition import condition
from archcap.rules.program import compile_release, load_program, source_of_release

__all__ = ["compile_release", "condition", "load_program", "source_of_release"]
