"""What the engine said to a launch, and the lines it is kept in: written by `capctl verify`, read by whoever compares.

A file of answers is only ever appended to, a whole line at a time, so that a run which was killed goes on where it was.
Knows no rule and no process.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Literal, cast

from archcap.errors import RequestError
from archcap.model.base import Json, JsonObject
from archcap.model.reading import read_object
from archcap.snapshot.files import exclusive
from archcap.verify.compare import compact
from archcap.verify.launches import COUNT, LABELS, Configs, Launch

_FORMAT = "a line of answers has id, release, platform, config, flags and outcome; see docs/verify.md"


@dataclass(frozen=True, slots=True)
class Raised:
    """The exception with which an engine refused.

    Attributes:
        where: `file:function` below the folder that holds the package; None when no function of it raised.
    """

    type: str
    where: str | None
    line: int | None = None
    stage: str | None = None
    message: str | None = None

    @property
    def function(self) -> str:
        """The bare name of the function, "" when unknown."""
        return (self.where or ":").rpartition(":")[2]


@dataclass(frozen=True, slots=True)
class Answer:
    """What the engine did with a launch.

    Attributes:
        changed: every setting that ended with another value than it began with.
        writer: the engine's function that wrote it last, as far as known.
        env_set: environment variables it set for itself.
    """

    outcome: Literal["ok", "error"]
    changed: JsonObject = field(default_factory=dict)
    writer: Mapping[str, str] = field(default_factory=dict)
    env_set: Mapping[str, str] = field(default_factory=dict)
    error: Raised | None = None
    ms: float = 0.0

    @classmethod
    def of(cls, value: JsonObject) -> Answer:
        """Return the answer in a worker's or a recorded line.

        Raises:
            KeyError, TypeError: it is none.
        """
        outcome = value["outcome"]
        if outcome not in ("ok", "error"):
            raise KeyError("outcome")
        raised = value.get("error")
        if outcome == "error" and not isinstance(raised, dict):
            raise KeyError("error")
        error = _raised(raised) if isinstance(raised, dict) else None
        took = value.get("ms")
        return cls(
            cast(Literal["ok", "error"], outcome),
            _object(value, "changed", needed=outcome == "ok"),
            cast(Mapping[str, str], _object(value, "writer")),
            cast(Mapping[str, str], _object(value, "env_set")),
            error,
            float(took) if isinstance(took, int | float) else 0.0,
        )

    def line(self) -> JsonObject:
        """Return the keys by which a line says what was answered; long lists of numbers are shortened."""
        if self.error is not None:
            kept = {name: getattr(self.error, name) for name in ("type", "where", "line", "stage", "message")}
            return {"outcome": "error", "ms": self.ms, "error": kept}
        changed = compact(self.changed)
        said: JsonObject = {"outcome": "ok", "ms": self.ms, "changed": changed, "writer": dict(self.writer)}
        return {**said, "env_set": dict(self.env_set)}


def _object(value: JsonObject, key: str, needed: bool = False) -> JsonObject:
    held = value[key] if needed else value.get(key) or {}
    if not isinstance(held, dict):
        raise TypeError(key)
    return held


def _raised(value: JsonObject) -> Raised:
    where, line = value.get("where"), value.get("line")
    texts = [value.get(name) for name in ("type", "stage", "message")]
    kind, stage, message = (text if isinstance(text, str) else None for text in texts)
    return Raised(
        kind or "Exception",
        where if isinstance(where, str) else None,
        line if isinstance(line, int) else None,
        stage,
        message,
    )


class AnswersFile:
    """The answers of earlier runs by key, and the place for this run's.

    A last line that was cut off by a killed run is dropped.
    """

    def __init__(self, path: Path) -> None:
        """Read *path*, which need not exist yet.

        Raises:
            RequestError: `bad-answers`, a line is none of ours.
        """
        self._path = path
        self._known: dict[str, Answer] = {}
        self._length = 0
        for number, line in enumerate(self._whole_lines(), 1):
            value = _line_object(line, f"{path} line {number}")
            key = value.get("key")
            if isinstance(key, str):
                self._known[key] = answer_of(value, f"{path} line {number}")

    def _whole_lines(self) -> list[bytes]:
        data = self._path.read_bytes() if self._path.exists() else b""
        self._length = data.rfind(b"\n") + 1
        return [line for line in data[: self._length].split(b"\n") if line.strip()]

    def get(self, key: str) -> Answer | None:
        """Return the answer kept under *key*."""
        return self._known.get(key)

    def __len__(self) -> int:
        return len(self._known)

    def add(self, key: str, launch: Launch, answer: Answer) -> None:
        """Append one answer, whole."""
        line = json.dumps({"key": key, **launch.line(), **answer.line()}).encode() + b"\n"
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            os.ftruncate(descriptor, self._length)  # half a line of a run that was killed
            os.lseek(descriptor, 0, os.SEEK_END)
            written = os.write(descriptor, line)
            if written < len(line):
                os.ftruncate(descriptor, self._length)
                raise OSError(28, "no space for an answer", str(self._path))
            self._length += written
        finally:
            os.close(descriptor)
        self._known[key] = answer


@contextmanager
def kept_in(path: Path) -> Iterator[AnswersFile]:
    """Hold the file of answers at *path*, made when missing; one run at a time.

    Raises:
        RequestError: `in-use`, another run writes to it; `bad-answers`.
        OSError: it cannot be written.
    """
    with exclusive(path, 0.0) as held:
        if not held:
            raise RequestError("in-use", f"another run writes to {path}", "wait for it, or name another file")
        yield AnswersFile(path)


def recorded(path: Path, engine: str, configs: Configs, nodes_setting: str | None) -> Iterator[tuple[Launch, Answer]]:
    """Yield the launches and answers of a file, `.jsonl` or `.jsonl.gz`.

    Raises:
        RequestError: `no-file`, `bad-answers`, or a configuration is missing.
    """
    with _opened(path) as lines:
        try:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    place = f"{path} line {number}"
                    value = _line_object(line, place)
                    if value.get("outcome") != "failed":
                        yield launch_of(value, place, engine, configs, nodes_setting), answer_of(value, place)
        except (EOFError, gzip.BadGzipFile) as error:
            raise RequestError("bad-answers", f"{path} cannot be unpacked: {error}", "copy it again") from None


def _opened(path: Path) -> IO[bytes]:
    if not path.is_file():
        raise RequestError("no-file", f"there is no file {path}", "check the path")
    return cast(IO[bytes], gzip.open(path)) if path.suffix == ".gz" else path.open("rb")


def _line_object(line: bytes, place: str) -> JsonObject:
    try:
        return read_object(line, place)
    except RequestError as error:
        raise RequestError("bad-answers", error.message, _FORMAT) from None


def answer_of(value: JsonObject, place: str) -> Answer:
    """Return the answer in a line.

    Raises:
        RequestError: `bad-answers`.
    """
    try:
        return Answer.of(value)
    except (KeyError, TypeError) as error:
        raise RequestError("bad-answers", f"{place} has no proper {error.args[0]}", _FORMAT) from None


def launch_of(value: JsonObject, place: str, engine: str, configs: Configs, nodes_setting: str | None) -> Launch:
    """Return the launch that a line describes: one of recorded answers, or a request as everywhere else.

    Raises:
        RequestError: `bad-answers`, or a configuration is missing.
    """
    settings = value.get("flags", value.get("settings", {}))
    hardware = value.get("hardware") or {}
    platform = value.get("platform", hardware.get("gpu") if isinstance(hardware, dict) else None)
    count = value.get("gpu_count", hardware.get("count", COUNT) if isinstance(hardware, dict) else COUNT)
    release, env = value.get("release"), value.get("env") or {}
    if not (isinstance(settings, dict) and isinstance(platform, str) and isinstance(release, str)):
        raise RequestError("bad-answers", f"{place} describes no launch", _FORMAT)
    if not (isinstance(env, dict) and isinstance(count, int)):
        raise RequestError("bad-answers", f"{place} describes no launch", _FORMAT)
    draft = value.get("draft_config", value.get("draft_config_file"))
    nodes = settings.get(nodes_setting or "", 1)
    return Launch(
        str(value.get("id", place)),
        engine,
        release,
        LABELS.get(platform, platform),
        configs.subject(_config(value), place),
        settings,
        None if draft is None else configs.subject(draft, place),
        {name: str(text) for name, text in env.items()},
        count,
        nodes if isinstance(nodes, int) else 1,
    )


def _config(value: JsonObject) -> Json:
    return value.get("config", value.get("config_file"))
