"""Who has a capability in a release, put together from one small table per family.

A table is remembered by the digest of the family's part, so that after an override only the families it touches are
looked at again. `ReleaseView.capability_set` says the same from scratch; a test holds the two together.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from archcap.snapshot import ReleaseView, Snapshot
from archcap.snapshot.lazy import section
from archcap.snapshot.support import conditions_of

_MOST = 20_000


@dataclass(slots=True)
class Table:
    """What the architectures of one family have in one release.

    Attributes:
        always: by capability, those that have it whatever the configuration and platform.
        sometimes: by capability, those that have it under a condition, with it.
    """

    always: dict[str, list[str]] = field(default_factory=dict)
    sometimes: dict[str, list[tuple[str, str]]] = field(default_factory=dict)


_tables: OrderedDict[tuple[str, str, str], Table] = OrderedDict()


def holders(snapshot: Snapshot, view: ReleaseView, capability: str) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the architectures that have *capability*, and those that have it under a condition, with it; sorted."""
    always: list[str] = []
    sometimes: list[tuple[str, str]] = []
    for table in _tables_of(snapshot, view):
        always += table.always.get(capability, ())
        sometimes += table.sometimes.get(capability, ())
    return sorted(always), sorted(sometimes)


def _tables_of(snapshot: Snapshot, view: ReleaseView) -> list[Table]:
    base = f"engines/{view.engine.engine}/"
    releases = snapshot.digest_of(base + "engine")
    found = []
    for path in snapshot.parts:
        if path.startswith(base + "families/"):
            key = (snapshot.digest_of(path), releases, view.release)
            table = _tables.get(key)
            if table is None:
                table = _tables[key] = _table(snapshot, view, path)
                while len(_tables) > _MOST:
                    _tables.popitem(last=False)
            found.append(table)
    return found


def _table(snapshot: Snapshot, view: ReleaseView, path: str) -> Table:
    made, timeline = Table(), view.timeline
    at = timeline.position(view.release)
    for name, raw in section(snapshot.raw(path), "architectures").items():
        if not isinstance(raw, dict) or not timeline.any_holds(raw.get("releases"), at):
            continue
        for capability, entries in section(raw, "support").items():
            when = conditions_of(list(timeline.held(entries, at)))
            if when:
                made.sometimes.setdefault(capability, []).append((name, when))
            elif when is not None:
                made.always.setdefault(capability, []).append(name)
    return made
