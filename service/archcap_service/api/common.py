"""What every endpoint uses: the replica at hand, who is asking, conditional answers, documented errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias, cast
from urllib.parse import quote

from fastapi import Depends, Path, Request, Response
from fastapi.security import HTTPBearer

from archcap_service.bodies import Headers
from archcap_service.documents import kept
from archcap_service.edge import POLICY, SECURITY, Edge, client_of, etag_matches
from archcap_service.effective import Document, State
from archcap_service.logs import REQUEST_ID
from archcap_service.metrics import Metrics
from archcap_service.problems import MEDIA_TYPE
from archcap_service.replica import Replica
from archcap_service.resolving import Resolving
from archcap_service.security import Gate
from archcap_service.store.audit import Actor
from archcap_service.store.tokens import Scope, Token

Responses: TypeAlias = dict[int | str, dict[str, Any]]


@dataclass
class Context:
    """What the endpoints work with."""

    replica: Replica
    resolving: Resolving
    metrics: Metrics
    gate: Gate
    edge: Edge


def context_of(request: Request) -> Context:
    """Return the application's context."""
    return cast(Context, request.app.state.context)


Here = Annotated[Context, Depends(context_of)]
EngineName = Annotated[str, Path(max_length=200, examples=["sglang"], description="An engine.")]
ReleaseName = Annotated[
    str, Path(max_length=200, examples=["0.5.18"], description="A release; the nearest known one answers for others.")
]
ArchitectureName = Annotated[str, Path(max_length=200, examples=["Qwen3_5MoeForCausalLM"])]

BEARER = HTTPBearer(auto_error=False, description="A token made by `capctl token create`.")


def reader(request: Request, here: Here) -> None:
    """Let a read in: everybody, unless reads are protected."""
    if here.replica.settings.protect_reads:
        admit(request, here, "read")


def admit(request: Request, here: Context, scope: Scope) -> Token:
    """Return the token of a request that needs *scope*; the body has not been read yet.

    Raises:
        Unauthorized, Forbidden, TooManyFailures: it may not.
    """
    try:
        return here.gate.admit(request.headers.get("authorization"), client_of(request.scope), scope)
    except Exception as error:
        here.metrics.count(here.metrics.failed_auth, getattr(error, "code", "internal"))
        raise


def _writer(request: Request, here: Here) -> Actor:
    token = admit(request, here, "write")
    return Actor(token.name, token.id, REQUEST_ID.get())


def _admin(request: Request, here: Here) -> Actor:
    token = admit(request, here, "admin")
    return Actor(token.name, token.id, REQUEST_ID.get())


Reader = [Depends(reader)]
Writer = Annotated[Actor, Depends(_writer)]
Admin = Annotated[Actor, Depends(_admin)]
Secured = [Depends(BEARER)]

_SAYS: Mapping[int, str] = {
    400: "The body is no JSON.",
    401: "There is no valid token.",
    403: "The token lacks the scope.",
    404: "Nobody knows that name; the hint has the nearest.",
    412: "The overrides have changed since they were read.",
    413: "The body is too large.",
    422: "What was asked cannot be answered as asked.",
    428: "`If-Match` is required here.",
    429: "Too many failed attempts from this address.",
    500: "A bug of the service.",
    503: "The database is unreachable, or has not been seen yet.",
    507: "The database has no room left; nothing was changed.",
}
_PROBLEM = {"schema": {"$ref": "#/components/schemas/Problem"}}


def errors(*statuses: int) -> Responses:
    """Return the documentation of these error statuses."""
    return {status: {"description": _SAYS[status], "content": {MEDIA_TYPE: _PROBLEM}} for status in statuses}


READ_ERRORS = errors(401, 403, 404, 422, 429, 500, 503)
UNCHANGED: Responses = {304: {"description": "Unchanged since the answer with that ETag."}}
LOOKUP: Responses = {**UNCHANGED, **READ_ERRORS}


def path_of(*parts: str) -> str:
    """Return the canonical path of *parts* below `/v1`."""
    return "/v1/" + "/".join(quote(part, safe="") for part in parts)


def cache_headers(here: Context) -> Headers:
    """Return how long caches may keep an answer."""
    settings = here.replica.settings
    who = "private" if settings.protect_reads else "public"
    return [(b"cache-control", f"{who}, max-age={settings.max_age_s}, stale-if-error=86400".encode())]


def answer(
    request: Request, here: Context, path: str, make: Callable[[State], Document], media: str = "application/json"
) -> Response:
    """Answer a GET from the state that holds now; afterwards the same path is hot.

    Args:
        request: for its conditions.
        here: the context.
        path: canonical, with the query where it matters.
        make: makes the document where it has not been made yet.
        media: of the document.
    """
    state = here.replica.present
    found = kept(state, path, lambda: make(state))
    headers: Headers = [(b"content-type", media.encode()), (b"etag", found.etag), *cache_headers(here)]
    headers.append((b"archcap-revision", str(state.revision.id).encode()))
    if not found.exact:
        headers.append((b"archcap-release-match", b"nearest"))
    _count(here, found)
    if path in state.documents and request.scope["raw_path"] == path.encode():
        route = getattr(request.scope.get("route"), "name", "(none)")
        here.edge.heat(state, path, route, found, [*headers, SECURITY[0], (b"content-security-policy", POLICY)])
    return conditional(request, found, headers)


def conditional(request: Request, found: Document, headers: Headers) -> Response:
    """Return the document, or 304 when the client has it."""
    given = request.headers.get("if-none-match")
    unchanged = given is not None and etag_matches(given.encode("latin-1"), found.etag)
    response = Response(status_code=304) if unchanged else Response(found.body)
    kept_headers = [one for one in headers if not (unchanged and one[0] == b"content-type")]
    length = [one for one in response.raw_headers if one[0] == b"content-length" and not unchanged]
    response.raw_headers = [*kept_headers, *length]
    return response


def _count(here: Context, found: Document) -> None:
    if found.engine is not None and found.release is not None:
        here.metrics.count(here.metrics.lookups, found.engine, found.release)
        if found.architecture is not None:
            here.metrics.count(here.metrics.architectures, found.engine, found.architecture)
