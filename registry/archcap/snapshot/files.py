"""Where built files are, writes that happen whole or not at all, a lock. Knows nothing of what is written."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

BUILT = Path(__file__).resolve().parent.parent / "_built"
"""The package `archcap._built`: what is built from a checkout, or what a wheel carries."""

_POLL_S = 0.02


def write_atomically(path: Path, data: bytes) -> None:
    """Write *data* to *path* so that any reader, and any crash, sees the old content or the new, never a part.

    What a link leads to is written, not the link, and keeps its permissions; a device or a pipe takes the data as it
    comes.

    Raises:
        OSError: nothing was changed and nothing is left behind; it names *path*, whatever step failed.
    """
    try:
        _write(path.resolve(), data)
    except OSError as error:
        if error.errno is not None:
            error.filename = str(path)  # else it may be the temporary file's
        raise


def must_be_writable(path: Path) -> None:
    """Refuse a file that its owner made read-only: a rename would replace it all the same, and root may do anything.

    Raises:
        PermissionError: *path* is there and cannot be written.
    """
    if path.exists() and not (path.stat().st_mode & 0o222 and os.access(path, os.W_OK)):
        raise PermissionError(errno.EACCES, "it is read-only and cannot be written", str(path))


def _write(path: Path, data: bytes) -> None:
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    must_be_writable(path)
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666 & ~_umask()
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, mode)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
    _sync_folder(path.parent)


def sweep(folder: Path, older_than_s: float = 3600.0) -> None:
    """Remove what writers that were killed left behind in *folder*."""
    limit = time.time() - older_than_s
    for path in folder.glob(".*.tmp"):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < limit:
                path.unlink()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _sync_folder(folder: Path) -> None:
    """Make a rename last through a power cut, where the system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextlib.contextmanager
def exclusive(path: Path, timeout_s: float) -> Iterator[bool]:
    """Hold the lock file *path*; the system frees it when the process ends, however it ends.

    Args:
        path: created when missing.
        timeout_s: how long to wait for another holder.
    Yields:
        Whether the lock is held; False after the timeout.
    Raises:
        OSError: the file cannot be created.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        yield _wait(descriptor, timeout_s)
    finally:
        os.close(descriptor)


def _wait(descriptor: int, timeout_s: float) -> bool:
    deadline = time.monotonic() + timeout_s
    while not _try_lock(descriptor):
        if time.monotonic() >= deadline:
            return False
        time.sleep(_POLL_S)
    return True


if os.name == "nt":  # pragma: no cover - the other system

    def _try_lock(descriptor: int) -> bool:
        import msvcrt

        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True

else:

    def _try_lock(descriptor: int) -> bool:
        import fcntl

        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
