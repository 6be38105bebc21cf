"""A compiled registry, opened lazily: parts are checked and parsed when somebody asks for them.

Immutable: replacing a part makes a new snapshot that shares all others. Knows parts; knows no store.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from archcap.engines import EngineSupport, support
from archcap.errors import ArchcapError, RequestError
from archcap.model.architectures import Family, ListsFile
from archcap.model.base import JsonObject, Record
from archcap.model.checkpoints import Checkpoint, CheckpointsFile
from archcap.model.config_classes import ConfigClass, ConfigClassesFile
from archcap.model.engine import Engine, Names, SettingsFile
from archcap.model.hardware import Gpu, HardwareFile
from archcap.model.known_issues import KnownIssue, KnownIssuesFile
from archcap.model.registry import EngineRegistry, Registry
from archcap.model.rules import PipelineFile, Step
from archcap.model.siblings import SiblingGuide
from archcap.model.vocabulary import Vocabulary
from archcap.snapshot.builder import SCHEMA, assemble, read_header
from archcap.snapshot.canonical import leaf_digest, tree_digests
from archcap.snapshot.facts import EngineFacts
from archcap.snapshot.parts import DefinesPart, StepsPart, check_place, checked_part, part_bytes, record_type
from archcap.snapshot.view import CodeOf, ReleaseView
from archcap.suggest import nearest_name

if TYPE_CHECKING:
    from archcap.rules.run import Program

__all__ = ["SCHEMA", "Snapshot"]

R = TypeVar("R", bound=Record)


class Snapshot:
    """The whole registry, as one content-addressed value.

    Attributes:
        digest: `sha256:…` over all parts.
        modules: folder of the package `archcap._built` in which this snapshot's compiled rules may be kept, if any.
    """

    def __init__(
        self, parts: Mapping[str, Callable[[], bytes]], digests: Mapping[str, str], code: CodeOf, modules: Path | None
    ) -> None:
        self._parts = dict(parts)
        self._digests = digests
        self._code = code
        self._bytes: dict[str, bytes] = {}
        self._records: dict[str, Record] = {}
        self._views: dict[tuple[str, str], ReleaseView] = {}
        self._engines: dict[str, EngineRegistry] = {}
        self._facts: dict[str, EngineFacts] = {}
        self.digest: str = self._digests[""]
        self.modules = modules

    @classmethod
    def open(cls, data: bytes, code: CodeOf = support, modules: Path | None = None) -> Snapshot:
        """Open the snapshot in *data*; only its first line is read.

        Args:
            data: what `build` returned.
            code: gives an engine's code for a release; `archcap.engines.support` unless told otherwise.
            modules: folder of the package `archcap._built`, when compiled rules may be kept there.
        Raises:
            ArchcapError: `no-snapshot`, `snapshot-schema` or `bad-snapshot`.
        """
        header = read_header(data)
        view = memoryview(data)[header.end :]

        def reader(start: int, length: int) -> Callable[[], bytes]:
            return lambda: bytes(view[start : start + length])

        parts = {path: reader(entry.start, entry.length) for path, entry in header.parts.items()}
        return cls(parts, header.digests, code, modules)

    def to_bytes(self) -> bytes:
        """Return the snapshot as a file's content."""
        return assemble({path: self.part(path) for path in self._parts})

    @property
    def parts(self) -> tuple[str, ...]:
        """The paths of all parts, sorted."""
        return tuple(sorted(self._parts))

    def digest_of(self, path: str) -> str:
        """Return the digest of the part or node at *path*, as in `engines/toy`.

        Raises:
            ArchcapError: `unknown-part`.
        """
        if path not in self._digests:
            raise ArchcapError("unknown-part", f"the snapshot has no part {path!r}")
        return self._digests[path]

    def part(self, path: str) -> bytes:
        """Return the canonical JSON of one part, after checking it against its digest.

        Raises:
            ArchcapError: `unknown-part`, or `bad-snapshot` when the bytes are not what the digest promises.
        """
        if path not in self._bytes:
            if path not in self._parts:
                raise ArchcapError("unknown-part", f"the snapshot has no part {path!r}")
            data = self._parts[path]()
            if leaf_digest(data) != self._digests[path]:
                said = f"the snapshot is damaged: part {path} does not fit its digest"
                raise ArchcapError("bad-snapshot", said, "fetch or build it again")
            self._bytes[path] = data
        return self._bytes[path]

    def raw(self, path: str) -> JsonObject:
        """Return one part as plain JSON, parsed anew: a value to change and to replace the part with."""
        return cast(JsonObject, json.loads(self.part(path)))

    def verify(self) -> None:
        """Check every part against its digest and its record.

        Raises:
            ArchcapError: `bad-snapshot`.
        """
        for path in self.parts:
            self._record(path, record_type(path))

    def with_part_replaced(self, path: str, value: JsonObject | Record) -> Snapshot:
        """Return a snapshot with another value at *path*; only that leaf and the nodes above it are hashed again.

        Args:
            path: of a part that exists, or of a new family, list of checkpoints or steps file.
            value: the whole part, as JSON or as the record it holds.
        Raises:
            ArchcapError: `unknown-part`, or `wrong-part` when it names another family or engine than *path*.
            pydantic.ValidationError: *value* is not the record that belongs there.
        """
        record = value if isinstance(value, Record) else checked_part(path, value)
        check_place(path, record)
        data = part_bytes(path, record)
        parts = {**self._parts, path: lambda: data}
        leaves = {known: self._digests[known] for known in self._parts} | {path: leaf_digest(data)}
        made = Snapshot(parts, tree_digests(leaves), self._code, self.modules)
        made._bytes = {known: kept for known, kept in self._bytes.items() if known != path}
        made._records = {known: kept for known, kept in self._records.items() if known != path}
        return made

    def _record(self, path: str, kind: type[R]) -> R:
        known = self._records.get(path)
        if known is None:
            try:
                known = self._records[path] = kind.model_validate_json(self.part(path))
            except ValueError as error:
                said = f"the snapshot is damaged: part {path} is no {kind.__name__}"
                raise ArchcapError("bad-snapshot", said, "build it again with this version of archcap") from error
        return cast(R, known)

    @property
    def vocabulary(self) -> Vocabulary:
        """Every capability."""
        return self._record("vocabulary", Vocabulary)

    @property
    def hardware(self) -> Mapping[str, Gpu]:
        """The hardware catalogue."""
        return self._record("hardware", HardwareFile).hardware

    @cached_property
    def checkpoints(self) -> Mapping[str, Checkpoint]:
        """The known checkpoints."""
        return {
            name: checkpoint
            for path in self.parts
            if path.startswith("checkpoints/")
            for name, checkpoint in self._record(path, CheckpointsFile).checkpoints.items()
        }

    @cached_property
    def engine_names(self) -> tuple[str, ...]:
        """The engines the snapshot knows, sorted."""
        return tuple(sorted({path.split("/")[1] for path in self._parts if path.startswith("engines/")}))

    def engine(self, engine: str) -> Engine:
        """Return what `engine.yaml` says.

        Raises:
            RequestError: `unknown-engine`.
        """
        if engine not in self.engine_names:
            near = nearest_name(engine, self.engine_names)
            hint = f"did you mean {near}?" if near else f"known engines: {', '.join(self.engine_names)}"
            raise RequestError("unknown-engine", f"unknown engine {engine!r}", hint)
        return self._record(f"engines/{engine}/engine", Engine)

    def releases(self, engine: str) -> Sequence[str]:
        """Return the releases of *engine*, oldest first.

        Raises:
            RequestError: `unknown-engine`.
        """
        return self._facts_of(engine).timeline.names

    def release(self, engine: str, release: str) -> ReleaseView:
        """Return one release; the same view each time.

        Raises:
            RequestError: `unknown-engine` or `unknown-release`.
        """
        view = self._views.get((engine, release))
        if view is None:
            known = self.releases(engine)
            if release not in known:
                hint = f"known releases: {known[0]} to {known[-1]}"
                raise RequestError("unknown-release", f"{engine} has no release {release!r}", hint)
            made = ReleaseView(self._facts_of(engine), release, self._code, self._program_maker(engine))
            view = self._views.setdefault((engine, release), made)
        return view

    def _facts_of(self, engine: str) -> EngineFacts:
        if engine not in self._facts:
            self._facts.setdefault(engine, EngineFacts(self, engine))
        return self._facts[engine]

    def _program_maker(self, engine: str) -> Callable[[str, EngineSupport], Program]:
        def make(release: str, code: EngineSupport) -> Program:
            from archcap.snapshot.programs import program_of  # the rules are needed only here

            return program_of(self, engine, release, code.functions)

        return make

    def registry_of(self, engine: str) -> EngineRegistry:
        """Return everything known of *engine*, as records.

        Raises:
            RequestError: `unknown-engine`.
        """
        if engine not in self._engines:
            self._engines[engine] = self._engine_registry(engine)
        return self._engines[engine]

    def _engine_registry(self, engine: str) -> EngineRegistry:
        base = f"engines/{engine}/"
        known = self.engine(engine)
        steps, files = self._steps(base)
        return EngineRegistry(
            engine=known,
            settings=self._record(base + "settings", SettingsFile).settings,
            names=self._record(base + "names", Names),
            lists=self._record(base + "lists", ListsFile).lists,
            families={family.family: family for family in self._families(base)},
            defines=self._record(base + "defines", DefinesPart).defines,
            steps=steps,
            step_files=files,
            pipeline=self._record(base + "pipeline", PipelineFile).pipeline,
            siblings=self._record(base + "siblings", SiblingGuide) if base + "siblings" in self._parts else None,
            config_classes=self._config_classes(base + "config_classes"),
            known_issues=self._known_issues(base + "known_issues"),
        ).with_known_issues()

    def _known_issues(self, path: str) -> dict[str, KnownIssue]:
        return self._record(path, KnownIssuesFile).known_issues if path in self._parts else {}

    def _config_classes(self, path: str) -> dict[str, tuple[ConfigClass, ...]]:
        return self._record(path, ConfigClassesFile).config_classes if path in self._parts else {}

    def _below(self, prefix: str) -> list[str]:
        return [path for path in self.parts if path.startswith(prefix)]

    def _families(self, base: str) -> list[Family]:
        return [self._record(path, Family) for path in self._below(base + "families/")]

    def _steps(self, base: str) -> tuple[dict[str, Step], dict[str, str]]:
        steps: dict[str, Step] = {}
        files: dict[str, str] = {}
        for path in self._below(base + "steps/"):
            below = self._record(path, StepsPart).steps
            steps.update(below)
            files.update(dict.fromkeys(below, path.rpartition("/")[2]))
        return steps, files

    @property
    def registry(self) -> Registry:
        """The whole registry, as records."""
        return Registry(
            vocabulary=self.vocabulary,
            hardware=dict(self.hardware),
            checkpoints=dict(self.checkpoints),
            engines={engine: self.registry_of(engine) for engine in self.engine_names},
        )
