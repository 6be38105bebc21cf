"""Finds the engine's collections that the registry speaks of, without importing anything. Knows no difference."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping

from archcap.client.facts import Facts
from archcap.client.sglang.process import PACKAGE


class Place:
    """Where a collection is: a module, and the path of names to it there.

    Attributes:
        ref: the registry's id, as in `srt.arg_groups.overrides._MAMBA_RADIX_CACHE_ARCHS`.
        module: its full name.
        path: names below the module; the last one is the collection's.
        exists: whether the engine has the module.
        capabilities: those that the collection shows.
    """

    __slots__ = ("capabilities", "exists", "module", "path", "ref")

    def __init__(self, ref: str, capabilities: Iterable[str], roots: Iterable[str]) -> None:
        self.ref = ref
        self.capabilities = tuple(capabilities)
        *parents, last = ref.split(".")
        size = next((size for size in range(len(parents), 0, -1) if _is_module(parents[:size], roots)), 0)
        self.exists = size > 0
        self.module = ".".join([PACKAGE, *parents[: size or len(parents)]])
        self.path = (*parents[size:], last) if size else (last,)

    @property
    def name(self) -> str:
        """What people call it."""
        return self.path[-1]

    def owner(self) -> object | None:
        """Return what holds the collection, None when it is not there; the module must be loaded."""
        found: object | None = sys.modules.get(self.module)
        for name in self.path[:-1]:
            found = getattr(found, name, None)
        return found if found is not None and hasattr(found, self.name) else None

    def value(self) -> object | None:
        """Return the collection, None when it is not there; the module must be loaded."""
        return getattr(self.owner(), self.name, None)


def places(facts: Facts) -> Iterator[Place]:
    """Yield every collection that shows a capability, and those that somebody put a name into."""
    shown: dict[str, list[str]] = {}
    for capability, refs in facts.collections.items():
        for ref in refs:
            shown.setdefault(ref, []).append(capability)
    for statement in facts.statements:
        if _is_dotted(statement.list_id):
            shown.setdefault(statement.list_id, [])
    roots = tuple(getattr(sys.modules.get(PACKAGE), "__path__", ()))
    for ref, capabilities in sorted(shown.items()):
        yield Place(ref, capabilities, roots)


def names_in(value: object) -> frozenset[str] | None:
    """Return the names a collection holds; classes count by their name. None when it is no collection of names."""
    if isinstance(value, str) or not isinstance(value, Mapping | set | frozenset | list | tuple):
        return None
    names = [one if isinstance(one, str) else getattr(one, "__name__", None) for one in value]
    return frozenset(name for name in names if name) if all(isinstance(name, str) for name in names) else None


def _is_dotted(ref: str) -> bool:
    """Tell a named collection from one that the registry names itself, as in `file.py:function#1`."""
    return "." in ref and all(part.isidentifier() for part in ref.split("."))


def _is_module(parts: list[str], roots: Iterable[str]) -> bool:
    if ".".join([PACKAGE, *parts]) in sys.modules:
        return True
    paths = [os.path.join(root, *parts) for root in roots]
    return any(os.path.isfile(path + ".py") or os.path.isfile(os.path.join(path, "__init__.py")) for path in paths)
