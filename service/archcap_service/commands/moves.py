"""What `capctl db` does, one function per action; each returns a line that says what was done."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping

from archcap.cli.command import Session
from archcap.errors import RequestError
from archcap.snapshot import Snapshot
from archcap.snapshot.store import open_registry
from archcap_service.commands.opened import opened
from archcap_service.commands.token import host_actor
from archcap_service.overrides import apply_overrides
from archcap_service.settings import read_settings
from archcap_service.store import migrations
from archcap_service.store.database import Database
from archcap_service.store.registries import Registries
from archcap_service.store.revisions import Revisions
from archcap_service.yaml_files import write_registry


def _plain() -> Database:
    return Database(read_settings().database_url.get_secret_value())


def _upgrade(args: argparse.Namespace, session: Session) -> str:
    database = _plain()
    try:
        before = migrations.current(database)
        migrations.upgrade(database, args.to or "head")
        after = migrations.current(database)
    finally:
        database.close()
    return f"{database.shown} is at version {after}" + ("" if before == after else f" (was {before or 'empty'})")


def _downgrade(args: argparse.Namespace, session: Session) -> str:
    if args.to is None:
        raise RequestError("usage", "capctl db downgrade needs --to VERSION", "`base` drops every table and all data")
    database = _plain()
    try:
        migrations.downgrade(database, args.to)
        return f"{database.shown} is at version {migrations.current(database) or 'empty'}"
    finally:
        database.close()


def _status(args: argparse.Namespace, session: Session) -> str:
    database = _plain()
    try:
        at, wanted = migrations.current(database), migrations.newest()
        said = f"{database.shown} is at version {at or 'empty'}"
        if at != wanted:
            return f"{said}; this archcap needs {wanted}: run capctl db upgrade"
        revision = Revisions(database).current().revision
        base = "the shipped registry" if revision.registry is None else f"registry {revision.registry}"
        return f"{said}, revision {revision.id} with {len(revision.overrides)} overrides over {base}"
    finally:
        database.close()


def _import(args: argparse.Namespace, session: Session) -> str:
    if (args.path is None) == (not args.shipped):
        raise RequestError("usage", "capctl db import needs a PATH or --shipped", "see capctl db --help")
    with opened() as database:
        revisions = Revisions(database)
        if args.shipped:
            made = revisions.use_registry(None, host_actor(), "the registry in the package")
            return f"revision {made.id}: the registry in the package"
        snapshot = open_registry(args.path)
        snapshot.verify()
        number = Registries(database).save(snapshot, host_actor())
        made = revisions.use_registry(number, host_actor(), f"registry {number}, {snapshot.digest}")
        return f"revision {made.id}: registry {number}, {snapshot.digest}"


def _export(args: argparse.Namespace, session: Session) -> str:
    if args.path is None:
        raise RequestError("usage", "capctl db export needs a folder", "see capctl db --help")
    with opened() as database:
        snapshot = stored_snapshot(database, session, base_only=args.base)
    write_registry(snapshot, args.path)
    return f"{snapshot.digest} in {args.path}"


def stored_snapshot(database: Database, session: Session, base_only: bool = False) -> Snapshot:
    """Return the registry as the revision that holds has it.

    Args:
        database: where the revision is.
        session: knows the shipped registry.
        base_only: without the overrides.
    """
    stored = Revisions(database).current()
    number = stored.revision.registry
    base = session.snapshot if number is None else Registries(database).load(number)
    return base if base_only else apply_overrides(base, stored.overrides).snapshot


ACTIONS: Mapping[str, Callable[[argparse.Namespace, Session], str]] = {
    "upgrade": _upgrade,
    "downgrade": _downgrade,
    "status": _status,
    "import": _import,
    "export": _export,
}
