"""What a fixer does to a file: records only. A path leads to the place as problems name it, short forms passed over."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from archcap.load.strict_yaml import DataPath


class Remove(NamedTuple):
    """Take an entry out, and what is empty without it."""

    path: DataPath


class Put(NamedTuple):
    """Write another scalar in the place of one."""

    path: DataPath
    value: str


class Sort(NamedTuple):
    """Put the keys of a mapping in order."""

    path: DataPath


Fix: TypeAlias = Remove | Put | Sort


def below(path: DataPath, fix: Fix) -> Fix:
    """Return a fix whose path starts at the file, given one that starts at *path*."""
    return fix._replace(path=(*path, *fix.path))
