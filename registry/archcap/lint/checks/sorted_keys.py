"""Keys stand in order where files are long and edited by many, so that a fact has one place to be.

The order is that of Python's `sorted`, capitals first: what the scanner writes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from archcap.lint.check import Check, FileSubject, Flaw
from archcap.lint.fix import Sort
from archcap.load.strict_yaml import DataPath
from archcap.model.base import Json

_PLACES: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "architectures": (("architectures",), ("architectures", "*", "support")),
    "lists": (("lists", "*", "names"),),
    "settings": (("settings",),),
    "checkpoints": (("checkpoints",),),
    "config_classes": (("config_classes",),),
}
"""Paths of the mappings that are kept in order, by kind of file; `*` is any key."""


def _find(subject: FileSubject) -> Iterator[Flaw]:
    for place in _PLACES.get(subject.kind, ()):
        for path, keys in _mappings(subject.value, place, ()):
            for key in misplaced(keys):
                before = max((other for other in keys if other < key), default=None)
                hint = f"move it behind {before}" if before is not None else "move it to the top"
                yield Flaw((*path, key), "stands out of order", hint=hint, fixes=(Sort(path),))


def misplaced(keys: Sequence[str]) -> list[str]:
    """Return the fewest keys that must move for the rest to be in order: those outside the longest ordered run."""
    if all(first <= second for first, second in pairwise(keys)):
        return []
    tails: list[int] = []
    """Index of the least key that ends an ordered run of each length."""
    behind: list[int | None] = []
    for index, key in enumerate(keys):
        length = bisect_left([keys[tail] for tail in tails], key)
        behind.append(tails[length - 1] if length else None)
        tails[length : length + 1] = [index]
    kept: set[int] = set()
    at = tails[-1] if tails else None
    while at is not None:
        kept.add(at)
        at = behind[at]
    return [key for index, key in enumerate(keys) if index not in kept]


def _mappings(value: Json, place: tuple[str, ...], path: DataPath) -> Iterator[tuple[DataPath, list[str]]]:
    if not isinstance(value, dict):
        return
    if not place:
        yield path, list(value)
        return
    for key in value if place[0] == "*" else [place[0]]:
        yield from _mappings(value.get(key), place[1:], (*path, key))


CHECK = Check(id="sorted-keys", severity="warning", tip="sort the keys", find=_find)
