"""Drift: where the registry of a release and an engine's source disagree, both ways, with file and line.

Compares records and returns records. What people wrote with a source of their own is theirs and never drifts; where a
file could not be read nothing is said of what might stand in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from archcap.model.architectures import Architecture, NameList
from archcap.model.base import Json
from archcap.model.engine import SettingSpan
from archcap.model.registry import EngineRegistry
from archcap.model.releases import version
from archcap.model.support import Support, support_at
from archcap.model.vocabulary import Vocabulary
from archcap.scanner.config import ScanConfig
from archcap.scanner.lists import ScannedList
from archcap.scanner.records import by_people, matched_lists, span_of, support_of
from archcap.scanner.renamings import loose_ends, renamings
from archcap.scanner.scan_record import Scan, ScannedArchitecture
from archcap.scanner.settings import ScannedSetting

Kind = Literal["architecture", "capability", "draft", "list", "setting", "flag", "unreadable"]
Only = Literal["source", "registry", "both"]


@dataclass(frozen=True, slots=True)
class Difference:
    """One disagreement.

    Attributes:
        kind: what is different; `draft` is what becomes of a checkpoint that serves as its own draft.
        subject: the architecture, list, setting or flag; the file for `unreadable`.
        what: the capability, the name in the list, or the aspect of the setting, `flag` and `name` where one was
            renamed; "" for the subject itself.
        only: who says it alone; `both` where they say different things.
        file, line: where it shows in the source: the thing, or what it is missing from.
        registry: what the registry says, where it says something.
        source: what the source says.
    """

    kind: Kind
    subject: str
    what: str
    only: Only
    file: str
    line: int
    registry: Json = None
    source: Json = None


@dataclass(frozen=True, slots=True)
class Drift:
    """All disagreements of a source with one release of the registry.

    `unlooked` counts the facts of the registry that the source does not show while a file of it could not be read.
    """

    engine: str
    release: str
    differences: tuple[Difference, ...]
    unlooked: int = 0


def drift(scan: Scan, registry: EngineRegistry, vocabulary: Vocabulary, config: ScanConfig, release: str) -> Drift:
    """Compare a scanned source with the registry.

    Args:
        scan: of the source.
        registry: of its engine.
        vocabulary: tells which capabilities a scan looks for.
        config: how the source is laid out.
        release: the registry's release that the source is compared with.
    """
    compared = _Compared(scan, registry, vocabulary, config, release)
    found = [*compared.files(), *compared.architectures(), *compared.lists(), *compared.settings(), *compared.flags()]
    missing = [one for one in found if one.only == "registry"] if scan.unknown else []
    shown = [one for one in found if one not in missing]
    shown.sort(key=lambda one: (one.file, one.line, one.kind, one.subject, one.what))
    return Drift(scan.engine, release, tuple(shown), len(missing))


class _Compared:
    def __init__(
        self, scan: Scan, registry: EngineRegistry, vocabulary: Vocabulary, config: ScanConfig, release: str
    ) -> None:
        self.scan = scan
        self.registry = registry
        self.config = config
        self.release = release
        self.probed = [n for n, one in sorted(vocabulary.capabilities.items()) if scan.engine in one.probes]
        self.held = {n: span for n, one in registry.settings.items() if (span := one.at(release)) is not None}
        self.renamed = renamings(scan, self.held, config)
        self.undecided = {
            (capability, name)
            for one in scan.unresolved
            for capability, _, said in [one.reason.partition(": ")]
            for name in scan.architectures
            if said.startswith(f"{name} ")
        }

    def files(self) -> Iterator[Difference]:
        for one in self.scan.unknown:
            yield Difference("unreadable", one.file, "", "source", one.file, one.line, source=one.reason)

    # architectures

    def architectures(self) -> Iterator[Difference]:
        known = {
            name: one
            for family in self.registry.families.values()
            for name, one in family.architectures.items()
            if one.exists(self.release)
        }
        for name, found in sorted(self.scan.architectures.items()):
            if name in known:
                yield from self._capabilities(name, found, known[name])
            else:
                yield Difference("architecture", name, "", "source", found.file, found.line)
        for name in sorted(known.keys() - self.scan.architectures.keys()):
            yield Difference("architecture", name, "", "registry", self._model_file(known[name]), 1)

    def _model_file(self, known: Architecture) -> str:
        return f"{self.config.models_folder}{(known.module or '').replace('.', '/')}.py"

    def _capabilities(self, name: str, found: ScannedArchitecture, known: Architecture) -> Iterator[Difference]:
        for capability in self.probed:
            held = support_at(known.support.get(capability, ()), self.release)
            evidence = found.support.get(capability)
            if held is not None and (by_people(held) or held.platform is not None):
                continue
            shown = None if evidence is None else support_of(evidence)
            if _same(held, shown) or (shown is None and (capability, name) in self.undecided):
                continue
            only: Only = "registry" if shown is None else "source" if held is None else "both"
            file, line = (found.file, found.line) if evidence is None else (evidence.file, evidence.line)
            yield Difference("capability", name, capability, only, file, line, _said(held), _said(shown))
        yield from self._draft(name, known)

    def _draft(self, name: str, known: Architecture) -> Iterator[Difference]:
        """Compare the rewrite of a checkpoint that serves as its own draft; one that was not found may be elsewhere."""
        found = self.scan.drafts.get(name)
        held = [one for one in known.draft if one.holds(self.release)]
        plain = next((one for one in held if not one.algorithms), None)
        if found is None or (held and plain is None):
            return
        here = _rewrite(found.becomes, found.depth, found.levels)
        there = None if plain is None else _rewrite(plain.architecture, plain.depth, plain.levels)
        if here != there:
            yield Difference(
                "draft", name, "", "source" if there is None else "both", found.file, found.line, there, here
            )

    # lists

    def lists(self) -> Iterator[Difference]:
        own = {id_: one for id_, one in self.registry.lists.items() if self._scanned(id_)}
        for id_, found in matched_lists(self._told(), own, self.release):
            if found is None and id_ is not None:
                yield Difference("list", id_, "", "registry", _file_of(own[id_], self.release), 1)
            elif found is not None and id_ is None:
                if found.id not in self.registry.lists:
                    yield Difference("list", found.id, "", "source", found.file, found.line, source=[*found.names])
            elif found is not None and id_ is not None:
                names = own[id_].at(self.release)
                for name in sorted(found.names.keys() - names):
                    yield Difference("list", id_, name, "source", found.file, found.names[name])
                for name in sorted(names - found.names.keys()):
                    yield Difference("list", id_, name, "registry", found.file, found.line)

    def _told(self) -> Mapping[str, ScannedList]:
        """Return the scanned lists without what the registry knows as values of settings.

        A scan leaves those out of lists of model types itself, as far as it can read the settings.
        """
        words = {v for one in self.held.values() for v in (*one.choices, one.default) if isinstance(v, str)}
        kept: dict[str, ScannedList] = {}
        for id_, one in self.scan.lists.items():
            names = {n: line for n, line in one.names.items() if one.kind != "model_type" or n not in words}
            if names:
                kept[id_] = replace(one, names=names)
        return kept

    def _scanned(self, id_: str) -> bool:
        """Return whether a list is one that scans write: dotted, of a function, or of an override."""
        head, colon, name = id_.partition(":")
        if id_ in self.scan.lists or "/" in head or not colon:
            return id_ in self.scan.lists or "/" in head or "." in id_
        place = _place_of(self.registry.lists[id_], self.release)
        function = place.rpartition(":")[2]
        by_test = any(point.owner == function for point in self.scan.points)
        return head == "model_override" and function.lstrip("_") == name and not by_test

    # settings

    def settings(self) -> Iterator[Difference]:
        scanned, held = self.scan.settings.settings, self.held
        for name, found in sorted(scanned.items()):
            old = self.renamed.settings.get(name)
            if old is not None:
                yield Difference("setting", name, "name", "both", found.file, found.line, old, name)
            elif name not in held:
                yield Difference("setting", name, "", "source", found.file, found.line)
            elif held[name].source is None:
                yield from self._setting(name, found)
        record = self.config.settings_record.rpartition(".")[0].replace(".", "/") + ".py"
        for name in sorted(held.keys() - scanned.keys() - {*self.renamed.settings.values()}):
            yield Difference("setting", name, "", "registry", record, 1)

    def _setting(self, name: str, found: ScannedSetting) -> Iterator[Difference]:
        """Compare one setting; a flag that was renamed took along what its registration says of the setting."""
        ours, theirs = _aspects(self.held[name]), _aspects(span_of(found))
        flag = self.renamed.flags.get(name)
        if flag is not None:
            yield Difference("setting", name, "flag", "both", flag.file, flag.line, flag.before, flag.name)
        for aspect in ours:
            if flag is not None and (aspect == "flags" or (aspect != "default" and not theirs["flags"])):
                continue
            if ours[aspect] != theirs[aspect] and not (self.scan.unknown and found.unresolved):
                file, line = self._flag_place(name, aspect) or (found.file, found.line)
                yield Difference("setting", name, aspect, "both", file, line, ours[aspect], theirs[aspect])

    def _flag_place(self, name: str, aspect: str) -> tuple[str, int] | None:
        return self.scan.settings.registered.get(name) if aspect != "default" else None

    def flags(self) -> Iterator[Difference]:
        """Compare the flags of no setting; one that writes nothing anybody knows is a difference of its own."""
        scanned = self.scan.settings.loose
        for flag, file, line in loose_ends(self.scan, self.config):
            if flag not in self.renamed.new_flags:
                yield Difference("flag", flag, "", "source", file, line)
        place = self.config.settings_record.rpartition(".")[0].replace(".", "/") + ".py"
        known = {
            flag: span
            for flag, spans in self.registry.engine.loose_flags.items()
            for span in spans
            if span.holds(self.release) and flag not in self.config.flags_file
        }
        for flag, found in sorted(scanned.items()):
            if flag not in known:
                yield Difference("flag", flag, "", "source", place, found.line)
            elif known[flag].effect != found.effect:
                yield Difference("flag", flag, "effect", "both", place, found.line, known[flag].effect, found.effect)
        for flag in sorted(known.keys() - scanned.keys()):
            yield Difference("flag", flag, "", "registry", place, 1)


def _rewrite(becomes: str, depth: int | None, levels: tuple[str, ...]) -> Json:
    return {"becomes": becomes, "depth": depth, "levels": [*levels]}


def _same(held: Support | None, shown: Support | None) -> bool:
    if held is None or shown is None:
        return held is shown
    return (held.state, held.value, held.when) == (shown.state, shown.value, shown.when)


def _said(support: Support | None) -> Json:
    if support is None:
        return None
    return "yes" if support.when is None else f"when {support.when}"


def _aspects(span: SettingSpan) -> Mapping[str, Json]:
    whole = span.model_dump(mode="json", exclude={"added", "removed", "source"})
    flags = whole.pop("flags")
    kind = {key: whole.pop(key) for key in ("type", "optional", "item", "many", "words", "const", "parser")}
    shape = {"fields": whole.pop("fields"), "positional": whole.pop("positional"), "sentinel": whole.pop("sentinel")}
    choices = {"choices": whole["choices"], "open": whole["open_choices"]}
    return {"default": _typed(whole["default"]), "choices": choices, "type": {**kind, **shape}, "flags": flags}


def _typed(value: Json) -> Json:
    """Tell 1, 1.0 and true apart, which Python takes for the same."""
    return value if isinstance(value, str | None) else {"type": type(value).__name__, "value": value}


def _file_of(known: NameList, release: str) -> str:
    return _place_of(known, release).partition(":")[0]


def _place_of(known: NameList, release: str) -> str:
    """Return `file:name` of a list as it is in a release."""
    source = known.source
    if isinstance(source, str):
        return source
    at = max((r for r in source if version(r) <= version(release)), key=version, default=next(iter(source)))
    return source[at]
