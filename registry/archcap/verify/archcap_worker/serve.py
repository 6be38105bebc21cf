"""The worker's conversation: one setup line, then a launch per line in and an answer per line out.

Each launch runs in a fork of its own, because resolution changes environment variables and fills caches; what it
imported on the way is imported here afterwards, so that the next one need not. Knows no engine.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import importlib
import json
import os
import select
import shutil
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from typing import Protocol, TextIO

from . import machine, sglang

Object = dict[str, object]


class Engine(Protocol):
    """What the engine's own module here gives."""

    @property
    def version(self) -> str:
        """Its own word for itself."""

    @property
    def warms(self) -> tuple[str, ...]:
        """Top modules worth importing once for all launches."""

    def resolve(self, settings: Object, folder: str, draft: str | None) -> Object:
        """Return what the engine makes of *settings*."""

    def classes(self, asked: Object) -> Object:
        """Return what the engine's configuration classes make of configurations."""


ENGINES = {"sglang": sglang.prepare}


def main() -> int:
    """Serve until standard input ends; the exit code is for nobody."""
    out = _own_stdout()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    setup = json.loads(sys.stdin.readline())
    try:
        engine = _prepared(setup)
    except BaseException as error:
        _say(out, {"unready": _unready(error)})
        return 1
    _say(out, {"ready": {"version": engine.version, "python": sys.version.split()[0]}})
    folders = Folders(setup["scratch"])
    for line in sys.stdin:
        asked = json.loads(line)
        answer = _classes if "classes" in asked else _answer
        _say(out, answer(engine, asked, folders, float(setup["timeout_s"])))
    shutil.rmtree(setup["scratch"], ignore_errors=True)  # whoever started this may have been killed
    os._exit(0)  # libraries below the engine complain of a normal exit


def _own_stdout() -> TextIO:
    """Keep standard output for answers; what anybody else prints goes to standard error."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return out


def _say(out: TextIO, value: Object) -> None:
    out.write(json.dumps(value) + "\n")
    out.flush()


def _prepared(setup: Object) -> Engine:
    warnings.simplefilter("ignore")
    described = setup["machine"]
    assert isinstance(described, dict)
    fake = machine.Machine(described)
    engine = ENGINES[str(setup["engine"])](fake, setup)
    gc.collect()
    gc.freeze()  # forks share what is not touched
    return engine


def _unready(error: BaseException) -> Object:
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    return {"type": type(error).__name__, "message": str(error)[:600], "missing": missing}


class Folders:
    """Writes configurations where an engine looks for them, each once."""

    def __init__(self, scratch: str) -> None:
        self._scratch = scratch
        self._known: dict[str, str] = {}

    def of(self, config: object) -> str | None:
        """Return the folder of a checkpoint that has *config*."""
        if config is None:
            return None
        text = json.dumps(config, sort_keys=True)
        name = hashlib.sha256(text.encode()).hexdigest()[:12]
        if name not in self._known:
            folder = os.path.join(self._scratch, name)
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
                file.write(text)
            self._known[name] = folder
        return self._known[name]


def _answer(engine: Engine, launch: Object, folders: Folders, timeout_s: float) -> Object:
    settings, folder, draft = launch["settings"], folders.of(launch["config"]), folders.of(launch.get("draft"))
    assert isinstance(settings, dict)
    assert folder is not None

    def work() -> Object:
        before = set(sys.modules)
        answer = engine.resolve(settings, folder, draft)
        return {"answer": answer, "modules": sorted(set(sys.modules) - before)}

    reply = forked(work, timeout_s)
    modules = reply.pop("modules", ())
    if isinstance(modules, list):
        _import(name for name in modules if name.startswith(engine.warms))
    return {"id": launch["id"], **reply}


def _classes(engine: Engine, asked: Object, folders: Folders, timeout_s: float) -> Object:
    """Answer in this process: a configuration changes nothing, and the classes are imported once."""
    del folders, timeout_s
    question = asked["classes"]
    assert isinstance(question, dict)
    return {"id": asked["id"], "answer": engine.classes(question)}


def _import(modules: Iterable[str]) -> None:
    for name in modules:
        with contextlib.suppress(BaseException):
            importlib.import_module(name)


def forked(work: Callable[[], Object], timeout_s: float) -> Object:
    """Return what *work* returns in a fork of this process, or {"failed": why} when it dies, hangs or raises."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _child(work, writing)
    os.close(writing)
    data = _read(reading, time.monotonic() + timeout_s)
    os.close(reading)
    if data is None:
        os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    if data is None:
        return {"failed": f"it took longer than {timeout_s:g} s"}
    if not data:
        return {"failed": f"the engine's process died ({_ending(status)})"}
    reply: Object = json.loads(data)
    return reply


def _child(work: Callable[[], Object], writing: int) -> None:
    """Do the work, write its result and leave without a trace."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    try:
        data = json.dumps(work())
    except BaseException as error:
        data = json.dumps({"failed": f"the worker does not understand this engine: {error!r}"[:600]})
    with os.fdopen(writing, "w", encoding="utf-8") as out:
        out.write(data)
    os._exit(0)


def _read(reading: int, deadline: float) -> bytes | None:
    """Return everything the pipe holds until it is closed, None when that takes too long."""
    parts: list[bytes] = []
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([reading], [], [], left)[0]:
            return None
        part = os.read(reading, 1 << 16)
        if not part:
            return b"".join(parts)
        parts.append(part)


def _ending(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return f"signal {-code}" if code < 0 else f"exit code {code}"
