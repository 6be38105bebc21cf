"""Joins the scans of all releases into facts with intervals: families of architectures, and lists of names.

Works on records only; `write` lays them out as YAML and keeps what people wrote.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from archcap.model.base import Json, JsonObject
from archcap.model.releases import version
from archcap.scanner.config import ScanConfig
from archcap.scanner.emit import interval, intervals
from archcap.scanner.intervals import Stay, stays
from archcap.scanner.lists import ScannedList
from archcap.scanner.probes import Evidence
from archcap.scanner.scan_record import Scan, ScannedArchitecture


@dataclass
class Merged:
    """The registry's generated part, in the form of its files."""

    families: dict[str, dict[str, JsonObject]] = field(default_factory=dict)
    """Architectures by family, in the short forms of the files."""
    lists: dict[str, JsonObject] = field(default_factory=dict)


def ordered(releases: Iterable[str]) -> list[str]:
    """Return releases in their own order."""
    return sorted(releases, key=version)


def merge(scans: Mapping[str, Scan], config: ScanConfig) -> Merged:
    """Join the scans of an engine's releases.

    Args:
        scans: by release, each release once.
        config: the engine's scan settings, for families.
    """
    releases = ordered(scans)
    out = Merged()
    names = {name for scan in scans.values() for name in scan.architectures}
    for name in sorted(names):
        held = {r: scans[r].architectures[name] for r in releases if name in scans[r].architectures}
        family = config.family(_newest(held, releases).module)
        out.families.setdefault(family, {})[name] = _architecture(held, releases)
    out.lists = _lists({r: scans[r].lists for r in releases}, releases)
    return out


def _newest(held: Mapping[str, ScannedArchitecture], releases: Sequence[str]) -> ScannedArchitecture:
    return held[max(held, key=releases.index)]


def _architecture(held: Mapping[str, ScannedArchitecture], releases: Sequence[str]) -> JsonObject:
    newest = _newest(held, releases)
    spans = stays(releases, dict.fromkeys(held, True))
    made: JsonObject = {}
    if len(spans) > 1 or spans[0].removed is not None or spans[0].added is not None:
        made["releases"] = intervals(interval(s.added, s.removed, releases[0]) for s in spans)
    else:
        made["releases"] = f"<={releases[0]}"
    made["module"] = newest.module
    if newest.role != "target":
        made["role"] = newest.role
    if newest.wraps is not None:
        made["wraps"] = newest.wraps
    if newest.body is not None:
        made["body"] = newest.body
    support = _support(held, releases)
    if support:
        made["support"] = support
    return made


def _support(held: Mapping[str, ScannedArchitecture], releases: Sequence[str]) -> JsonObject:
    capabilities = sorted({c for one in held.values() for c in one.support})
    made: JsonObject = {}
    for capability in capabilities:
        evidence = {r: one.support[capability] for r, one in held.items() if capability in one.support}
        made[capability] = support_of(evidence, releases)
    return made


def support_of(evidence: Mapping[str, Evidence], releases: Sequence[str]) -> Json:
    """Return a capability's stays in the short form of the files."""
    items: list[Json] = []
    for stay in stays(releases, {r: e.when for r, e in evidence.items()}):
        extra: JsonObject = {} if stay.value is None else {"state": "conditional", "when": stay.value}
        items.append(interval(stay.added, stay.removed, releases[0], extra))
    return intervals(items)


# lists


def _lists(scanned: Mapping[str, Mapping[str, ScannedList]], releases: Sequence[str]) -> dict[str, JsonObject]:
    by_id: dict[str, dict[str, ScannedList]] = {}
    for release in releases:
        for one in scanned[release].values():
            if one.named:
                by_id.setdefault(one.id, {})[release] = one
    _follow_moves(by_id, releases)
    _number_anonymous(by_id, scanned, releases)
    return {id_: _list(held, releases) for id_, held in sorted(by_id.items())}


def _follow_moves(by_id: dict[str, dict[str, ScannedList]], releases: Sequence[str]) -> None:
    """Join a collection that moved to another module: same bare name, no release in common, one after the other."""
    by_name: dict[str, list[str]] = {}
    for id_ in by_id:
        if not id_.startswith("model_override:"):
            by_name.setdefault(id_.rpartition(".")[2], []).append(id_)
    for ids in by_name.values():
        ids.sort(key=lambda i: releases.index(max(by_id[i], key=releases.index)))
        newest = ids[-1]
        for older in ids[:-1]:
            if not set(by_id[older]) & set(by_id[newest]):
                by_id[newest] = {**by_id.pop(older), **by_id[newest]}


def _number_anonymous(
    by_id: dict[str, dict[str, ScannedList]], scanned: Mapping[str, Mapping[str, ScannedList]], releases: Sequence[str]
) -> None:
    """Give tests in code ids that stay the same over releases: numbered in the newest, matched by names before."""
    places: dict[str, dict[str, list[ScannedList]]] = {}
    for release in releases:
        for one in scanned[release].values():
            if not one.named:
                places.setdefault(one.place, {}).setdefault(release, []).append(one)
    for place, held in places.items():
        for number, chain in enumerate(_chains(held, releases), 1):
            by_id[f"{place}#{number}"] = chain


def _chains(held: Mapping[str, list[ScannedList]], releases: Sequence[str]) -> list[dict[str, ScannedList]]:
    chains: list[dict[str, ScannedList]] = []
    heads: list[ScannedList] = []
    for release in reversed([r for r in releases if r in held]):
        free = set(range(len(chains)))
        for one in held[release]:
            best = max(free, key=lambda i: (_likeness(heads[i], one), -i), default=None)
            if best is None or _likeness(heads[best], one) < 0.3:
                chains.append({release: one})
                heads.append(one)
            else:
                free.discard(best)
                chains[best][release] = one
                heads[best] = one
    return chains


def _likeness(a: ScannedList, b: ScannedList) -> float:
    """Return how much two tests of one function look the same, from 0 to 1."""
    if a.kind != b.kind:
        return 0.0
    common = len(a.names.keys() & b.names.keys())
    names = common / max(len(a.names.keys() | b.names.keys()), 1)
    return names + (0.05 if a.subject == b.subject else 0.0) + (0.01 if a.form == b.form else 0.0)


def _list(held: Mapping[str, ScannedList], releases: Sequence[str]) -> JsonObject:
    kinds = Counter(one.kind for one in held.values())
    kind = kinds.most_common(1)[0][0]
    made: JsonObject = {}
    if kind != "architecture":
        made["kind"] = kind
    made["source"] = _source(held, releases)
    names: JsonObject = {}
    for name in sorted({n for one in held.values() for n in one.names}):
        spans = stays(releases, {r: True for r, one in held.items() if name in one.names})
        names[name] = intervals(interval(s.added, s.removed, releases[0]) for s in spans)
    made["names"] = names
    return made


def _source(held: Mapping[str, ScannedList], releases: Sequence[str]) -> Json:
    """Return `file:name`, or by the first release of each place where it moved."""
    found: list[Stay[str]] = stays(releases, {r: _place(one) for r, one in held.items()})
    if len({s.value for s in found}) == 1:
        return found[0].value
    return {s.added or releases[0]: s.value for s in found}


def _place(one: ScannedList) -> str:
    if not one.named or one.id.startswith("model_override:"):
        name = re.sub(r"^.*:", "", one.place)
    else:
        name = one.id.rpartition(".")[2] if one.place == one.id else ""
    return f"{one.file}:{name}" if name else one.file
