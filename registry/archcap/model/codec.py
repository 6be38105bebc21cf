"""A resolution as JSON: the keys of the answer in their promised order, written fast.

Built by hand, because a batch writes thousands of answers a second and nothing needs validating. Knows no wording.
"""

from __future__ import annotations

from pydantic_core import PydanticSerializationError
from pydantic_core import to_json as _encode

from archcap.model.base import Json, JsonObject
from archcap.model.resolution import Cause, Finding, Fix, Resolution, SettingValue, Undetermined


def to_json(resolution: Resolution) -> bytes:
    """Return *resolution* as one line of UTF-8 JSON, without a line end.

    `id` stands first and only when it was given; `fixes` is left out when they were not asked for. Numbers that JSON
    cannot spell become the strings `Infinity`, `-Infinity` and `NaN`.
    """
    return dumps(to_object(resolution))


def dumps(value: Json, indent: int | None = None) -> bytes:
    """Return *value* as UTF-8 JSON; compact unless *indent* is given; half a surrogate pair becomes a question mark."""
    try:
        return _encode(value, inf_nan_mode="strings", indent=indent)
    except PydanticSerializationError:
        return _encode(_writable(value), inf_nan_mode="strings", indent=indent)


def to_object(resolution: Resolution) -> JsonObject:
    """Return *resolution* as a JSON object, keys in the order of the answer's schema."""
    head: JsonObject = {} if resolution.id is None else {"id": resolution.id}
    head["verdict"] = resolution.verdict
    head["engine"] = resolution.engine
    head["release"] = resolution.release
    head["release_match"] = resolution.release_match
    head["architecture"] = resolution.architecture
    head["settings"] = {name: _setting(value) for name, value in resolution.settings.items()}
    head["findings"] = [finding_object(finding) for finding in resolution.findings]
    head["undetermined"] = [_undetermined(one) for one in resolution.undetermined]
    if resolution.fixes is not None:
        head["fixes"] = [fix_object(fix) for fix in resolution.fixes]
    head["plan"] = resolution.plan
    head["assumptions"] = list(resolution.assumptions)
    head["command"] = resolution.command
    head["snapshot"] = resolution.snapshot
    head["env"] = {**resolution.env}
    head["notes"] = list(resolution.notes)
    if resolution.peer is not None:
        head["peer"] = to_object(resolution.peer)
    return head


def _setting(setting: SettingValue) -> JsonObject:
    value: JsonObject = {
        "value": setting.value,
        "origin": setting.origin,
        "rule": setting.rule,
        "requested": setting.requested,
        "default": setting.default,
    }
    if setting.leaves is not None:
        value["leaves"] = {**setting.leaves}
    return value


def finding_object(finding: Finding) -> JsonObject:
    """Return a finding as a JSON object."""
    value: JsonObject = {
        "rule": finding.rule,
        "severity": finding.severity,
        "stage": finding.stage,
        "message": finding.message,
        "causes": [_cause(cause) for cause in finding.causes],
        "source": finding.source,
        "evidence": finding.evidence,
    }
    if finding.workaround is not None:
        value["workaround"] = finding.workaround
    if finding.reference is not None:
        value["reference"] = finding.reference
    return value


def _cause(cause: Cause) -> JsonObject:
    value: JsonObject = {"text": cause.text, "origin": cause.origin}
    if cause.rule is not None:
        value["rule"] = cause.rule
    value["depth"] = cause.depth
    return value


def _undetermined(one: Undetermined) -> JsonObject:
    return {"rule": one.rule, "needs": list(one.needs)}


def fix_object(fix: Fix) -> JsonObject:
    """Return a fix as a JSON object."""
    value: JsonObject = {"changes": fix.changes, "release": fix.release, "verdict": fix.verdict}
    value["gives_up"] = fix.gives_up
    if fix.peer_changes is not None:
        value["peer_changes"] = fix.peer_changes
    return value


def _writable(value: Json) -> Json:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_writable(item) for item in value]
    if isinstance(value, dict):
        return {key.encode("utf-8", "replace").decode(): _writable(item) for key, item in value.items()}
    return value
