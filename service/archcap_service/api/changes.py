"""Overrides, revisions and the audit log: what a site states on top of the registry, and its history."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import ValidationError

from archcap.errors import RequestError
from archcap.model.base import Json, JsonObject
from archcap.model.codec import dumps
from archcap.model.reading import read_object
from archcap.suggest import nearest_name
from archcap_service import documents, schemas
from archcap_service.api.common import (
    LOOKUP,
    READ_ERRORS,
    Admin,
    Context,
    Here,
    Reader,
    Secured,
    Writer,
    cache_headers,
    conditional,
    errors,
)
from archcap_service.bodies import check_depth, read_body
from archcap_service.effective import Document, State, document
from archcap_service.overrides import Override, OverrideRequest, check_override
from archcap_service.problems import ServiceError, Wrong
from archcap_service.store.audit import audit_page
from archcap_service.store.database import now_utc
from archcap_service.store.revisions import Revision, Stored

router = APIRouter(tags=["overrides"], dependencies=Secured)

_WRITE_ERRORS = errors(400, 401, 403, 404, 412, 413, 422, 428, 429, 500, 503, 507)
_IF_MATCH: dict[str, Any] = {
    "name": "If-Match",
    "in": "header",
    "required": False,
    "description": "The ETag the overrides had when you read them; of concurrent writers exactly one wins.",
    "schema": {"type": "string"},
}
_NUMBER = Annotated[int, Path(ge=1, le=2**31 - 1)]
_BEFORE = Annotated[int | None, Query(ge=1, le=2**31 - 1, description="Only older ones.")]
_LIMIT = Annotated[int, Query(ge=1, le=200)]


def override_row(one: Override, fits: bool = True) -> JsonObject:
    """Return an override as the service shows it."""
    return {**one.model_dump(mode="json"), "fits": fits}


def revision_row(one: Revision) -> JsonObject:
    """Return a revision as the service shows it."""
    return {
        "id": one.id, "created": one.created, "kind": one.kind, "author": one.author, "note": one.note,
        "parent": one.parent, "restored": one.restored, "registry": one.registry, "overrides": [*one.overrides],
        "digest": one.digest,
    }  # fmt: skip


@router.get("/v1/overrides", response_model=schemas.OverridesAnswer, responses=LOOKUP, dependencies=Reader)
def overrides(request: Request, here: Here) -> Response:
    """List the overrides that hold; the ETag is what writes take as `If-Match`."""
    return _shown(request, here, documents.overrides(here.replica.present))


@router.get("/v1/overrides/{override}", response_model=schemas.OverrideRow, responses=LOOKUP, dependencies=Reader)
def override(request: Request, here: Here, override: _NUMBER) -> Response:
    """Show one override that holds."""
    state = here.replica.present
    found = next((one for one in state.overrides if one.id == override), None)
    if found is None:
        raise RequestError("unknown-override", f"no override {override} holds now", "GET /v1/overrides lists them")
    fits = all(one.id != override for one, _ in state.unfit)
    return _shown(request, here, document(dumps(override_row(found, fits))))


def _shown(request: Request, here: Context, found: Document) -> Response:
    return conditional(
        request, found, [(b"content-type", b"application/json"), (b"etag", found.etag), *cache_headers(here)]
    )


@router.post(
    "/v1/overrides",
    status_code=201,
    response_model=schemas.Written,
    responses=_WRITE_ERRORS,
    openapi_extra={
        "parameters": [_IF_MATCH],
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/OverrideRequest"}}},
        },
    },
)
async def create(request: Request, here: Here, actor: Writer) -> Response:
    """Lay an override on top; it holds on this replica when the answer arrives, on the others a moment later."""
    if_match = _if_match(request, here)
    body = await read_body(request.receive, request.scope["headers"], here.replica.settings.max_body_bytes)
    statement = await run_in_threadpool(statement_of, body, here.replica.present, here.replica.settings.max_depth)

    def write() -> tuple[Revision, Override]:
        return here.replica.write(lambda revisions: revisions.add(statement, actor, if_match))

    revision, made = await run_in_threadpool(write)
    return _written(201, revision, {"location": f"/v1/overrides/{made.id}"}, override_row(made))


@router.delete(
    "/v1/overrides/{override}",
    response_model=schemas.Written,
    responses=_WRITE_ERRORS,
    openapi_extra={"parameters": [_IF_MATCH]},
)
def delete(request: Request, here: Here, actor: Writer, override: _NUMBER) -> Response:
    """Take an override away, in a revision of its own."""
    if_match = _if_match(request, here)
    revision = here.replica.write(lambda revisions: revisions.remove(override, actor, if_match))
    return _written(200, revision, {}, None)


@router.get("/v1/revisions", response_model=schemas.RevisionsAnswer, responses=READ_ERRORS, dependencies=Reader)
def revisions(here: Here, before: _BEFORE = None, limit: _LIMIT = 50) -> Response:
    """List revisions, the newest first."""
    state = here.replica.present
    found = [one for one in state.recent if before is None or one.id < before][:limit]
    if len(found) < limit and state.recent and state.recent[-1].id > 1:  # older ones are not kept in memory
        found = here.replica.revisions.page(before, limit)
    more = f"/v1/revisions?before={found[-1].id}&limit={limit}" if found and found[-1].id > 1 else None
    rows: list[Json] = [revision_row(one) for one in found]
    body: JsonObject = {"current": state.revision.id, "revisions": rows, "next": more}
    return Response(dumps(body), media_type="application/json", headers={"cache-control": "no-cache"})


@router.get(
    "/v1/revisions/{revision}", response_model=schemas.RevisionAnswer, responses=READ_ERRORS, dependencies=Reader
)
def revision(here: Here, revision: _NUMBER) -> Response:
    """Show one revision: the overrides that held in it, and what it changed."""
    change = change_of(here, revision)
    body: JsonObject = {
        "revision": revision_row(change.stored.revision),
        "overrides": [one.model_dump(mode="json") for one in change.stored.overrides],
        "added": [one.id for one in change.added],
        "removed": [one.model_dump(mode="json") for one in change.removed],
    }
    return Response(dumps(body), media_type="application/json", headers={"cache-control": "no-cache"})


@dataclass(frozen=True, slots=True)
class Change:
    """A revision beside the one before it.

    Attributes:
        stored: the revision with the overrides that held in it.
        added: of them, those its parent did not have.
        removed: those that only its parent had.
    """

    stored: Stored
    added: tuple[Override, ...]
    removed: tuple[Override, ...]


def change_of(here: Context, number: int) -> Change:
    """Return what a revision changed.

    Raises:
        RequestError: `unknown-revision`.
        StoreUnavailable: the database is gone.
    """
    stored = here.replica.revisions.at(number)
    parent = stored.revision.parent
    before = here.replica.revisions.at(parent).overrides if parent is not None else ()
    had, has = {one.id for one in before}, {one.id for one in stored.overrides}
    added = tuple(one for one in stored.overrides if one.id not in had)
    return Change(stored, added, tuple(one for one in before if one.id not in has))


@router.post(
    "/v1/revisions/{revision}/restore",
    status_code=201,
    response_model=schemas.Written,
    responses=_WRITE_ERRORS,
    openapi_extra={"parameters": [_IF_MATCH]},
)
def restore(request: Request, here: Here, actor: Writer, revision: _NUMBER) -> Response:
    """Make a new revision equal to an old one; what has expired since ends at once, in a revision of its own."""
    if_match = _if_match(request, here)
    made = here.replica.write(lambda revisions: revisions.restore(revision, actor, if_match))
    return _written(201, made, {}, None)


@router.get("/v1/audit", response_model=schemas.AuditAnswer, responses=READ_ERRORS, tags=["service"])
def audit(here: Here, actor: Admin, before: _BEFORE = None, limit: _LIMIT = 50) -> Response:
    """Show who did what, the newest first; needs the scope `admin`."""
    rows: list[Json] = [*audit_page(here.replica.database, before, limit)]
    return Response(dumps({"entries": rows}), media_type="application/json", headers={"cache-control": "no-store"})


def _if_match(request: Request, here: Context) -> list[str] | None:
    given = request.headers.get("if-match")
    if given is None:
        if here.replica.settings.require_if_match:
            hint = "send the ETag of GET /v1/overrides, or * to write whatever it is"
            raise ServiceError(428, "if-match-required", "this service asks writers for If-Match", hint)
        return None
    return [part.strip() for part in given.split(",")]


def _written(status: int, revision: Revision, headers: dict[str, str], made: JsonObject | None) -> Response:
    body = dumps({"revision": revision_row(revision), "override": made})
    headers = {**headers, "etag": revision.tag, "cache-control": "no-store"}
    return Response(body, status, headers, "application/json")


def statement_of(body: bytes, state: State, max_depth: int) -> OverrideRequest:
    """Read an override and check it as strictly as the registry's own files."""
    check_depth(body, max_depth)
    value = read_object(body, "the override")
    try:
        statement = OverrideRequest.model_validate_json(dumps(value))
    except ValidationError as error:
        raise _unfit([_worded(one) for one in error.errors(include_input=False, include_url=False)]) from None
    problems = check_override(statement, state.snapshot, now_utc())
    if problems:
        raise _unfit([Wrong(field=one.field, message=one.message, suggestion=one.suggestion) for one in problems])
    return statement


def _worded(error: Any) -> Wrong:
    field = str(error["loc"][0]) if error["loc"] else ""
    if error["type"] == "extra_forbidden":
        near = nearest_name(field[:200], OverrideRequest.model_fields)
        return Wrong(field=field[:100], message="an override has no such key", suggestion=near)
    message = str(error["msg"]).removeprefix("Value error, ").replace("Field required", "is missing")
    return Wrong(field=field[:100], message=message)


def _unfit(wrong: list[Wrong]) -> ServiceError:
    first = wrong[0]
    said = f"{first.field}: {first.message}" if first.field else first.message
    hint = f"did you mean {first.suggestion}?" if first.suggestion else None
    return ServiceError(422, "bad-override", said, hint, wrong)
