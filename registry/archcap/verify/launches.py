"""A launch to hold the rules to, and where its configuration comes from. Knows no engine and no answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from archcap.errors import RequestError
from archcap.model.base import Json, JsonObject
from archcap.model.reading import read_object, request_of
from archcap.model.request import Request

COUNT = 8
"""Devices per node where a launch does not say."""

LABELS = {
    "cuda-sm80": "a100-80gb", "cuda-sm89": "l40s", "cuda-sm90": "h100", "cuda-sm90-h200": "h200",
    "cuda-sm100": "b200", "cuda-sm103": "b300", "cuda-sm120": "rtx-pro-6000", "hip-gfx942": "mi300x",
    "hip-gfx950": "mi355x", "cpu": "xeon-amx", "npu": "ascend-910c", "xpu": "gpu-max-1550",
}  # fmt: skip
"""Hardware by the names that recorded answers give platforms."""
_HINT = "give the folder that holds the configurations"
_LABEL_OF = {gpu: label for label, gpu in LABELS.items()}


@dataclass(frozen=True, slots=True)
class Subject:
    """A configuration and where it comes from.

    Attributes:
        name: the name it was found under, None when it was given itself.
        path: the file.
        checkpoint: the id of a checkpoint that the registry knows.
    """

    config: JsonObject
    name: str | None = None
    path: Path | None = None
    checkpoint: str | None = None

    @property
    def architecture(self) -> str:
        """The class it names, as far as it names one."""
        named = self.config.get("architectures")
        return str(named[0]) if isinstance(named, list) and named else "?"


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch of one release.

    Attributes:
        gpu: an id of hardware.yaml.
        nodes: as the launch's own settings say it.
    """

    id: str
    engine: str
    release: str
    gpu: str
    subject: Subject
    settings: JsonObject
    draft: Subject | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    count: int = COUNT
    nodes: int = 1

    def request(self) -> Request:
        """Return the question to the resolver."""
        return request_of(self.question())

    def question(self) -> JsonObject:
        """Return the question as JSON."""
        asked: JsonObject = {
            "engine": self.engine,
            "release": self.release,
            "config": self.subject.config,
            "hardware": {"gpu": self.gpu, "count": self.count, "nodes": self.nodes},
            "settings": self.settings,
            "env": dict(self.env),
        }
        if self.draft is not None:
            asked["draft_config"] = self.draft.config
        return asked

    def line(self) -> JsonObject:
        """Return the keys by which a line of recorded answers says what was launched."""
        said: JsonObject = {
            "id": self.id,
            "release": self.release,
            "platform": _LABEL_OF.get(self.gpu, self.gpu),
            "config": self.subject.name or self.subject.config,
            "draft_config": None if self.draft is None else self.draft.name or self.draft.config,
            "flags": self.settings,
        }
        if self.env:
            said["env"] = dict(self.env)
        if self.count != COUNT:
            said["gpu_count"] = self.count
        return said

    def key(self, environment: Json) -> str:
        """Return what tells this launch from every other, answered by *environment*."""
        draft = self.draft.config if self.draft else None
        where: list[Json] = [self.engine, self.release, environment]
        parts = [*where, self.subject.config, draft, self.settings, dict(self.env)]
        return sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:20]


class Configs:
    """Finds configurations by name below the folder given for them; each is read once."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._read: dict[Path, Subject] = {}

    def subject(self, config: Json, line: str) -> Subject:
        """Return what a line's `config` means: a configuration itself, or the name of a file.

        Raises:
            RequestError: `no-config`, `no-file` or `bad-json`.
        """
        if isinstance(config, dict):
            return Subject(config)
        if not isinstance(config, str):
            raise RequestError("no-config", f"{line} names no configuration", "give `config`: an object or a file")
        if self._folder is None:
            raise RequestError("no-config", f"{line} names {config}", "say with --configs where configurations are")
        return self.file(config, line)

    def file(self, name: str, line: str = "") -> Subject:
        """Return the configuration in the file *name*, looked for in the folder and beside it."""
        assert self._folder is not None
        for place in (self._folder.parent / name, self._folder / name):
            if place.is_file():
                return self.read(place, name)
        said = f"{line} names {name}, which is not below {self._folder}" if line else f"there is no {name}"
        raise RequestError("no-file", said, "say with --configs where configurations are")

    def read(self, path: Path, name: str) -> Subject:
        """Return the configuration at *path*."""
        if path not in self._read:
            self._read[path] = Subject(read_object(path.read_bytes(), str(path)), name, path)
        return self._read[path]

    def all(self) -> tuple[tuple[Subject, ...], tuple[Subject, ...]]:
        """Return the targets in the folder and the drafts in its folder `draft`, by name.

        Raises:
            RequestError: `no-file`, there is no such folder or nothing in it; `bad-json`.
        """
        assert self._folder is not None
        folder = self._folder
        if not folder.is_dir():
            raise RequestError("no-file", f"there is no folder {folder}", _HINT)
        targets = tuple(self.read(path, f"{folder.name}/{path.name}") for path in sorted(folder.glob("*.json")))
        drafts = tuple(
            self.read(path, f"{folder.name}/draft/{path.name}") for path in sorted((folder / "draft").glob("*.json"))
        )
        if not targets:
            raise RequestError("no-file", f"{folder} holds no *.json", _HINT)
        return targets, drafts
