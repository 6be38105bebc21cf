"""Whether the files a snapshot was built from have changed: first by their sizes and times, then by their content.

Knows which files count; knows nothing of what is in them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

_CODE = ("model", "load", "snapshot")
_RECENT_NS = 2_000_000_000
"""A file written this shortly before its times were noted may change again without its times telling."""


@dataclass(frozen=True, slots=True)
class Signature:
    """What a set of files looked like.

    Attributes:
        stats: digest over names, sizes and times.
        newest_ns: the latest change among them.
        content: digest over names and bytes; "" when it was not taken.
    """

    stats: str
    newest_ns: int
    content: str = ""


def source_files(root: Path) -> list[Path]:
    """Return every file that decides what the snapshot of *root* is: its data, and the code that reads it."""
    package = Path(__file__).resolve().parent.parent
    files = [root / "capabilities.yaml", *_yaml_below(root / "registry")]
    for folder in _CODE:
        files += (package / folder).glob("*.py")
    return sorted(path for path in files if path.is_file())


def _yaml_below(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "archcap" and not name.startswith((".", "__"))]
        yield from (Path(place) / name for name in names if name.endswith((".yaml", ".yml")))


def take(files: list[Path], root: Path) -> Signature:
    """Return the signature of *files* without their content."""
    hashed = sha256()
    newest = 0
    for path in files:
        found = path.stat()
        newest = max(newest, found.st_mtime_ns, found.st_ctime_ns)
        row = (_name(path, root), found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
        hashed.update(json.dumps(row).encode())
    return Signature(hashed.hexdigest(), newest)


def content_of(files: list[Path], root: Path) -> str:
    """Return the digest over names and bytes of *files*."""
    hashed = sha256()
    for path in files:
        data = path.read_bytes()
        hashed.update(f"{_name(path, root)}\n{len(data)}\n".encode())
        hashed.update(data)
    return hashed.hexdigest()


def _name(path: Path, root: Path) -> str:
    inside = path.is_relative_to(root)
    return path.relative_to(root).as_posix() if inside else f"archcap/{path.parent.name}/{path.name}"


@dataclass(frozen=True, slots=True)
class Note:
    """What is kept beside a built snapshot.

    Attributes:
        stats: of the files when they were read.
        sure: False when a file was so fresh that equal stats prove nothing.
        content: of the files when they were read.
        snapshot: digest of the snapshot built from them.
    """

    stats: str
    sure: bool
    content: str
    snapshot: str

    @classmethod
    def of(cls, signature: Signature, content: str, now_ns: int, snapshot: str) -> Note:
        """Return the note for files as *signature* saw them at *now_ns*."""
        return cls(signature.stats, signature.newest_ns < now_ns - _RECENT_NS, content, snapshot)

    def to_bytes(self) -> bytes:
        """Return the note as a file's content."""
        row = {"stats": self.stats, "sure": self.sure, "content": self.content, "snapshot": self.snapshot}
        return json.dumps(row).encode()

    @classmethod
    def read(cls, path: Path) -> Note | None:
        """Return the note at *path*, None when there is none that can be read."""
        try:
            row = json.loads(path.read_bytes())
            return cls(str(row["stats"]), bool(row["sure"]), str(row["content"]), str(row["snapshot"]))
        except (OSError, ValueError, TypeError, KeyError):
            return None
