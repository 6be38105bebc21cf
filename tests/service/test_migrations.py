"""Migrations up and down, with data, on both databases; what they make is what the tables say."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import inspect, text
from sqlmodel import SQLModel

from archcap.errors import ArchcapError
from archcap_service.overrides import OverrideRequest
from archcap_service.store import migrations
from archcap_service.store.audit import Actor
from archcap_service.store.database import Database, _prepare_sqlite
from archcap_service.store.errors import StoreOutdated, StoreUnavailable
from archcap_service.store.registries import Registries
from archcap_service.store.revisions import Revisions, state_digest
from archcap_service.store.tokens import Tokens

ME = Actor("me")


@pytest.fixture
def database(url):
    made = Database(url)
    yield made
    made.close()


def test_what_migrations_make_is_what_the_tables_say(database):
    migrations.upgrade(database)
    with database.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), SQLModel.metadata) == []


def test_the_first_revision_says_nothing(database):
    migrations.upgrade(database)
    stored = Revisions(database).current()
    assert (stored.revision.id, stored.revision.kind, stored.overrides) == (1, "initial", ())
    assert stored.revision.digest == state_digest(None, ())


def test_down_and_up_again_with_data(database, snapshot):
    migrations.upgrade(database)
    revisions = Revisions(database)
    wanted = OverrideRequest(engine="toy", capability="pipeline", value=True, reason="r")
    revisions.add(wanted, ME, None)
    Tokens(database).create("ci", ["write"], None, ME)
    revisions.use_registry(Registries(database).save(snapshot, ME), ME, "imported")
    migrations.upgrade(database)
    assert revisions.head()[0] == 3, "an upgrade that has nothing to do keeps everything"
    migrations.downgrade(database, "base")
    assert inspect(database.engine).get_table_names() == ["alembic_version"]
    migrations.upgrade(database)
    assert revisions.head() == (1, 0)
    revisions.add(wanted, ME, None)


def test_processes_that_upgrade_at_once_do_so_once(url):
    def upgrade(_):
        database = Database(url)
        try:
            migrations.upgrade(database)
            return Revisions(database).head()
        finally:
            database.close()

    with ThreadPoolExecutor(6) as pool:
        assert set(pool.map(upgrade, range(6))) == {(1, 0)}


def test_a_database_of_a_later_version_is_left_alone(database):
    migrations.upgrade(database)
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(ArchcapError, match="does not know"):
        migrations.upgrade(database)


def test_an_empty_database_says_what_to_run(database):
    with pytest.raises(StoreOutdated, match="capctl db upgrade"):
        Revisions(database).head()


def test_a_database_that_is_not_there_is_unavailable():
    database = Database("postgresql://archcap:hunter2@127.0.0.1:1/none")
    with pytest.raises(StoreUnavailable) as caught:
        migrations.upgrade(database)
    assert "hunter2" not in str(caught.value) + database.shown


class Contested:
    """A connection whose switch of the journal fails as often as told."""

    def __init__(self, *errors):
        self.errors, self.done = list(errors), []

    def execute(self, statement):
        if "journal_mode" in statement and self.errors:
            raise sqlite3.OperationalError(self.errors.pop(0))
        self.done.append(statement)


def test_a_new_file_that_others_switch_at_the_same_time_is_asked_again():
    connection = Contested("database is locked", "database is locked")
    _prepare_sqlite(connection, None)
    assert connection.done[-1] == "PRAGMA journal_mode=WAL"


def test_a_file_that_cannot_be_written_is_not_asked_again():
    connection = Contested("disk I/O error", "never reached")
    with pytest.raises(sqlite3.OperationalError, match="disk I/O error"):
        _prepare_sqlite(connection, None)
    assert connection.errors == ["never reached"]
