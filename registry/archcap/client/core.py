"""The client: facts obtained once, when something is first asked, by whichever thread asks first.

Nothing here raises into the engine unless strict mode is on. Knows no HTTP and no file.
"""

from __future__ import annotations

import _thread
import os
from collections.abc import Iterable, Mapping

from archcap.client.capability_set import CapabilitySet
from archcap.client.deadline import ClientError
from archcap.client.facts import Facts
from archcap.client.log import say
from archcap.client.obtain import Obtained, obtain
from archcap.client.settings import Settings
from archcap.client.source import Source


class Client:
    """Answers what a release of an engine can do with an architecture.

    Facts come from the service, else from what it last said, else from what the package carries; `source` says which.
    Making a client does nothing; the first question does, within one deadline. Safe to use from threads, to fork and
    to pickle.

    Args:
        engine: as in `sglang`.
        release: the running version.
        url: of the service; None takes `ARCHCAP_URL`, "" asks none.
        timeout_s: for everything together; None takes `ARCHCAP_TIMEOUT_S`, else 2.
        cache_dir: where answers are kept; None takes `ARCHCAP_CACHE_DIR`, else the user's cache folder; "" keeps none.
        strict: raise instead of falling back; None takes `ARCHCAP_STRICT`.
    """

    def __init__(
        self,
        engine: str,
        release: str,
        url: str | None = None,
        *,
        timeout_s: float | None = None,
        cache_dir: str | None = None,
        strict: bool | None = None,
    ) -> None:
        self.engine = engine
        self.release = release
        self._settings = Settings(url, timeout_s, cache_dir, strict)
        self._obtained: Obtained | None = None
        self._sets: dict[str, frozenset[str]] = {}
        self._lock, self._lock_of = _thread.allocate_lock(), os.getpid()

    def __reduce__(self) -> tuple[object, ...]:
        return _again, (self.engine, self.release, self._settings.url, self._settings.timeout_s,
                        self._settings.folder, self._settings.strict)  # fmt: skip

    def __repr__(self) -> str:
        return f"Client({self.engine!r}, {self.release!r}, url={self._settings.url!r})"

    def capability_set(self, name: str, default: Iterable[str] = ()) -> CapabilitySet:
        """Return the architectures that have capability *name*, as a set that is looked up when first used.

        Args:
            name: of the capability.
            default: what it holds when nothing at all is known of the capability.
        Raises:
            ClientError: in strict mode, when the set is used: nothing is known, or not from the service.
        """
        return CapabilitySet(name, _Members(self, name, frozenset(default)))

    def supports(self, architecture: str, capability: str) -> bool:
        """Return whether *architecture* has *capability* whatever the configuration and platform.

        Raises:
            ClientError: as for `capability_set`.
        """
        found = self._sets.get(capability)
        if found is None:
            found = self._sets[capability] = self.members(capability, frozenset())
        return architecture in found

    def members(self, capability: str, default: frozenset[str]) -> frozenset[str]:
        """Return the architectures that have *capability* now; *default* when nothing is known of it.

        Raises:
            ClientError: as for `capability_set`.
        """
        facts = self.facts()
        if facts is not None and capability in facts.capabilities:
            return facts.holders(capability)
        if facts is not None:
            self._trouble(f"{self.engine} {facts.release} has no capability {capability!r}{_near(capability, facts)}")
        return default

    def facts(self) -> Facts | None:
        """Return everything known of the release, None when nothing is.

        Raises:
            ClientError: as for `capability_set`.
        """
        return self._now().facts

    @property
    def source(self) -> Source:
        """Where the facts are from: `service`, `cache`, `bundle` or `nothing`, with age and digest.

        Raises:
            ClientError: as for `capability_set`.
        """
        return self._now().source

    def resolve(self, request: Mapping[str, object]) -> dict[str, object] | None:
        """Return what becomes of a launch, None when nobody can say in time.

        The service is asked, which knows its overrides; where it does not answer, the resolver of this installation in
        a process of its own.

        Args:
            request: the launch (docs/schemas/request.json); engine and release are the client's.
        Raises:
            ClientError: in strict mode.
        """
        from archcap.client.launches import resolved  # needed by few

        answer, problem = resolved(self._settings, self.engine, self.release, request)
        if problem:
            self._trouble(problem)
        return answer

    def _now(self) -> Obtained:
        found = self._obtained
        if found is None:
            with self._guard():
                if self._obtained is None:
                    self._obtained = self._fetched()
                found = self._obtained
        if self._settings.strict and (found.facts is None or found.source.why):
            raise ClientError(f"archcap: {found.source}")
        return found

    def _guard(self) -> _thread.LockType:
        """Return the lock; a process forked while another thread held it starts with a new one."""
        if self._lock_of != os.getpid():
            self._lock, self._lock_of = _thread.allocate_lock(), os.getpid()
        return self._lock

    def _fetched(self) -> Obtained:
        try:
            found = obtain(self._settings, self.engine, self.release)
        except Exception as error:
            # An engine starts, whatever is wrong here.
            found = Obtained(None, Source("nothing", why=f"{type(error).__name__}: {error}"))
        for note in found.notes:
            say("info", f"archcap: {note}")
        if found.source.why or found.facts is None:
            say("warning", f"archcap answers from {found.source}")
        elif not found.facts.exact(self.release):
            say("warning", f"archcap does not know {self.engine} {self.release} and answers as {found.facts.release}")
        return found

    def _trouble(self, text: str) -> None:
        if self._settings.strict:
            raise ClientError(f"archcap: {text}")
        say("warning", f"archcap: {text}")


class _Members:
    """Finds a set's members when they are needed."""

    __slots__ = ("_capability", "_client", "_default")

    def __init__(self, client: Client, capability: str, default: frozenset[str]) -> None:
        self._client, self._capability, self._default = client, capability, default

    def __call__(self) -> frozenset[str]:
        return self._client.members(self._capability, self._default)


def _again(engine: str, release: str, url: str, timeout_s: float, cache_dir: str, strict: bool) -> Client:
    return Client(engine, release, url, timeout_s=timeout_s, cache_dir=cache_dir, strict=strict)


def _near(capability: str, facts: Facts) -> str:
    from difflib import get_close_matches

    near = get_close_matches(capability, facts.capabilities, 1)
    return f"; did you mean {near[0]}?" if near else ""
