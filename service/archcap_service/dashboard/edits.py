"""Overrides and revisions: what holds, what changed when, and forms that write with a token.

The token travels in the form's body and is kept nowhere; there is no session, so nobody else's page can write.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse

from archcap.errors import ArchcapError
from archcap.model.base import Json, JsonObject
from archcap.model.codec import dumps
from archcap_service.api.changes import Change, change_of, statement_of
from archcap_service.api.common import Context, Here, Reader
from archcap_service.bodies import read_body
from archcap_service.dashboard.launch_pages import form_fields
from archcap_service.dashboard.render import Frame, fresh_page, link, rendered
from archcap_service.edge import client_of
from archcap_service.effective import State
from archcap_service.logs import REQUEST_ID
from archcap_service.overrides import Override
from archcap_service.problems import ServiceError, Wrong, status_of
from archcap_service.store.audit import Actor
from archcap_service.store.revisions import Revision, Revisions

router = APIRouter(include_in_schema=False, dependencies=Reader)
LONGEST_FORM = 64 * 1024
PAGE = 50
_NUMBER = Annotated[int, Path(ge=1, le=2**31 - 1)]
_STATEMENT = ("engine", "releases", "architecture", "family", "capability", "list", "name", "reason", "expires")


@dataclass(frozen=True, slots=True)
class OverridesPage:
    """What holds, and what held before.

    Attributes:
        filled: what the form holds, after a write that was refused.
        problem: why it was.
    """

    engine: str
    release: str
    tag: str
    rows: tuple[tuple[Override, bool], ...]
    revisions: tuple[Revision, ...]
    older: str | None
    capabilities: tuple[str, ...]
    done: str
    filled: JsonObject
    problem: ArchcapError | None = None
    wrong: tuple[Wrong, ...] = ()


@dataclass(frozen=True, slots=True)
class RevisionPage:
    """One revision and what it changed."""

    change: Change
    current: int
    tag: str
    lines: tuple[tuple[str, Override], ...]
    problem: ArchcapError | None = None


@router.get("/overrides", name="page:overrides")
def overrides(
    request: Request, here: Here, before: Annotated[int | None, Query(ge=1, le=2**31 - 1)] = None,
    done: Annotated[str, Query(max_length=20, pattern="^[0-9]*$")] = "",
    architecture: Annotated[str, Query(max_length=200)] = "", capability: Annotated[str, Query(max_length=200)] = "",
) -> Response:  # fmt: skip
    """Show the overrides that hold, the form for a new one, and the revisions."""
    filled: JsonObject = {**_statement({}), "architecture": architecture, "capability": capability}
    return _overrides(request, _page(here, before, filled, done), here.replica.present)


def _page(here: Context, before: int | None, filled: JsonObject, done: str = "") -> OverridesPage:
    state = here.replica.present
    engine = state.snapshot.engine_names[0]
    unfit = {one.id for one, _ in state.unfit}
    known = [one for one in state.recent if before is None or one.id < before][:PAGE]
    if len(known) < PAGE and state.recent and state.recent[-1].id > 1:  # older ones are not kept in memory
        known = here.replica.revisions.page(before, PAGE)
    return OverridesPage(
        engine=engine,
        release=state.snapshot.releases(engine)[-1],
        tag=state.revision.tag,
        rows=tuple((one, one.id not in unfit) for one in state.overrides),
        revisions=tuple(known),
        older=link("overrides", before=str(known[-1].id)) if known and known[-1].id > 1 else None,
        capabilities=tuple(sorted(state.snapshot.vocabulary.capabilities)),
        done=done,
        filled=filled,
    )


def _overrides(request: Request, page: OverridesPage, state: State) -> Response:
    frame = Frame("Overrides", "/v1/overrides", "overrides", page.engine, page.release)
    status = status_of(page.problem) if page.problem is not None else 200
    return fresh_page(request, rendered(state, "overrides.html", frame, page), status)


@router.get("/overrides/revisions/{number}", name="page:revision")
def revision(request: Request, here: Here, number: _NUMBER) -> Response:
    """Show one revision and what it changed."""
    return _revision(request, here, number, None)


def _revision(request: Request, here: Context, number: int, problem: ArchcapError | None) -> Response:
    state = here.replica.present
    change = change_of(here, number)
    added = {one.id for one in change.added}
    kept = [("added" if one.id in added else "kept", one) for one in change.stored.overrides]
    lines = sorted([*kept, *(("removed", one) for one in change.removed)], key=lambda line: line[1].id)
    page = RevisionPage(change, state.revision.id, state.revision.tag, tuple(lines), problem)
    engine = state.snapshot.engine_names[0]
    newest = state.snapshot.releases(engine)[-1]
    frame = Frame(f"Revision {number}", f"/v1/revisions/{number}", "overrides", engine, newest)
    status = status_of(problem) if problem is not None else 200
    return fresh_page(request, rendered(state, "revision.html", frame, page), status)


@router.post("/overrides", name="page:override-add")
async def add(request: Request, here: Here) -> Response:
    """Lay an override on top."""
    fields = await _form(request, here)
    said = _statement(fields)
    return await run_in_threadpool(_write_or_show, request, here, fields, said, lambda actor: _added(here, said, actor))


@router.post("/overrides/{override}/remove", name="page:override-remove")
async def remove(request: Request, here: Here, override: _NUMBER) -> Response:
    """Take an override away."""
    fields = await _form(request, here)
    tag = [fields.get("tag", "")]
    return await run_in_threadpool(
        _write_or_show, request, here, fields, _statement({}),
        lambda actor: lambda revisions: revisions.remove(override, actor, tag),
    )  # fmt: skip


@router.post("/overrides/revisions/{number}/restore", name="page:restore")
async def restore(request: Request, here: Here, number: _NUMBER) -> Response:
    """Make a new revision equal to an old one."""
    fields = await _form(request, here)
    tag = [fields.get("tag", "")]

    def act() -> Response:
        try:
            _write(request, here, fields, lambda actor: lambda held: held.restore(number, actor, tag))
        except ArchcapError as error:
            return _revision(request, here, number, error)
        return _done(here)

    return await run_in_threadpool(act)


Act = Callable[[Actor], Callable[[Revisions], object]]


async def _form(request: Request, here: Context) -> dict[str, str]:
    limit = min(LONGEST_FORM, here.replica.settings.max_body_bytes)
    return form_fields(await read_body(request.receive, request.scope["headers"], limit))


def _write_or_show(request: Request, here: Context, fields: dict[str, str], filled: JsonObject, act: Act) -> Response:
    try:
        _write(request, here, fields, act)
    except ArchcapError as error:
        wrong = error.errors if isinstance(error, ServiceError) else ()
        page = replace(_page(here, None, filled), problem=error, wrong=wrong)
        return _overrides(request, page, here.replica.present)
    return _done(here)


def _write(request: Request, here: Context, fields: dict[str, str], act: Act) -> None:
    token = fields.get("token", "").strip()
    try:
        found = here.gate.admit(f"Bearer {token}" if token else None, client_of(request.scope), "write")
    except ArchcapError as error:
        here.metrics.count(here.metrics.failed_auth, error.code)
        raise
    here.replica.write(act(Actor(found.name, found.id, REQUEST_ID.get())))


def _done(here: Context) -> Response:
    return RedirectResponse(f"/overrides?done={here.replica.present.revision.id}", 303)


def _added(here: Context, said: JsonObject, actor: Actor) -> Callable[[Revisions], object]:
    body: JsonObject = {key: value for key, value in said.items() if key != "tag" and value not in ("", None)}
    statement = statement_of(dumps(body), here.replica.present, here.replica.settings.max_depth)
    tag = [str(said.get("tag", ""))]
    return lambda revisions: revisions.add(statement, actor, tag)


def _statement(fields: dict[str, str]) -> JsonObject:
    """Return what a form states, its value as JSON where it parses."""
    said: JsonObject = {name: fields.get(name, "").strip() for name in (*_STATEMENT, "tag")}
    expires = str(said["expires"])
    if len(expires) == len("2027-01-31"):
        said["expires"] = f"{expires}T00:00:00Z"
    said["value"] = _value(fields.get("value", "true").strip())
    return said


def _value(text: str) -> Json:
    try:
        value: Json = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value
