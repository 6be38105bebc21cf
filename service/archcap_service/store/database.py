"""Connections: one pool, transactions that read and transactions that write, the same on both databases.

Writers exclude each other: SQLite by `BEGIN IMMEDIATE`, PostgreSQL by a lock on the row of `head`.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError
from sqlmodel import Session, create_engine

from archcap.errors import RequestError
from archcap_service.store.errors import StoreUnavailable, wording

CHANNEL = "archcap_revision"
"""PostgreSQL's NOTIFY channel: something in `head` changed."""
BUSY_MS = 5000
_AGAIN_S = 0.02
CONNECT_S = 3
STATEMENT_MS = 10_000
PATIENCE = {
    "connect_timeout": CONNECT_S, "keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 2,
    "tcp_user_timeout": 5000,
}  # fmt: skip
"""How soon a connection to PostgreSQL counts as lost."""


def now_utc() -> datetime:
    """Return the present, in UTC."""
    return datetime.now(UTC)


def to_text(at: datetime) -> str:
    """Return *at* as the text the tables keep."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def read_url(text: str) -> URL:
    """Return the database *text* names, with the driver archcap uses.

    Raises:
        RequestError: `bad-setting`; the text is not repeated, it may hold a password.
    """
    hint = "write sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME"
    try:
        url = make_url(text)
    except ArgumentError:
        raise RequestError("bad-setting", "ARCHCAP_DATABASE_URL is no database URL", hint) from None
    kind = url.get_backend_name()
    if kind == "sqlite":
        return url.set(drivername="sqlite")
    if kind in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    raise RequestError("bad-setting", f"ARCHCAP_DATABASE_URL names {kind}, which is not supported", hint)


class Database:
    """One database.

    Attributes:
        url: where it is, with the driver.
        is_sqlite: whether it is a file of ours.
    """

    def __init__(self, url: str) -> None:
        self.url = read_url(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self._writing = threading.Lock()
        self.engine = self._sqlite() if self.is_sqlite else self._postgres()

    def _sqlite(self) -> Engine:
        file = self.url.database
        if file and file != ":memory:":
            try:
                Path(file).parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise StoreUnavailable(f"{Path(file).parent}: {error.strerror or error}") from error
        engine = create_engine(self.url, connect_args={"timeout": BUSY_MS / 1000, "check_same_thread": False})
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine

    def _postgres(self) -> Engine:
        try:
            import psycopg  # noqa: F401  # an extra of its own
        except ImportError:
            raise RequestError("no-driver", "PostgreSQL needs a driver", "pip install 'archcap[postgres]'") from None
        limits = {
            "statement_timeout": STATEMENT_MS,
            "lock_timeout": BUSY_MS,
            "idle_in_transaction_session_timeout": 3 * STATEMENT_MS,
        }
        options = " ".join(f"-c {name}={value}" for name, value in limits.items())
        arguments = {**PATIENCE, "options": options, "application_name": "archcap"}
        return create_engine(
            self.url, connect_args=arguments, pool_pre_ping=True, pool_size=5, max_overflow=5, pool_timeout=CONNECT_S
        )

    @property
    def shown(self) -> str:
        """The URL without its password."""
        return self.url.render_as_string(hide_password=True)

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Open a transaction that sees one state.

        Raises:
            StoreUnavailable: the database is gone.
            StoreOutdated: its tables are missing.
        """
        with wording(), Session(self.engine) as session:
            if not self.is_sqlite:
                session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
            yield session

    @contextmanager
    def write(self) -> Iterator[Session]:
        """Open a transaction that changes something; kept when the block ends without an exception.

        Raises:
            StoreUnavailable: the database is gone, or busy for too long.
            StoreFull: there is no room; nothing was changed.
            StoreOutdated: its tables are missing.
        """
        with self._writing, wording(), Session(self.engine) as session:
            session.connection(execution_options={"archcap_writes": True})
            yield session
            session.commit()

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()


def _prepare_sqlite(connection, _record) -> None:  # type: ignore[no-untyped-def]  # the driver's own type
    connection.isolation_level = None  # transactions are begun by `_begin_sqlite`
    for pragma in (f"busy_timeout={BUSY_MS}", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")
    _log_ahead(connection)


def _log_ahead(connection) -> None:  # type: ignore[no-untyped-def]
    """Keep the journal ahead of the file. Who meets others that do so to a new file is refused without any waiting."""
    until = time.monotonic() + BUSY_MS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(_AGAIN_S)


def _begin_sqlite(connection) -> None:  # type: ignore[no-untyped-def]
    writes = connection.get_execution_options().get("archcap_writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
