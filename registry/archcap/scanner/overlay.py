"""The registry of one release as a source says it is: scanned facts in the place of the registry's, the rest as it was.

For answers about a fork or a checkout: rules, and everything no scan sees, are the registry's. Works on records.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from archcap.model.architectures import Architecture, DraftRewrite, Family, ListEntry, NameList
from archcap.model.engine import Setting
from archcap.model.registry import EngineRegistry
from archcap.model.releases import Interval, version
from archcap.model.support import Support
from archcap.model.vocabulary import Vocabulary
from archcap.scanner.config import ScanConfig
from archcap.scanner.drift import Difference, drift
from archcap.scanner.records import matched_lists, span_of, support_of
from archcap.scanner.scan_record import Scan, ScannedArchitecture

I = TypeVar("I", bound=Interval)  # noqa: E741


@dataclass
class Overlay:
    """What changes: whole records, by name. `differences` says what the source has otherwise than the registry."""

    release: str
    families: dict[str, Family] = field(default_factory=dict)
    lists: dict[str, NameList] = field(default_factory=dict)
    settings: dict[str, Setting] = field(default_factory=dict)
    differences: tuple[Difference, ...] = ()


def overlay(scan: Scan, registry: EngineRegistry, vocabulary: Vocabulary, config: ScanConfig, release: str) -> Overlay:
    """Return what changes in a registry when *release* is as a source says.

    Args:
        scan: of the source.
        registry: of its engine.
        vocabulary: tells which capabilities a scan looks for.
        config: how the source is laid out.
        release: whose facts the source's replace.
    """
    found = drift(scan, registry, vocabulary, config, release)
    out = Overlay(release, differences=found.differences)
    cut = _Cut(release, sorted(registry.engine.releases, key=version))
    by_name = {n: a for f in registry.families.values() for n, a in f.architectures.items()}
    changed: dict[str, Architecture] = {}
    for one in found.differences:
        _architecture(one, scan, by_name, changed, cut)
    families = {name: f.family for f in registry.families.values() for name in f.architectures}
    for name, architecture in changed.items():
        family = families.get(name) or config.family(scan.architectures[name].module)
        held = out.families.get(family) or registry.families.get(family) or Family(family=family, architectures={})
        out.families[family] = held.model_copy(update={"architectures": {**held.architectures, name: architecture}})
    _lists(out, scan, registry, cut)
    _settings(out, scan, registry, cut)
    return out


@dataclass(frozen=True, slots=True)
class _Cut:
    """Takes one release out of intervals, and puts something into its place."""

    release: str
    releases: Sequence[str]

    @property
    def own(self) -> dict[str, str | None]:
        """Bounds of the release alone."""
        at = self.releases.index(self.release)
        return {
            "added": self.release if at else None,
            "removed": self.releases[at + 1] if at + 1 < len(self.releases) else None,
        }

    def without(self, intervals: Iterable[I]) -> list[I]:
        """Return intervals that no longer hold in the release."""
        out: list[I] = []
        for one in intervals:
            if not one.holds(self.release):
                out.append(one)
                continue
            own = self.own
            if own["added"] is not None and one.added != self.release:
                out.append(one.model_copy(update={"removed": self.release}))
            if own["removed"] is not None and one.removed != own["removed"]:
                out.append(one.model_copy(update={"added": own["removed"]}))
        return out

    def only(self, one: I) -> I:
        """Return something that holds in the release alone."""
        return one.model_copy(update=self.own)


def _ordered(intervals: Iterable[I]) -> tuple[I, ...]:
    return tuple(sorted(intervals, key=lambda one: version(one.added or "0")))


def _architecture(
    one: Difference,
    scan: Scan,
    known: Mapping[str, Architecture],
    changed: dict[str, Architecture],
    cut: _Cut,
) -> None:
    """Apply one difference to the architecture it is about."""
    held = changed.get(one.subject) or known.get(one.subject)
    found = scan.architectures.get(one.subject)
    if one.kind == "architecture":
        if found is None and held is not None:
            changed[one.subject] = held.model_copy(update={"releases": tuple(cut.without(held.releases))})
        elif found is not None:
            changed[one.subject] = _new(found, held, cut)
    elif one.kind == "capability" and held is not None and found is not None:
        entries = cut.without(held.support.get(one.what, ()))
        if one.what in found.support:
            entries.append(cut.only(support_of(found.support[one.what])))
        changed[one.subject] = held.model_copy(update={"support": {**held.support, one.what: _ordered(entries)}})
    elif one.kind == "draft" and held is not None and one.subject in scan.drafts:
        draft = scan.drafts[one.subject]
        made = DraftRewrite(architecture=draft.becomes, depth=draft.depth, levels=draft.levels)  # type: ignore[arg-type]
        kept = [d for d in held.draft if d.algorithms]
        general = cut.without(d for d in held.draft if not d.algorithms)
        changed[one.subject] = held.model_copy(update={"draft": _ordered([*kept, *general, cut.only(made)])})


def _new(found: ScannedArchitecture, held: Architecture | None, cut: _Cut) -> Architecture:
    before = held.releases if held is not None else ()
    releases = _ordered([*before, cut.only(Interval())])
    support: dict[str, tuple[Support, ...]] = {
        name: _ordered([*cut.without(held.support.get(name, ()) if held else ()), cut.only(support_of(evidence))])
        for name, evidence in found.support.items()
    }
    if held is not None:
        return held.model_copy(update={"releases": releases, "support": {**held.support, **support}})
    return Architecture(
        releases=releases, module=found.module, wraps=found.wraps, body=found.body, support=support,
        role="draft" if found.role == "draft" else "target",
    )  # fmt: skip


def _lists(out: Overlay, scan: Scan, registry: EngineRegistry, cut: _Cut) -> None:
    touched = {one.subject for one in out.differences if one.kind == "list" and one.what}
    for id_, found in matched_lists(scan.lists, registry.lists, out.release):
        if id_ not in touched or id_ is None or found is None:
            continue
        held = registry.lists[id_]
        names: dict[str, tuple[ListEntry, ...]] = {}
        for name in sorted({*held.names, *found.names}):
            stays = held.names.get(name, ())
            if any(s.holds(out.release) for s in stays) != (name in found.names):
                stays = _ordered(cut.without(stays) if name not in found.names else [*stays, cut.only(ListEntry())])
            if stays:
                names[name] = stays
        out.lists[id_] = held.model_copy(update={"names": names})


def _settings(out: Overlay, scan: Scan, registry: EngineRegistry, cut: _Cut) -> None:
    """Take over what the source says of its settings; those it lost stay, for the rules read them."""
    for one in out.differences:
        if one.kind != "setting" or one.subject not in scan.settings.settings:
            continue
        made = cut.only(span_of(scan.settings.settings[one.subject]))
        held = registry.settings.get(one.subject)
        spans = _ordered([*cut.without(held.spans if held is not None else ()), made])
        out.settings[one.subject] = held.model_copy(update={"spans": spans}) if held else Setting(spans=spans)
