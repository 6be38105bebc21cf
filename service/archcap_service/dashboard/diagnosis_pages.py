"""Paste an error: a plain form, a link that repeats the diagnosis, and its JSON twin."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse

from archcap.cli.diagnose import CUT_OFF
from archcap.model.codec import dumps
from archcap.resolver.diagnose import read_failures
from archcap_service.api.common import Context, Here, Reader
from archcap_service.bodies import read_body
from archcap_service.dashboard.diagnosis import DiagnosisPage, diagnosis_link, diagnosis_page, twin
from archcap_service.dashboard.launch_pages import asked, form_fields
from archcap_service.dashboard.question import Question, from_fields
from archcap_service.dashboard.render import Frame, fresh_page, link, rendered
from archcap_service.effective import State

router = APIRouter(include_in_schema=False, dependencies=Reader)


@router.get("/diagnose", name="page:diagnose")
def diagnose(request: Request, here: Here) -> Response:
    """Show the form, and the diagnosis when something is pasted."""
    state = here.replica.present
    return _page(request, here, state, asked(request.query_params, state))


@router.post("/diagnose", name="diagnose-page")
async def diagnose_post(request: Request, here: Here) -> Response:
    """Take the form; what fits into a link leads to it, anything longer is answered at once."""
    body = await read_body(request.receive, request.scope["headers"], here.replica.settings.max_body_bytes)
    state = here.replica.present
    question = await run_in_threadpool(from_fields, form_fields(body), state.snapshot, state.snapshot.engine_names[0])
    path = await run_in_threadpool(diagnosis_link, question, state.snapshot)
    if path is not None and read_failures(question.log):
        return RedirectResponse(path, 303)
    return await run_in_threadpool(_page, request, here, state, question)


@router.get("/diagnose.json", name="page:diagnose-twin")
def diagnose_twin(request: Request, here: Here) -> Response:
    """Answer a diagnosis as JSON: what `capctl diagnose --format json` prints."""
    state = here.replica.present
    found = twin(asked(request.query_params, state), state.snapshot, here.replica.settings.max_depth)
    return Response(dumps(found), media_type="application/json", headers={"cache-control": "no-store"})


def _page(request: Request, here: Context, state: State, question: Question) -> Response:
    page = diagnosis_page(question, state.snapshot, here.replica.settings.max_depth)
    path = diagnosis_link(question, state.snapshot, "diagnose.json") if page.answer else None
    path = path or link("v1", "engines", page.engine, "releases")
    frame = Frame(_title(page), path, "check", page.engine, page.release)
    return fresh_page(request, rendered(state, "diagnose.html", frame, page), 422 if page.problem else 200)


def _title(page: DiagnosisPage) -> str:
    if page.answer is None:
        return "Paste an error"
    failure = page.answer.diagnosis.failure
    return f"{failure.exception or CUT_OFF} in {failure.frames[-1].function}"


