"""Finds the snapshot at hand: the one in the package, or one built from YAML and kept until that changes.

A checkout's is kept in `archcap/_built`, another folder's in the user's cache; whole or not at all, built by one
process at a time, in memory where nothing may be written. Knows files and folders; knows no rule and no request.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from archcap.engines import support
from archcap.errors import ArchcapError, RequestError
from archcap.snapshot.builder import build
from archcap.snapshot.files import BUILT, exclusive, sweep, write_atomically
from archcap.snapshot.signature import Note, Signature, content_of, source_files, take
from archcap.snapshot.slices import release_slice
from archcap.snapshot.snapshot import Snapshot
from archcap.snapshot.view import CodeOf

ENVIRONMENT = "ARCHCAP_REGISTRY"
"""Names another registry: the folder that holds capabilities.yaml and registry/, or a snapshot file."""
SNAPSHOT = "snapshot.json"
NOTE = "built-from.json"
SLICES_OF = "of-snapshot"
SCAN_SETTINGS = "scan"
"""Folder beside the snapshot that a wheel carries: how each engine's source is laid out."""
LOCK = ".lock"
LOCK_TIMEOUT_S = 120.0

_PACKAGE = Path(__file__).resolve().parent.parent
_HINT = "name a snapshot file or the folder that holds capabilities.yaml and registry/"
_log = logging.getLogger(__name__)


def default() -> Snapshot:
    """Return the snapshot that answers when none is named; the same object as long as nothing changed.

    `ARCHCAP_REGISTRY` names another one; in a checkout it is built from the YAML beside the package; else it is the one
    the package carries.

    Raises:
        DataError: the YAML is broken.
        ArchcapError: `no-registry`, `no-snapshot`, `snapshot-schema` or `bad-snapshot`.
    """
    named = os.environ.get(ENVIRONMENT)
    if named:
        return open_registry(named)
    root = checkout_root()
    if root is not None:
        return _folder(root)
    if not (BUILT / SNAPSHOT).is_file():
        said = "this installation of archcap carries no registry"
        raise ArchcapError("no-registry", said, f"install it again, or set {ENVIRONMENT}: {_HINT}")
    return _file(BUILT / SNAPSHOT)


def open_registry(path: Path | str) -> Snapshot:
    """Return the snapshot at *path*; the same object as long as nothing changed.

    Args:
        path: a snapshot file, or the folder that holds capabilities.yaml and registry/.
    Raises:
        RequestError: `no-registry`, there is nothing that could be opened.
        DataError: the YAML is broken.
        ArchcapError: `no-snapshot`, `snapshot-schema` or `bad-snapshot`.
    """
    place = Path(path)
    try:
        return _folder(place.resolve()) if place.is_dir() else _file(place)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise RequestError("no-registry", f"{place} cannot be opened: {reason}", _HINT) from error


def checkout_root() -> Path | None:
    """Return the root of the checkout this package runs from, None when it is installed."""
    root = _PACKAGE.parent.parent
    return root if _PACKAGE.parent.name == "registry" and (root / "capabilities.yaml").is_file() else None


def build_all(root: Path, folder: Path, code: CodeOf = support) -> Snapshot:
    """Build everything a wheel carries into *folder*: the snapshot, compiled rules and slices of every release.

    Args:
        root: the folder that holds capabilities.yaml and registry/.
        folder: created when missing; becomes the package `archcap._built`.
        code: gives an engine's code for a release.
    Returns:
        The snapshot that was written.
    Raises:
        DataError: the YAML is broken.
    """
    from archcap.snapshot.programs import module_name, source_of  # the rules are needed only here

    data = _compile(root)
    snapshot = Snapshot.open(data, code)
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / "__init__.py", b'"""Built from the registry\'s YAML; do not edit."""\n')
    write_atomically(folder / SNAPSHOT, data)
    for engine in snapshot.engine_names:
        for release in snapshot.releases(engine):
            text = source_of(snapshot, engine, release, snapshot.release(engine, release).code.functions)
            write_atomically(folder / f"{module_name(engine, release)}.py", text.encode())
        _keep_scan_settings(root / "registry" / "engines" / engine / "scan.yaml", folder / SCAN_SETTINGS, engine)
    write_slices(snapshot, folder)
    return snapshot


def _keep_scan_settings(path: Path, folder: Path, engine: str) -> None:
    if path.is_file():
        folder.mkdir(exist_ok=True)
        write_atomically(folder / f"{engine}.yaml", path.read_bytes())


def write_slices(snapshot: Snapshot, folder: Path) -> None:
    """Write the slice of every release below *folder*, where the client looks for them, unless they are there.

    Args:
        snapshot: what they are cut from.
        folder: the package `archcap._built`, or what becomes it.
    """
    mark = folder / "slices" / SLICES_OF
    if _slices_of(folder) == snapshot.digest:
        return
    mark.unlink(missing_ok=True)
    for engine in snapshot.engine_names:
        slices = folder / "slices" / engine
        slices.mkdir(parents=True, exist_ok=True)
        for release in snapshot.releases(engine):
            write_atomically(slices / f"{release}.json", release_slice(snapshot, engine, release))
        for path in slices.glob("*.json"):
            if path.stem not in snapshot.releases(engine):
                path.unlink()
    write_atomically(mark, snapshot.digest.encode("ascii"))


def carried_slice(snapshot: Snapshot, engine: str, release: str) -> bytes | None:
    """Return the slice that was cut when the package was built, None when it was not cut from this very snapshot."""
    if _slices_of(BUILT) != snapshot.digest:
        return None
    try:
        found = (BUILT / "slices" / engine / f"{release}.json").read_bytes()
    except OSError:
        return None
    return found if _slices_of(BUILT) == snapshot.digest else None  # somebody may have begun to cut others


def _slices_of(folder: Path) -> str | None:
    try:
        return (folder / "slices" / SLICES_OF).read_text(encoding="ascii")
    except (OSError, ValueError):
        return None


def _compile(root: Path) -> bytes:
    from archcap.load import load_registry  # YAML is needed only here

    return build(load_registry(root))


_files: dict[tuple[str, int, int, int], Snapshot] = {}


def _file(path: Path) -> Snapshot:
    found = path.stat()
    key = (str(path), found.st_size, found.st_mtime_ns, found.st_ino)
    if key not in _files:
        _files[key] = Snapshot.open(path.read_bytes())
    return _files[key]


_folders: dict[Path, _Folder] = {}


def _folder(root: Path) -> Snapshot:
    own = root == checkout_root()
    return _folders.setdefault(root, _Folder(root, BUILT if own else _cache_folder(root), own)).snapshot()


def _cache_folder(root: Path) -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "archcap" / sha256(str(root).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class _Seen:
    """A registry's files as they were a moment ago."""

    files: list[Path]
    signature: Signature
    at_ns: int


class _Folder:
    """A registry's folder, with the snapshot last built from it in memory and on disk."""

    def __init__(self, root: Path, cache: Path, keep_programs: bool) -> None:
        self._root = root
        self._cache = cache
        self._modules = cache if keep_programs else None
        self._lock = threading.Lock()
        self._held: tuple[Note, Snapshot] | None = None

    def snapshot(self) -> Snapshot:
        """Return the snapshot of the folder as it is now."""
        with self._lock:
            seen = self._look()
            if self._held is not None and self._current(self._held[0], seen) is not None:
                return self._held[1]
            return self._from_disk(seen) or self._locked_build()

    def _look(self) -> _Seen:
        at_ns = time.time_ns()
        files = source_files(self._root)
        return _Seen(files, take(files, self._root), at_ns)

    def _current(self, note: Note, seen: _Seen) -> Note | None:
        """Return a note that vouches for what was *seen*, None when the content is another."""
        if note.sure and note.stats == seen.signature.stats:
            return note
        try:
            content = content_of(seen.files, self._root)
        except OSError:
            return None  # loading says what cannot be read
        return Note.of(seen.signature, content, seen.at_ns, note.snapshot) if content == note.content else None

    def _from_disk(self, seen: _Seen) -> Snapshot | None:
        kept = Note.read(self._cache / NOTE)
        note = self._current(kept, seen) if kept is not None else None
        if note is None:
            return None
        try:
            snapshot = self._open((self._cache / SNAPSHOT).read_bytes())
        except (OSError, ArchcapError):
            return None
        if snapshot.digest != note.snapshot:
            return None
        if note != kept:
            self._try_to_write(NOTE, note.to_bytes())
        self._held = (note, snapshot)
        return snapshot

    def _locked_build(self) -> Snapshot:
        try:
            self._cache.mkdir(parents=True, exist_ok=True)
            with exclusive(self._cache / LOCK, LOCK_TIMEOUT_S) as held:
                found = self._from_disk(self._look())  # another process may have built it meanwhile
                sweep(self._cache)
                return found or self._build(keep=held)
        except OSError as error:
            _log.info("nothing can be kept in %s: %s", self._cache, error)
        return self._build(keep=False)

    def _build(self, keep: bool) -> Snapshot:
        seen = self._look()
        content = self._content(seen)
        data = _compile(self._root)
        snapshot = self._open(data)
        if content is not None and content == self._content(seen):  # else a file changed while it was read
            note = Note.of(seen.signature, content, seen.at_ns, snapshot.digest)
            self._held = (note, snapshot)
            if keep and self._try_to_write(SNAPSHOT, data):
                self._try_to_write(NOTE, note.to_bytes())
        return snapshot

    def _content(self, seen: _Seen) -> str | None:
        try:
            return content_of(seen.files, self._root)
        except OSError:
            return None

    def _open(self, data: bytes) -> Snapshot:
        return Snapshot.open(data, modules=self._modules)

    def _try_to_write(self, name: str, data: bytes) -> bool:
        try:
            write_atomically(self._cache / name, data)
        except OSError as error:
            _log.info("%s cannot be written: %s", self._cache / name, error)
            return False
        return True
