"""Servers that do what a service should, and servers that do what none should: raw sockets, one thread each."""

from __future__ import annotations

import contextlib
import hashlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from archcap.snapshot import release_slice
from tests.snapshot import toy

ENGINE, RELEASE = "toy", "0.11"
Talk = Callable[[socket.socket, bytes], None]


@cache
def sliced(release: str = RELEASE) -> bytes:
    return release_slice(toy.snapshot(), ENGINE, release)


def facts(release: str = RELEASE) -> Any:
    return json.loads(sliced(release))["facts"]


def signed(changed: Any) -> bytes:
    """A slice of *changed* facts whose digest fits."""
    text = json.dumps(changed, sort_keys=True, separators=(",", ":")).encode()
    return b'{"digest":"sha256:' + hashlib.sha256(text).hexdigest().encode() + b'","facts":' + text + b"}\n"


def tag(body: bytes) -> str:
    return f'"{hashlib.sha256(body).hexdigest()[:16]}"'


def response(body: bytes, status: str = "200 OK", *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


class Server:
    """A listening server; *talk* gets each connection with the head of its question, or at once."""

    def __init__(self, talk: Talk, asked: bool = True) -> None:
        self._talk, self._asked = talk, asked
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.stopped = threading.Event()
        self.questions: list[bytes] = []
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while not self.stopped.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            head = b""
            while self._asked and b"\r\n\r\n" not in head:
                part = connection.recv(65536)
                if not part:
                    return
                head += part
            self.questions.append(head)
            self._talk(connection, head)

    def close(self) -> None:
        self.stopped.set()
        self._socket.shutdown(socket.SHUT_RDWR)  # closing alone leaves a waiting accept in place
        self._socket.close()


@contextlib.contextmanager
def serving(talk: Talk, asked: bool = True) -> Iterator[Server]:
    server = Server(talk, asked)
    try:
        yield server
    finally:
        server.close()


def saying(data: bytes) -> Talk:
    return lambda connection, _: connection.sendall(data)


def good(body: bytes) -> Talk:
    """A service: the slice with its ETag, and 304 to whoever has it."""

    def talk(connection: socket.socket, head: bytes) -> None:
        if f"if-none-match: {tag(body)}".encode() in head.lower():
            connection.sendall(f"HTTP/1.1 304 Not Modified\r\nETag: {tag(body)}\r\n\r\n".encode())
        else:
            connection.sendall(response(body, "200 OK", f"ETag: {tag(body)}"))

    return talk


def dripping(data: bytes, every_s: float = 0.1) -> Talk:
    """One byte at a time, for ever too slow, never silent for long."""

    def talk(connection: socket.socket, _: bytes) -> None:
        for at in range(len(data)):
            connection.sendall(data[at : at + 1])
            time.sleep(every_s)

    return talk


def endless(connection: socket.socket, _: bytes) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + b'{"digest":"')
    while True:
        connection.sendall(b"x" * 65536)


def endless_head(connection: socket.socket, _: bytes) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while True:
        connection.sendall(b"X-More: " + b"x" * 1000 + b"\r\n")


def silent(connection: socket.socket, _: bytes) -> None:
    connection.recv(1)


def _wrong_digest() -> bytes:
    return sliced().replace(b'"digest":"sha256:', b'"digest":"sha256:0', 1)


def _empty_registry() -> bytes:
    return signed({**facts(), "architectures": {}, "lists": {}})


def _shrunk() -> bytes:
    kept = facts()
    return signed({**kept, "architectures": dict(list(kept["architectures"].items())[:1])})


def _other(**changes: object) -> Talk:
    return saying(response(signed({**facts(), **changes})))


FAULTS: dict[str, Callable[[], Talk]] = {
    "says nothing": lambda: silent,
    "closes at once": lambda: saying(b""),
    "speaks another protocol": lambda: saying(b"SSH-2.0-OpenSSH_9.7\r\n\r\n"),
    "answers 500": lambda: saying(response(b"oops", "500 Internal Server Error")),
    "answers 401 as a problem": lambda: saying(response(b'{"detail": "needs a token"}', "401 Unauthorized")),
    "sends a page": lambda: saying(response(b"<!doctype html><title>Sign in</title>")),
    "cuts the body short": lambda: saying(response(sliced())[:-100]),
    "sends half of the JSON": lambda: saying(response(sliced()[: len(sliced()) // 2])),
    "sends a wrong digest": lambda: saying(response(_wrong_digest())),
    "lost one byte on the way": lambda: saying(response(sliced().replace(b"RiverFor", b"RiverFos", 1))),
    "has an empty registry": lambda: saying(response(_empty_registry())),
    "lost most of its facts": lambda: saying(response(_shrunk())),
    "sends without end": lambda: endless,
    "sends headers without end": lambda: endless_head,
    "sends a number as the body": lambda: saying(response(b"5")),
    "sends nested lists": lambda: saying(response(b"[" * 200_000)),
    "sends another engine's facts": lambda: _other(engine="kiln"),
    "sends another release's facts": lambda: saying(response(sliced("0.9"))),
    "sends facts of a later schema": lambda: _other(schema=2),
    "sends facts in another shape": lambda: _other(architectures={"A": {"has": "everything"}}),
    "points to itself": lambda: saying(response(b"", "302 Found", "Location: /v1/engines/toy/releases/0.11/facts")),
    "drips its header": lambda: dripping(response(sliced())),
    "drips its body": lambda: lambda c, h: (c.sendall(response(sliced())[:400]), dripping(sliced())(c, h))[0],
    "says nothing has changed": lambda: saying(b"HTTP/1.1 304 Not Modified\r\n\r\n"),
    "counts chunks in words": lambda: saying(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nten\r\n"),
    "sends negative chunks": lambda: saying(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nabcde\r\n"),
    "compresses though not asked": lambda: saying(response(b"\x1f\x8b", "200 OK", "Content-Encoding: gzip")),
    "promises more than anybody takes": lambda: saying(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"),
    "gives a length that is none": lambda: saying(b"HTTP/1.1 200 OK\r\nContent-Length: some\r\n\r\n{}"),
}
