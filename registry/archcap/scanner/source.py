"""An engine's source wherever it lies: a tree, a wheel or an sdist. Files in, bytes out; nothing is interpreted."""

from __future__ import annotations

import email.parser
import re
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from archcap.errors import RequestError

_VERSION = re.compile(r"""__version__\s*=\s*(?:version\s*=\s*)?['"]([^'"]+)['"]""")
_SKIPPED = frozenset({"__pycache__", ".git", "node_modules"})


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
    """The Python files of one package, by path relative to the package's folder."""

    package: str
    where: str
    files: dict[str, bytes] = field(repr=False)
    metadata: Metadata = Metadata()
    unreadable: dict[str, str] = field(default_factory=dict)
    """Files that could not be read at all, with the reason."""


def open_source(path: Path, package: str) -> Source:
    """Read the Python files of *package* from a tree, wheel or sdist.

    Args:
        path: a folder that holds the package (itself, its parent, or a checkout), a `.whl`, or a `.tar.gz`.
        package: the package's import name, as in `sglang`.
    Raises:
        RequestError: `scan-source`, when *path* is none of these or holds no such package.
    """
    if path.is_dir():
        return _open_tree(path, package)
    if zipfile.is_zipfile(path):
        return _open_wheel(path, package)
    if path.is_file() and tarfile.is_tarfile(path):
        return _open_sdist(path, package)
    what = "is neither a folder, a wheel nor an sdist" if path.exists() else "does not exist"
    raise RequestError("scan-source", f"{path} {what}", "give an engine's source tree, wheel or sdist")


def _open_tree(path: Path, package: str) -> Source:
    root = _package_folder(path, package)
    files: dict[str, bytes] = {}
    unreadable: dict[str, str] = {}
    for file in _python_files(root):
        name = file.relative_to(root).as_posix()
        try:
            files[name] = file.read_bytes()
        except OSError as error:
            unreadable[name] = error.strerror or str(error)
    return Source(package, str(path), files, _tree_metadata(root, package), unreadable)


def _package_folder(path: Path, package: str) -> Path:
    for folder in (path, path / package, path / "python" / package, path / "src" / package):
        if folder.name == package and (folder / "__init__.py").exists():
            return folder
    raise RequestError("scan-source", f"{path} holds no package {package}", f"give the folder that holds {package}/")


def _python_files(folder: Path) -> Iterator[Path]:
    for entry in sorted(folder.iterdir()):
        if entry.is_dir():
            if entry.name not in _SKIPPED:
                yield from _python_files(entry)
        elif entry.suffix == ".py":
            yield entry


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


def _metadata(text: str, date: str | None = None) -> Metadata:
    message = email.parser.HeaderParser().parsestr(text)
    return Metadata(
        message.get("Version"), message.get("Requires-Python"), tuple(message.get_all("Requires-Dist") or ()), date
    )


def _open_wheel(path: Path, package: str) -> Source:
    files: dict[str, bytes] = {}
    metadata = Metadata()
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            parts = PurePosixPath(info.filename).parts
            if parts[0] == package and info.filename.endswith(".py"):
                files["/".join(parts[1:])] = archive.read(info)
            elif len(parts) == 2 and parts[0].endswith(".dist-info") and parts[1] == "METADATA":
                year, month, day = info.date_time[:3]
                metadata = _metadata(archive.read(info).decode("utf-8", "replace"), f"{year:04}-{month:02}-{day:02}")
    return _archive(path, package, files, metadata)


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
    return _archive(path, package, files, metadata)


def _archive(path: Path, package: str, files: dict[str, bytes], metadata: Metadata) -> Source:
    if "__init__.py" not in files:
        raise RequestError("scan-source", f"{path} holds no package {package}", f"give a distribution of {package}")
    return Source(package, str(path), files, metadata)
