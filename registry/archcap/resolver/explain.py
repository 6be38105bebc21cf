"""Why a setting has its value: every statement that wrote it, with the causes of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from archcap.errors import RequestError
from archcap.model.base import Json
from archcap.model.engine import SettingSpan
from archcap.model.request import Request
from archcap.model.resolution import Cause, SettingValue
from archcap.resolver.answer import settings_of
from archcap.resolver.causes import causes_of, causes_of_absence
from archcap.resolver.history import touches
from archcap.resolver.knowledge import SnapshotView
from archcap.resolver.outcome import outcome_of, statement_of
from archcap.resolver.subject import subject_of, unknown
from archcap.rules.run import KIND, NAME, STATEMENT, VALUE, Kind, Unknown


@dataclass(frozen=True, slots=True)
class Write:
    """One statement that wrote the setting."""

    rule: str
    step: str
    path: str
    """The setting or its leaf."""
    value: Json
    causes: tuple[Cause, ...]
    source: str | None
    decided: bool = True
    """False when the value hangs on something unknown; *value* is None then."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """How one setting came to its value, first write first."""

    setting: str
    release: str
    outcome: SettingValue | None
    """None when neither the user nor a rule touched it."""
    default: Json
    writes: tuple[Write, ...]
    left_alone: tuple[Cause, ...]
    """When nothing wrote it: what kept its writers away."""


def explain(request: Request, snapshot: SnapshotView, setting: str) -> Explanation:
    """Explain why *setting* has its value for *request*.

    Raises:
        RequestError: as `resolve`, and `unknown-setting` when the release has no such setting.
    """
    outcome = outcome_of(subject_of(request, snapshot), snapshot)
    view = outcome.subject.view
    head, _, part = setting.partition(".")
    if head not in view.spans:
        raise unknown("setting", setting, view.spans)
    span = view.spans[head]
    if part and not _has_part(span, part):
        raise unknown("setting", setting, [f"{head}.{path}" for path in span.fields] or [head])
    writes: list[Write] = []
    for index, event in enumerate(outcome.run.trace):
        if event[KIND] != Kind.SET or not touches(event[NAME], setting):
            continue
        value, decided = _part(event[VALUE], event[NAME], setting), True
        if isinstance(value, Unknown):
            value, decided = None, False
        path = max(event[NAME], setting, key=len)
        if path != event[NAME] and writes and (writes[-1].decided, writes[-1].value) == (decided, value):
            continue  # the whole was written and left this part as it was
        info = statement_of(outcome.subject, event[STATEMENT])
        writes.append(Write(info.id, info.step, path, value, causes_of(outcome, index), info.source, decided))
    left = () if writes else causes_of_absence(outcome, head)
    return Explanation(
        setting, view.release, settings_of(outcome).get(head), view.defaults.get(head), tuple(writes), left
    )


def _has_part(span: SettingSpan, part: str) -> bool:
    """Return whether a setting has a part; of a structure that declares none, anything may be one."""
    if not span.fields:
        return span.type in ("struct", "any")
    return any(path == part or path.startswith(part + ".") for path in span.fields)


def _part(value: Json | Unknown, written: str, setting: str) -> Json | Unknown:
    """Return what a value written to *written* holds of *setting*; the value itself where that is no part of it."""
    for key in setting.removeprefix(written).split(".")[1:] if setting.startswith(written + ".") else ():
        value = value.get(key) if isinstance(value, Mapping) else value
    return value


__all__ = ["Explanation", "RequestError", "Write", "explain"]
