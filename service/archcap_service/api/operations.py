"""Whether the service lives and answers, and what it counts."""

from __future__ import annotations

from fastapi import APIRouter, Response

from archcap.model.base import JsonObject
from archcap.model.codec import dumps
from archcap_service import schemas
from archcap_service.api.common import Here, errors
from archcap_service.metrics import CONTENT_TYPE
from archcap_service.store.database import to_text

router = APIRouter(tags=["service"])
_NO_STORE = {"cache-control": "no-store"}


@router.get("/healthz", response_model=schemas.Health, responses=errors(500))
async def healthz() -> Response:
    """Say that the process lives; asks nobody."""
    return Response(b'{"status":"ok"}', media_type="application/json", headers=_NO_STORE)


@router.get(
    "/readyz",
    response_model=schemas.Ready,
    responses={503: {"model": schemas.Ready, "description": "Ask another replica."}},
)
async def readyz(here: Here) -> Response:
    """Say whether this replica answers; `degraded` answers reads while the database is lost, and refuses writes."""
    replica, state = here.replica, here.replica.state
    status, database = "ok", "ok"
    if replica.lost is not None:
        status, database = "degraded", "lost"
    if state is None:
        status, database = "starting", "unseen"
    if replica.stopping:
        status = "stopping"
    body: JsonObject = {
        "status": status,
        "database": database,
        "since": to_text(replica.lost) if replica.lost is not None else None,
        "revision": state.revision.id if state is not None else None,
        "snapshot": state.snapshot.digest if state is not None else None,
    }
    code = 200 if status in ("ok", "degraded") else 503
    return Response(dumps(body), code, _NO_STORE, "application/json")


@router.get(
    "/metrics",
    response_class=Response,
    responses={
        200: {"description": "Prometheus' text format.", "content": {"text/plain": {"schema": {"type": "string"}}}}
    },
)
def metrics(here: Here) -> Response:
    """Expose what is counted."""
    return Response(here.metrics.exposition(), headers={**_NO_STORE, "content-type": CONTENT_TYPE})
