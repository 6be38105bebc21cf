"""Findings about source code as other tools read them: SARIF 2.1.0 and GitHub annotations.

Knows places and sentences; knows neither what was compared nor how it is worded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from archcap import __version__
from archcap.model.base import Json, JsonObject

Level = Literal["error", "warning", "note"]
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file of the engine's package; `says` is what is to be seen there."""

    file: str
    line: int
    says: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """One finding.

    Attributes:
        rule: stable id of the kind of finding.
        level: how bad it is.
        text: one or two sentences.
        place: where it shows.
        related: other places that belong to it.
        key: what makes it the same finding in another version of the file; its rule and text when "".
    """

    rule: str
    level: Level
    text: str
    place: Place
    related: tuple[Place, ...] = ()
    key: str = ""


def sarif(reports: Sequence[Report], rules: dict[str, str], prefix: str) -> JsonObject:
    """Return a SARIF log with one run.

    Args:
        reports: the findings.
        rules: what each kind of finding means, by id.
        prefix: folder of the package in the engine's repository, with a slash at its end, or "".
    """
    used = sorted({one.rule for one in reports})
    driver: JsonObject = {
        "name": "archcap",
        "version": __version__,
        "rules": [{"id": rule, "shortDescription": {"text": rules[rule]}} for rule in used],
    }
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": [_result(one, used, prefix) for one in reports]}],
    }


def _result(one: Report, rules: Sequence[str], prefix: str) -> Json:
    made: JsonObject = {
        "ruleId": one.rule,
        "ruleIndex": rules.index(one.rule),
        "level": one.level,
        "message": {"text": one.text},
        "locations": [_location(one.place, prefix)],
        "partialFingerprints": {"archcap/v1": sha256((one.key or f"{one.rule} {one.text}").encode()).hexdigest()[:32]},
    }
    if one.related:
        made["relatedLocations"] = [{"id": at, **_location(place, prefix)} for at, place in enumerate(one.related, 1)]
    return made


def _location(place: Place, prefix: str) -> JsonObject:
    made: JsonObject = {
        "physicalLocation": {
            "artifactLocation": {"uri": prefix + place.file},
            "region": {"startLine": place.line},
        }
    }
    if place.says:
        made["message"] = {"text": place.says}
    return made


def annotation(one: Report, prefix: str) -> str:
    """Return the line that makes GitHub show a finding beside its line."""
    level = "notice" if one.level == "note" else one.level
    said = [one.text, *(f"{prefix}{place.file}:{place.line} {place.says}".rstrip() for place in one.related)]
    text = "\n".join(said).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    place = f"file={_escaped(prefix + one.place.file)},line={one.place.line},title={_escaped(one.rule)}"
    return f"::{level} {place}::{text}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
