"""What can be wrong with a database, as errors with a stable code. Knows the drivers' messages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, ProgrammingError, SQLAlchemyError

from archcap.errors import ArchcapError

_FULL_STATES = frozenset({"53100"})
_FULL_TEXTS = ("disk is full", "no space left", "disk quota exceeded", "file too large")
_NOT_MIGRATED = ("no such table", "does not exist", "no such column")


class StoreUnavailable(ArchcapError):
    """The database cannot be reached: reads go on, writes wait for it."""

    def __init__(self, reason: str) -> None:
        super().__init__("database-unavailable", f"the database cannot be reached: {reason}", "try again later")


class StoreFull(ArchcapError):
    """There is no room for what was to be written; nothing was changed."""

    def __init__(self) -> None:
        said = "the database has no room left; nothing was changed"
        super().__init__("storage-full", said, "free some space and try again")


class StoreOutdated(ArchcapError):
    """The tables are not those this version works on."""

    def __init__(self, reason: str) -> None:
        super().__init__("database-outdated", f"the database is not set up: {reason}", "run `capctl db upgrade`")


def worded(error: SQLAlchemyError) -> ArchcapError:
    """Return what *error* means for whoever asked."""
    original = error.orig if isinstance(error, DBAPIError) else None
    text = " ".join(str(original or error).split())[:200]
    lower = text.lower()
    if getattr(original, "sqlstate", None) in _FULL_STATES or any(one in lower for one in _FULL_TEXTS):
        return StoreFull()
    if isinstance(error, OperationalError | ProgrammingError) and any(one in lower for one in _NOT_MIGRATED):
        return StoreOutdated(text)
    return StoreUnavailable(text)


@contextmanager
def wording() -> Iterator[None]:
    """Turn a driver's error into one of ours; broken constraints are bugs and pass.

    Raises:
        StoreUnavailable: also for a pool that ran out.
        StoreFull: nothing was written.
        StoreOutdated: the tables are missing.
    """
    try:
        yield
    except (OperationalError, InterfaceError, ProgrammingError) as error:
        raise worded(error) from error
    except DBAPIError as error:
        if error.connection_invalidated or getattr(error.orig, "sqlstate", None) in _FULL_STATES:
            raise worded(error) from error
        raise
    except SQLAlchemyError as error:
        if type(error).__name__ == "TimeoutError":
            raise StoreUnavailable("no connection was free in time") from error
        raise
