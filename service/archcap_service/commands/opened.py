"""The database of the settings, opened for a command. Knows settings; knows no command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from archcap_service.settings import Settings, read_settings
from archcap_service.store import migrations
from archcap_service.store.database import Database


@contextmanager
def opened(settings: Settings | None = None) -> Iterator[Database]:
    """Open the database; the embedded one is brought up to date.

    Raises:
        RequestError: `bad-setting`.
        StoreUnavailable: it cannot be reached.
    """
    settings = settings or read_settings()
    database = Database(settings.database_url.get_secret_value())
    try:
        if settings.is_sqlite:
            migrations.upgrade(database)
        yield database
    finally:
        database.close()
