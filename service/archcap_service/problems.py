"""Errors as RFC 9457 problems: a status, a stable code, what is wrong, what to do. Knows no endpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus

from pydantic import Field

from archcap.errors import ArchcapError, RequestError
from archcap.model.base import JsonObject, Record
from archcap.model.codec import dumps

MEDIA_TYPE = "application/problem+json"

STATUS: Mapping[str, int] = {
    "bad-json": 400,
    "unauthorized": 401,
    "forbidden": 403,
    "unknown-engine": 404,
    "unknown-release": 404,
    "unknown-architecture": 404,
    "unknown-capability": 404,
    "unknown-override": 404,
    "unknown-step": 404,
    "unknown-revision": 404,
    "not-found": 404,
    "method-not-allowed": 405,
    "revision-mismatch": 412,
    "body-too-large": 413,
    "if-match-required": 428,
    "too-many-failures": 429,
    "database-unavailable": 503,
    "database-outdated": 503,
    "not-ready": 503,
    "storage-full": 507,
}
"""Every other RequestError is 422, everything else 500."""


class Wrong(Record):
    """One thing that is wrong with a body or a parameter."""

    field: str = Field(description='The key that is wrong; "" when it is several together.')
    message: str
    suggestion: str | None = Field(default=None, description="The nearest valid name.")


class Problem(Record):
    """RFC 9457 problem details."""

    type: str = Field(examples=["urn:archcap:problem:unknown-capability"])
    title: str = Field(examples=["Not Found"])
    status: int = Field(examples=[404])
    code: str = Field(description="Stable; programs may rely on it.", examples=["unknown-capability"])
    detail: str = Field(examples=["unknown capability 'dflash'"])
    hint: str | None = Field(default=None, description="What to do.", examples=["did you mean dflash_capture?"])
    errors: tuple[Wrong, ...] | None = Field(default=None, description="Everything that is wrong, where it is several.")


class ServiceError(ArchcapError):
    """An error with a status of its own and, where there are several, everything that is wrong.

    Attributes:
        status: of the answer.
        errors: what is wrong in detail.
    """

    def __init__(
        self, status: int, code: str, message: str, hint: str | None = None, errors: Sequence[Wrong] = ()
    ) -> None:
        super().__init__(code, message, hint)
        self.status = status
        self.errors = tuple(errors)


def status_of(error: ArchcapError) -> int:
    """Return the status *error* is answered with."""
    if isinstance(error, ServiceError):
        return error.status
    return STATUS.get(error.code, 422 if isinstance(error, RequestError) else 500)


def problem_bytes(error: ArchcapError) -> bytes:
    """Return *error* as a problem's JSON."""
    status = status_of(error)
    body: JsonObject = {
        "type": f"urn:archcap:problem:{error.code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": error.code,
        "detail": error.message,
        "hint": error.hint,
    }
    if isinstance(error, ServiceError) and error.errors:
        body["errors"] = [one.model_dump() for one in error.errors]
    return dumps(body)
