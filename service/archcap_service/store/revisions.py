"""Revisions: what holds now, what held before, and the few ways from one to the next.

Every change is one transaction that locks `head`, compares what its writer saw, writes a new revision and tells other
replicas. Rows are only ever added. Knows no snapshot: whether an override makes sense is decided before.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from sqlalchemy import text
from sqlmodel import Session, col, select

from archcap.errors import ArchcapError, RequestError
from archcap.snapshot.canonical import canonical
from archcap_service.overrides.records import Override, OverrideRequest, RevisionKind
from archcap_service.store.audit import Actor, note_down
from archcap_service.store.database import CHANNEL, Database, now_utc, to_text
from archcap_service.store.tables import HEAD, HeadRow, OverrideRow, RegistryRow, RevisionRow
from archcap_service.store.tokens import check_still_valid

PAGE = 100
SYSTEM = Actor("archcap")


class Outpaced(ArchcapError):
    """Somebody else wrote first."""

    def __init__(self, tag: str) -> None:
        said = "the overrides have changed since you read them"
        super().__init__("revision-mismatch", said, f"read them again; their ETag is now {tag}")
        self.tag = tag


@dataclass(frozen=True, slots=True)
class Revision:
    """One state of the overrides.

    Attributes:
        id: counts up without gaps.
        restored: the revision it repeats.
        registry: the imported registry below the overrides; None is the one the package carries.
        overrides: ids of those that hold, in the order they are laid.
        digest: equal states have equal digests.
    """

    id: int
    created: str
    kind: RevisionKind
    author: str
    note: str
    parent: int | None
    restored: int | None
    registry: int | None
    overrides: tuple[int, ...]
    digest: str

    @property
    def tag(self) -> str:
        """The strong ETag of the overrides as they are in this revision."""
        return f'"{self.id}-{self.digest.removeprefix("sha256:")[:16]}"'


@dataclass(frozen=True, slots=True)
class Stored:
    """What the database says at one moment: a revision with its overrides."""

    revision: Revision
    overrides: tuple[Override, ...]


def state_digest(registry: str | None, overrides: Sequence[int]) -> str:
    """Return the digest of a state: the registry's digest (None: the shipped one) and the overrides that hold."""
    return "sha256:" + sha256(canonical([registry, [*overrides]])).hexdigest()


class Revisions:
    """The revisions of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def head(self) -> tuple[int, int]:
        """Return the number of the revision that holds, and of the last change of tokens."""
        with self._database.read() as session:
            row = _head(session)
            return row.revision_id, row.tokens_version

    def current(self) -> Stored:
        """Return the revision that holds, with its overrides."""
        with self._database.read() as session:
            revision = _revision(session, _head(session).revision_id)
            return Stored(revision, _overrides(session, revision.overrides))

    def news(self, since: int, known: Mapping[int, Override], most: int) -> tuple[int, Stored | None, list[Revision]]:
        """Return what has changed, all as of one moment.

        Args:
            since: the revision the caller knows; 0 for none.
            known: overrides the caller has read already; they never change.
            most: of new revisions.
        Returns:
            The number of the last change of tokens; the revision that holds with its overrides, None when the caller
            knows it; the new revisions, the newest first.
        """
        with self._database.read() as session:
            head = _head(session)
            if head.revision_id == since:
                return head.tokens_version, None, []
            query = select(RevisionRow).where(col(RevisionRow.id) > since).order_by(col(RevisionRow.id).desc())
            fresh = [_record(row) for row in session.exec(query.limit(most))]
            if not fresh or fresh[0].id != head.revision_id:  # a backup was restored: numbers have gone back
                fresh = [_revision(session, head.revision_id)]
            missing = [one for one in fresh[0].overrides if one not in known]
            found = {**known, **{one.id: one for one in _overrides(session, missing)}}
            return head.tokens_version, Stored(fresh[0], tuple(found[one] for one in fresh[0].overrides)), fresh

    def page(self, before: int | None = None, limit: int = PAGE) -> list[Revision]:
        """Return revisions, the newest first.

        Args:
            before: only those older than this one.
            limit: at most so many.
        """
        with self._database.read() as session:
            query = select(RevisionRow).order_by(col(RevisionRow.id).desc()).limit(limit)
            if before is not None:
                query = query.where(col(RevisionRow.id) < before)
            return [_record(row) for row in session.exec(query)]

    def at(self, number: int) -> Stored:
        """Return one revision with the overrides that held in it.

        Raises:
            RequestError: `unknown-revision`.
        """
        with self._database.read() as session:
            revision = _revision(session, number)
            return Stored(revision, _overrides(session, revision.overrides))

    def add(
        self, statement: OverrideRequest, actor: Actor, if_match: Sequence[str] | None
    ) -> tuple[Revision, Override]:
        """Lay one more override on top.

        Args:
            statement: what it says; checked by the caller.
            actor: who writes.
            if_match: ETags of which the present one must be; None asks for nothing.
        Raises:
            Outpaced: the present ETag is another.
            Unauthorized: the token was revoked meanwhile.
        """
        with self._database.write() as session:
            parent = _locked(session, self._database, actor, if_match)
            at = to_text(now_utc())
            number = parent.id + 1
            row = OverrideRow(
                revision_id=parent.id,
                created=at,
                author=actor.name,
                statement=statement.model_dump_json(exclude_none=True),
            )
            session.add(row)
            session.flush()
            assert row.id is not None
            revision = _append(
                session, self._database, parent, "override", actor, statement.subject, [*parent.overrides, row.id]
            )
            row.revision_id = number
            note_down(
                session,
                actor,
                "override.create",
                f"override {row.id}",
                {"revision": number, "statement": statement.model_dump(mode="json", exclude_none=True)},
            )
            return revision, Override(
                id=row.id, revision=number, author=actor.name, created=_time(at), statement=statement
            )

    def remove(self, override: int, actor: Actor, if_match: Sequence[str] | None) -> Revision:
        """Take one override away; see `add`.

        Raises:
            RequestError: `unknown-override`, it does not hold now.
        """
        with self._database.write() as session:
            parent = _locked(session, self._database, actor, if_match)
            if override not in parent.overrides:
                raise RequestError(
                    "unknown-override", f"no override {override} holds now", "GET /v1/overrides lists them"
                )
            rest = [one for one in parent.overrides if one != override]
            note_down(session, actor, "override.delete", f"override {override}", {"revision": parent.id + 1})
            return _append(session, self._database, parent, "delete", actor, f"override {override} taken away", rest)

    def restore(self, number: int, actor: Actor, if_match: Sequence[str] | None) -> Revision:
        """Make a new revision equal to an old one; what has expired since ends at once, in a revision of its own.

        Returns:
            The revision that equals the old one.
        Raises:
            RequestError: `unknown-revision`.
        """
        with self._database.write() as session:
            parent = _locked(session, self._database, actor, if_match)
            old = _revision(session, number)
            note_down(session, actor, "revision.restore", f"revision {number}", {"revision": parent.id + 1})
            made = _append(
                session, self._database, parent, "restore", actor, f"back to revision {number}", old.overrides,
                registry=old.registry, restored=number,
            )  # fmt: skip
            _expire(session, self._database, made, now_utc())
            return made

    def expire(self, now: datetime) -> Revision | None:
        """End every override whose time has come, in one revision; None when there is none."""
        with self._database.write() as session:
            return _expire(session, self._database, _locked(session, self._database, SYSTEM, None), now)

    def use_registry(self, registry: int | None, actor: Actor, note: str) -> Revision:
        """Put an imported registry (None: the shipped one) below the overrides."""
        with self._database.write() as session:
            parent = _locked(session, self._database, actor, None)
            note_down(session, actor, "registry.use", note, {"revision": parent.id + 1})
            return _append(session, self._database, parent, "import", actor, note, parent.overrides, registry=registry)


def _head(session: Session) -> HeadRow:
    return session.exec(select(HeadRow).where(HeadRow.id == HEAD)).one()


def _locked(session: Session, database: Database, actor: Actor, if_match: Sequence[str] | None) -> Revision:
    """Lock `head` until the transaction ends and return the revision that holds, if it is the one the writer saw."""
    head = session.exec(select(HeadRow).where(HeadRow.id == HEAD).with_for_update()).one()
    check_still_valid(session, actor)
    revision = _revision(session, head.revision_id)
    if if_match is not None and "*" not in if_match and revision.tag not in if_match:
        raise Outpaced(revision.tag)
    return revision


def _append(
    session: Session, database: Database, parent: Revision, kind: RevisionKind, actor: Actor, note: str,
    overrides: Sequence[int], registry: int | None = -1, restored: int | None = None,
) -> Revision:  # fmt: skip
    base = parent.registry if registry == -1 else registry
    row = RevisionRow(
        id=parent.id + 1, created=to_text(now_utc()), kind=kind, author=actor.name, note=note, parent_id=parent.id,
        restored_id=restored, registry_id=base, override_ids=json.dumps([*overrides]),
        digest=state_digest(_registry_digest(session, base), overrides),
    )  # fmt: skip
    session.add(row)
    session.flush()
    head = _head(session)
    head.revision_id = row.id
    session.add(head)
    session.flush()
    tell(session, database)
    return _record(row)


def tell(session: Session, database: Database) -> None:
    """Tell other replicas, when the transaction is kept, that `head` has changed."""
    if not database.is_sqlite:
        session.connection().execute(text("SELECT pg_notify(:channel, '')"), {"channel": CHANNEL})


def _expire(session: Session, database: Database, parent: Revision, now: datetime) -> Revision | None:
    held = _overrides(session, parent.overrides)
    ended = [one.id for one in held if one.expired(now)]
    if not ended:
        return None
    note = f"override{'s' if len(ended) > 1 else ''} {', '.join(map(str, ended))} expired"
    note_down(session, SYSTEM, "override.expire", note, {"revision": parent.id + 1})
    return _append(
        session, database, parent, "expire", SYSTEM, note, [one for one in parent.overrides if one not in ended]
    )


def _registry_digest(session: Session, registry: int | None) -> str | None:
    row = session.get(RegistryRow, registry) if registry is not None else None
    return row.digest if row is not None else None


def _revision(session: Session, number: int) -> Revision:
    row = session.get(RevisionRow, number) if 0 < number < 2**31 else None
    if row is None:
        raise RequestError("unknown-revision", f"there is no revision {number}", "GET /v1/revisions lists them")
    return _record(row)


def _record(row: RevisionRow) -> Revision:
    return Revision(
        id=row.id, created=row.created, kind=row.kind, author=row.author, note=row.note,  # type: ignore[arg-type]
        parent=row.parent_id, restored=row.restored_id, registry=row.registry_id,
        overrides=tuple(json.loads(row.override_ids)), digest=row.digest,
    )  # fmt: skip


def _overrides(session: Session, ids: Sequence[int]) -> tuple[Override, ...]:
    found: dict[int, Override] = {}
    for start in range(0, len(ids), 500):
        query = select(OverrideRow).where(col(OverrideRow.id).in_(ids[start : start + 500]))
        found |= {override.id: override for override in map(_override, session.exec(query))}
    return tuple(found[one] for one in ids)


def _override(row: OverrideRow) -> Override:
    assert row.id is not None
    statement = OverrideRequest.model_validate_json(row.statement)
    return Override(
        id=row.id, revision=row.revision_id, author=row.author, created=_time(row.created), statement=statement
    )


def _time(at: str) -> datetime:
    return datetime.fromisoformat(at)
