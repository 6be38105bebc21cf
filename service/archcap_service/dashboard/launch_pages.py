"""The launch check: a plain form, a link that repeats it, its JSON twin, and the same launch on every release."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse

from archcap.errors import RequestError
from archcap_service.api.common import Context, Here, Reader
from archcap_service.bodies import read_body
from archcap_service.dashboard.check import CheckPage, check_page, strip_page, twin
from archcap_service.dashboard.question import Question, decoded, encoded, from_fields, question_link
from archcap_service.dashboard.render import Frame, fresh_page, link, rendered
from archcap_service.effective import State

router = APIRouter(include_in_schema=False, dependencies=Reader)
_FIELDS = 20


@router.get("/check", name="page:check")
def check(request: Request, here: Here) -> Response:
    """Show the form, and the answer when something is asked."""
    state = here.replica.present
    return _page(request, here, state, asked(request.query_params, state))


@router.post("/check", name="resolve-page")
async def check_post(request: Request, here: Here) -> Response:
    """Take the form; what fits into a link leads to it, anything longer is answered at once."""
    body = await read_body(request.receive, request.scope["headers"], here.replica.settings.max_body_bytes)
    state = here.replica.present
    question = await run_in_threadpool(from_fields, form_fields(body), state.snapshot, state.snapshot.engine_names[0])
    path = question_link(question)
    if path is not None:
        return RedirectResponse(path, 303)
    return await run_in_threadpool(_page, request, here, state, question)


@router.get("/check.json", name="page:check-twin")
def check_twin(request: Request, here: Here) -> Response:
    """Answer a launch check as JSON: byte for byte what the API answers to the same request."""
    state = here.replica.present
    question = asked(request.query_params, state)
    _, body = twin(question, state.snapshot, here.replica.settings.max_depth)
    found = here.resolving.answer(state, question.engine, question.release, body)
    return Response(found, media_type="application/json", headers={"cache-control": "no-store"})


@router.get("/check/releases", name="page:strip")
def strip(request: Request, here: Here) -> Response:
    """Show the same launch on every release."""
    state = here.replica.present
    question = asked(request.query_params, state)
    page = strip_page(question, state.snapshot, here.replica.settings.max_depth)
    path = link("check.json", q=encoded(question))
    frame = Frame("One launch on every release", path, "check", question.engine, page.release)
    return fresh_page(request, rendered(state, "strip.html", frame, page))


def asked(query: Mapping[str, str], state: State) -> Question:
    """Return the question that a link asks.

    Raises:
        RequestError: `bad-link`, `unknown-engine`.
    """
    question = decoded(query["q"]) if query.get("q") else None
    question = question or from_fields(query, state.snapshot, state.snapshot.engine_names[0])
    state.snapshot.engine(question.engine)
    return question


def form_fields(body: bytes) -> dict[str, str]:
    """Return the fields of a form's body.

    Raises:
        RequestError: `bad-form`.
    """
    try:
        return dict(parse_qsl(body.decode("utf-8"), keep_blank_values=True, max_num_fields=_FIELDS))
    except ValueError:
        raise RequestError("bad-form", "this is no form of this page", "load the page again") from None


def _page(request: Request, here: Context, state: State, question: Question) -> Response:
    page = check_page(question, state.snapshot, here.replica.settings.max_depth)
    path = link("check.json", q=encoded(question)) if page.answer else link("v1", "engines", page.engine, "releases")
    frame = Frame(_title(page), path, "check", page.engine, page.release)
    return fresh_page(request, rendered(state, "check.html", frame, page), 422 if page.problem else 200)


def _title(page: CheckPage) -> str:
    if page.answer is None:
        return "Check a launch"
    found = page.answer.resolution
    return f"{found.verdict}: {found.architecture or 'the launch'} on {found.engine} {found.release}"
