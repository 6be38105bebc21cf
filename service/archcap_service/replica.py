"""One replica's present: which state answers, whether the database is there, and the thread that watches for changes.

Everything a request needs is in memory and is swapped as a whole, so reads outlive the database.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeVar

from archcap.errors import ArchcapError
from archcap.snapshot import Snapshot
from archcap_service.effective import State, state_of
from archcap_service.logs import LOGGER
from archcap_service.problems import ServiceError
from archcap_service.settings import MIB, Settings
from archcap_service.store.database import Database, now_utc, to_text
from archcap_service.store.errors import StoreUnavailable
from archcap_service.store.registries import Registries
from archcap_service.store.revisions import Revision, Revisions, Stored
from archcap_service.store.tokens import Token, Tokens
from archcap_service.watch import watch

V = TypeVar("V")
RECENT = 200


class Replica:
    """One process of the service.

    Attributes:
        settings: how it runs.
        database: what it writes to.
        revisions, tokens: what is in it.
        state: what answers; None until the database has been seen once.
        known_tokens: tokens by id.
        lost: since when the database is gone, None when it is there.
        stopping: whether the process is about to end.
    """

    def __init__(self, settings: Settings, database: Database, shipped: Snapshot) -> None:
        self.settings = settings
        self.database = database
        self.revisions = Revisions(database)
        self.tokens = Tokens(database)
        self.state: State | None = None
        self.known_tokens: dict[str, Token] = {}
        self.lost: datetime | None = None
        self.stopping = False
        self._shipped = shipped
        self._registries = Registries(database)
        self._tokens_version = -1
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def present(self) -> State:
        """The state that answers.

        Raises:
            ServiceError: `not-ready`, the database has never been seen.
        """
        if self.state is None:
            said = "this replica has not seen its database yet: it does not know the overrides"
            raise ServiceError(503, "not-ready", said, "try again, or ask another replica")
        return self.state

    @property
    def warning(self) -> str | None:
        """The `Warning` header of every answer while the database is lost."""
        if self.lost is None:
            return None
        return f'199 archcap "the database is unreachable since {to_text(self.lost)}: overrides may be out of date"'

    def refresh(self) -> None:
        """Take over what the database says now; does nothing when nothing has changed.

        Raises:
            StoreUnavailable: the database is gone; what was known goes on answering.
        """
        with self._lock:
            try:
                self._take_over()
            except StoreUnavailable as error:
                self._lose(error)
                raise
            if self.lost is not None:
                LOGGER.warning("the database is back", extra={"lost_since": to_text(self.lost)})
                self.lost = None

    def _take_over(self) -> None:
        start, previous = time.perf_counter(), self.state
        known = {one.id: one for one in previous.overrides} if previous is not None else {}
        since = previous.revision.id if previous is not None else 0
        tokens_version, stored, fresh = self.revisions.news(since, known, RECENT)
        if tokens_version != self._tokens_version:
            self.known_tokens = self.tokens.all()
            self._tokens_version = tokens_version
        if stored is not None:
            older = previous.recent if previous is not None and len(fresh) < RECENT else ()
            recent = (*fresh, *(one for one in older if one.id < fresh[-1].id))
            self.state = self._load(stored, recent[:RECENT], previous)
            took_ms = round((time.perf_counter() - start) * 1000, 1)
            LOGGER.info("revision taken over", extra={"revision": stored.revision.id, "took_ms": took_ms})

    def _load(self, stored: Stored, recent: tuple[Revision, ...], previous: State | None) -> State:
        number = stored.revision.registry
        if number is None:
            base = self._shipped
        elif previous is not None and previous.revision.registry == number:
            base = previous.base
        else:
            base = self._registries.load(number)
        state = state_of(stored, base, recent, previous, self.settings.answer_cache_mib * MIB)
        for override, problems in state.unfit:
            said = "; ".join(f"{one.field}: {one.message}" for one in problems)
            LOGGER.warning("an override does not fit the registry", extra={"override": override.id, "problems": said})
        return state

    def _lose(self, error: ArchcapError) -> None:
        if self.lost is None:
            self.lost = datetime.now(UTC)
            LOGGER.error("the database is lost", extra={"reason": error.message})

    def write(self, act: Callable[[Revisions], V]) -> V:
        """Change something and take it over before returning, so that this replica answers with it at once.

        Raises:
            StoreUnavailable: the database is gone; nothing was changed.
        """
        try:
            done = act(self.revisions)
        except StoreUnavailable as error:
            with self._lock:
                self._lose(error)
            raise
        try:
            self.refresh()
        except ArchcapError as error:
            LOGGER.warning("written, but not taken over yet", extra={"reason": error.message})
        return done

    def look(self) -> None:
        """Take over changes, and end what has expired.

        Raises:
            StoreUnavailable: the database is gone.
        """
        self.refresh()
        if self.until_expiry() <= 0 and self.revisions.expire(now_utc()) is not None:
            self.refresh()

    def until_expiry(self) -> float:
        """Return the seconds until the next override ends; infinite when none does."""
        at = self.state.next_expiry if self.state is not None else None
        return float("inf") if at is None else at - time.time()

    def start(self) -> None:
        """Look once, then watch in a thread."""
        try:
            self.look()
        except StoreUnavailable:
            LOGGER.error("starting without the database: not ready until it has been seen")
        self._thread = threading.Thread(target=watch, args=(self, self._stop), name="archcap-watch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop watching and close every connection."""
        self.stopping = True
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=5)
        self.database.close()
