"""Puts an outcome into the form of design section 7."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

from archcap.model.base import Json, JsonObject
from archcap.model.resolution import Fix, Resolution, SettingValue, Undetermined
from archcap.resolver import wording
from archcap.resolver.findings import findings_of
from archcap.resolver.outcome import Outcome, statement_of
from archcap.resolver.subject import Subject
from archcap.rules.run import KIND, NAME, STATEMENT, VALUE, Event, Kind, Run, Unknown
from archcap.rules.runtime import Settled

_SET = Kind.SET


def answer_of(outcome: Outcome, digest: str, fixes: tuple[Fix, ...] | None) -> Resolution:
    """Return the resolution; *fixes* None when none were asked for."""
    subject, run = outcome.subject, outcome.run
    return Resolution(
        verdict=outcome.verdict,
        engine=subject.request.engine,
        release=subject.view.release,
        release_match="exact" if subject.exact else "nearest",
        architecture=subject.architecture,
        settings=settings_of(outcome),
        findings=findings_of(outcome),
        undetermined=_undetermined(outcome),
        fixes=fixes,
        plan=_plan(subject, run),
        assumptions=_assumptions(outcome),
        command=command_of(subject, subject.settings),
        snapshot=digest,
        env={name: _env_text(value) for name, value in run.env.items()},
        notes=tuple(_notes(outcome, fixes)),
        id=subject.request.id,
        peer=None if outcome.peer is None else answer_of(outcome.peer, digest, None),
    )


def settings_of(outcome: Outcome) -> dict[str, SettingValue]:
    """Return every setting the user gave or a rule wrote, with who decided it."""
    run, given, defaults = outcome.run, outcome.subject.settings, outcome.subject.view.defaults
    settled = cast(Mapping[str, Json], run.settings)  # what is unknown is replaced at the end
    statements = outcome.subject.view.program.statements
    last, leaves = _last_writes(run.trace)
    compiled = isinstance(run.settings, Settled)  # else a write may not have happened, and the value be known anyway
    asked_for, by_default = given.get, defaults.get
    settings = {
        name: SettingValue(settled[name], "user", None, asked, by_default(name)) for name, asked in given.items()
    }
    for name, event in last.items():
        value, rule = event[VALUE] if compiled else settled[name], statements[event[STATEMENT]].id
        if name in leaves:
            settings[name] = SettingValue(
                settled[name], "rule", rule, asked_for(name), by_default(name),
                {part: statements[at].id for part, at in leaves[name].items()},
            )  # fmt: skip
        else:
            settings[name] = SettingValue(value, "rule", rule, asked_for(name), by_default(name))
    for name in _unsure(run):
        settings[name] = SettingValue(None, "unknown", None, given.get(name), defaults.get(name))
    return settings


def _last_writes(trace: Iterable[Event]) -> tuple[dict[str, Event], dict[str, dict[str, int]]]:
    """Return what wrote each setting last, and of a setting in parts the statement that did each part."""
    last: dict[str, Event] = {}
    leaves: dict[str, dict[str, int]] = {}
    for event in trace:
        if event[KIND] is _SET:
            name = event[NAME]
            if "." in name:
                name, _, leaf = name.partition(".")
                leaves.setdefault(name, {})[leaf] = event[STATEMENT]
            last[name] = event
    return last, leaves


def _unsure(run: Run) -> Iterable[str]:
    """Return the settings that are unknown at the end; compiled rules leave none."""
    if run.exact or isinstance(run.settings, Settled):
        return ()
    return [name for name, value in run.settings.items() if isinstance(value, Unknown)]


def _undetermined(outcome: Outcome) -> tuple[Undetermined, ...]:
    needs: dict[str, set[str]] = {}
    for index, wants in outcome.run.undetermined:
        needs.setdefault(statement_of(outcome.subject, index).id, set()).update(wants)
    own = tuple(Undetermined(rule, tuple(sorted(wants))) for rule, wants in needs.items())
    if outcome.peer is None or outcome.peer.verdict != "unknown":
        return own
    theirs = _undetermined(outcome.peer)
    return (*own, *(Undetermined(one.rule, tuple(f"peer.{need}" for need in one.needs)) for one in theirs))


def _plan(subject: Subject, run: Run) -> JsonObject:
    plan: JsonObject = {}
    for name, key in subject.view.planned.items():
        value = run.vars.get(name)
        if value is not None and not isinstance(value, Unknown):
            plan[key] = value
    return plan


def _assumptions(outcome: Outcome) -> tuple[str, ...]:
    declared = outcome.subject.view.names.assumptions
    read = dict.fromkeys(outcome.run.assumptions_read)
    return tuple(wording.declared_text(declared[name].says, outcome.inputs.assume.get(name)) for name in read)


def command_of(subject: Subject, settings: Mapping[str, Json]) -> str:
    """Return the launch command for *settings*."""
    view = subject.view
    return view.code.format_command(settings, view.spans, view.engine.launch)


def _env_text(value: Json | Unknown) -> str:
    return "unknown" if isinstance(value, Unknown) else "1" if value is True else "0" if value is False else str(value)


def _notes(outcome: Outcome, fixes: tuple[Fix, ...] | None) -> Iterable[str]:
    subject = outcome.subject
    if not subject.exact:
        yield wording.nearest_release(subject.request.release, subject.view.release)
    if fixes == () and outcome.verdict in ("refused", "unsafe"):
        yield wording.no_fix(None if outcome.peer is None else outcome.peer.verdict)
