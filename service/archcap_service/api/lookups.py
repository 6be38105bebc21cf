"""GETs over the registry: engines, releases, architectures, capabilities, facts, differences, history."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from archcap_service import documents, rule_documents, schemas
from archcap_service.api.common import (
    LOOKUP,
    ArchitectureName,
    EngineName,
    Here,
    Reader,
    ReleaseName,
    Secured,
    answer,
    path_of,
)

router = APIRouter(tags=["look-ups"], dependencies=[*Secured, *Reader])


@router.get("/v1/engines", response_model=schemas.Engines, responses=LOOKUP)
def engines(request: Request, here: Here) -> Response:
    """List the engines the registry knows."""
    return answer(request, here, path_of("engines"), documents.engines)


@router.get("/v1/engines/{engine}/releases", response_model=schemas.Releases, responses=LOOKUP)
def releases(request: Request, here: Here, engine: EngineName) -> Response:
    """List the releases of an engine, oldest first."""
    path = path_of("engines", engine, "releases")
    return answer(request, here, path, lambda state: documents.releases(state, engine))


@router.get(
    "/v1/engines/{engine}/releases/{release}/architectures", response_model=schemas.Architectures, responses=LOOKUP
)
def architectures(
    request: Request,
    here: Here,
    engine: EngineName,
    release: ReleaseName,
    having: Annotated[
        list[str], Query(alias="with", max_length=50, description="Capabilities each must have; repeat or use commas.")
    ] = [],  # noqa: B006  # FastAPI copies it
    lacking: Annotated[
        list[str],
        Query(alias="without", max_length=50, description="Capabilities each must lack, also under any condition."),
    ] = [],  # noqa: B006
    family: Annotated[str | None, Query(max_length=200)] = None,
) -> Response:
    """List the architectures of a release, sorted; only those that fit every filter."""
    has, lacks = _words(having), _words(lacking)
    path = path_of("engines", engine, "releases", release, "architectures")
    if has or lacks or family is not None:
        path += f"?{has!r}&{lacks!r}&{family!r}"
    return answer(
        request, here, path, lambda state: documents.architectures(state, engine, release, has, lacks, family)
    )


def _words(given: list[str]) -> list[str]:
    return sorted({word.strip() for part in given for word in part.split(",") if word.strip()})


@router.get(
    "/v1/engines/{engine}/releases/{release}/architectures/{architecture}",
    response_model=schemas.ArchitectureAnswer,
    responses=LOOKUP,
)
def architecture(
    request: Request, here: Here, engine: EngineName, release: ReleaseName, architecture: ArchitectureName
) -> Response:
    """Say what a release can do with an architecture, and where that is known from."""
    path = path_of("engines", engine, "releases", release, "architectures", architecture)
    return answer(request, here, path, lambda state: documents.architecture(state, engine, release, architecture))


@router.get(
    "/v1/engines/{engine}/releases/{release}/capabilities/{capability}",
    response_model=schemas.CapabilityAnswer,
    responses=LOOKUP,
)
def capability(
    request: Request,
    here: Here,
    engine: EngineName,
    release: ReleaseName,
    capability: Annotated[str, Path(max_length=200, examples=["mamba_radix_cache"])],
) -> Response:
    """Return the architectures that have a capability: the engine's frozenset."""
    path = path_of("engines", engine, "releases", release, "capabilities", capability)
    return answer(request, here, path, lambda state: documents.capability(state, engine, release, capability))


@router.get("/v1/engines/{engine}/releases/{release}/facts", response_model=schemas.Facts, responses=LOOKUP)
def facts(request: Request, here: Here, engine: EngineName, release: ReleaseName) -> Response:
    """Return all facts of a release with their digest: what an engine fetches at startup."""
    path = path_of("engines", engine, "releases", release, "facts")
    return answer(request, here, path, lambda state: documents.facts(state, engine, release))


@router.get("/v1/engines/{engine}/releases/{release}/settings", response_model=schemas.Settings, responses=LOOKUP)
def settings(request: Request, here: Here, engine: EngineName, release: ReleaseName) -> Response:
    """List the settings of a release, and how many rules write and read each."""
    path = path_of("engines", engine, "releases", release, "settings")
    return answer(request, here, path, lambda state: rule_documents.settings(state, engine, release))


@router.get(
    "/v1/engines/{engine}/releases/{release}/settings/{setting}",
    response_model=schemas.SettingAnswer,
    responses=LOOKUP,
)
def setting(
    request: Request,
    here: Here,
    engine: EngineName,
    release: ReleaseName,
    setting: Annotated[str, Path(max_length=200, examples=["page_size"])],
) -> Response:
    """Say what a setting is, which rules write it and which read it."""
    path = path_of("engines", engine, "releases", release, "settings", setting)
    return answer(request, here, path, lambda state: rule_documents.setting(state, engine, release, setting))


@router.get("/v1/engines/{engine}/releases/{release}/steps", response_model=schemas.Steps, responses=LOOKUP)
def steps(request: Request, here: Here, engine: EngineName, release: ReleaseName) -> Response:
    """List the steps of a release's argument resolution and start-up, in order."""
    path = path_of("engines", engine, "releases", release, "steps")
    return answer(request, here, path, lambda state: rule_documents.steps(state, engine, release))


@router.get(
    "/v1/engines/{engine}/releases/{release}/steps/{step}", response_model=schemas.StepAnswer, responses=LOOKUP
)
def step(
    request: Request,
    here: Here,
    engine: EngineName,
    release: ReleaseName,
    step: Annotated[str, Path(max_length=200, examples=["page_size_default"])],
) -> Response:
    """Show a step: its statements, what they read and what they write."""
    path = path_of("engines", engine, "releases", release, "steps", step)
    return answer(request, here, path, lambda state: rule_documents.step(state, engine, release, step))


@router.get("/v1/engines/{engine}/diff", response_model=schemas.DiffAnswer, responses=LOOKUP)
def diff(
    request: Request,
    here: Here,
    engine: EngineName,
    before: Annotated[str, Query(alias="from", max_length=200, examples=["0.5.18"])],
    after: Annotated[str, Query(alias="to", max_length=200, examples=["0.5.19"])],
) -> Response:
    """Say what one release differs in from another."""
    path = path_of("engines", engine, "diff") + f"?{before!r}&{after!r}"
    return answer(request, here, path, lambda state: documents.differences(state, engine, before, after))


@router.get("/v1/engines/{engine}/history/{architecture}", response_model=schemas.HistoryAnswer, responses=LOOKUP)
def history(
    request: Request,
    here: Here,
    engine: EngineName,
    architecture: ArchitectureName,
    capability: Annotated[str | None, Query(max_length=200)] = None,
) -> Response:
    """Say how an architecture came to what it has, release by release."""
    path = path_of("engines", engine, "history", architecture)
    path += "" if capability is None else f"?{capability!r}"
    return answer(request, here, path, lambda state: documents.past(state, engine, architecture, capability))


@router.get("/v1/snapshot", response_model=schemas.SnapshotAnswer, responses=LOOKUP)
def snapshot(request: Request, here: Here) -> Response:
    """Say what answers: the digests of the registry, and the revision laid over it."""
    return answer(request, here, path_of("snapshot"), documents.snapshot)
