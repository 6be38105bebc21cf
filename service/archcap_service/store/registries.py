"""Whole registries in the database, part by part; registries that differ in one fact share all other parts.

Knows a snapshot's parts as bytes; knows no record.
"""

from __future__ import annotations

from sqlmodel import Session, col, select

from archcap.errors import ArchcapError
from archcap.snapshot import Snapshot
from archcap.snapshot.builder import assemble
from archcap_service.store.audit import Actor, note_down
from archcap_service.store.database import Database, now_utc, to_text
from archcap_service.store.tables import PartRow, RegistryPartRow, RegistryRow


class Registries:
    """The registries of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, snapshot: Snapshot, actor: Actor) -> int:
        """Store *snapshot* and return its number; the same content is stored once."""
        with self._database.write() as session:
            found = session.exec(select(RegistryRow).where(RegistryRow.digest == snapshot.digest)).first()
            if found is not None and found.id is not None:
                return found.id
            row = RegistryRow(digest=snapshot.digest, created=to_text(now_utc()), author=actor.name)
            session.add(row)
            session.flush()
            assert row.id is not None
            self._parts(session, snapshot, row.id)
            note_down(session, actor, "registry.import", f"registry {row.id}", {"digest": snapshot.digest})
            return row.id

    def _parts(self, session: Session, snapshot: Snapshot, registry: int) -> None:
        wanted = {path: snapshot.digest_of(path) for path in snapshot.parts}
        query = select(PartRow.digest).where(col(PartRow.digest).in_(sorted(set(wanted.values()))))
        known = set(session.exec(query))
        for path, digest in wanted.items():
            if digest not in known:
                session.add(PartRow(digest=digest, content=snapshot.part(path)))
                known.add(digest)
        session.flush()
        session.add_all(RegistryPartRow(registry_id=registry, path=path, digest=one) for path, one in wanted.items())

    def load(self, registry: int) -> Snapshot:
        """Return one registry.

        Raises:
            ArchcapError: `unknown-registry`, or `bad-snapshot` when the database lost a part.
        """
        with self._database.read() as session:
            row = session.get(RegistryRow, registry)
            if row is None:
                raise ArchcapError("unknown-registry", f"the database holds no registry {registry}")
            query = (
                select(RegistryPartRow.path, PartRow.content)
                .join(PartRow, col(PartRow.digest) == col(RegistryPartRow.digest))
                .where(RegistryPartRow.registry_id == registry)
            )
            snapshot = Snapshot.open(assemble({path: bytes(content) for path, content in session.exec(query)}))
        if snapshot.digest != row.digest:
            raise ArchcapError("bad-snapshot", f"registry {registry} does not fit its digest", "import it again")
        return snapshot
