"""Where facts come from, in order: the service, what it last said, what the package carries. Raises nothing.

One process of many fetches; the others wait for what it keeps. An answer that was damaged on the way, is about
something else, or lacks much of what was known before is not taken.
"""

from __future__ import annotations

from collections.abc import Callable

from archcap.client.cache import Cache, Kept
from archcap.client.deadline import Deadline, Refused
from archcap.client.facts import Facts, loss, read_facts
from archcap.client.settings import Settings
from archcap.client.source import Source

_ALONE_S = 0.5
"""Who has waited for another's fetch until this is left asks for itself."""


class Obtained:
    """Facts and where they are from.

    Attributes:
        facts: None when there are none at all.
        source: says which, and why no better one.
        notes: what went wrong beside that.
    """

    __slots__ = ("facts", "notes", "source")

    def __init__(self, facts: Facts | None, source: Source, notes: tuple[str, ...] = ()) -> None:
        self.facts, self.source, self.notes = facts, source, notes


def obtain(settings: Settings, engine: str, release: str) -> Obtained:
    """Return the facts of *release*, from the best source that answers within the time."""
    return _Attempt(settings, engine, release).obtained()


class _Attempt:
    """One way through the sources."""

    def __init__(self, settings: Settings, engine: str, release: str) -> None:
        self._settings, self._engine, self._release = settings, engine, release
        self._deadline = Deadline(settings.timeout_s)
        self._cache = Cache(settings.folder, settings.url, engine, release)
        self._notes: list[str] = []
        self._bundle: tuple[Facts, float] | None = None
        self._bundle_why = ""

    def obtained(self) -> Obtained:
        """Return what the first source gives."""
        if not self._settings.url:
            return self._fallen_back(None, "")
        kept = self._kept()
        if kept is not None and kept.fresh:
            return self._from("cache", kept.facts, kept.age_s)
        with self._cache.lock(self._deadline, _ALONE_S):
            again = self._kept()  # another process may have fetched meanwhile
            kept = again or kept
            if kept is not None and kept.fresh:
                return self._from("cache", kept.facts, kept.age_s)
            try:
                return self._from("service", self._asked(kept), 0.0)
            except Refused as problem:
                return self._fallen_back(self._kept() or kept, f"{self._settings.url}: {problem}")

    def _kept(self) -> Kept | None:
        try:
            return self._cache.read()
        except Refused as problem:
            self._note(f"what was kept in {self._settings.folder} is left aside: {problem}")
            return None

    def _asked(self, kept: Kept | None) -> Facts:
        """Return what the service answers, and keep it.

        Raises:
            Refused: it does not answer, or not with what can be taken.
        """
        from archcap.client.service import get_facts  # sockets; who reads the cache needs none

        answer = get_facts(self._settings, self._engine, self._release, kept.etag if kept else "", self._deadline)
        if answer is None and kept is not None:
            self._keep(self._cache.confirm)
            return kept.facts
        if answer is None:
            raise Refused("it says that nothing has changed, and nothing is known")
        body, etag = answer
        facts = read_facts(body, self._engine, self._release)
        self._guard(facts, kept)
        self._keep(lambda: self._cache.write(body, etag))
        return facts

    def _guard(self, facts: Facts, kept: Kept | None) -> None:
        carried = None if kept is not None else self._bundled()
        known = kept.facts if kept is not None else carried[0] if carried is not None else facts
        lost = loss(facts, known, self._settings.max_loss)
        if lost is not None:
            raise Refused(f"{lost}; ARCHCAP_MAX_LOSS=1 takes it all the same")

    def _keep(self, keep: Callable[[], None]) -> None:
        if not self._settings.folder:
            return
        try:
            keep()
        except (OSError, ValueError) as error:
            self._note(f"nothing can be kept in {self._settings.folder}: {error}")

    def _bundled(self) -> tuple[Facts, float] | None:
        if self._bundle is None and not self._bundle_why:
            from archcap.client.bundle import bundled

            try:
                self._bundle = bundled(self._engine, self._release)
            except Refused as problem:
                self._bundle_why = str(problem)
        return self._bundle

    def _fallen_back(self, kept: Kept | None, why: str) -> Obtained:
        if kept is not None:
            return self._from("cache", kept.facts, kept.age_s, why)
        carried = self._bundled()
        if carried is not None:
            return self._from("bundle", *carried, why)
        reasons = "; ".join(one for one in (why, self._bundle_why) if one)
        return Obtained(None, Source("nothing", why=reasons), tuple(self._notes))

    def _from(self, kind: str, facts: Facts, age_s: float, why: str = "") -> Obtained:
        source = Source(kind, facts.engine, facts.release, facts.digest, age_s, why)
        return Obtained(facts, source, tuple(self._notes))

    def _note(self, text: str) -> None:
        if text not in self._notes:
            self._notes.append(text)
