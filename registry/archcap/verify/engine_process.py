"""Runs the engine in a process of its own: one per machine and environment, asked one launch at a time.

A process that dies or hangs costs the launch it was asked and is started again. Knows no rule and no file of answers.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import IO

from archcap.errors import RequestError
from archcap.model.base import Json, JsonObject
from archcap.verify.answers import Answer
from archcap.verify.launches import Launch

WORKER = Path(__file__).resolve().parent / "archcap_worker"
WORKERS = ("sglang",)
"""Engines that the worker knows."""
_MAX_LINE = 64 * 1024 * 1024
_OTHERS = (
    "SGLANG_", "SGL_", "CUDA_", "HIP_", "ROCR_", "NVIDIA_", "ASCEND_", "NCCL_", "TORCH_", "HF_", "PYTHON", "ARCHCAP_",
)  # fmt: skip
"""Variables of the caller's that would reach into the engine."""
_RESTARTS = 3
"""How often in a row a process may end without an answer."""
_SLACK_S = 15.0


@dataclass(frozen=True, slots=True)
class Environment:
    """Where the engine is.

    Attributes:
        python: the interpreter that has what the engine needs.
        source: a folder that holds the engine's package, None when it is installed.
        paths: folders put before everything the interpreter has.
        ready_timeout_s: how long importing the engine may take.
        launch_timeout_s: how long one launch may take.
    """

    python: Path
    source: Path | None = None
    paths: tuple[Path, ...] = ()
    ready_timeout_s: float = 600.0
    launch_timeout_s: float = 120.0

    def fingerprint(self) -> str:
        """Return what changes when the answers could: interpreter, folders, and the source as it lies there."""
        places = [str(place) for place in (self.python, self.source, *self.paths)]
        held = [_signature(self.source)] if self.source is not None else []
        return sha256("\0".join([*places, *held]).encode()).hexdigest()[:16]


def _signature(source: Path) -> str:
    """Return a digest of the names, sizes and times of the source's modules."""
    found = []
    for folder, _, files in os.walk(source):
        for name in files:
            if name.endswith(".py"):
                stat = os.stat(os.path.join(folder, name))
                found.append(f"{folder}/{name} {stat.st_size} {stat.st_mtime_ns}")
    return sha256("\n".join(sorted(found)).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class NotRun:
    """A launch the engine gave no answer to, and why."""

    launch: Launch
    why: str


class _Ended(Exception):
    """The process ended, hung or wrote something else than answers; the text says which."""


class EngineProcess:
    """One running worker; a context manager, so that the process and its files always go.

    Attributes:
        version: the engine's own word for it.
    """

    def __init__(self, engine: str, environment: Environment, machine: JsonObject, env: Mapping[str, str]) -> None:
        """Start the worker and wait until the engine is imported.

        Raises:
            RequestError: `no-python`, `no-engine`, `engine-import`, or `no-worker` when something else answers.
            _Ended: it was killed.
        """
        self._environment = environment
        self._rest = b""
        self._scratch = tempfile.mkdtemp(prefix="archcap-verify-")
        self._talk: IO[bytes] = open(os.path.join(self._scratch, "stderr"), "w+b")  # noqa: SIM115 - closed by close()
        try:
            self._process = self._started(env)
        except BaseException:
            self._forget()
            raise
        try:
            self.version = self._ready(engine, machine)
        except BaseException:
            self.close()
            raise

    def _started(self, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
        python = self._environment.python
        try:
            return subprocess.Popen(
                [python, "-X", "utf8", WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._talk,
                env=_environment_of(env), start_new_session=True, cwd=self._scratch,
            )  # fmt: skip
        except OSError as error:
            said = f"{python} cannot be run: {error.strerror or error}"
            raise RequestError("no-python", said, "give --python the interpreter that has the engine") from None

    def _ready(self, engine: str, machine: JsonObject) -> str:
        setup: JsonObject = {
            "engine": engine,
            "machine": machine,
            "source": None if self._environment.source is None else str(self._environment.source),
            "paths": [str(path) for path in self._environment.paths],
            "scratch": self._scratch,
            "timeout_s": self._environment.launch_timeout_s,
        }
        try:
            reply = self._exchange(setup, self._environment.ready_timeout_s)
        except _Ended as ended:
            if (self._process.poll() or 0) < 0:
                raise  # somebody killed it: that says nothing of the interpreter
            said = f"{self._environment.python} does not run the worker: {ended}"
            raise RequestError("no-worker", said, "give --python the interpreter that has the engine") from None
        ready, unready = reply.get("ready"), reply.get("unready")
        if isinstance(ready, dict):
            return str(ready.get("version"))
        raise _unready(engine, self._environment, unready if isinstance(unready, dict) else {})

    def ask(self, launch: Launch) -> Answer | NotRun:
        """Return the engine's answer, or why it gave none.

        Raises:
            _Ended: the process is of no use any more.
        """
        draft = None if launch.draft is None else launch.draft.config
        question: JsonObject = {
            "id": launch.id, "config": launch.subject.config, "draft": draft, "settings": launch.settings,
        }  # fmt: skip
        reply = self._exchange(question, self._environment.launch_timeout_s + _SLACK_S)
        answer = reply.get("answer")
        try:
            if isinstance(answer, dict):
                return Answer.of(answer)
        except (KeyError, TypeError) as error:
            return NotRun(launch, f"its answer has no proper {error.args[0]}")
        return NotRun(launch, str(reply.get("failed", "the worker gave no answer")))

    def classes(self, asked: JsonObject) -> JsonObject:
        """Return what the engine's configuration classes say to *asked*.

        Raises:
            RequestError: `engine-breaks`.
        """
        try:
            reply = self._exchange({"id": "classes", "classes": asked}, self._environment.ready_timeout_s)
        except _Ended as ended:
            raise RequestError(
                "engine-breaks", f"the engine's process broke: {ended}", f"at {asked.get('type')}"
            ) from None
        answer = reply.get("answer")
        return answer if isinstance(answer, dict) else {}

    def _exchange(self, question: JsonObject, timeout_s: float) -> JsonObject:
        stdin = self._process.stdin
        assert stdin is not None
        with contextlib.suppress(OSError):  # it has ended: reading says how
            stdin.write(json.dumps(question).encode() + b"\n")
            stdin.flush()
        line = self._line(timeout_s)
        try:
            reply: Json = json.loads(line)
        except ValueError:
            reply = None
        if not isinstance(reply, dict):
            raise _Ended(f"it wrote {line[:80].decode(errors='replace')!r} instead of an answer")
        return reply

    def _line(self, timeout_s: float) -> bytes:
        """Return the next line it writes."""
        stdout = self._process.stdout
        assert stdout is not None
        deadline = time.monotonic() + timeout_s
        with selectors.DefaultSelector() as selector:
            selector.register(stdout, selectors.EVENT_READ)
            while b"\n" not in self._rest:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise _Ended(f"it said nothing for {timeout_s:g} s")
                part = os.read(stdout.fileno(), 1 << 16)
                if not part or len(self._rest) > _MAX_LINE:
                    raise _Ended(self._last_words())
                self._rest += part
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _last_words(self) -> str:
        """Say how the process ended, with the last line it left on standard error."""
        try:
            code = self._process.wait(_SLACK_S)
        except subprocess.TimeoutExpired:
            return "it closed its output"
        how = f"it was killed by signal {-code}" if code < 0 else f"it ended with exit code {code}"
        if self._rest.strip():
            return f"{how} after writing {self._rest[:80].decode(errors='replace')!r}"
        self._talk.seek(0)
        said = [line for line in self._talk.read()[-4000:].decode(errors="replace").splitlines() if line.strip()]
        return f"{how}: {said[-1].strip()[:300]}" if said else how

    def __enter__(self) -> EngineProcess:
        return self

    def __exit__(self, *why: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process and whatever it started, and remove its files."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):  # what was still to be written is for nobody
                    stream.close()
        with contextlib.suppress(OSError):  # it may be gone
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._forget()

    def _forget(self) -> None:
        self._talk.close()
        shutil.rmtree(self._scratch, ignore_errors=True)


def _environment_of(env: Mapping[str, str]) -> dict[str, str]:
    """Return the caller's environment without what would reach into the engine, and with the launch's own."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith(_OTHERS)}
    return {**kept, **env}


def _unready(engine: str, environment: Environment, said: JsonObject) -> RequestError:
    """Word why the engine did not import."""
    place = environment.source or environment.python
    if said.get("missing") == engine:
        hint = f"install it there, or give --engine-source the folder that holds {engine}/"
        return RequestError("no-engine", f"there is no {engine} in {place}", hint)
    what = f"{engine} of {place} does not import: {said.get('type')}: {said.get('message')}"
    return RequestError("engine-import", what, "give --python an interpreter that has what this release needs")


class Engine:
    """Answers launches with the real engine.

    Attributes:
        version: the engine's own word for it, None before the first launch.
    """

    def __init__(self, name: str, release: str, releases: Collection[str], environment: Environment) -> None:
        """Take note of where it is.

        Args:
            name: the engine.
            release: the one that is expected.
            releases: all known ones; a fork may call itself by a name that is none of them.
            environment: where it is.
        Raises:
            RequestError: `no-worker`, the worker does not know this engine.
        """
        if name not in WORKERS:
            said = f"{name} cannot be run: archcap has no worker for it"
            raise RequestError("no-worker", said, f"it has one for {', '.join(WORKERS)}")
        self._name = name
        self._release = release
        self._releases = releases
        self._environment = environment
        self.version: str | None = None

    def answers(
        self, launches: Iterable[Launch], machine: JsonObject, env: Mapping[str, str]
    ) -> Iterator[tuple[Launch, Answer | NotRun]]:
        """Yield each launch with its answer as it comes.

        Args:
            launches: of the same machine and environment.
            machine: as `devices.machine_of` describes it.
            env: environment variables of the launches.
        Raises:
            RequestError: the engine cannot be run, or ended several times in a row.
        """
        waiting = list(launches)
        ends = 0
        while waiting:
            try:
                process = EngineProcess(self._name, self._environment, machine, env)
            except _Ended as ended:
                ends = _counted(ends, ended, waiting[0])
                continue
            with process:
                self._check(process.version)
                while waiting:
                    launch = waiting.pop(0)
                    try:
                        reply = process.ask(launch)
                    except _Ended as ended:
                        yield launch, NotRun(launch, f"the engine's process broke: {ended}")
                        ends = _counted(ends, ended, launch)
                        break
                    ends = 0
                    yield launch, reply

    def _check(self, version: str) -> None:
        if version != self._release and version in self._releases:
            said = f"{self._environment.source or self._environment.python} has {self._name} {version}"
            raise RequestError("wrong-release", f"{said}, not {self._release}", f"--engine {self._name}@{version}?")
        self.version = version


def _counted(ends: int, ended: _Ended, launch: Launch) -> int:
    """Return how often in a row the process has ended by now.

    Raises:
        RequestError: `engine-breaks`, that was too often.
    """
    if ends + 1 >= _RESTARTS:
        said = f"the engine's process broke {ends + 1} times in a row: {ended}"
        raise RequestError("engine-breaks", said, f"the last launch was {launch.id}")
    return ends + 1
