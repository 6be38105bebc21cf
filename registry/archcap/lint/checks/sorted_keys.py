"""Keys stand in alphabetical order where files are long and edited by many, so that a fact has one place to be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from archcap.lint.check import Check, FileSubject, Flaw
from archcap.load.strict_yaml import DataPath
from archcap.model.base import Json

_PLACES: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "architectures": (("architectures",), ("architectures", "*", "support")),
    "lists": (("lists",), ("lists", "*", "names")),
    "settings": (("settings",),),
    "checkpoints": (("checkpoints",),),
}
"""Paths of the mappings that are kept in order, by kind of file; `*` is any key."""


def _find(subject: FileSubject) -> Iterator[Flaw]:
    for place in _PLACES.get(subject.kind, ()):
        for path, keys in _mappings(subject.value, place, ()):
            wrong = next((after for before, after in pairwise(keys) if after.lower() < before.lower()), None)
            if wrong is not None:
                after = max((key for key in keys if key.lower() < wrong.lower()), key=str.lower, default=None)
                where = f"after {after}" if after is not None else "first"
                yield Flaw((*path, wrong), "stands out of alphabetical order", hint=f"move it {where}")


def _mappings(value: Json, place: tuple[str, ...], path: DataPath) -> Iterator[tuple[DataPath, list[str]]]:
    if not isinstance(value, dict):
        return
    if not place:
        yield path, list(value)
        return
    for key in value if place[0] == "*" else [place[0]]:
        yield from _mappings(value.get(key), place[1:], (*path, key))


CHECK = Check(id="sorted-keys", severity="warning", tip="sort the keys", find=_find)
