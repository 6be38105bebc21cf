"""Which files make up a registry, and their bytes. Knows names and folders; knows nothing of what is in a file."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from archcap.errors import Problem
from archcap.load.strict_yaml import MAX_BYTES
from archcap.suggest import nearest_name, one_of

Kind = Literal[
    "vocabulary", "hardware", "checkpoints",
    "engine", "settings", "lists", "names", "architectures", "rules", "pipeline", "siblings", "config_classes",
    "known_issues",
]

SUFFIX = ".yaml"
_ENGINE_FILES: dict[str, Kind] = {
    "engine": "engine", "settings": "settings", "lists": "lists", "names": "names", "siblings": "siblings",
    "config_classes": "config_classes", "known_issues": "known_issues",
}  # fmt: skip
_ENGINE_FOLDERS: dict[str, Kind] = {
    "architectures": "architectures", "rules": "rules", "names": "names", "lists": "lists", "settings": "settings"
}
_CODE_FOLDERS = frozenset({"archcap"})
_OTHERS_FILES = frozenset({"scan.yaml"})
"""Files of an engine's folder that others read: how its source is laid out is the scanner's matter."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that belongs to the registry.

    Attributes:
        kind: what it holds.
        path: where it is.
        name: relative to the registry's root, with slashes.
        engine: the engine whose folder it is in; "" outside.
    """

    kind: Kind
    path: Path
    name: str
    engine: str = ""

    @property
    def stem(self) -> str:
        """The file's name without folder and suffix."""
        return self.path.name.removesuffix(SUFFIX)


class Finder:
    """Walks a registry's folders; collects its files and whatever should not be there.

    Attributes:
        files: in the order problems are reported in.
        problems: folders that cannot be read, files nobody reads.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files: list[SourceFile] = []
        self.problems: list[Problem] = []

    def find(self) -> Finder:
        """Look for every file; return self."""
        if not self._is_folder(self.root, str(self.root)):
            return self
        self._take_required(self.root / f"capabilities{SUFFIX}", "vocabulary", "")
        registry = self.root / "registry"
        if self._is_folder(registry, "registry"):
            self._take_required(registry / f"hardware{SUFFIX}", "hardware", "")
            self._walk_registry(registry)
        return self

    def _walk_registry(self, registry: Path) -> None:
        for entry in self._entries(registry):
            if entry.is_dir():
                if entry.name == "checkpoints":
                    self._take_folder(entry, "checkpoints", "")
                elif entry.name not in ("engines", *_CODE_FOLDERS):
                    self._stray(entry, ["checkpoints", "engines"])
            elif entry.name != f"hardware{SUFFIX}":
                self._stray(entry, [f"hardware{SUFFIX}"])
        engines = registry / "engines"
        if self._is_folder(engines, "registry/engines"):
            self._walk_engines(engines)

    def _walk_engines(self, engines: Path) -> None:
        found = False
        for entry in self._entries(engines):
            if entry.is_dir():
                found = True
                self._walk_engine(entry)
            else:
                self._stray(entry, [])
        if not found:
            self._problem("registry/engines", "holds no engine", "add a folder with an engine.yaml")

    def _walk_engine(self, folder: Path) -> None:
        for name in ("engine", "settings"):
            if name == "engine" or not (folder / name).is_dir():
                self._take_required(folder / f"{name}{SUFFIX}", _ENGINE_FILES[name], folder.name)
        for entry in self._entries(folder):
            if entry.is_dir() and entry.name in _ENGINE_FOLDERS:
                self._take_folder(entry, _ENGINE_FOLDERS[entry.name], folder.name)
            elif entry.is_dir():
                self._stray(entry, sorted(_ENGINE_FOLDERS))
            else:
                self._take_engine_file(entry, folder.name)

    def _take_engine_file(self, entry: Path, engine: str) -> None:
        stem = entry.name.removesuffix(SUFFIX)
        kind = _ENGINE_FILES.get(stem) if entry.name.endswith(SUFFIX) else None
        if entry.name in _OTHERS_FILES:
            return
        if kind is None:
            self._stray(entry, [f"{name}{SUFFIX}" for name in _ENGINE_FILES])
        elif kind not in ("engine", "settings") or (entry.parent / stem).is_dir():
            self._take(entry, kind, engine)

    def _take_folder(self, folder: Path, kind: Kind, engine: str) -> None:
        for entry in self._entries(folder):
            if entry.is_dir() or not entry.name.endswith(SUFFIX):
                self._stray(entry, [])
            else:
                self._take(entry, "pipeline" if kind == "rules" and entry.name == f"pipeline{SUFFIX}" else kind, engine)

    def _take_required(self, path: Path, kind: Kind, engine: str) -> None:
        if path.exists() or path.is_symlink():
            self._take(path, kind, engine)
        else:
            hint = "the root of a registry is the folder that holds capabilities.yaml and registry/"
            self._problem(self._name(path), "the file is missing", hint if kind == "vocabulary" else "add it")

    def _take(self, path: Path, kind: Kind, engine: str) -> None:
        self.files.append(SourceFile(kind, path, self._name(path), engine))

    def _entries(self, folder: Path) -> Iterator[Path]:
        """Yield what *folder* holds, in name order, without hidden files and editors' copies."""
        try:
            names = sorted(os.listdir(folder))
        except OSError as error:
            self._problem(self._name(folder), f"the folder cannot be read: {_reason(error)}", "check its permissions")
            return
        for name in names:
            if not name.startswith((".", "#", "__")) and not name.endswith(("~", ".md", ".orig", ".rej")):
                yield folder / name

    def _is_folder(self, path: Path, name: str) -> bool:
        try:
            mode = path.stat().st_mode
        except OSError as error:
            missing = isinstance(error, FileNotFoundError)
            said = "there is no such folder" if missing else f"the folder cannot be read: {_reason(error)}"
            self._problem(name, said, "name the folder that holds capabilities.yaml and registry/")
            return False
        if not stat.S_ISDIR(mode):
            self._problem(name, "is no folder", "name the folder that holds capabilities.yaml and registry/")
        return stat.S_ISDIR(mode)

    def _stray(self, path: Path, known: list[str]) -> None:
        name = path.name
        if name.endswith((".yml", ".json")):
            hint = f"rename it to {Path(name).stem}{SUFFIX} or remove it"
            self._problem(self._name(path), "is read by nothing", hint)
        elif name.endswith(SUFFIX) or path.is_dir():
            near = nearest_name(name, known)
            expected = one_of(known) if known else None
            message = f'found "{name}", which is read by nothing' if known else "is read by nothing"
            self.problems.append(Problem(self._name(path), None, "", message, expected, near, "rename or remove it"))

    def _problem(self, name: str, message: str, hint: str) -> None:
        self.problems.append(Problem(name, None, "", message, hint=hint))

    def _name(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix() or str(self.root)


def _reason(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()


def read_bytes(file: SourceFile) -> bytes | Problem:
    """Return the file's bytes, or the problem that stands in the way; never reads more than the size bound."""
    try:
        with open(file.path, "rb", opener=_open_regular) as stream:
            return stream.read(MAX_BYTES + 1)
    except OSError as error:
        said = f"cannot be read: {_reason(error)}"
        return Problem(file.name, None, "", said, hint="check the file and its permissions")


def _open_regular(path: str, flags: int) -> int:
    """Open *path* without waiting on a pipe, and refuse what is no regular file."""
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(22, "not a regular file")
