"""Notices that somebody else has written: PostgreSQL by LISTEN, SQLite by its data version, both with polling behind.

Runs in a thread of its own and never gives up. Knows when to look; `Replica` knows what to do then.
"""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from typing import Protocol

from archcap.errors import ArchcapError
from archcap_service.logs import LOGGER
from archcap_service.settings import Settings
from archcap_service.store.database import CHANNEL, PATIENCE, Database

_AGAIN_S = 0.5
_SLOW_LOOK_S = 1.0


class Watcher(Protocol):
    """Whoever wants to know."""

    settings: Settings
    database: Database

    def look(self) -> None:
        """Look what has changed."""

    def until_expiry(self) -> float:
        """Return the seconds until something changes by itself."""


def watch(watcher: Watcher, stop: threading.Event) -> None:
    """Look whenever something may have changed, until *stop* is set."""
    follow = _follow_sqlite if watcher.database.is_sqlite else _follow_postgres
    while not stop.is_set():
        try:
            follow(watcher, stop)
        except ArchcapError as error:
            LOGGER.debug("watching again soon", extra={"reason": error.message})
        except Exception:
            LOGGER.exception("watching failed; trying again")
        stop.wait(_AGAIN_S)


def _pause(watcher: Watcher, longest: float) -> float:
    return max(0.0, min(longest, watcher.until_expiry()))


def _follow_postgres(watcher: Watcher, stop: threading.Event) -> None:
    import psycopg
    from psycopg.conninfo import make_conninfo

    url = watcher.database.url.set(drivername="postgresql").render_as_string(hide_password=False)
    try:
        with psycopg.connect(
            make_conninfo(url, application_name="archcap-watch", **PATIENCE), autocommit=True
        ) as connection:
            connection.execute(f"LISTEN {CHANNEL}")
            while not stop.is_set():
                watcher.look()
                pause = min(_pause(watcher, watcher.settings.poll_s), 1.0)
                for _ in connection.notifies(timeout=pause, stop_after=1):
                    break
    except psycopg.Error:
        watcher.look()  # says that the database is lost, if it is


def _follow_sqlite(watcher: Watcher, stop: threading.Event) -> None:
    file = watcher.database.url.database or ""
    try:
        with closing(sqlite3.connect(file, timeout=1, isolation_level=None)) as connection:
            _look_at_versions(connection, watcher, stop)
    except sqlite3.Error:
        watcher.look()


def _look_at_versions(connection: sqlite3.Connection, watcher: Watcher, stop: threading.Event) -> None:
    seen, waited = -1, 0.0
    while not stop.is_set():
        now: int = connection.execute("PRAGMA data_version").fetchone()[0]
        if now != seen or waited >= _SLOW_LOOK_S or watcher.until_expiry() <= 0:
            seen, waited = now, 0.0
            watcher.look()
        pause = _pause(watcher, watcher.settings.sqlite_poll_s)
        waited += pause
        stop.wait(pause)
