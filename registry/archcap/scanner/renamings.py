"""What looks renamed in a source: a setting or a flag that is gone, and one like it that nobody knows.

One edit shows in two places; whoever is told of it wants to be told once. Works on records and only pairs names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import NamedTuple

from archcap.model.engine import SettingSpan
from archcap.scanner.config import ScanConfig
from archcap.scanner.records import span_of
from archcap.scanner.scan_record import Scan

_ALIKE = 0.6
"""How much alike two names are that may be one; a single pair needs no likeness."""


class NewFlag(NamedTuple):
    """A flag of the source that writes no setting, with the one it seems to have been."""

    name: str
    file: str
    line: int
    before: str


@dataclass(frozen=True, slots=True)
class Renamings:
    """Flags by the setting they belonged to, and settings: the source's name to the registry's."""

    flags: Mapping[str, NewFlag] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def new_flags(self) -> frozenset[str]:
        """The flags that are explained by a renaming."""
        return frozenset(one.name for one in self.flags.values())


def loose_ends(scan: Scan, config: ScanConfig) -> Iterable[tuple[str, str, int]]:
    """Yield flags of the source that write no setting, with file and line."""
    for file, line, reason in scan.settings.unresolved:
        flag, _, rest = reason.partition(" ")
        if rest == "writes no setting" and not config.expected(reason):
            yield flag, file, line


def renamings(scan: Scan, held: Mapping[str, SettingSpan], config: ScanConfig) -> Renamings:
    """Return what seems to have been renamed between a registry's settings and a source's.

    Args:
        scan: of the source.
        held: the registry's settings in the release that is compared with.
        config: how the source is laid out.
    """
    scanned = scan.settings.settings
    lost = {
        flag: name
        for name in held.keys() & scanned.keys()
        for flag in _flags(held[name]) - _flags(span_of(scanned[name]))
    }
    new = {flag: (file, line) for flag, file, line in loose_ends(scan, config)}
    flags = {lost[old]: NewFlag(flag, *new[flag], old) for flag, old in _pairs(new, lost)}
    gone = {name: _shape(held[name]) for name in held.keys() - scanned.keys()}
    came = {name: _shape(span_of(scanned[name])) for name in scanned.keys() - held.keys()}
    alike = [(name, old) for name, old in _pairs(came, gone) if came[name] == gone[old]]
    return Renamings(flags, dict(alike))


def _flags(span: SettingSpan) -> set[str]:
    return {flag if isinstance(flag, str) else flag.name for flag in span.flags}


def _shape(span: SettingSpan) -> object:
    return span.model_dump(mode="json", exclude={"added", "removed", "source", "flags"})


def _pairs(new: Iterable[str], old: Iterable[str]) -> list[tuple[str, str]]:
    """Return the new names with the old ones they are most alike to, each once."""
    fresh, before = sorted(new), sorted(old)
    if len(fresh) == len(before) == 1:
        return [(fresh[0], before[0])]
    ranked = sorted(((SequenceMatcher(None, a, b).ratio(), a, b) for a in fresh for b in before), reverse=True)
    taken: dict[str, str] = {}
    for ratio, a, b in ranked:
        if ratio >= _ALIKE and a not in taken and b not in taken.values():
            taken[a] = b
    return sorted(taken.items())
