"""The one JSON form of an answer (`docs/schemas/resolution.json`): values only, worded by `archcap.resolver`.

Not validated: an answer is built a thousand times a second, by our own code.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Literal

from archcap.model.base import Json, JsonObject
from archcap.model.values import plain_record

Verdict = Literal["ok", "adjusted", "unsafe", "refused", "unknown"]
Severity = Literal["error", "unsafe", "silent", "warning", "info"]
Origin = Literal["user", "rule", "default", "registry", "config", "hardware", "assumption", "env", "peer", "unknown"]


@plain_record
class SettingValue:
    """One setting after resolution."""

    value: Json
    origin: Literal["user", "rule", "default", "unknown"]
    rule: str | None
    requested: Json
    default: Json
    leaves: dict[str, str] | None = None
    """Structured settings: the rule that wrote each leaf path last."""


@plain_record
class Cause:
    """One link of the chain behind a finding, the nearest first."""

    text: str
    origin: Origin
    rule: str | None = None
    depth: int = 0
    """How many steps behind the finding; a cause of depth n+1 stands behind the one of depth n before it."""


@plain_record
class Finding:
    """Something the launch would meet."""

    rule: str
    severity: Severity
    stage: Literal["parse", "resolve", "load", "init", "request"]
    message: str
    causes: tuple[Cause, ...]
    source: str | None
    evidence: Literal["source", "verified", "report"]
    workaround: str | None = None
    """Of a known issue: what to do about it."""
    reference: str | None = None
    """Of a known issue: the public report."""


@plain_record
class Undetermined:
    """A statement that could not be decided, with what it needs."""

    rule: str
    needs: tuple[str, ...]


@plain_record
class Fix:
    """A smallest change that was resolved again and starts."""

    changes: dict[str, Json]
    release: str | None
    verdict: Literal["ok", "adjusted"]
    gives_up: str | None
    peer_changes: dict[str, Json] | None = None
    """Of a linked pair: what changes on the other server, on it alone where `changes` is empty; else None."""


@plain_record
class Resolution:
    """The answer to one request."""

    verdict: Verdict
    engine: str
    release: str
    release_match: Literal["exact", "nearest"]
    architecture: str | None
    settings: dict[str, SettingValue]
    findings: tuple[Finding, ...]
    undetermined: tuple[Undetermined, ...]
    fixes: tuple[Fix, ...] | None
    plan: JsonObject
    assumptions: tuple[str, ...]
    command: str
    snapshot: str
    env: dict[str, str] = field(default_factory=dict)
    """Environment the engine sets for itself."""
    notes: tuple[str, ...] = ()
    """What the reader should know of the answer itself: nearest release, no fix found, a fork's facts."""
    id: str | int | None = None
    peer: Resolution | None = None
    """Of a linked pair: the other server's own answer."""


_DECIDES: Mapping[str, str] = {"refused": "error", "unsafe": "unsafe"}


def deciding(verdict: str, findings: Iterable[Finding]) -> Finding | None:
    """Return the finding a verdict stands on.

    Args:
        verdict: of an answer.
        findings: of the same answer, in its order.
    Returns:
        The first refusal of a refused launch, the first hazard of an unsafe one; None where nothing stands in the way.
    """
    return next((one for one in findings if one.severity == _DECIDES.get(verdict)), None)
