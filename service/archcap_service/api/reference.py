"""The OpenAPI document, complete, and interactive docs from files that come with the service."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, FastAPI, Response
from fastapi.openapi.utils import get_openapi
from starlette.staticfiles import StaticFiles

from archcap import __version__
from archcap.model.request import Request as ResolveRequest
from archcap_service.overrides.records import OverrideRequest
from archcap_service.problems import Problem
from archcap_service.schemas import BatchError

router = APIRouter()
_REF = "#/components/schemas/{model}"
_ASSETS = "/docs/assets"
_PAGE = f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>archcap: endpoints</title>
<link rel="stylesheet" href="{_ASSETS}/swagger-ui.css">
<div id="swagger-ui"></div>
<script src="{_ASSETS}/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</html>
"""
_SCRIPT = 'SwaggerUIBundle({url: "/openapi.json", dom_id: "#swagger-ui", deepLinking: true, validatorUrl: null});'
_POLICY = (
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'; "
    "base-uri 'none'; form-action 'none'"
)
DESCRIPTION = """\
What each model architecture can do in each release of an inference engine, and whether a launch starts.

Reads carry a strong `ETag` and answer `If-None-Match` with 304. An unknown release is answered by the nearest known
one, and `release_match` says so. Errors are RFC 9457 problems with a stable `code`. Writes need a bearer token and take
`If-Match`.
"""


@router.get("/docs", include_in_schema=False)
def docs() -> Response:
    """Show every endpoint, to try out."""
    return Response(_PAGE, headers={"content-security-policy": _POLICY}, media_type="text/html")


@router.get("/docs/start.js", include_in_schema=False)
def start_script() -> Response:
    """Start the docs page."""
    return Response(_SCRIPT, media_type="text/javascript")


def serve_docs(app: FastAPI) -> None:
    """Serve the docs page and the files it needs."""
    app.include_router(router)
    app.mount(_ASSETS, StaticFiles(packages=[("fastapi_offline", "static")]))


def complete_openapi(app: FastAPI) -> None:
    """Have *app* describe the bodies that endpoints read themselves, and the errors all share."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _document(app: FastAPI) -> dict[str, Any]:
    made = get_openapi(title="archcap", version=__version__, description=DESCRIPTION, routes=app.routes)
    schemas: dict[str, Any] = made.setdefault("components", {}).setdefault("schemas", {})
    for model in (OverrideRequest, Problem, BatchError):
        _add(schemas, model.__name__, model.model_json_schema(ref_template=_REF, mode="validation"))
    asked = ResolveRequest.model_json_schema(ref_template=_REF)
    asked.pop("required", None)  # engine and release stand in the path
    _add(schemas, "ResolveRequest", {**asked, "title": "ResolveRequest"})
    schemas["BatchFailure"] = {
        "type": "object",
        "required": ["id", "error"],
        "properties": {
            "id": {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
            "error": {"$ref": "#/components/schemas/BatchError"},
        },
    }
    schemas["Resolution"]["required"].remove("fixes")  # left out when nobody asked for them
    schemas.pop("HTTPValidationError", None)
    schemas.pop("ValidationError", None)
    return made


def _add(schemas: dict[str, Any], name: str, schema: dict[str, Any]) -> None:
    for below, part in schema.pop("$defs", {}).items():
        schemas.setdefault(below, part)
    schemas.setdefault(name, schema)
