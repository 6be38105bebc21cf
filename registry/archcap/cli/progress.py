"""A progress bar, on a terminal only. Knows nothing of what progresses."""

from __future__ import annotations

import shutil
import time
from types import TracebackType
from typing import TextIO

_EVERY_S = 0.1
_BAR = 24


class Progress:
    """Shows how far a long run is; says nothing where nobody watches."""

    def __init__(self, stream: TextIO, total: int, noun: str) -> None:
        self._stream = stream
        self._total = total
        self._noun = noun
        self._shows = stream.isatty()
        self._done = 0
        self._start = time.monotonic()
        self._shown = 0.0

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._shows:
            self._stream.write("\r\033[K")
            self._stream.flush()

    def step(self, note: str = "") -> None:
        """Count one more as done."""
        self._done += 1
        now = time.monotonic()
        if self._shows and (now - self._shown >= _EVERY_S or self._done == self._total):
            self._shown = now
            self._stream.write("\r\033[K" + self._line(now, note))
            self._stream.flush()

    def _line(self, now: float, note: str) -> str:
        filled = _BAR * self._done // max(self._total, 1)
        left = (now - self._start) / self._done * (self._total - self._done)
        bar = "█" * filled + "░" * (_BAR - filled)
        text = f"{bar} {self._done}/{self._total} {self._noun}, {_clock(left)} left" + (f", {note}" if note else "")
        return text[: shutil.get_terminal_size((100, 24)).columns - 1]


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}"
