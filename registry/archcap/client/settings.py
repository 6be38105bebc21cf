"""What a client is told by its caller and by the environment. A value that makes no sense is named and left out."""

from __future__ import annotations

import os

from archcap.client.log import say

URL, TOKEN, CACHE_DIR = "ARCHCAP_URL", "ARCHCAP_TOKEN", "ARCHCAP_CACHE_DIR"
TIMEOUT_S, MAX_LOSS, STRICT = "ARCHCAP_TIMEOUT_S", "ARCHCAP_MAX_LOSS", "ARCHCAP_STRICT"
DEFAULT_TIMEOUT_S, LONGEST_S, DEFAULT_MAX_LOSS = 2.0, 60.0, 0.2
_YES, _NO = ("1", "true", "yes", "on"), ("", "0", "false", "no", "off")


class Settings:
    """How one client asks.

    Attributes:
        url: of the service; "" asks none.
        token: sent as a bearer token; "" sends none.
        folder: where answers are kept; "" keeps none.
        timeout_s: for everything together.
        max_loss: the share of facts an answer may lack that were known before.
        strict: whether to raise instead of falling back.
    """

    __slots__ = ("folder", "max_loss", "strict", "timeout_s", "token", "url")

    def __init__(
        self,
        url: str | None = None,
        timeout_s: float | None = None,
        cache_dir: str | None = None,
        strict: bool | None = None,
    ) -> None:
        self.url = (os.environ.get(URL, "") if url is None else url).strip().rstrip("/")
        self.token = os.environ.get(TOKEN, "").strip()
        self.folder = _cache_folder() if cache_dir is None else cache_dir
        self.timeout_s = _number(TIMEOUT_S, DEFAULT_TIMEOUT_S, LONGEST_S) if timeout_s is None else timeout_s
        self.max_loss = _number(MAX_LOSS, DEFAULT_MAX_LOSS, 1.0)
        self.strict = _switch(STRICT) if strict is None else strict


def choice(name: str, allowed: tuple[str, ...], default: str) -> str:
    """Return the environment variable *name*, or *default* when it is unset or none of *allowed*."""
    given = os.environ.get(name, "").strip().lower()
    if given and given not in allowed:
        say("warning", f"{name}={given} is none of {', '.join(allowed)}: {default} is taken")
    return given if given in allowed else default


def _number(name: str, default: float, most: float) -> float:
    given = os.environ.get(name, "").strip()
    if not given:
        return default
    try:
        value = float(given)
    except ValueError:
        value = -1.0
    if not 0 <= value <= most:
        say("warning", f"{name}={given} is no number from 0 to {most:g}: {default:g} is taken")
        return default
    return value


def _switch(name: str) -> bool:
    return choice(name, _YES + _NO, "0") in _YES


def _cache_folder() -> str:
    named = os.environ.get(CACHE_DIR)
    if named is not None:
        return named.strip()
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(base, "archcap", "client") if os.path.isabs(base) else ""
