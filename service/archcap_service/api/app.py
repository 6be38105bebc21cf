"""Puts the service together: one function from settings to an ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware

from archcap.errors import ArchcapError
from archcap.snapshot import Snapshot
from archcap_service.api import changes, launches, lookups, operations
from archcap_service.api.common import Context
from archcap_service.api.reference import complete_openapi, serve_docs
from archcap_service.dashboard import diagnosis_pages, edits, launch_pages, pages
from archcap_service.dashboard.errors import error_page, wants_page
from archcap_service.edge import Edge
from archcap_service.metrics import Metrics
from archcap_service.problems import MEDIA_TYPE, ServiceError, Wrong, problem_bytes, status_of
from archcap_service.replica import Replica
from archcap_service.resolving import Resolving
from archcap_service.security import Gate, TooManyFailures
from archcap_service.settings import Settings
from archcap_service.store.database import Database

_TITLES = {404: ("not-found", "there is nothing at this path"), 405: ("method-not-allowed", "not by this method")}


def create_app(settings: Settings, snapshot: Snapshot) -> Edge:
    """Return the service over *snapshot*, with the database that *settings* name.

    Args:
        settings: how it runs.
        snapshot: the registry as shipped; overrides are laid over it.
    Raises:
        RequestError: `bad-setting`, `no-driver`.
    """
    replica = Replica(settings, Database(settings.database_url.get_secret_value()), snapshot)
    metrics = Metrics()
    resolving = Resolving(settings, metrics)
    gate = Gate(lambda: replica.known_tokens, replica.tokens.find, settings.auth_failures_per_minute)
    app = FastAPI(title="archcap", docs_url=None, redoc_url=None, lifespan=_lifespan, redirect_slashes=False)
    edge = Edge(_with_cors(app, settings), replica, resolving, metrics)
    app.state.context = Context(replica, resolving, metrics, gate, edge)
    for router in (lookups.router, launches.router, changes.router, operations.router):
        app.include_router(router)
    for router in (pages.open_router, pages.router, launch_pages.router, diagnosis_pages.router, edits.router):
        app.include_router(router)
    serve_docs(app)
    complete_openapi(app)
    app.add_exception_handler(ArchcapError, _archcap_error)
    app.add_exception_handler(RequestValidationError, _bad_parameter)
    app.add_exception_handler(HTTPException, _http_error)
    _gauges(metrics, replica)
    return edge


def _with_cors(app: FastAPI, settings: Settings) -> FastAPI | CORSMiddleware:
    if not settings.cors_origins:
        return app
    return CORSMiddleware(
        app, allow_origins=list(settings.cors_origins), allow_methods=["GET", "POST"], allow_headers=["content-type"],
        expose_headers=["etag", "archcap-revision", "archcap-release-match"],
    )  # fmt: skip


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    replica: Replica = app.state.context.replica
    replica.start()
    try:
        yield
    finally:
        replica.stop()


def _gauges(metrics: Metrics, replica: Replica) -> None:
    def revision() -> float:
        return replica.state.revision.id if replica.state is not None else 0

    def overrides() -> float:
        return len(replica.state.overrides) if replica.state is not None else 0

    def remembered() -> float:
        return replica.state.answers.bytes if replica.state is not None else 0

    metrics.gauges["archcap_revision"] = ("The revision that answers.", revision)
    metrics.gauges["archcap_overrides"] = ("Overrides that hold.", overrides)
    metrics.gauges["archcap_answer_cache_bytes"] = ("Remembered resolutions.", remembered)
    metrics.gauges["archcap_database_up"] = ("Whether the database is there.", lambda: replica.lost is None)


def _problem(request: Request, error: ArchcapError, headers: dict[str, str] | None = None) -> Response:
    status = status_of(error)
    extra = {"cache-control": "no-store", **(headers or {})}
    if status == 401:
        extra["www-authenticate"] = 'Bearer realm="archcap"'
    if isinstance(error, TooManyFailures):
        extra["retry-after"] = str(error.retry_s)
    if status == 503:
        extra["retry-after"] = "2"
    if wants_page(request):
        return error_page(request, error, status, extra)
    return Response(problem_bytes(error), status, extra, MEDIA_TYPE)


async def _archcap_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ArchcapError)
    return _problem(request, error)


async def _bad_parameter(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    wrong = [Wrong(field=str(one["loc"][-1])[:100], message=str(one["msg"])) for one in error.errors()]
    said = f"{wrong[0].field}: {wrong[0].message}"
    return _problem(request, ServiceError(422, "bad-parameter", said, "see /docs", wrong))


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code, said = _TITLES.get(error.status_code, ("bad-request", str(error.detail)))
    hint = "see /docs" if error.status_code in _TITLES else None
    return _problem(request, ServiceError(error.status_code, code, said, hint), dict(error.headers or {}))
