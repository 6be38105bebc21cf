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
from archcap.rules.run import Kind, Run, Unknown
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
    compiled = isinstance(run.settings, Settled)
    writes, leaves = _last_writes(outcome)
    settings: dict[str, SettingValue] = {}
    for name in dict.fromkeys([*given, *writes]):
        write, asked, default = writes.get(name), given.get(name), defaults.get(name)
        if write is None:
            settings[name] = SettingValue(settled[name], "user", None, asked, default)
        elif name in leaves:
            settings[name] = SettingValue(settled[name], "rule", write[0], asked, default, leaves[name])
        else:  # a write that may not have happened may leave a value that is known all the same
            value = write[1] if compiled else settled[name]
            settings[name] = SettingValue(value, "rule", write[0], asked, default)
    for name in _unsure(run):
        settings[name] = SettingValue(None, "unknown", None, given.get(name), defaults.get(name))
    return settings


def _last_writes(outcome: Outcome) -> tuple[dict[str, tuple[str, Json]], dict[str, dict[str, str]]]:
    """Return the rule that wrote each setting last and what it wrote, and of a setting in parts each part's rule."""
    statements = outcome.subject.view.program.statements
    last: dict[str, tuple[str, Json]] = {}
    leaves: dict[str, dict[str, str]] = {}
    for kind, index, name, value in outcome.run.trace:
        if kind is _SET:
            rule = statements[index].id
            if "." in name:
                name, _, leaf = name.partition(".")
                leaves.setdefault(name, {})[leaf] = rule
            last[name] = rule, value
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
    for name, declared in subject.view.names.vars.items():
        value = run.vars.get(name)
        if declared.plan is not None and value is not None and not isinstance(value, Unknown):
            plan[declared.plan] = value
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
