"""What is wrong, as a page for people: the same code, words and hint as the problem that programs get."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import Request, Response

from archcap.errors import ArchcapError
from archcap_service.dashboard.render import POLICY, Frame, rendered
from archcap_service.replica import Replica

_PROGRAMS = ("/v1/", "/docs", "/healthz", "/readyz", "/metrics", "/openapi.json")


def wants_page(request: Request) -> bool:
    """Return whether a person asks: a browser, at a path that is no program's."""
    path = request.url.path
    for_people = not path.startswith(_PROGRAMS) and not path.endswith(".json")
    asks = "text/html" in request.headers.get("accept", "") or "hx-request" in request.headers
    return for_people and asks


def error_page(request: Request, error: ArchcapError, status: int, headers: dict[str, str]) -> Response:
    """Return the page that says what is wrong and what to do."""
    replica: Replica = request.app.state.context.replica
    state = replica.state
    engine = state.snapshot.engine_names[0] if state is not None else ""
    release = state.snapshot.releases(engine)[-1] if state is not None else ""
    frame = Frame(HTTPStatus(status).phrase, "", "error", engine, release)
    body = rendered(state, "error.html", frame, error)
    return Response(body, status, {**headers, "content-security-policy": POLICY}, "text/html")
