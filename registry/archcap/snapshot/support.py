"""What raw support entries of one release amount to: has it, has it not, or when.

An entry bound to a platform speaks for that platform alone and over the general entry; `unvalidated` is no support: the
engine does not treat the architecture as having it. Knows entries; knows no architecture.
"""

from __future__ import annotations

from collections.abc import Sequence

from archcap.model.base import Json, JsonObject
from archcap.snapshot.timeline import Timeline


def term_of(entry: JsonObject) -> str | None:
    """Return when one entry gives support: "" always, an expression, or None never."""
    if entry.get("value", True) is False or entry.get("state") == "unvalidated":
        return None
    when = entry.get("when")
    return when if isinstance(when, str) else ""


def conditions_of(entries: Sequence[JsonObject]) -> str | None:
    """Return when the *entries* that hold in a release give support: "" always, an expression, or None never."""
    general = next((term_of(entry) for entry in entries if entry.get("platform") is None), None)
    bound = {str(entry["platform"]): term_of(entry) for entry in entries if entry.get("platform") is not None}
    if not bound or set(bound.values()) == {general}:
        return general
    held = [(platform, term) for platform, term in sorted(bound.items()) if term is not None]
    terms = [_both(f'hw.platform == "{platform}"', term) for platform, term in held]
    if general is not None:
        terms.append(_both(_not_on(sorted(bound)), general))
    return " or ".join(terms) or None


def has_at(timeline: Timeline, entries: Json, at: int) -> bool:
    """Return whether raw *entries* give support at position *at*, on some platform or under some condition."""
    return conditions_of(list(timeline.held(entries, at))) is not None


def _both(first: str, second: str) -> str:
    return f"({first} and ({second}))" if second else first


def _not_on(platforms: Sequence[str]) -> str:
    if len(platforms) == 1:
        return f'hw.platform != "{platforms[0]}"'
    return "hw.platform not in (" + ", ".join(f'"{platform}"' for platform in platforms) + ")"
