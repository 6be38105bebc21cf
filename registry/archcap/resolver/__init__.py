"""Answers what a launch would do: `resolve`, `explain` for one setting, `upgrade` for another release.

Pure: a request and a snapshot in, a resolution out. Knows no engine by name, reads no file, no clock and no database.
"""

from archcap.resolver.explain import explain
from archcap.resolver.resolve import resolve
from archcap.resolver.upgrade import upgrade

__all__ = ["explain", "resolve", "upgrade"]
