"""An HTTP client that only counts: prepared requests over kept-alive connections, on a core of its own.

Knows sockets and byte counts; knows no service.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from dataclasses import dataclass, field


@dataclass
class Load:
    """What a run of requests came to.

    Attributes:
        requests: answered.
        seconds: how long it took.
        cpu_s: CPU time of the server meanwhile.
        wrong: answers of another status or length than the first.
        worst_ms: the slowest answer.
    """

    requests: int
    seconds: float
    cpu_s: float
    wrong: int
    taken_ms: list[float] = field(default_factory=list)

    @property
    def per_second(self) -> float:
        return self.requests / self.seconds

    @property
    def cpu_us(self) -> float:
        return self.cpu_s / max(1, self.requests) * 1e6

    def percentile(self, part: float) -> float:
        ordered = sorted(self.taken_ms)
        return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def request(method: str, path: str, headers: dict[str, str] | None = None, body: bytes = b"") -> bytes:
    """Return a request as bytes."""
    lines = [f"{method} {path} HTTP/1.1", "host: bench", *(f"{k}: {v}" for k, v in (headers or {}).items())]
    if body:
        lines += ["content-type: application/json", f"content-length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode() + body


def once(port: int, data: bytes) -> bytes:
    """Send one request on a connection of its own and return the whole answer."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(data)
        got = b""
        while not complete(got):
            part = connection.recv(1 << 20)
            if not part:
                break
            got += part
    return got


def complete(answer: bytes) -> bool:
    head, gap, body = answer.partition(b"\r\n\r\n")
    if not gap:
        return False
    lower = head.lower()
    if b" 304 " in lower.split(b"\r\n")[0] or b" 204 " in lower.split(b"\r\n")[0]:
        return True
    at = lower.find(b"content-length: ")
    return at >= 0 and len(body) >= int(lower[at + 16 :].split(b"\r\n")[0])


class _Connection(asyncio.Protocol):
    def __init__(self, data: bytes, length: int, status: bytes, until: float, load: Load) -> None:
        self._data, self._length, self._status, self._until, self._load = data, length, status, until, load
        self._got = 0
        self._start = 0.0
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._send()

    def _send(self) -> None:
        self._start = time.perf_counter()
        self._transport.write(self._data)  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        if self._got == 0 and data[9:12] != self._status:
            self._load.wrong += 1
        self._got += len(data)
        if self._got < self._length:
            return
        now = time.perf_counter()
        if self._got > self._length:
            self._load.wrong += 1
        self._got = 0
        self._load.requests += 1
        self._load.taken_ms.append((now - self._start) * 1000)
        if now < self._until:
            self._send()
        else:
            self._transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        if time.perf_counter() < self._until:
            self._load.wrong += 1
        if not self.done.done():
            self.done.set_result(None)


def cpu_seconds(pid: int) -> float:
    """Return the CPU time a process has used."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as stream:
        fields = stream.read().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run(port: int, pid: int, data: bytes, seconds: float, connections: int = 16) -> Load:
    """Send the same request again and again.

    Args:
        port: of the server on this machine.
        pid: of the server, whose CPU time is taken.
        data: the request.
        seconds: how long.
        connections: how many at once, one request each.
    """
    first = once(port, data)
    time.sleep(0.05)
    again = once(port, data)
    assert len(first) == len(again), (first[:300], again[:300])
    load = Load(0, 0.0, 0.0, 0)

    async def all_connections() -> None:
        until = time.perf_counter() + seconds
        loop = asyncio.get_running_loop()
        made = [
            await loop.create_connection(
                lambda: _Connection(data, len(again), again[9:12], until, load), "127.0.0.1", port
            )
            for _ in range(connections)
        ]
        await asyncio.wait([protocol.done for _, protocol in made], timeout=seconds + 30)

    before, start = cpu_seconds(pid), time.perf_counter()
    try:
        import uvloop

        uvloop.run(all_connections())
    except ImportError:
        asyncio.run(all_connections())
    load.seconds = time.perf_counter() - start
    load.cpu_s = cpu_seconds(pid) - before
    return load
