"""Request bodies, bounded before anything parses them: so many bytes, so many levels. Knows ASGI; knows no question."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

from archcap.errors import RequestError
from archcap.model.reading import brackets
from archcap_service.problems import ServiceError

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Headers: TypeAlias = list[tuple[bytes, bytes]]

_STRUCTURE = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', re.DOTALL)


class Disconnected(Exception):
    """The client has gone away."""


def header(headers: Headers, name: bytes) -> bytes | None:
    """Return the first header called *name* (lower case)."""
    return next((value for key, value in headers if key == name), None)


async def read_body(receive: Receive, headers: Headers, limit: int) -> bytes:
    """Return the body of a request.

    Args:
        receive: the request's ASGI channel.
        headers: its headers; an honest `Content-Length` is refused before a byte is read.
        limit: in bytes.
    Raises:
        ServiceError: `body-too-large`.
        Disconnected: nobody waits for an answer any more.
    """
    said = header(headers, b"content-length")
    if said is not None and said.isdigit() and int(said) > limit:
        raise _too_large(limit)
    message = await receive()
    body = _part(message)
    while message.get("more_body"):
        message = await receive()
        body += _part(message)
        if len(body) > limit:
            raise _too_large(limit)
    if len(body) > limit:
        raise _too_large(limit)
    return body


def _part(message: Message) -> bytes:
    if message["type"] == "http.disconnect":
        raise Disconnected
    part: bytes = message.get("body", b"")
    return part


def _too_large(limit: int) -> ServiceError:
    size = f"{limit // 1024} KiB" if limit < 1024 * 1024 else f"{limit / 1024 / 1024:g} MiB"
    hint = "of a checkpoint send its config.json, of a log the part around the failure"
    return ServiceError(413, "body-too-large", f"the body is larger than {size}", hint)


def check_depth(body: bytes, limit: int) -> None:
    """Refuse what nests deeper than *limit* levels, without parsing it.

    Raises:
        RequestError: `bad-json`.
    """
    if brackets(body) <= limit:
        return
    depth = 0
    for match in _STRUCTURE.finditer(body):
        mark = body[match.start()]
        if mark in b"[{":
            depth += 1
            if depth > limit:
                raise RequestError("bad-json", f"the body is nested deeper than {limit} levels", "no launch is")
        elif mark in b"]}":
            depth -= 1
