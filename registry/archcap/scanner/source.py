"""An engine's source wherever it lies: a tree, a wheel or an sdist. Names in, bytes out; nothing is interpreted."""

from __future__ import annotations

import email.parser
import os
import re
import tarfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from archcap.errors import RequestError

_VERSION = re.compile(r"""__version__\s*=\s*(?:version\s*=\s*)?['"]([^'"]+)['"]""")
_SKIPPED = frozenset({"__pycache__", "node_modules"})


@dataclass(frozen=True, slots=True)
class Metadata:
    """What the distribution says of itself; None where the source carries no metadata."""

    version: str | None = None
    python: str | None = None
    requires: tuple[str, ...] = ()
    date: str | None = None
    """Day the distribution was built (YYYY-MM-DD), from the archive's own file times."""

    def pinned(self, package: str) -> str | None:
        """Return the version of *package* the distribution pins with `==`, outside extras, else its specifier."""
        for requirement in self.requires:
            head, _, marker = requirement.partition(";")
            match = re.match(rf"^{re.escape(package)}\s*([=<>!~].*)?$", head.strip().replace("(", "").replace(")", ""))
            if match and "extra" not in marker:
                return (match.group(1) or "").strip().removeprefix("==") or None
        return None


@dataclass(frozen=True, slots=True)
class Source:
    """The Python files of one package.

    Attributes:
        package: its import name.
        where: as the user gave it.
        names: paths relative to the package's folder, sorted.
        read: path -> content.
        metadata: of the distribution.
    """

    package: str
    where: str
    names: tuple[str, ...]
    read: Callable[[str], bytes]
    metadata: Metadata = Metadata()


def from_texts(package: str, files: Mapping[str, bytes], where: str = "", metadata: Metadata | None = None) -> Source:
    """Return a source of files that are already in memory."""
    return Source(package, where, tuple(sorted(files)), files.__getitem__, metadata or Metadata())


def open_source(path: Path, package: str) -> Source:
    """Open the Python files of *package* in a tree, wheel or sdist.

    Args:
        path: a folder that holds the package (itself, its parent, or a checkout), a `.whl`, or a `.tar.gz`.
        package: the package's import name, as in `sglang`.
    Raises:
        RequestError: `scan-source`, when *path* is none of these or holds no such package.
    """
    if path.is_dir():
        return _open_tree(path, package)
    if path.is_file() and zipfile.is_zipfile(path):
        return _open_wheel(path, package)
    if path.is_file() and tarfile.is_tarfile(path):
        return _open_sdist(path, package)
    what = "is neither a folder, a wheel nor an sdist" if path.exists() else "does not exist"
    raise RequestError("scan-source", f"{path} {what}", "give an engine's source tree, wheel or sdist")


def _open_tree(path: Path, package: str) -> Source:
    root = package_folder(path, package)
    names: list[str] = []
    _python_files(str(root), "", names)
    return Source(package, str(path), tuple(sorted(names)), _reader(f"{root}/"), _tree_metadata(root, package))


def _reader(folder: str) -> Callable[[str], bytes]:
    def read(name: str) -> bytes:
        with open(folder + name, "rb", buffering=0) as file:
            return file.readall()

    return read


def package_folder(path: Path, package: str) -> Path:
    """Return the folder of *package*: *path* itself, or below it.

    Raises:
        RequestError: `scan-source`, when there is none.
    """
    for folder in (path, path / package, path / "python" / package, path / "src" / package):
        if folder.name == package and (folder / "__init__.py").exists():
            return folder
    raise RequestError("scan-source", f"{path} holds no package {package}", f"give the folder that holds {package}/")


def _python_files(folder: str, prefix: str, found: list[str]) -> None:
    """Add the paths of all Python files below *folder* to *found*."""
    with os.scandir(folder) as entries:
        for entry in entries:
            name = entry.name
            if name.endswith(".py") and not entry.is_dir():
                found.append(prefix + name)
            elif name not in _SKIPPED and not name.startswith(".") and entry.is_dir():
                _python_files(entry.path, f"{prefix}{name}/", found)


def _tree_metadata(root: Path, package: str) -> Metadata:
    for info in sorted(root.parent.glob(f"{package}-*.dist-info")):
        file = info / "METADATA"
        if file.exists():
            return _metadata(file.read_text(encoding="utf-8", errors="replace"))
    return Metadata(version=_version_file(root))


def _version_file(root: Path) -> str | None:
    for name in ("_version.py", "version.py"):
        file = root / name
        if file.exists():
            match = _VERSION.search(file.read_text(encoding="utf-8", errors="replace"))
            if match and match.group(1) != "0.0.0":
                return match.group(1)
    return None


def said_version(names: Sequence[str], read: Callable[[str], bytes]) -> Metadata:
    """Return what the files of a package say of its version."""
    for name in ("_version.py", "version.py"):
        match = _VERSION.search(read(name).decode("utf-8", "replace")) if name in names else None
        if match and match.group(1) != "0.0.0":
            return Metadata(version=match.group(1))
    return Metadata()


def _metadata(text: str, date: str | None = None) -> Metadata:
    message = email.parser.HeaderParser().parsestr(text)
    return Metadata(
        message.get("Version"), message.get("Requires-Python"), tuple(message.get_all("Requires-Dist") or ()), date
    )


def _open_wheel(path: Path, package: str) -> Source:
    archive = zipfile.ZipFile(path)
    members: dict[str, zipfile.ZipInfo] = {}
    metadata = Metadata()
    for info in archive.infolist():
        parts = PurePosixPath(info.filename).parts
        if parts[0] == package and info.filename.endswith(".py"):
            members["/".join(parts[1:])] = info
        elif len(parts) == 2 and parts[0].endswith(".dist-info") and parts[1] == "METADATA":
            year, month, day = info.date_time[:3]
            metadata = _metadata(archive.read(info).decode("utf-8", "replace"), f"{year:04}-{month:02}-{day:02}")
    _check(path, package, members)
    return Source(package, str(path), tuple(sorted(members)), lambda name: archive.read(members[name]), metadata)


def _open_sdist(path: Path, package: str) -> Source:
    files: dict[str, bytes] = {}
    metadata = Metadata()
    with tarfile.open(path) as archive:
        for member in archive:
            parts = PurePosixPath(member.name).parts
            handle = archive.extractfile(member) if member.isfile() else None
            if handle is None:
                continue
            if len(parts) == 2 and parts[1] == "PKG-INFO":
                metadata = _metadata(handle.read().decode("utf-8", "replace"))
            elif package in parts[1:-1] and member.name.endswith(".py"):
                files["/".join(parts[parts.index(package, 1) + 1 :])] = handle.read()
    _check(path, package, files)
    return from_texts(package, files, str(path), metadata)


def _check(path: Path, package: str, files: Mapping[str, object]) -> None:
    if "__init__.py" not in files:
        raise RequestError("scan-source", f"{path} holds no package {package}", f"give a distribution of {package}")
