"""One HTTP exchange under one deadline, over a connection of its own.

Small on purpose: no proxies, no redirects, no cookies, no compression, and a limit on everything that is read. The
standard library's client costs more to import than everything else here together, and its timeouts are per read, so
that a server that sends a byte a second would hold an engine for hours. Knows no path and no JSON.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping

from archcap.client.deadline import Deadline, Refused, TimedOut
from archcap.client.names import addresses

MOST_HEAD = 65_536
_CHUNK = 65_536
_BARE = frozenset((204, 304))


class Url:
    """The parts of a service's address.

    Args:
        text: `http://host[:port][/path]` or `https://…`.
    Raises:
        Refused: it is none.
    """

    __slots__ = ("host", "path", "port", "secure")

    def __init__(self, text: str) -> None:
        scheme, mark, rest = text.partition("://")
        authority, slash, path = rest.partition("/")
        host, port = _host_and_port(authority)
        if scheme.lower() not in ("http", "https") or not mark or not host or "@" in authority or not text.isascii():
            raise Refused(f"{text!r} is no address of a service: write http://HOST:PORT")
        if any(one <= " " or one in "?#" for one in text):
            raise Refused(f"{text!r} is no address of a service: it has a query, a fragment or a blank")
        self.secure = scheme.lower() == "https"
        self.host, self.path = host, (slash + path).rstrip("/")
        if port and not (port.isdecimal() and 0 < int(port) < 65536):
            raise Refused(f"{text!r} is no address of a service: {port!r} is no port")
        self.port = int(port) if port else 443 if self.secure else 80

    @property
    def authority(self) -> str:
        """What the `Host` header says."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.secure else 80) else f"{host}:{self.port}"


def _host_and_port(authority: str) -> tuple[str, str]:
    if authority.startswith("["):
        host, _, rest = authority[1:].partition("]")
        return host, rest.removeprefix(":")
    host, _, port = authority.partition(":")
    return host, port


class Answer:
    """What a server said.

    Attributes:
        status: of the answer.
        headers: by lower-case name.
        body: decoded from its framing.
    """

    __slots__ = ("body", "headers", "status")

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.status, self.headers, self.body = status, headers, body


def exchange(
    url: Url, path: str, headers: Mapping[str, str], deadline: Deadline, most_bytes: int, body: bytes | None = None
) -> Answer:
    """Ask and return the answer.

    Args:
        url: the service.
        path: below its address, percent-encoded.
        headers: besides those that every exchange has.
        deadline: for all of it: names, connection, encryption, question and answer.
        most_bytes: the longest body that is taken.
        body: sent by POST; None asks by GET.
    Raises:
        Refused: the server cannot be reached, does not speak HTTP, or sends too much; TimedOut when it takes too long.
    """
    try:
        connection = _connected(url, deadline)
        try:
            connection.settimeout(deadline.wait())
            connection.sendall(_question(url, path, headers, body))
            return _Reader(connection, deadline, most_bytes).answer()
        finally:
            connection.close()
    except TimeoutError:
        raise TimedOut(f"no answer within {deadline.seconds:g} s") from None
    except (OSError, ValueError) as error:  # ValueError: a name that no encoding knows
        raise Refused(str(error) or type(error).__name__) from None


def _question(url: Url, path: str, headers: Mapping[str, str], body: bytes | None) -> bytes:
    lines = {
        "host": url.authority, "connection": "close", "accept": "application/json", "accept-encoding": "identity",
        "user-agent": "archcap-client", **headers,
    }  # fmt: skip
    if body is not None:
        lines.update({"content-type": "application/json", "content-length": str(len(body))})
    if any("\r" in text or "\n" in text for text in lines.values()):
        raise Refused("a header holds a line break")
    head = f"{'GET' if body is None else 'POST'} {url.path}{path} HTTP/1.1\r\n"
    head += "".join(f"{name}: {text}\r\n" for name, text in lines.items()) + "\r\n"
    return head.encode("ascii") + (body or b"")


def _connected(url: Url, deadline: Deadline) -> socket.socket:
    """Return a connection to the first address that takes one; each gets its share of the time."""
    found = addresses(url.host, url.port, deadline)
    problem: OSError | None = None
    for number, (family, address) in enumerate(found):
        connection = socket.socket(family, socket.SOCK_STREAM)
        try:
            connection.settimeout(deadline.wait() / (len(found) - number))
            connection.connect(address)
            return _encrypted(connection, url, deadline) if url.secure else connection
        except OSError as error:
            connection.close()
            problem = error
        except BaseException:
            connection.close()
            raise
    raise problem or Refused(f"{url.host} has no address")


def _encrypted(connection: socket.socket, url: Url, deadline: Deadline) -> socket.socket:
    import ssl  # only where it is asked for

    context = ssl.create_default_context()
    connection.settimeout(deadline.wait())
    return context.wrap_socket(connection, server_hostname=url.host)


class _Reader:
    """Reads one answer; every read waits no longer than the deadline leaves."""

    def __init__(self, connection: socket.socket, deadline: Deadline, most_bytes: int) -> None:
        self._connection = connection
        self._deadline = deadline
        self._most = most_bytes
        self._held = bytearray()

    def answer(self) -> Answer:
        """Return the answer, past any that only announces one."""
        status, headers = self._head()
        while 100 <= status < 200:
            status, headers = self._head()
        return Answer(status, headers, b"" if status in _BARE else self._body(headers))

    def _more(self) -> bool:
        self._connection.settimeout(self._deadline.wait())
        part = self._connection.recv(_CHUNK)
        self._held += part
        return bool(part)

    def _take(self, size: int) -> bytes:
        if size > self._most:
            raise Refused(f"it sends more than {self._most} bytes")
        while len(self._held) < size:
            if not self._more():
                raise Refused("the answer was cut short")
        part = bytes(self._held[:size])
        del self._held[:size]
        return part

    def _until(self, mark: bytes) -> bytes:
        start = 0
        while (at := self._held.find(mark, start)) < 0:
            start = max(0, len(self._held) - len(mark))
            if len(self._held) > MOST_HEAD:
                raise Refused("it sends too long a header")
            if not self._more():
                raise Refused("the answer was cut short" if self._held else "the connection was closed")
        return self._take(at + len(mark))[: -len(mark)]

    def _head(self) -> tuple[int, Mapping[str, str]]:
        first, *lines = self._until(b"\r\n\r\n").decode("latin-1").split("\r\n")
        protocol, _, rest = first.partition(" ")
        if not protocol.startswith("HTTP/1.") or not rest[:3].isdecimal():
            raise Refused("it does not speak HTTP")
        headers: dict[str, str] = {}
        for line in lines:
            name, _, text = line.partition(":")
            headers[name.strip().lower()] = text.strip()
        return int(rest[:3]), headers

    def _body(self, headers: Mapping[str, str]) -> bytes:
        if headers.get("content-encoding", "identity").lower() not in ("", "identity"):
            raise Refused(f"it sends {headers['content-encoding']} though none was asked for")
        if headers.get("transfer-encoding", "").lower() == "chunked":
            return self._chunks()
        length = headers.get("content-length")
        if length is not None:
            if not (length.isascii() and length.isdecimal()):
                raise Refused(f"{length!r} is no length")
            return self._take(int(length))
        while self._more():
            if len(self._held) > self._most:
                raise Refused(f"it sends more than {self._most} bytes")
        return bytes(self._held)

    def _chunks(self) -> bytes:
        body = bytearray()
        while size := int(self._until(b"\r\n").partition(b";")[0], 16):
            if size < 0 or len(body) + size > self._most:
                raise Refused(f"it sends more than {self._most} bytes")
            body += self._take(size)
            self._take(2)
        return bytes(body)
