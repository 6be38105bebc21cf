"""What a scan found of one release, as the registry's own records: for comparing, and for answering from a source.

Works on records only; knows no file and no wording.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set

from archcap.model.architectures import NameList
from archcap.model.engine import SettingSpan
from archcap.model.releases import Interval, version
from archcap.model.support import Support
from archcap.scanner.intervals import stays
from archcap.scanner.lists import ScannedList
from archcap.scanner.probes import Evidence
from archcap.scanner.scan_record import Scan
from archcap.scanner.settings import ScannedSetting
from archcap.scanner.settings_yaml import span

_ANONYMOUS = re.compile(r"#\d+$")


def support_of(evidence: Evidence) -> Support:
    """Return what a piece of evidence says, for all releases."""
    return Support() if evidence.when is None else Support(state="conditional", when=evidence.when)


def plain_support(scans: Mapping[str, Scan]) -> dict[str, dict[str, list[Interval]]]:
    """Return what architectures have without condition, over all releases: architecture, capability, intervals.

    Args:
        scans: of every release, by release.
    """
    releases = sorted(scans, key=version)
    held: dict[tuple[str, str], dict[str, bool]] = {}
    for release in releases:
        for name, one in scans[release].architectures.items():
            for capability, evidence in one.support.items():
                if evidence.when is None:
                    held.setdefault((name, capability), {})[release] = True
    found: dict[str, dict[str, list[Interval]]] = {}
    for (name, capability), values in held.items():
        stay = [Interval(added=one.added, removed=one.removed) for one in stays(releases, values)]
        found.setdefault(name, {})[capability] = stay
    return found


def span_of(setting: ScannedSetting) -> SettingSpan:
    """Return a scanned setting as the registry has it, for all releases."""
    return SettingSpan.model_validate(span(setting), strict=False)


def by_people(entry: Support) -> bool:
    """Return whether people stand behind an entry: what they wrote stays as it is, whatever a scan finds."""
    return entry.source is not None or entry.note is not None


def matched_lists(
    scanned: Mapping[str, ScannedList], known: Mapping[str, NameList], release: str
) -> Iterator[tuple[str | None, ScannedList | None]]:
    """Yield the registry's lists of a release beside the scanned ones they are.

    Named lists are the same under the same id, or under the same bare name where a list moved. Tests in code have no
    name: within one function each is matched to the list most of whose names it holds.

    Args:
        scanned: the lists of a scan, by id.
        known: the registry's lists, by id.
        release: the one of the registry that is compared with.
    Returns:
        Pairs of a registry's id and a scanned list; either is None where the other has no partner.
    """
    held = {id_: names for id_, one in known.items() if (names := one.at(release))}
    free = dict(scanned)
    for id_ in sorted(held):
        if id_ in free and not _ANONYMOUS.search(id_):
            yield id_, free.pop(id_)
            held.pop(id_)
    yield from _moved(held, free)
    for place in sorted({_ANONYMOUS.sub("", id_) for id_ in (*held, *free) if _ANONYMOUS.search(id_)}):
        yield from _in_one_place(place, held, free)
    yield from ((id_, None) for id_ in sorted(held))
    yield from ((None, one) for _, one in sorted(free.items()))


def _moved(
    held: dict[str, frozenset[str]], free: dict[str, ScannedList]
) -> Iterator[tuple[str | None, ScannedList | None]]:
    by_name: dict[str, list[str]] = {}
    for id_, one in free.items():
        if one.named and not id_.startswith("model_override:"):
            by_name.setdefault(id_.rpartition(".")[2], []).append(id_)
    for id_ in sorted(held):
        others = by_name.get(id_.rpartition(".")[2], []) if not _ANONYMOUS.search(id_) else []
        if len(others) == 1 and others[0] in free:
            yield id_, free.pop(others[0])
            held.pop(id_)


def _in_one_place(
    place: str, held: dict[str, frozenset[str]], free: dict[str, ScannedList]
) -> Iterator[tuple[str | None, ScannedList | None]]:
    """Match the tests of one function, the likest first."""
    ours = [id_ for id_ in held if _ANONYMOUS.sub("", id_) == place and _ANONYMOUS.search(id_)]
    theirs = [id_ for id_ in free if _ANONYMOUS.sub("", id_) == place and _ANONYMOUS.search(id_)]
    likeness = {(a, b): _likeness(held[a], free[b].names.keys()) for a in ours for b in theirs}
    for a, b in sorted(likeness, key=lambda pair: (-likeness[pair], pair)):
        if a in held and b in free and likeness[a, b] > 0.3:
            held.pop(a)
            yield a, free.pop(b)


def _likeness(a: frozenset[str], b: Set[str]) -> float:
    return len(a & b) / max(len(a | b), 1)
