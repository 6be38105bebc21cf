"""Why a setting has its value: every statement that wrote it, with the causes of each."""

from __future__ import annotations

from dataclasses import dataclass

from archcap.errors import RequestError
from archcap.model.base import Json
from archcap.model.request import Request
from archcap.model.resolution import Cause, SettingValue
from archcap.resolver.answer import settings_of
from archcap.resolver.causes import causes_of, causes_of_absence
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
    head = setting.split(".", 1)[0]
    if head not in view.spans:
        raise unknown("setting", setting, view.spans)
    writes = []
    for index, event in enumerate(outcome.run.trace):
        if event[KIND] == Kind.SET and (event[NAME] == setting or event[NAME].startswith(setting + ".")):
            info = statement_of(outcome.subject, event[STATEMENT])
            value = None if isinstance(event[VALUE], Unknown) else event[VALUE]
            decided = not isinstance(event[VALUE], Unknown)
            causes = causes_of(outcome, index)
            writes.append(Write(info.id, info.step, event[NAME], value, causes, info.source, decided))
    left = () if writes else causes_of_absence(outcome, head)
    return Explanation(
        setting, view.release, settings_of(outcome).get(head), view.defaults.get(head), tuple(writes), left
    )


__all__ = ["Explanation", "RequestError", "Write", "explain"]
