"""The service's two questions that engines have: the facts of a release, and what becomes of a launch.

Knows paths and statuses; knows no cache.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from archcap.client.deadline import Deadline, Refused
from archcap.client.settings import Settings
from archcap.client.wire import Answer, Url, exchange

MOST_BYTES = 16 << 20


def get_facts(settings: Settings, engine: str, release: str, etag: str, deadline: Deadline) -> tuple[bytes, str] | None:
    """Return the slice of a release and its ETag, None when it is still the one with *etag*.

    Raises:
        Refused: the service does not give one.
    """
    headers = {"if-none-match": etag} if etag else {}
    path = f"/v1/engines/{_quoted(engine)}/releases/{_quoted(release)}/facts"
    answer = _exchanged(settings, path, headers, deadline, None)
    if answer.status == 304 and etag:
        return None
    if answer.status != 200:
        raise Refused(_said(answer))
    return answer.body, answer.headers.get("etag", "")


def post_launch(
    settings: Settings, engine: str, release: str, request: Mapping[str, object], deadline: Deadline
) -> dict[str, object]:
    """Return what becomes of a launch.

    Args:
        settings: how to ask.
        engine: of the launch.
        release: of the launch.
        request: the launch, without them.
        deadline: for all of it.
    Raises:
        Refused: the service does not answer, or does not understand the launch.
    """
    path = f"/v1/engines/{_quoted(engine)}/releases/{_quoted(release)}/resolve"
    answer = _exchanged(settings, path, {}, deadline, json.dumps(request).encode("ascii"))
    if answer.status != 200:
        raise Refused(_said(answer))
    try:
        found = json.loads(answer.body)
    except (ValueError, RecursionError):
        raise Refused("the answer is no JSON") from None
    if not isinstance(found, dict) or "verdict" not in found:
        raise Refused("the answer is no resolution")
    return found


def _exchanged(
    settings: Settings, path: str, headers: Mapping[str, str], deadline: Deadline, body: bytes | None
) -> Answer:
    given = {**headers, **({"authorization": f"Bearer {settings.token}"} if settings.token else {})}
    return exchange(Url(settings.url), path, given, deadline, MOST_BYTES, body)


def _said(answer: Answer) -> str:
    """Return what an answer says that is not the one hoped for, in one line."""
    if 300 <= answer.status < 400:
        there = answer.headers.get("location", "elsewhere")[:200]
        return f"it points to {there} (status {answer.status}), which is not followed"
    try:
        problem = json.loads(answer.body[:65_536])
        detail = str(problem["detail"])[:300]
    except (ValueError, KeyError, TypeError, RecursionError):
        detail = ""
    return f"it answers {answer.status}" + (f": {detail}" if detail else "")


def _quoted(text: str) -> str:
    """Return *text* as one segment of a path."""
    keep = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!"
    return "".join(chr(one) if one in keep else f"%{one:02X}" for one in text.encode("utf-8", "replace"))
