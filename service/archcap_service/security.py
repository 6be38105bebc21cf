"""Who may do what: bearer tokens with scopes, compared in constant time, and a limit on how often one may fail.

Decides before a body is read. Knows headers and tokens; knows no endpoint.
"""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable

from archcap.errors import ArchcapError
from archcap_service.store.database import now_utc, to_text
from archcap_service.store.tokens import Scope, Token, Unauthorized, matches, split_token

WINDOW_S = 60.0
_MOST_CLIENTS = 10_000


class Forbidden(ArchcapError):
    """The token is valid but may not do this."""

    def __init__(self, scope: Scope) -> None:
        super().__init__("forbidden", f"the token lacks the scope {scope!r}", "use a token that has it")


class TooManyFailures(ArchcapError):
    """This address has failed too often."""

    def __init__(self, retry_s: int) -> None:
        super().__init__("too-many-failures", "too many failed attempts from this address", f"try again in {retry_s} s")
        self.retry_s = retry_s


class Failures:
    """Failed attempts by client address within the last minute; the memory is bounded."""

    def __init__(self, limit: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = limit
        self._clock = clock
        self._at: OrderedDict[str, deque[float]] = OrderedDict()

    def check(self, client: str) -> None:
        """Raise when *client* has used up its failures.

        Raises:
            TooManyFailures: with how long to wait.
        """
        times = self._recent(client)
        if len(times) >= self._limit:
            raise TooManyFailures(max(1, round(times[0] + WINDOW_S - self._clock())))

    def add(self, client: str) -> None:
        """Count one failure."""
        times = self._at.setdefault(client, deque(maxlen=self._limit))
        times.append(self._clock())
        self._at.move_to_end(client)
        while len(self._at) > _MOST_CLIENTS:
            self._at.popitem(last=False)

    def _recent(self, client: str) -> deque[float]:
        times = self._at.get(client, deque())
        while times and times[0] <= self._clock() - WINDOW_S:
            times.popleft()
        return times


class Gate:
    """Lets a request in, or not.

    Args:
        known: the tokens as this replica knows them, by id.
        look_up: asks the database for a token this replica has not heard of yet.
        failures: per minute and address.
    """

    def __init__(
        self, known: Callable[[], dict[str, Token]], look_up: Callable[[str], Token | None], failures: int
    ) -> None:
        self._known = known
        self._look_up = look_up
        self._failures = Failures(failures)

    def admit(self, authorization: str | None, client: str, scope: Scope) -> Token:
        """Return the token of a request that needs *scope*.

        Raises:
            Unauthorized: there is no valid token.
            Forbidden: it lacks the scope.
            TooManyFailures: the address has failed too often.
        """
        if authorization is None:
            raise Unauthorized("this needs a token")
        token = self._token(authorization, client)
        if token is None:
            self._failures.check(client)
            self._failures.add(client)
            raise Unauthorized
        if scope not in token.scopes:
            raise Forbidden(scope)
        return token

    def _token(self, authorization: str, client: str) -> Token | None:
        kind, _, text = authorization.partition(" ")
        parts = split_token(text.strip()) if kind.lower() == "bearer" else None
        if parts is None:
            return None
        token = self._known().get(parts[0])
        if token is None:
            self._failures.check(client)
            token = self._look_up(parts[0])
        fits = matches(token, parts[1])
        return token if token is not None and fits and token.valid(to_text(now_utc())) else None
