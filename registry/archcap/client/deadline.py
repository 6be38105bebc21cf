"""One deadline for everything a client does on behalf of one question, and what is raised when it comes.

Knows no network.
"""

from __future__ import annotations

import time


class ClientError(RuntimeError):
    """Raised in strict mode only: the service did not answer as it should, or nothing is known."""


class Refused(Exception):
    """An answer or a file that is not taken, with the reason in words. Never leaves the client."""


class TimedOut(Refused):
    """The deadline came first."""


class Deadline:
    """A moment on the monotonic clock.

    Args:
        seconds: from now.
    """

    __slots__ = ("_at", "seconds")

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._at = time.monotonic() + seconds

    def left(self) -> float:
        """Return the seconds left; negative when it has passed."""
        return self._at - time.monotonic()

    def wait(self) -> float:
        """Return the seconds left, for a call that waits.

        Raises:
            TimedOut: there are none.
        """
        left = self.left()
        if left <= 0:
            raise TimedOut(f"no answer within {self.seconds:g} s")
        return left
