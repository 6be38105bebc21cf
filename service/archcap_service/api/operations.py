"""Whether the service lives and answers, what it counts, and the page people see first."""

from __future__ import annotations

from html import escape

from fastapi import APIRouter, Request, Response

from archcap import __version__
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


_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>archcap</title>
<style>
:root {{ color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }}
body {{ max-width: 46rem; margin: 2rem auto; padding: 0 1rem }}
code, pre {{ font: 0.9em/1.4 ui-monospace, monospace }}
pre {{ overflow-x: auto; padding: 0.75rem; border: 1px solid color-mix(in srgb, currentColor 25%, transparent) }}
td, th {{ text-align: left; padding: 0.15rem 1rem 0.15rem 0 }}
</style>
<h1>archcap</h1>
<p>What each model architecture can do in each release of an inference engine, and whether a launch starts.</p>
<table>
<tr><th>engine<th>releases<th>
{rows}
</table>
<p>Revision {revision}, {overrides} override{s}. Snapshot <code>{digest}</code>. Version {version}.</p>
<h2>Ask</h2>
<pre>curl {base}/v1/engines/{engine}/releases/{newest}/facts
curl {base}/v1/engines/{engine}/releases/{newest}/architectures
curl --json @request.json {base}/v1/engines/{engine}/releases/{newest}/resolve</pre>
<p><a href="/docs">Every endpoint, to try out</a> · <a href="/openapi.json">OpenAPI</a> ·
<a href="/v1/overrides">overrides</a> · <a href="/v1/revisions">revisions</a> · <a href="/readyz">readiness</a> ·
<a href="/metrics">metrics</a></p>
</html>
"""


@router.get("/", include_in_schema=False)
def start_page(request: Request, here: Here) -> Response:
    """Show what answers here and how to ask."""
    state = here.replica.present
    rows, first = [], ("", "")
    for name in state.snapshot.engine_names:
        known = state.snapshot.releases(name)
        first = first if first[0] else (name, known[-1])
        link = f'<a href="/v1/engines/{escape(name)}/releases">releases</a>'
        rows.append(f"<tr><td>{escape(name)}<td>{escape(known[0])} to {escape(known[-1])}<td>{link}")
    page = _PAGE.format(
        rows="\n".join(rows), revision=state.revision.id, overrides=len(state.overrides), digest=state.snapshot.digest,
        s="" if len(state.overrides) == 1 else "s", version=__version__, engine=escape(first[0]),
        newest=escape(first[1]), base=escape(str(request.base_url).rstrip("/")),
    )  # fmt: skip
    policy = (
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    )
    return Response(page, headers={**_NO_STORE, "content-security-policy": policy}, media_type="text/html")
