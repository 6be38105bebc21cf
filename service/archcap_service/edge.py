"""The outermost layer of the service: answers what is hot from ready-made messages, and wraps everything else.

Plain ASGI, because that is where the time goes: a look-up costs one dict access and two messages. Everything that is
not hot gets a request id, security headers, a duration and, where wanted, a line in the log, and goes on to FastAPI.
"""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import unquote_to_bytes

from archcap.errors import ArchcapError
from archcap_service.bodies import Disconnected, Headers, Message, Receive, header
from archcap_service.effective import Document, State
from archcap_service.logs import LOGGER, REQUEST_ID, request_id
from archcap_service.metrics import Histogram, Metrics
from archcap_service.problems import MEDIA_TYPE, ServiceError, problem_bytes, status_of
from archcap_service.replica import Replica
from archcap_service.resolving import Resolving

Scope: TypeAlias = MutableMapping[str, Any]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

_RESOLVE = re.compile(rb"/v1/engines/([^/]{1,100})/releases/([^/]{1,100})/resolve")
_JSON, _NO_STORE = (b"content-type", b"application/json"), (b"cache-control", b"no-store")
_HIT, _MISS = ("hit",), ("miss",)
_LIGHT_BYTES = 65_536
_EMPTY: Message = {"type": "http.response.body", "body": b""}
SECURITY: Headers = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
POLICY = b"default-src 'none'; frame-ancestors 'none'"


@dataclass(slots=True)
class Hot:
    """An answer as the messages that send it.

    Attributes:
        etag: what `If-None-Match` is compared with.
        start, body: the messages of the whole answer.
        unchanged: the message of a 304.
        full_time, unchanged_time: where durations are counted.
        labels: engine and release it counts for.
        architecture: engine and architecture it counts for.
    """

    etag: bytes
    start: Message
    body: Message
    unchanged: Message
    full_time: Histogram
    unchanged_time: Histogram
    labels: tuple[str, str] | None
    architecture: tuple[str, str] | None


def etag_matches(given: bytes, etag: bytes) -> bool:
    """Return whether an `If-None-Match` header names *etag*; weak comparison, as RFC 9110 wants it."""
    if given == etag or given.strip() == b"*":
        return True
    return any(part.strip().removeprefix(b"W/") == etag for part in given.split(b","))


class Edge:
    """The service as an ASGI application.

    Args:
        inner: the FastAPI application.
        replica: whose state answers.
        resolving: answers resolutions.
        metrics: where everything is counted.
    """

    def __init__(self, inner: App, replica: Replica, resolving: Resolving, metrics: Metrics) -> None:
        self._inner = inner
        self._replica = replica
        self._resolving = resolving
        self._metrics = metrics
        settings = replica.settings
        self._direct = not settings.protect_reads and not settings.cors_origins and settings.access_log != "all"
        self._log_all = settings.access_log == "all"
        self._log_changes = settings.access_log != "off"
        self._table: tuple[State | None, dict[bytes, Hot]] = (None, {})  # one value, so that both change at once
        self._resolve_time = metrics.request("resolve", "POST", 200)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        if self._direct and self._replica.lost is None:
            method = scope["method"]
            if method == "GET":
                state, table = self._table
                hot = table.get(scope["raw_path"]) if state is self._replica.state else None
                if hot is not None and not scope["query_string"]:
                    await self._send_hot(hot, scope["headers"], send)
                    return
            elif method == "POST" and scope["raw_path"].endswith(b"/resolve") and not scope["query_string"]:
                await self._resolve(scope, receive, send)
                return
        await self._outer(scope, receive, send)

    async def _send_hot(self, hot: Hot, headers: Headers, send: Send) -> None:
        start = time.perf_counter()
        given = None
        for key, value in headers:
            if key == b"if-none-match":
                given = value
                break
        if given is not None and (given == hot.etag or etag_matches(given, hot.etag)):
            await send(hot.unchanged)
            await send(_EMPTY)
            hot.unchanged_time.observe(time.perf_counter() - start)
        else:
            await send(hot.start)
            await send(hot.body)
            hot.full_time.observe(time.perf_counter() - start)
        if hot.labels is not None:
            self._metrics.lookups[hot.labels] += 1
        if hot.architecture is not None:
            self._metrics.architectures[hot.architecture] += 1

    def heat(self, state: State, path: str, route: str, found: Document, headers: Headers) -> None:
        """Have *found* answered without FastAPI from now on.

        Args:
            state: the state it was made from; one that no longer answers is ignored.
            path: its canonical path.
            route: the name it is counted under.
            found: the answer.
            headers: of the whole answer.
        """
        if state is not self._replica.state:
            return
        held, table = self._table
        if held is not state:
            table = {}
            self._table = (state, table)
        length = (b"content-length", str(len(found.body)).encode())
        kept = [one for one in headers if one[0] not in (b"content-type", b"content-length")]
        exact = found.engine is not None and found.release is not None
        table[path.encode()] = Hot(
            etag=found.etag,
            start={"type": "http.response.start", "status": 200, "headers": [*headers, length]},
            body={"type": "http.response.body", "body": found.body},
            unchanged={"type": "http.response.start", "status": 304, "headers": kept},
            full_time=self._metrics.request(route, "GET", 200),
            unchanged_time=self._metrics.request(route, "GET", 304),
            labels=(str(found.engine), str(found.release)) if exact else None,
            architecture=(str(found.engine), found.architecture) if found.architecture and exact else None,
        )

    async def _resolve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a resolution; errors and what takes long go the long way, with what was read in hand."""
        start = time.perf_counter()
        state = self._replica.state
        message = await receive()
        whole = message["type"] == "http.request" and not message.get("more_body", False)
        answer = None
        if whole and state is not None:
            body = message.get("body", b"")
            answer = state.answers.get((scope["raw_path"], body))
            if answer is not None:
                self._metrics.answers[_HIT] += 1
            elif len(body) <= _LIGHT_BYTES:
                answer = self._quick(state, scope["raw_path"], body)
        if answer is None:
            await self._outer(scope, _again(message, receive), send)
            return
        head: Headers = [_JSON, _NO_STORE, SECURITY[0], (b"content-length", b"%d" % len(answer))]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        await send({"type": "http.response.body", "body": answer})
        self._resolve_time.observe(time.perf_counter() - start)

    def _quick(self, state: State, path: bytes, body: bytes) -> bytes | None:
        """Return an answer that takes no time; None for anything else."""
        match = _RESOLVE.fullmatch(path)
        if match is None:
            return None
        try:
            engine, release = (unquote_to_bytes(part).decode() for part in match.groups())
            if not self._resolving.is_light(state, engine, release, body):
                return None
            found = self._resolving.answer(state, engine, release, body)
        except Exception:
            return None  # the long way words it
        self._resolving.remember(state, (path, body), found)
        self._metrics.answers[_MISS] += 1
        return found

    async def _outer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer through FastAPI."""
        headers: Headers = scope["headers"]
        identity = request_id(header(headers, b"x-request-id"))
        token = REQUEST_ID.set(identity)
        scope.setdefault("state", {})
        start = time.perf_counter()
        outgoing = _Outgoing(send, identity, self._replica, scope["method"] == "HEAD")
        inner_scope = {**scope, "method": "GET"} if outgoing.bare else scope
        try:
            await self._inner(inner_scope, receive, outgoing)
        except Disconnected:
            outgoing.status = 499
        except ArchcapError as error:
            await outgoing.problem(error)
        except Exception:
            LOGGER.exception("a request failed")
            hint = f"please report it with the request id {identity}"
            await outgoing.problem(ServiceError(500, "internal", "something went wrong in the service", hint))
        finally:
            self._note(inner_scope, scope["method"], outgoing.status, time.perf_counter() - start)
            REQUEST_ID.reset(token)

    def _note(self, scope: Scope, method: str, status: int, seconds: float) -> None:
        route = scope.get("route")
        name = getattr(route, "name", None) or "(none)"
        known = method if method in ("GET", "HEAD", "POST", "DELETE", "OPTIONS") else "(other)"
        self._metrics.request(name, known, status).observe(seconds)
        changes = method not in ("GET", "HEAD") and not name.startswith("resolve")
        if self._log_all or (self._log_changes and (changes or status >= 500 or status in (401, 403, 429))):
            LOGGER.info(
                "request",
                extra={
                    "method": known, "path": scope["path"][:200], "status": status, "route": name,
                    "took_ms": round(seconds * 1000, 2), "client": client_of(scope),
                },
            )  # fmt: skip


def client_of(scope: Scope) -> str:
    """Return the address a request came from."""
    client = scope.get("client")
    return str(client[0]) if client else "-"


class _Outgoing:
    """Adds the headers every answer has, and turns an error into a problem where nothing has been sent yet."""

    def __init__(self, send: Send, identity: str, replica: Replica, bare: bool) -> None:
        self._send = send
        self._replica = replica
        self._identity = identity
        self._started = False
        self.bare = bare
        self.status = 500

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._started = True
            self.status = message["status"]
            message = {**message, "headers": [*message["headers"], *self._common(message["headers"])]}
        elif self.bare and message["type"] == "http.response.body":
            message = {**message, "body": b""}
        await self._send(message)

    def _common(self, headers: Headers) -> Headers:
        have = {key for key, _ in headers}
        added = [(b"x-request-id", self._identity.encode()), *SECURITY, (b"content-security-policy", POLICY)]
        warning = self._replica.warning
        if warning is not None:
            added.append((b"warning", warning.encode()))
        return [one for one in added if one[0] not in have]

    async def problem(self, error: ArchcapError) -> None:
        if self._started:
            return
        body = problem_bytes(error)
        head: Headers = [(b"content-type", MEDIA_TYPE.encode()), (b"content-length", str(len(body)).encode())]
        await self({"type": "http.response.start", "status": status_of(error), "headers": head})
        await self({"type": "http.response.body", "body": body})


def _again(message: Message, receive: Receive) -> Receive:
    """Return a channel that gives a message that has been read once more."""
    given = False

    async def channel() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return message

    return channel
