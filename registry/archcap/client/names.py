"""The addresses of a host, in bounded time.

The system's resolver cannot be interrupted, and a thread that waits in it would stay behind. So it runs in a small
process that is ended at the deadline. Addresses and `localhost` need none of that. Knows no HTTP.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys

from archcap.client.deadline import Deadline, Refused

Address = tuple[int, tuple[str, int]]
_ASK = (
    "import socket,sys\n"
    "try: found = socket.getaddrinfo(sys.argv[1], None, type=socket.SOCK_STREAM)\n"
    "except OSError as error: print('!', error)\n"
    "else: [print(int(one[0]), one[4][0]) for one in found]"
)
_LOCAL = ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"))


def addresses(host: str, port: int, deadline: Deadline) -> list[Address]:
    """Return where *host* is, in the order to try.

    Raises:
        Refused: nowhere that is known; TimedOut when the resolver takes too long.
    """
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, host)
        except (OSError, ValueError):
            continue
        return [(family, (host, port))]
    if host.lower() == "localhost":
        return [(family, (text, port)) for family, text in _LOCAL]
    lines = [line.split(" ", 1) for line in _asked(host, deadline).splitlines()]
    said = next((rest for mark, rest in lines if mark == "!"), None)
    if said is not None or not lines:
        raise Refused(f"{host} cannot be found" + (f": {said}" if said else ""))
    return [(int(family), (text, port)) for family, text in lines]


def _asked(host: str, deadline: Deadline) -> str:
    """Return what the helper process writes."""
    if not sys.executable or not hasattr(os, "posix_spawn"):
        raise Refused(f"{host} cannot be looked up in bounded time here: give its address instead of its name")
    reading, writing = os.pipe()
    try:
        process = _started(host, writing)
    except BaseException:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    try:
        return _all(reading, deadline).decode("utf-8", "replace")
    finally:
        os.close(reading)
        _ended(process)


def _started(host: str, writing: int) -> int:
    words = [sys.executable, "-I", "-S", "-c", _ASK, host]
    null = os.devnull
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, null, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, writing, 1),
        (os.POSIX_SPAWN_OPEN, 2, null, os.O_WRONLY, 0),
    ]
    return os.posix_spawn(sys.executable, words, os.environ, file_actions=actions)


def _all(reading: int, deadline: Deadline) -> bytes:
    ready = select.poll()  # takes any descriptor; an engine has many
    ready.register(reading, select.POLLIN | select.POLLHUP)
    held = b""
    while True:
        if not ready.poll(deadline.wait() * 1000):
            continue
        part = os.read(reading, 65_536)
        if not part:
            return held
        held += part


def _ended(process: int) -> None:
    """End the helper and take its exit code, unless the engine has taken it already."""
    try:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    except (ProcessLookupError, ChildProcessError):
        pass
