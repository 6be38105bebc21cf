"""Mappings that make records, or anything else, of a snapshot's raw values only when asked. Knows no part by name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from archcap.model.base import Json, JsonObject, Record

V = TypeVar("V")
R = TypeVar("R", bound=Record)


class LazyMapping(Mapping[str, V], Generic[V]):
    """A mapping with known keys whose values are made on first use and kept."""

    __slots__ = ("_keys", "_made", "_make")

    def __init__(self, keys: Iterable[str], make: Callable[[str], V]) -> None:
        self._keys = dict.fromkeys(keys)
        self._make = make
        self._made: dict[str, V] = {}

    def __getitem__(self, key: str) -> V:
        try:
            return self._made[key]
        except KeyError:
            if key not in self._keys:
                raise
        value = self._made[key] = self._make(key)
        return value

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of a key, *default* where there is none."""
        made = self._made.get(key)
        return made if made is not None else self[key] if key in self._keys else default

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def __repr__(self) -> str:
        return f"<{len(self._keys)} values, {len(self._made)} made>"


def record(kind: type[R], raw: Json) -> R:
    """Return the record that *raw* spells; through JSON, because records are strict about Python's types."""
    return kind.model_validate_json(json.dumps(raw))


def lazy_records(kind: type[R], raw: Mapping[str, Json]) -> LazyMapping[R]:
    """Return the values of *raw* as records of *kind*, made when asked for."""
    return LazyMapping(raw, lambda key: record(kind, raw[key]))


def section(value: Json, key: str) -> JsonObject:
    """Return the mapping at *key* of a raw value, or an empty one."""
    part = value.get(key) if isinstance(value, dict) else None
    return part if isinstance(part, dict) else {}
