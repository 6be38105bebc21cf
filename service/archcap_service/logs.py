"""Structured logs: one JSON object per line on stderr, with the request's id; never a header, a body or a password."""

from __future__ import annotations

import json
import logging
import re
import sys
from contextvars import ContextVar
from datetime import UTC, datetime
from uuid import uuid4

REQUEST_ID: ContextVar[str | None] = ContextVar("archcap_request_id", default=None)
LOGGER = logging.getLogger("archcap_service")

_GIVEN_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_SECRETS = re.compile(
    r"(acap_[0-9a-f]{12}_)[A-Za-z0-9_-]+|(://[^:/@\s]+:)[^@\s]+(?=@)|((?:password|secret)=)\S+", re.IGNORECASE
)
_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "color_message"}


def request_id(given: bytes | None) -> str:
    """Return the id a client gave its request where it is harmless, else a new one."""
    return given.decode() if given is not None and _GIVEN_ID.fullmatch(given) else uuid4().hex


def redacted(text: str) -> str:
    """Return *text* without tokens and passwords."""
    return _SECRETS.sub(lambda match: next(part for part in match.groups() if part) + "…", text)


class JsonLines(logging.Formatter):
    """One record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        row: dict[str, object] = {
            "at": at, "level": record.levelname.lower(), "logger": record.name, "message": redacted(record.getMessage())
        }  # fmt: skip
        identity = REQUEST_ID.get()
        if identity is not None:
            row["request_id"] = identity
        for key, value in vars(record).items():
            if key not in _OWN and not key.startswith("_"):
                row[key] = redacted(value) if isinstance(value, str) else value
        if record.exc_info:
            row["exception"] = redacted(self.formatException(record.exc_info))
        return json.dumps(row, ensure_ascii=False, default=str)


class TextLines(logging.Formatter):
    """One record as a line for people."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        extra = {k: v for k, v in vars(record).items() if k not in _OWN and not k.startswith("_")}
        more = "".join(f" {key}={value}" for key, value in extra.items() if value is not None)
        text = f"{record.levelname.lower():<7} {record.getMessage()}{more}"
        return redacted(text + ("\n" + self.formatException(record.exc_info) if record.exc_info else ""))


def set_up(level: str, form: str) -> None:
    """Send every log of the process to stderr in one form."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if form == "json" else TextLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    LOGGER.setLevel(level.upper())
    for name in ("uvicorn", "uvicorn.error"):
        own = logging.getLogger(name)
        own.handlers.clear()
        own.propagate = True
        own.setLevel(level.upper())
    logging.getLogger("uvicorn.access").disabled = True
