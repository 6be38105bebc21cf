"""Adds names to one of the engine's collections, also where other modules have taken the object already.

Sets and lists grow in place. A frozenset or tuple is replaced wherever a module holds that very object; what was
computed from it before stays as it was.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from archcap.client.sglang.collections import Place


def extend(place: Place, names: Iterable[str]) -> str | None:
    """Add *names* to the collection at *place*; return in words why that cannot be done, None when it was."""
    value, added = place.value(), sorted(names)
    if isinstance(value, set):
        value.update(added)
    elif isinstance(value, list):
        value.extend(added)
    elif isinstance(value, frozenset):
        _replaced(place, value, value.union(added))
    elif isinstance(value, tuple):
        _replaced(place, value, (*value, *added))
    else:
        return f"{', '.join(added)} cannot be added to {place.name}: it is a {type(value).__name__}"
    return None


def _replaced(place: Place, old: object, new: object) -> None:
    setattr(place.owner(), place.name, new)
    for module in list(sys.modules.values()):
        held = getattr(module, "__dict__", None)
        if not isinstance(held, dict):
            continue
        for name, value in list(held.items()):
            # All empty tuples are one object, so of those the name must be the same too.
            if value is old and (old or name == place.name):
                held[name] = new
