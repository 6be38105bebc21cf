"""The pages people read: start, matrix, architecture, capability, comparison, rules, search, status.

Thin: a path in, a view and a template out. What is wrong is a page as well.
"""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse

from archcap.errors import RequestError
from archcap.model.base import Json, JsonObject
from archcap.model.codec import dumps
from archcap_service.api.common import EngineName, Here, Reader, ReleaseName
from archcap_service.dashboard import matrix, rules, subjects, suspicions, tours
from archcap_service.dashboard.render import Frame, asset_response, fresh_page, kept_page, link, rendered
from archcap_service.dashboard.status import status_page
from archcap_service.documents import release_view
from archcap_service.effective import State

open_router = APIRouter(include_in_schema=False)
router = APIRouter(include_in_schema=False, dependencies=Reader)

Word = Annotated[str, Query(max_length=200)]
Words = Annotated[list[str], Query(max_length=60)]


@open_router.get("/assets/{tag}/{name}", name="page:asset")
def asset(request: Request, tag: str, name: str) -> Response:
    """Send a file that pages load."""
    found = asset_response(request, name)
    if found is None:
        raise RequestError("not-found", "there is no such file", "load the page again")
    return found


@router.get("/", name="page:start")
def start(request: Request, here: Here) -> Response:
    """Show what can be asked, and the newest release of the first engine."""
    return _start(request, here, "/", here.replica.present.snapshot.engine_names[0])


@router.get("/engines/{engine}", name="page:engine")
def engine_start(request: Request, here: Here, engine: EngineName) -> Response:
    """Show the start page of one engine."""
    return _start(request, here, link("engines", engine), engine)


def _start(request: Request, here: Here, path: str, engine: str) -> Response:
    def make(state: State) -> bytes:
        page = tours.start(state.snapshot, engine)
        frame = Frame("archcap", link("v1", "engines", engine, "releases"), "start", engine, page.release)
        return rendered(state, "start.html", frame, page)

    return kept_page(request, here, path, make)


@router.get("/matrix", name="page:newest-matrix")
def newest_matrix(here: Here) -> Response:
    """Lead to the matrix of the newest release."""
    snapshot = here.replica.present.snapshot
    engine = snapshot.engine_names[0]
    return RedirectResponse(link("matrix", engine, snapshot.releases(engine)[-1]), 302)


@router.get("/matrix/{engine}/{release}", name="page:matrix")
def matrix_page(
    request: Request, here: Here, engine: EngineName, release: ReleaseName, q: Word = "",
    with_: Annotated[list[str], Query(alias="with", max_length=60)] = [],  # noqa: B006  # FastAPI copies it
    without: Words = [], family: Word = "", open: Words = [], since: Word = "",  # noqa: B006
) -> Response:  # fmt: skip
    """Show architectures by family against groups of capabilities."""
    has, lacks = _split(with_), _split(without)
    query = matrix.MatrixQuery(q.strip(), has, lacks, family, _split(open), since)
    filters = link("x", with_=",".join(has) or None, without=",".join(lacks) or None, family=family or None)[2:]

    def make(state: State) -> bytes:
        page = matrix.matrix_of(state.snapshot, engine, release, query)
        twin = link("v1", "engines", engine, "releases", page.release, "architectures") + filters
        frame = Frame(f"Architectures of {engine} {page.release}", twin, "matrix", engine, page.release)
        return rendered(state, "matrix.html", frame, page)

    return kept_page(request, here, matrix.matrix_link(engine, release, query), make)


def _split(given: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.strip() for part in given for word in part.split(",") if word.strip()))[:60]


@router.get("/architectures/{engine}/{release}/{name}", name="page:architecture")
def architecture(request: Request, here: Here, engine: EngineName, release: ReleaseName, name: str) -> Response:
    """Show one architecture."""

    def make(state: State) -> bytes:
        page = subjects.architecture_of(state.snapshot, engine, release, name)
        twin = link("v1", "engines", engine, "releases", page.release, "architectures", name)
        if not page.exists:
            twin = link("v1", "engines", engine, "history", name)
        return rendered(state, "architecture.html", Frame(name, twin, "matrix", engine, page.release), page)

    return kept_page(request, here, link("architectures", engine, release, name), make)


@router.get("/capabilities/{engine}/{release}", name="page:capabilities")
def capabilities(request: Request, here: Here, engine: EngineName, release: ReleaseName) -> Response:
    """List the vocabulary: every capability with its meaning and how many have it."""

    def make(state: State) -> bytes:
        page = subjects.vocabulary_of(state.snapshot, engine, release)
        twin = link("v1", "engines", engine, "releases", page.release, "facts")
        return rendered(state, "capabilities.html", Frame("Capabilities", twin, "matrix", engine, page.release), page)

    return kept_page(request, here, link("capabilities", engine, release), make)


@router.get("/capabilities/{engine}/{release}/{name}", name="page:capability")
def capability(request: Request, here: Here, engine: EngineName, release: ReleaseName, name: str) -> Response:
    """Show one capability."""

    def make(state: State) -> bytes:
        page = subjects.capability_of(state.snapshot, engine, release, name)
        twin = link("v1", "engines", engine, "releases", page.release, "capabilities", name)
        frame = Frame(page.about.title, twin, "matrix", engine, page.release)
        return rendered(state, "capability.html", frame, page)

    return kept_page(request, here, link("capabilities", engine, release, name), make)


@router.get("/compare", name="page:newest-compare")
def newest_compare(
    here: Here, engine: Word = "", before: Annotated[str, Query(alias="from", max_length=200)] = "",
    after: Annotated[str, Query(alias="to", max_length=200)] = "",
) -> Response:  # fmt: skip
    """Lead to the comparison that the form asks for, else to that of the two newest releases."""
    snapshot = here.replica.present.snapshot
    engine = engine or snapshot.engine_names[0]
    newest = snapshot.releases(engine)
    return RedirectResponse(link("compare", engine, before or newest[-2:][0], after or newest[-1]), 302)


@router.get("/compare/{engine}/{before}/{after}", name="page:compare")
def compare(request: Request, here: Here, engine: EngineName, before: str, after: str) -> Response:
    """Show what one release differs in from another."""

    def make(state: State) -> bytes:
        page = tours.compare(state.snapshot, engine, before[:200], after[:200])
        twin = link("v1", "engines", engine, "diff", from_=page.before, to=page.after)
        frame = Frame(f"{engine} {page.before} to {page.after}", twin, "compare", engine, page.after)
        return rendered(state, "compare.html", frame, page)

    return kept_page(request, here, link("compare", engine, before, after), make)


@router.get("/rules", name="page:newest-rules")
def newest_rules(here: Here) -> Response:
    """Lead to the rules of the newest release."""
    snapshot = here.replica.present.snapshot
    engine = snapshot.engine_names[0]
    return RedirectResponse(link("rules", engine, snapshot.releases(engine)[-1]), 302)


@router.get("/rules/{engine}/{release}", name="page:rules")
def rules_index(request: Request, here: Here, engine: EngineName, release: ReleaseName) -> Response:
    """List settings with what writes and reads them, and the steps in order."""

    def make(state: State) -> bytes:
        page = rules.index(state, engine, release)
        twin = link("v1", "engines", engine, "releases", page.release, "settings")
        return rendered(state, "rules.html", Frame("Rules", twin, "rules", engine, page.release), page)

    return kept_page(request, here, link("rules", engine, release), make)


@router.get("/rules/{engine}/{release}/settings/{name}", name="page:setting")
def setting(request: Request, here: Here, engine: EngineName, release: ReleaseName, name: str) -> Response:
    """Show one setting: what writes it, what reads it."""

    def make(state: State) -> bytes:
        page = rules.setting(state, engine, release, name)
        twin = link("v1", "engines", engine, "releases", page.release, "settings", name)
        return rendered(state, "setting.html", Frame(name, twin, "rules", engine, page.release), page)

    return kept_page(request, here, link("rules", engine, release, "settings", name), make)


@router.get("/rules/{engine}/{release}/steps/{name}", name="page:step")
def step(request: Request, here: Here, engine: EngineName, release: ReleaseName, name: str) -> Response:
    """Show one step: its statements in order."""

    def make(state: State) -> bytes:
        page = rules.step(state, engine, release, name)
        twin = link("v1", "engines", engine, "releases", page.release, "steps", name)
        return rendered(state, "step.html", Frame(name, twin, "rules", engine, page.release), page)

    return kept_page(request, here, link("rules", engine, release, "steps", name), make)


@router.get("/siblings/{engine}/{release}", name="page:siblings")
def siblings(request: Request, here: Here, engine: EngineName, release: ReleaseName) -> Response:
    """Show registrations that look forgotten."""

    def make(state: State) -> bytes:
        page = suspicions.suspicions(state.snapshot, engine, release)
        twin = link("siblings.json", engine=engine, release=page.release)
        return rendered(state, "suspicions.html", Frame("Sibling suspects", twin, "matrix", engine, page.release), page)

    return kept_page(request, here, link("siblings", engine, release), make)


@router.get("/siblings.json", name="page:siblings-twin")
def siblings_twin(here: Here, engine: Word, release: Word) -> Response:
    """Answer with the same as JSON."""
    snapshot = here.replica.present.snapshot
    body = suspicions.as_json(snapshot, suspicions.suspicions(snapshot, engine, release))
    return Response(dumps(body), media_type="application/json", headers={"cache-control": "no-store"})


@router.get("/search", name="page:search")
def search(request: Request, here: Here, q: Word = "", engine: Word = "") -> Response:
    """Find architectures, capabilities, settings and checkpoints by name or words."""
    state = here.replica.present
    page = _search(state, q, engine)
    twin = link("search.json", q=q, engine=engine or None)
    frame = Frame(f"Search: {q}" if q else "Search", twin, "search", page.engine, page.release)
    return fresh_page(request, rendered(state, "search.html", frame, page))


@router.get("/search.json", name="page:search-twin")
def search_twin(here: Here, q: Word = "", engine: Word = "") -> Response:
    """Answer a search as JSON."""
    page = _search(here.replica.present, q, engine)
    hits: list[Json] = [
        {"kind": kind, "name": one.name, "words": one.words, "path": one.path} for kind, found in page.hits
        for one in found
    ]  # fmt: skip
    body: JsonObject = {"engine": page.engine, "release": page.release, "text": page.text, "hits": hits}
    return Response(dumps(body), media_type="application/json", headers={"cache-control": "no-store"})


def _search(state: State, text: str, engine: str) -> tours.SearchPage:
    engine = engine or state.snapshot.engine_names[0]
    release_view(state.snapshot, engine, state.snapshot.releases(engine)[-1])
    return tours.search(state.snapshot, engine, re.sub(r"\s+", " ", text))


@router.get("/status", name="page:status")
def status(request: Request, here: Here) -> Response:
    """Show how the service is."""
    state = here.replica.present
    engine = state.snapshot.engine_names[0]
    frame = Frame("Service status", "/readyz", "status", engine, state.snapshot.releases(engine)[-1])
    return fresh_page(request, rendered(state, "status.html", frame, status_page(here, state)))
