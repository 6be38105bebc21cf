"""What the page about the service itself shows. Knows the replica; knows no template."""

from __future__ import annotations

from dataclasses import dataclass

from archcap_service.api.common import Context
from archcap_service.effective import State
from archcap_service.store.database import to_text


@dataclass(frozen=True, slots=True)
class StatusPage:
    """How the service is."""

    status: str
    database: str
    since: str | None
    kind: str
    revision: int
    created: str
    overrides: int
    unfit: tuple[tuple[int, tuple[str, ...]], ...]
    registry: str
    digest: str
    base: str
    engines: tuple[tuple[str, str, int, str], ...]
    protected: bool
    remembered_kib: int


def status_page(here: Context, state: State) -> StatusPage:
    """Return how the service is."""
    lost, snapshot = here.replica.lost, state.snapshot
    return StatusPage(
        status="degraded" if lost is not None else "ok",
        database="lost" if lost is not None else "ok",
        since=to_text(lost) if lost is not None else None,
        kind="SQLite" if here.replica.settings.is_sqlite else "PostgreSQL",
        revision=state.revision.id,
        created=state.revision.created,
        overrides=len(state.overrides),
        unfit=tuple((one.id, tuple(f"{p.field}: {p.message}" for p in problems)) for one, problems in state.unfit),
        registry="shipped with the package" if state.revision.registry is None else "imported",
        digest=snapshot.digest,
        base=state.base.digest,
        engines=tuple(
            (name, snapshot.engine(name).title, len(snapshot.releases(name)), snapshot.digest_of(f"engines/{name}"))
            for name in snapshot.engine_names
        ),
        protected=here.replica.settings.protect_reads,
        remembered_kib=(state.answers.bytes + state.variants.bytes) // 1024,
    )
