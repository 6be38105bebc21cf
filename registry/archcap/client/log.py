"""Lines for the engine's log. `logging` is imported when there is something to say, which is seldom."""

from __future__ import annotations

NAME = "archcap"


def say(level: str, text: str) -> None:
    """Log *text* under the name `archcap`.

    Args:
        level: `debug`, `info`, `warning` or `error`.
        text: one line.
    """
    import logging

    logging.getLogger(NAME).log(getattr(logging, level.upper()), "%s", " ".join(text.split()))
