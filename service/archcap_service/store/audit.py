"""Who did what: one row per change, written in the change's own transaction. Knows no change."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from sqlmodel import Session, col, select

from archcap.model.base import Json, JsonObject
from archcap_service.store.database import Database, now_utc, to_text
from archcap_service.store.tables import AuditRow


@dataclass(frozen=True, slots=True)
class Actor:
    """Somebody who writes.

    Attributes:
        name: of the token, of the user on the service's host, or `archcap` itself.
        token: the id of the token; None on the host.
        request_id: the request it came with.
    """

    name: str
    token: str | None = None
    request_id: str | None = None


def note_down(session: Session, actor: Actor, action: str, target: str, detail: Mapping[str, Json]) -> None:
    """Add one row; kept when the session's transaction is."""
    session.add(
        AuditRow(
            at=to_text(now_utc()), actor=actor.name, action=action, target=target,
            detail=json.dumps(detail, sort_keys=True), request_id=actor.request_id,
        )
    )  # fmt: skip


def audit_page(database: Database, before: int | None, limit: int) -> list[JsonObject]:
    """Return rows of the audit log, the newest first.

    Args:
        database: where they are.
        before: only those older than this one.
        limit: at most so many.
    """
    with database.read() as session:
        query = select(AuditRow).order_by(col(AuditRow.id).desc()).limit(limit)
        if before is not None:
            query = query.where(col(AuditRow.id) < before)
        return [
            {
                "id": row.id, "at": row.at, "actor": row.actor, "action": row.action, "target": row.target,
                "detail": json.loads(row.detail), "request_id": row.request_id,
            }
            for row in session.exec(query)
        ]  # fmt: skip
