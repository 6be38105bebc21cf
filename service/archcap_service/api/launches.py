"""POSTs about launches. The fast path answers most of them before they get here; this is the same, with words."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool

from archcap.model.resolution import Resolution
from archcap_service.api.common import EngineName, Here, Reader, ReleaseName, Secured, errors
from archcap_service.bodies import read_body

router = APIRouter(tags=["launches"], dependencies=[*Secured, *Reader])

_ERRORS = errors(400, 401, 403, 404, 413, 422, 429, 500, 503)
_EXAMPLE = {
    "config": {
        "architectures": ["Qwen3_5MoeForCausalLM"], "model_type": "qwen3_5_moe_text", "num_hidden_layers": 40,
        "num_attention_heads": 16, "num_key_value_heads": 2, "hidden_size": 2048, "head_dim": 256,
    },
    "hardware": {"gpu": "h200", "count": 8},
    "settings": {"tp_size": 8, "dcp_size": 2},
}  # fmt: skip
_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": {"$ref": "#/components/schemas/ResolveRequest"}, "example": _EXAMPLE}
        },
    }
}
_BATCH_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "A JSON array, or one request per line; the answer has the same form.",
        "content": {
            "application/json": {
                "schema": {"type": "array", "items": {"$ref": "#/components/schemas/ResolveRequest"}, "minItems": 1}
            },
            "application/x-ndjson": {"schema": {"type": "string"}},
        },
    }
}
_BATCH_ANSWER: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "One answer per request, in order.",
        "content": {
            "application/json": {
                "schema": {
                    "type": "array",
                    "items": {
                        "anyOf": [
                            {"$ref": "#/components/schemas/Resolution"},
                            {"$ref": "#/components/schemas/BatchFailure"},
                        ]
                    },
                }
            },
            "application/x-ndjson": {"schema": {"type": "string"}},
        },
    }
}
Base = "/v1/engines/{engine}/releases/{release}"


@router.post(f"{Base}/resolve", response_model=Resolution, responses=_ERRORS, openapi_extra=_BODY)
async def resolve(request: Request, here: Here, engine: EngineName, release: ReleaseName) -> Response:
    """Say whether a launch starts, which settings it changes, why it is refused and, with `fixes`, what would start."""
    state = here.replica.present
    body = await read_body(request.receive, request.scope["headers"], here.replica.settings.max_body_bytes)
    question = request.scope["raw_path"], body
    found = state.answers.get(question)
    if found is None:
        found = await run_in_threadpool(here.resolving.answer, state, engine, release, body)
        here.resolving.remember(state, question, found)
    return Response(found, media_type="application/json", headers={"cache-control": "no-store"})


@router.post(
    f"{Base}/resolve-batch", responses={**_BATCH_ANSWER, **_ERRORS}, openapi_extra=_BATCH_BODY, response_model=None
)
async def resolve_batch(request: Request, here: Here, engine: EngineName, release: ReleaseName) -> Response:
    """Resolve many launches; a bad one gets an error object in its place."""
    state = here.replica.present
    body = await read_body(request.receive, request.scope["headers"], here.replica.settings.max_batch_bytes)
    answers, is_array = await run_in_threadpool(here.resolving.batch, state, engine, release, body)
    media = "application/json" if is_array else "application/x-ndjson"
    return Response(answers, media_type=media, headers={"cache-control": "no-store"})
