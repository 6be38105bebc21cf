"""The parts of a snapshot: which there are, which record each one holds, and how records become parts.

One part is one leaf of the digest tree. Knows records; knows no file layout.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from archcap.errors import ArchcapError
from archcap.model.architectures import Family, ListsFile
from archcap.model.base import Json, JsonObject, Name, Record
from archcap.model.checkpoints import CheckpointsFile
from archcap.model.config_classes import ConfigClassesFile
from archcap.model.engine import Engine, Names, SettingsFile
from archcap.model.hardware import HardwareFile
from archcap.model.known_issues import KnownIssuesFile
from archcap.model.registry import EngineRegistry, Registry
from archcap.model.rules import Define, PipelineFile, Step
from archcap.model.siblings import SiblingGuide
from archcap.model.vocabulary import Vocabulary
from archcap.snapshot.canonical import ORDERED_IN_STATEMENTS, canonical


class StepsPart(Record):
    """The steps of one rules file."""

    steps: dict[Name, Step]


class DefinesPart(Record):
    """The definitions of one engine."""

    defines: dict[Name, tuple[Define, ...]]


_TOP: Mapping[str, type[Record]] = {"vocabulary": Vocabulary, "hardware": HardwareFile}
_ENGINE: Mapping[str, type[Record]] = {
    "engine": Engine,
    "settings": SettingsFile,
    "names": Names,
    "lists": ListsFile,
    "defines": DefinesPart,
    "pipeline": PipelineFile,
    "siblings": SiblingGuide,
    "config_classes": ConfigClassesFile,
    "known_issues": KnownIssuesFile,
}
_ENGINE_GROUPS: Mapping[str, type[Record]] = {"families": Family, "steps": StepsPart}


def record_type(path: str) -> type[Record]:
    """Return the record that the part at *path* holds.

    Raises:
        ArchcapError: `unknown-part`.
    """
    match path.split("/"):
        case [top] if top in _TOP:
            return _TOP[top]
        case ["checkpoints", _]:
            return CheckpointsFile
        case ["engines", _, part] if part in _ENGINE:
            return _ENGINE[part]
        case ["engines", _, group, _] if group in _ENGINE_GROUPS:
            return _ENGINE_GROUPS[group]
    raise ArchcapError("unknown-part", f"a snapshot has no part {path!r}", "see archcap.snapshot.parts")


def part_bytes(path: str, record: Record) -> bytes:
    """Return *record* as the bytes of the part at *path*: values that are the record's defaults are left out."""
    value: Json = record.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return canonical(value, ORDERED_IN_STATEMENTS if "/steps/" in path else frozenset())


def checked_part(path: str, value: JsonObject) -> Record:
    """Return *value* as the record the part at *path* holds; strict, as loading is.

    Raises:
        pydantic.ValidationError: it is none.
    """
    return record_type(path).model_validate_json(canonical(value, ORDERED_IN_STATEMENTS))


def check_place(path: str, record: Record) -> None:
    """Check that *record* says of itself what its *path* says.

    Raises:
        ArchcapError: `wrong-part`.
    """
    names = _own_names(record)
    wanted = path.split("/")[1 if isinstance(record, Engine | CheckpointsFile) else -1]
    for name in names:
        if name != wanted:
            raise ArchcapError("wrong-part", f"part {path} is about {wanted!r}, not about {name!r}")


def _own_names(record: Record) -> set[str]:
    match record:
        case Family():
            return {record.family}
        case Engine():
            return {record.engine}
        case CheckpointsFile():
            return {organisation(name) for name in record.checkpoints}
    return set()


def organisation(checkpoint: str) -> str:
    """Return whose checkpoint it is: what stands before the slash of its id."""
    return checkpoint.partition("/")[0].lower()


def registry_parts(registry: Registry) -> Iterator[tuple[str, bytes]]:
    """Yield path and bytes of every part of *registry*."""
    yield "vocabulary", part_bytes("vocabulary", registry.vocabulary)
    yield "hardware", part_bytes("hardware", HardwareFile(hardware=registry.hardware))
    for path, checkpoints in _checkpoints(registry):
        yield path, part_bytes(path, checkpoints)
    for name, engine in registry.engines.items():
        for part, record in _engine(engine.without_known_issues()):
            path = f"engines/{name}/{part}"
            yield path, part_bytes(path, record)


def _checkpoints(registry: Registry) -> Iterator[tuple[str, CheckpointsFile]]:
    """Yield the checkpoints by the organisation that publishes them."""
    by_org: dict[str, CheckpointsFile] = {}
    for name, checkpoint in registry.checkpoints.items():
        by_org.setdefault(organisation(name), CheckpointsFile(checkpoints={})).checkpoints[name] = checkpoint
    for org, record in by_org.items():
        yield f"checkpoints/{org}", record


def _engine(engine: EngineRegistry) -> Iterator[tuple[str, Record]]:
    yield "engine", engine.engine
    yield "settings", SettingsFile(settings=engine.settings)
    yield "names", engine.names
    yield "lists", ListsFile(lists=engine.lists)
    yield "defines", DefinesPart(defines=engine.defines)
    yield "pipeline", PipelineFile(pipeline=engine.pipeline)
    if engine.siblings is not None:
        yield "siblings", engine.siblings
    if engine.config_classes:
        yield "config_classes", ConfigClassesFile(config_classes=engine.config_classes)
    if engine.known_issues:
        yield "known_issues", KnownIssuesFile(known_issues=engine.known_issues)
    for name, family in engine.families.items():
        yield f"families/{name}", family
    files: dict[str, dict[str, Step]] = {}
    for name, step in engine.steps.items():
        files.setdefault(engine.step_files[name], {})[name] = step
    for file, steps in files.items():
        yield f"steps/{file}", StepsPart(steps=steps)
