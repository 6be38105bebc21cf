"""Answers what a launch would do: `resolve`, and `explain` for one setting.

Pure: a request and a snapshot in, a resolution out. Knows no engine by name, reads no file, no clock and no database.
"""

from archcap.resolver.explain import explain
from archcap.resolver.resolve import resolve

__all__ = ["explain", "resolve"]
