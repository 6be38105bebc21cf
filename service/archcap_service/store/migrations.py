"""Brings the tables up to date: Alembic's migrations, found beside the package or in the checkout."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from archcap.errors import ArchcapError
from archcap_service.store.database import Database
from archcap_service.store.errors import wording

_PACKAGE = Path(__file__).resolve().parent.parent


def folder() -> Path:
    """Return the folder of the migrations: the checkout's where there is one, else the one in the wheel."""
    for place in (_PACKAGE.parents[1] / "migrations", _PACKAGE / "_migrations"):
        if (place / "env.py").is_file():
            return place
    raise ArchcapError("no-migrations", "this installation carries no migrations", "install archcap again")


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(folder()))
    return config


def newest() -> str:
    """Return the version this package works on."""
    return str(ScriptDirectory.from_config(_config()).get_current_head())


def current(database: Database) -> str | None:
    """Return the version of *database*, None when it is empty.

    Raises:
        StoreUnavailable: it cannot be reached.
    """
    with wording(), database.engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def upgrade(database: Database, target: str = "head") -> None:
    """Bring *database* up to *target*; does nothing when it is there. Several processes may do so at once.

    Raises:
        StoreUnavailable: it cannot be reached.
        ArchcapError: `database-newer`, it was set up by a later version.
    """
    _known(database)
    _run(database, lambda config: command.upgrade(config, target))


def downgrade(database: Database, target: str) -> None:
    """Take *database* back to *target* (`base` is empty)."""
    _run(database, lambda config: command.downgrade(config, target))


def _known(database: Database) -> None:
    at = current(database)
    versions = {script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()}
    if at is not None and at not in versions:
        said = f"the database is at version {at}, which this archcap does not know"
        raise ArchcapError("database-newer", said, "update archcap, or restore a backup")


def _run(database: Database, act) -> None:  # type: ignore[no-untyped-def]
    config = _config()
    with wording(), database.engine.connect() as plain:
        connection = plain.execution_options(archcap_writes=True)
        with connection.begin():
            if not database.is_sqlite:
                connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7278170)")
            config.attributes["connection"] = connection
            act(config)
