"""The result of a verification as one JSON object, the same for the same answers and registry. Knows no layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from archcap import __version__
from archcap.model.base import JsonObject
from archcap.verify.agreement import Agreement, Difference, Example, SettingShare, Share
from archcap.verify.compare import compact
from archcap.verify.engine_process import NotRun
from archcap.verify.reproduce import command_of

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Verification:
    """What was verified, and what came of it.

    Attributes:
        releases: launches by release.
        platforms: launches by device.
        engine_version: the engine's own word for it; None when answers were recorded earlier.
        reused: answers taken from earlier runs.
        only: the settings that were looked at; empty means all.
    """

    engine: str
    releases: Mapping[str, int]
    platforms: Mapping[str, int]
    snapshot: str
    agreement: Agreement
    engine_version: str | None = None
    not_run: Sequence[NotRun] = ()
    reused: int = 0
    only: Sequence[str] = ()
    notes: Sequence[str] = field(default=())


def report_of(verification: Verification) -> JsonObject:
    """Return *verification* as JSON; docs/verify.md describes it."""
    agreement = verification.agreement
    worst = agreement.worst
    return {
        "schema": SCHEMA,
        "archcap": __version__,
        "snapshot": verification.snapshot,
        "engine": verification.engine,
        "engine_version": verification.engine_version,
        "releases": dict(verification.releases),
        "platforms": dict(verification.platforms),
        "only": list(verification.only),
        "launches": {
            "compared": agreement.launches,
            "disagreeing": agreement.disagreeing,
            "reused": verification.reused,
            "not_run": len(verification.not_run),
        },
        "agreement": {
            "verdict": _share(agreement.verdict),
            "recall": _share(agreement.recall),
            "source": _share(agreement.source),
            "launches": _share(agreement.accepted),
            "worst": None if worst is None else _setting(worst),
        },
        "settings": [_setting(one) for one in agreement.settings],
        "differences": [_difference(one) for one in agreement.differences],
        "not_run": [{"id": one.launch.id, "why": one.why} for one in verification.not_run],
        "notes": list(verification.notes),
    }


def _share(share: Share) -> JsonObject:
    return {"percent": round(share.percent, 2), "right": share.right, "of": share.seen}


def _setting(one: SettingShare) -> JsonObject:
    return {"setting": one.name, **_share(one.share), "varies": one.varies}


def _difference(one: Difference) -> JsonObject:
    return {
        "kind": one.kind,
        "setting": one.setting,
        "step": one.step,
        "rules": [{"rule": rule, "launches": count} for rule, count in one.ours.most_common()],
        "launches": one.launches,
        "architectures": [
            {"architecture": name, "launches": count, **_example(one.examples[name], one.setting)}
            for name, count in one.architectures.most_common()
        ],
    }


def _example(example: Example, setting: str | None) -> JsonObject:
    command = command_of(example.launch, setting)
    again: JsonObject = {"request": example.launch.question()} if command is None else {"command": command}
    return {"id": example.launch.id, "engine": compact(example.wanted), "ours": compact(example.got), **again}
