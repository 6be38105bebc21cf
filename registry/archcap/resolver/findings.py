"""The findings of a run: refusals, warnings, and user values replaced without a word."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from archcap.model.base import Json
from archcap.model.resolution import Cause, Finding, deciding
from archcap.resolver import wording
from archcap.resolver.causes import causes_of
from archcap.resolver.outcome import CHOICE, Bar, Outcome, statement_of
from archcap.rules.run import KIND, NAME, STATEMENT, VALUE, Kind
from archcap.suggest import nearest_names

_SET = Kind.SET


def findings_of(outcome: Outcome) -> tuple[Finding, ...]:
    """Return what the launch would meet, in the order it would meet it."""
    parse = [_barred(outcome, bar) for bar in outcome.barred if bar.rule == CHOICE]
    late = [_barred(outcome, bar) for bar in outcome.barred if bar.rule != CHOICE]
    return (*parse, *_traced(outcome), *late, *_of_peer(outcome))


def _of_peer(outcome: Outcome) -> Iterator[Finding]:
    """Yield that the other server of a pair does not serve, with what stands in its way."""
    peer = outcome.peer
    first = deciding(peer.verdict, findings_of(peer)) if peer is not None else None
    if peer is None or first is None:
        return
    message = wording.of_peer(peer.verdict, first.message)
    causes = tuple(replace(cause, text=wording.peers(cause.text)) for cause in first.causes)
    yield Finding(first.rule, "unsafe", first.stage, message, causes, first.source, first.evidence,
                  first.workaround, first.reference)  # fmt: skip


def _traced(outcome: Outcome) -> Iterator[Finding]:
    told = [*outcome.ends, *_silent_writes(outcome)] if outcome.adjusted else outcome.ends
    for at in sorted(told):
        yield _replaced(outcome, at) if outcome.run.trace[at][KIND] is _SET else _finding(outcome, at)


def _silent_writes(outcome: Outcome) -> list[int]:
    """Return where in the trace a value that the user gave is replaced without a word."""
    trace, history = outcome.run.trace, outcome.history
    written = [(name, at) for name in outcome.adjusted for at in history.writes(len(trace), _SET, name)]
    return [at for name, at in written if trace[at][NAME] == name and not _is_logged(outcome, trace[at][STATEMENT])]


def _is_logged(outcome: Outcome, statement: int) -> bool:
    return statement_of(outcome.subject, statement).logged


def _finding(outcome: Outcome, index: int) -> Finding:
    event = outcome.run.trace[index]
    info = statement_of(outcome.subject, event[STATEMENT])
    raised = outcome.run.raised if event[KIND] == Kind.REFUSED else None
    values: dict[str, Json] = event[VALUE] if isinstance(event[VALUE], dict) else {}
    message = wording.raised(raised) if raised else wording.fill(info.text or info.id, values)
    severity = "error" if event[KIND] == Kind.REFUSED else info.severity or "info"
    causes = () if severity == "info" else causes_of(outcome, index)  # what is merely said asks for no cure
    return Finding(
        info.id, severity, info.stage, message, causes, info.source, info.evidence, info.workaround, info.reference
    )  # fmt: skip


def _replaced(outcome: Outcome, index: int) -> Finding:
    event = outcome.run.trace[index]
    info = statement_of(outcome.subject, event[STATEMENT])
    message = wording.replaced(event[NAME], outcome.subject.settings[event[NAME]], event[VALUE])
    return Finding(info.id, "silent", info.stage, message, causes_of(outcome, index), info.source, info.evidence)


def _barred(outcome: Outcome, bar: Bar) -> Finding:
    view = outcome.subject.view
    if bar.setting is not None:
        closed = bar.rule == CHOICE
        say = wording.not_a_choice if closed else wording.not_registered
        message = say(bar.setting, bar.value, view.spans[bar.setting].choices)
        cause = Cause(wording.setting_is(bar.setting, bar.value), "user")
        return Finding(bar.rule, "error", "parse" if closed else "load", message, (cause,), None, "source")
    name = str(bar.value)
    elsewhere = view.all_architectures.get(name)
    near = nearest_names(name, view.architectures)
    message = wording.unknown_architecture(view, name, elsewhere, near)
    return Finding(
        bar.rule, "error", "load", message, (Cause(f"the architecture is {name}", "config"),), None, "source"
    )
