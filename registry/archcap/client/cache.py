"""The last good answer on disk: written whole or not at all, read with suspicion, fetched by one process at a time.

A file is a line that says where it comes from, then the slice byte for byte; when the service last confirmed it is the
file's time. Anything that goes wrong here costs speed and nothing else. Knows no network.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import time
from hashlib import sha256

from archcap.client.deadline import Deadline, Refused
from archcap.client.facts import Facts, read_facts

FRESH_S = 5.0
"""An answer confirmed so lately is taken without asking again: the ranks of one launch start within it."""
_FORMAT = 1
_MOST_BYTES = 32 << 20
_POLL_S, _LONGEST_POLL_S = 0.01, 0.05
_STALE_TMP_S = 3600.0


class Kept:
    """An answer from the disk.

    Attributes:
        facts: checked.
        etag: to ask whether it still holds; "" when the service gave none.
        age_s: since the service last confirmed it.
    """

    __slots__ = ("age_s", "etag", "facts")

    def __init__(self, facts: Facts, etag: str, age_s: float) -> None:
        self.facts, self.etag, self.age_s = facts, etag, age_s

    @property
    def fresh(self) -> bool:
        """Whether it need not be asked for again; a time in the future proves nothing."""
        return 0 <= self.age_s <= FRESH_S


class Cache:
    """What is kept of one release of one engine from one service.

    Attributes:
        path: of the file.

    Args:
        folder: made when missing; "" keeps nothing.
        url: of the service.
        engine: the engine.
        release: the one asked for.
    """

    def __init__(self, folder: str, url: str, engine: str, release: str) -> None:
        self._folder, self._url, self._engine, self._release = folder, url, engine, release
        spelled = "".join(one if one.isalnum() or one in ".-_" else "_" for one in f"{engine}-{release}"[:100])
        which = sha256("\n".join((url, engine, release)).encode("utf-8", "replace")).hexdigest()[:12]
        self.path = os.path.join(folder, f"{spelled}-{which}.slice")

    def read(self) -> Kept | None:
        """Return what is kept, None when there is nothing.

        Raises:
            Refused: what is there is damaged, or is no file that can be read.
        """
        if not self._folder:
            return None
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise Refused(_reason(error)) from None
        try:
            about = os.fstat(descriptor)
            if not stat.S_ISREG(about.st_mode) or about.st_size > _MOST_BYTES:
                raise Refused("it is no file that archcap wrote")
            with open(descriptor, "rb", closefd=False) as stream:
                data = stream.read(_MOST_BYTES)
        except OSError as error:
            raise Refused(_reason(error)) from None
        finally:
            os.close(descriptor)
        return self._kept(data, time.time() - about.st_mtime)

    def _kept(self, data: bytes, age_s: float) -> Kept:
        head, _, body = data.partition(b"\n")
        try:
            said = json.loads(head)
            fits = said["format"] == _FORMAT and said["url"] == self._url
            etag = str(said["etag"])
        except (ValueError, KeyError, TypeError, RecursionError):
            raise Refused("it is damaged") from None
        if not fits:
            raise Refused("it is of another service or of another archcap")
        return Kept(read_facts(body, self._engine, self._release), etag, age_s)

    def write(self, body: bytes, etag: str) -> None:
        """Keep *body*.

        Raises:
            OSError: it cannot be kept; what was there is still there, and nothing else.
        """
        head = json.dumps({"format": _FORMAT, "url": self._url, "etag": etag}).encode("ascii") + b"\n"
        path = f"{self.path}.{os.getpid()}.{time.monotonic_ns():x}.tmp"
        try:
            with open(path, "xb", opener=_private) as stream:
                stream.write(head)
                stream.write(body)
            os.replace(path, self.path)
        except BaseException:
            _remove(path)
            raise
        self._sweep()

    def confirm(self) -> None:
        """Note that what is kept still holds, as of now.

        Raises:
            OSError: it cannot be noted.
        """
        os.utime(self.path)

    def _sweep(self) -> None:
        """Remove what writers that were killed left behind."""
        limit = time.time() - _STALE_TMP_S
        for name in os.listdir(self._folder):
            path = os.path.join(self._folder, name)
            if name.endswith(".tmp") and os.stat(path).st_mtime < limit:
                _remove(path)

    def lock(self, deadline: Deadline, leave_s: float) -> Lock:
        """Return the lock under which one process fetches.

        Args:
            deadline: for everything.
            leave_s: what must be left of it; whoever waits until then asks without the lock.
        """
        return Lock(self._folder and self.path, deadline, leave_s)


class Lock:
    """A lock that the system frees when its holder ends, however it ends. Not to get it is no error.

    Nobody waits for it once there is a fresh answer: the holder has what all the others wait for.
    """

    def __init__(self, path: str, deadline: Deadline, leave_s: float) -> None:
        self._path, self._deadline, self._leave_s = path, deadline, leave_s
        self._descriptor = -1

    def __enter__(self) -> Lock:
        if self._path:
            with contextlib.suppress(OSError, ValueError, ImportError):  # without it, this process fetches for itself
                os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
                flags = os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC
                self._descriptor = os.open(self._path + ".lock", flags, 0o600)
                poll_s = _POLL_S
                while not _locked(self._descriptor):
                    if _fresh(self._path) or self._deadline.left() <= self._leave_s:
                        break
                    time.sleep(poll_s)
                    poll_s = min(poll_s * 1.5, _LONGEST_POLL_S)
        return self

    def __exit__(self, *_: object) -> None:
        """Free it in words: a process forked meanwhile holds the same descriptor."""
        if self._descriptor >= 0:
            with contextlib.suppress(OSError, ImportError):
                _unlock(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1


def _fresh(path: str) -> bool:
    try:
        return 0 <= time.time() - os.stat(path).st_mtime <= FRESH_S
    except OSError:
        return False


def _locked(descriptor: int) -> bool:
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _unlock(descriptor: int) -> None:
    import fcntl

    fcntl.flock(descriptor, fcntl.LOCK_UN)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, 0o600)


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()
