"""What the page of sibling suspects shows: registrations that look forgotten. Knows snapshots; knows no template."""

from __future__ import annotations

from dataclasses import dataclass

from archcap.model.base import Json, JsonObject
from archcap.siblings import Suspect, suspects
from archcap.siblings.facts import facts_of_registry
from archcap.snapshot import Snapshot
from archcap_service.documents import head, release_view

MOST_SHOWN = 60


@dataclass(frozen=True, slots=True)
class SuspicionsPage:
    """The suspicions about a release, the likeliest first."""

    engine: str
    release: str
    releases: tuple[str, ...]
    found: tuple[Suspect, ...]
    architectures: frozenset[str]

    @property
    def shown(self) -> tuple[Suspect, ...]:
        """The likeliest; the twin has them all."""
        return self.found[:MOST_SHOWN]


def suspicions(snapshot: Snapshot, engine: str, release: str) -> SuspicionsPage:
    """Return what looks forgotten in a release, without what people have accepted.

    Raises:
        RequestError: `unknown-engine`, `unknown-release`.
    """
    view, _ = release_view(snapshot, engine, release)
    registry, vocabulary = snapshot.registry_of(engine), snapshot.vocabulary
    found = suspects(facts_of_registry(registry, vocabulary, view.release), registry, vocabulary)
    releases = tuple(snapshot.releases(engine))
    return SuspicionsPage(engine, view.release, releases, tuple(found), frozenset(view.architectures))


def as_json(snapshot: Snapshot, page: SuspicionsPage) -> JsonObject:
    """Return the page as JSON."""
    view, exact = release_view(snapshot, page.engine, page.release)
    rows: list[Json] = [
        {
            "rank": one.rank, "score": one.score, "kind": one.kind, "what": one.what, "shared": one.shared,
            "lacking": [name for name, _ in one.lacking], "having": [name for name, _ in one.having],
            "message": one.text, "consequence": one.consequence, "patch": one.patch, "key": one.key,
        }
        for one in page.found
    ]  # fmt: skip
    return {**head(view, exact), "suspects": rows}
