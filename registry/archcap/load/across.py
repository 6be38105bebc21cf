"""Checks across files: every name and release that is mentioned is declared somewhere, nothing is declared twice."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, get_args

from archcap.load.bounds import check_bounds
from archcap.load.intervals import check_intervals
from archcap.load.parts import EngineNames, EngineParts, Found, Part, RegistryParts, found, statements
from archcap.load.strict_yaml import DataPath
from archcap.load.values import check_values
from archcap.load.words import Wording
from archcap.model.architectures import Architecture
from archcap.model.hardware import Platform
from archcap.model.releases import Interval
from archcap.model.vocabulary import Probe
from archcap.suggest import nearest_name

_CLASS_AT_MODULE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*@[A-Za-z_][A-Za-z0-9_.]*")
PLATFORMS: tuple[str, ...] = get_args(Platform)


def check_across(parts: RegistryParts) -> Iterator[Found]:
    """Yield everything that is wrong between the files of a registry."""
    yield from _vocabulary(parts)
    yield from _hardware(parts)
    yield from _checkpoints(parts)
    for engine in parts.engines.values():
        names = EngineNames(engine)
        for check in _ENGINE_CHECKS:
            yield from check(parts, engine, names)
        yield from check_bounds(engine, names)
        yield from check_intervals(engine, names)
        yield from check_values(parts.vocabulary.record if parts.vocabulary else None, engine)


def unknown_name(path: DataPath, what: str, name: str, known: frozenset[str] | None) -> Iterator[Wording]:
    """Yield the wording for a *name* that is not in *known*; nothing when *known* itself is unknown."""
    if known is not None and name not in known:
        near = nearest_name(name, known)
        hint = None if near else f"declare the {what} or correct the name"
        yield Wording(path, f'unknown {what} "{name}"', suggestion=near, hint=hint)


def _vocabulary(parts: RegistryParts) -> Iterator[Found]:
    if parts.vocabulary is None:
        return
    document, record = parts.vocabulary.document, parts.vocabulary.record
    groups = parts.keys("vocabulary", "groups")
    for name, capability in record.capabilities.items():
        path: DataPath = ("capabilities", name)
        for wording in unknown_name((*path, "group"), "group", capability.group, groups):
            yield Found(document, wording)
        if capability.type == "enum" and not capability.values:
            yield Found(document, Wording((*path, "values"), "an enum without values", hint="list its values"))
        for engine, probe in capability.probes.items():
            yield from found(document, _probe(parts, (*path, "probes", engine), engine, probe))


def _probe(parts: RegistryParts, path: DataPath, engine: str, probe: Probe) -> Iterator[Wording]:
    if engine not in parts.engines:
        yield from unknown_name(path, "engine", engine, frozenset(parts.engines) or None)
    elif probe.list is not None:
        yield from unknown_name((*path, "list"), "list", probe.list, EngineNames(parts.engines[engine]).lists)


def _hardware(parts: RegistryParts) -> Iterator[Found]:
    if parts.hardware is None:
        return
    document, hardware = parts.hardware.document, parts.hardware.record.hardware
    taken: dict[str, str] = {name: name for name in hardware}
    for name, gpu in hardware.items():
        for index, alias in enumerate(gpu.aliases):
            if taken.setdefault(alias, name) != name:
                said = f'"{alias}" is an id or alias of {taken[alias]} already'
                yield Found(document, Wording(("hardware", name, "aliases", index), said, hint="remove one"))


def _checkpoints(parts: RegistryParts) -> Iterator[Found]:
    known = _all_architectures(parts)
    yield from _twice([(part, "checkpoints") for part in parts.checkpoints])
    for part in parts.checkpoints:
        for name, checkpoint in part.record.checkpoints.items():
            path: DataPath = ("checkpoints", name, "architecture")
            yield from found(part.document, unknown_name(path, "architecture", checkpoint.architecture, known))


def _all_architectures(parts: RegistryParts) -> frozenset[str] | None:
    known: frozenset[str] = frozenset()
    for engine in parts.engines.values():
        own = EngineNames(engine).architectures
        if own is None:
            return None
        known |= own
    return known if parts.engines else None


def _twice(sections: Iterable[tuple[Part[Any], str]]) -> Iterator[Found]:
    """Yield every key that an earlier file's section of the same name already has."""
    first: dict[str, dict[str, str]] = {}
    for part, section in sections:
        value = part.document.value
        keys = value.get(section) if isinstance(value, dict) else None
        for key in keys if isinstance(keys, dict) else ():
            owner = first.setdefault(section, {}).setdefault(key, part.document.name)
            if owner != part.document.name:
                said = f"is declared in {owner} too"
                yield Found(part.document, Wording((section, key), said, hint="keep one of them"))


def _duplicates(parts: RegistryParts, engine: EngineParts, names: EngineNames) -> Iterator[Found]:
    del parts, names
    yield from _twice([(part, "settings") for part in engine.settings])
    yield from _twice([(part, "lists") for part in engine.lists])
    yield from _twice([(part, section) for part in engine.names for section in ("facts", "vars", "assumptions", "env")])
    yield from _twice([(part, "architectures") for part in engine.families])
    yield from _twice([(part, section) for part in engine.rules for section in ("define", "steps")])


def _titles(parts: RegistryParts, engine: EngineParts, names: EngineNames) -> Iterator[Found]:
    """What a file calls itself is the name of the file or folder."""
    del parts
    if engine.engine is not None:
        record, document = engine.engine.record, engine.engine.document
        if record.engine != engine.name:
            expected = f'the folder\'s name "{engine.name}"'
            yield Found(document, Wording(("engine",), f'found "{record.engine}"', expected))
        for field in ("config_setting", "draft_setting", "draft_method_setting", "nodes_setting"):
            setting = getattr(record, field)
            if setting is not None:
                yield from found(document, unknown_name((field,), "setting", setting, names.settings))
    for family in engine.families:
        if family.record.family != family.file.stem:
            wording = Wording(("family",), f'found "{family.record.family}"', f'the file\'s name "{family.file.stem}"')
            yield Found(family.document, wording)


def _no_releases(parts: RegistryParts, engine: EngineParts, names: EngineNames) -> Iterator[Found]:
    """An engine has at least one release, and all are versions."""
    del parts
    document = next(iter(engine.documents.get("engine", ())), None)
    keys = engine.keys("engine", "releases")
    if document is None or keys is None or not document.readable or names.releases is not None:
        return
    if not keys:
        yield Found(document, Wording(("releases",), "there is no release", hint="add the first one"))
    for key in sorted(keys):
        try:
            Interval(added=key)
        except ValueError:
            hint = "write it as the package index does"
            yield Found(document, Wording(("releases", key), "is no PEP 440 version", hint=hint))


def _references(parts: RegistryParts, engine: EngineParts, names: EngineNames) -> Iterator[Found]:
    """Capabilities, platforms, steps and classes are spelt as declared."""
    capabilities = parts.keys("vocabulary", "capabilities")
    suspected = _suspected(engine, names)
    for family in engine.families:
        for name, architecture in family.record.architectures.items():
            path: DataPath = ("architectures", name)
            yield from found(family.document, _architecture_names(path, architecture, capabilities, suspected))
    for lists in engine.lists:
        for name, entry in lists.record.lists.items():
            for member, stays in entry.names.items():
                for index, stay in enumerate(stays):
                    yield from found(lists.document, _platform(("lists", name, "names", member, index), stay.platform))
    yield from _step_names(engine, names)


def _suspected(engine: EngineParts, names: EngineNames) -> frozenset[str]:
    """Return what siblings are compared by besides capabilities: lists, pairs, and the depth of drafts."""
    pairs = engine.siblings.record.pairs if engine.siblings is not None else ()
    return frozenset(pair.id for pair in pairs) | (names.lists or frozenset()) | {"draft_depth"}


def _architecture_names(
    path: DataPath, architecture: Architecture, known: frozenset[str] | None, suspected: frozenset[str]
) -> Iterator[Wording]:
    for field, text in (("wraps", architecture.wraps), ("body", architecture.body)):
        if text is not None and not _CLASS_AT_MODULE.fullmatch(text):
            yield Wording((*path, field), f'found "{text}"', "Class@module, as in LlamaForCausalLM@llama")
    for capability, entries in architecture.support.items():
        below = (*path, "support", capability)
        yield from unknown_name(below, "capability", capability, known)
        for index, entry in enumerate(entries):
            yield from _platform((*below, index), entry.platform)
    for index, accepted in enumerate(architecture.accepted):
        place = (*path, "accepted", index, "capability")
        if accepted.capability not in suspected:
            yield from unknown_name(place, "capability", accepted.capability, known)


def _platform(path: DataPath, platform: str | None) -> Iterator[Wording]:
    if platform is not None:
        yield from unknown_name((*path, "platform"), "platform", platform, frozenset(PLATFORMS))


def _step_names(engine: EngineParts, names: EngineNames) -> Iterator[Found]:
    for part in engine.rules:
        for name, step in part.record.steps.items():
            for path, statement in statements(("steps", name, "do"), step.do):
                if statement.call is not None:
                    yield from found(part.document, unknown_name((*path, "call"), "step", statement.call, names.steps))
    if engine.pipeline is not None:
        for index, entry in enumerate(engine.pipeline.record.pipeline):
            path = ("pipeline", index, "step")
            yield from found(engine.pipeline.document, unknown_name(path, "step", entry.step, names.steps))


_ENGINE_CHECKS: tuple[Callable[[RegistryParts, EngineParts, EngineNames], Iterator[Found]], ...] = (
    _no_releases, _titles, _duplicates, _references
)
