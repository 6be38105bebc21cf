"""Support on one platform that only repeats what holds on all of them."""

from __future__ import annotations

from collections.abc import Iterator

from archcap.lint.check import ArchitectureSubject, Check, Flaw
from archcap.lint.fix import Remove
from archcap.load.parts import Releases
from archcap.model.support import Support


def _find(subject: ArchitectureSubject) -> Iterator[Flaw]:
    releases = subject.context.releases
    for capability, entries in subject.record.support.items() if releases is not None else ():
        general = [entry for entry in entries if entry.platform is None]
        for index, entry in enumerate(entries):
            if entry.platform is not None and any(_covers(releases, wide, entry) for wide in general):
                said = f"repeats for {entry.platform} what holds everywhere"
                path = ("support", capability, index)
                yield Flaw(path, said, fixes=(Remove(path),))


def _covers(releases: Releases | None, wide: Support, narrow: Support) -> bool:
    if releases is None or (wide.state, wide.value, wide.when) != (narrow.state, narrow.value, narrow.when):
        return False
    outer, inner = releases.range(wide), releases.range(narrow)
    return outer is not None and inner is not None and outer[0] <= inner[0] and inner[1] <= outer[1]


CHECK = Check(id="platform-unneeded", severity="warning", tip="remove the entry", find=_find)
