"""One run and what it amounts to: the verdict and what stands in the way.

Cheap enough to try hundreds of variations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from archcap.model.base import Json
from archcap.model.resolution import Verdict
from archcap.model.values import plain_record
from archcap.resolver.history import History
from archcap.resolver.inputs import inputs_of
from archcap.resolver.knowledge import SnapshotView
from archcap.resolver.pair import run_of_peer, said_of_peer, verdict_in_a_pair
from archcap.resolver.subject import Subject
from archcap.rules.run import KIND, NAME, STATEMENT, Event, Inputs, Kind, Run, StatementInfo, Unknown

_FINDING, _REFUSED, _SET = Kind.FINDING, Kind.REFUSED, Kind.SET
_BLOCKS = ("error", "unsafe")


@plain_record
class Outcome:
    """A run with its verdict.

    Attributes:
        adjusted: the settings whose value the user gave and the engine changed.
        ends: indices into the trace of its findings and the refusal, in order.
        blockers: those that stand in the way.
        peer: of a linked pair, what the other server comes to.
        barred: why the launch never reaches the rules' verdict: a value outside its choices, an unknown architecture.
    """

    subject: Subject
    inputs: Inputs
    run: Run
    verdict: Verdict
    adjusted: tuple[str, ...]
    ends: tuple[int, ...]
    blockers: tuple[int, ...]
    barred: tuple[Bar, ...]
    history: History
    peer: Outcome | None = None


CHOICE = "settings.choice"
"""The bar of a value that the engine's command line refuses."""
UNREGISTERED = "settings.unregistered"
"""The bar of a name that the release does not have, where a plug-in could bring it: found when it is looked up."""


@plain_record
class Bar:
    """A refusal that needs no rule."""

    rule: str
    setting: str | None
    value: Json


def outcome_of(subject: Subject, snapshot: SnapshotView, peer: Outcome | None = None) -> Outcome:
    """Run the release's rules on *subject*.

    Args:
        subject: what is launched.
        snapshot: the registry as compiled.
        peer: what its peer comes to, where that is known already.
    """
    if peer is None and subject.peer is not None:
        with said_of_peer():
            peer = outcome_of(subject.peer, snapshot)
    inputs = inputs_of(subject, snapshot, None if peer is None else run_of_peer(peer.run, peer.verdict))
    run = subject.view.program.run(inputs)
    bars = tuple(_bars(subject))
    ends = _ends(run)
    blockers = tuple(at for at in ends if _stands_in_the_way(subject, run.trace[at]))
    history = History(run, inputs, subject.view.program.parts)
    adjusted = tuple(_adjusted(subject, run, history))
    verdict = _verdict(subject, run, blockers, bars, adjusted)
    if peer is not None:
        verdict = verdict_in_a_pair(verdict, peer.verdict)
    return Outcome(subject, inputs, run, verdict, adjusted, ends, blockers, bars, history, peer)


def _ends(run: Run) -> tuple[int, ...]:
    """Return where the trace has its findings and, at its end, the refusal."""
    if run.ends is None:
        return tuple(at for at, event in enumerate(run.trace) if event[KIND] in (_FINDING, _REFUSED))
    return tuple(run.ends) if run.refused is None else (*run.ends, len(run.trace) - 1)


def _bars(subject: Subject) -> Iterator[Bar]:
    view = subject.view
    for name, value in subject.settings.items():
        if value is None:
            continue
        if name in view.closed_choices:
            if not _among(value, view.closed_choices[name]):
                yield Bar(CHOICE, name, value)
        elif name in view.open_choices and not _among(value, view.open_choices[name]) and not _has_plugins(subject):
            yield Bar(UNREGISTERED, name, value)
    if subject.architecture is not None and subject.architecture not in view.architectures:
        yield Bar("architecture.unknown", None, subject.architecture)


def _has_plugins(subject: Subject) -> bool:
    """Return whether the request assumes that a plug-in brings names of its own."""
    return bool(subject.request.assumptions.get("plugins"))


def _among(value: Json, choices: Sequence[str | int]) -> bool:
    return all(one in choices for one in value) if isinstance(value, list) else value in choices


def _stands_in_the_way(subject: Subject, event: Event) -> bool:
    return event[KIND] is _REFUSED or statement_of(subject, event[STATEMENT]).severity in _BLOCKS


def statement_of(subject: Subject, index: int) -> StatementInfo:
    """Return what is fixed about a statement of the subject's release."""
    return subject.view.program.statements[index]


def _verdict(
    subject: Subject, run: Run, blockers: tuple[int, ...], bars: tuple[Bar, ...], adjusted: tuple[str, ...]
) -> Verdict:
    if run.refused is not None or bars:
        return "refused"
    if blockers:
        return "unsafe"
    if any(statement_of(subject, index).severity in _BLOCKS for index, _ in run.undetermined):
        return "unknown"
    return "adjusted" if adjusted else "ok"


def _adjusted(subject: Subject, run: Run, history: History) -> Iterator[str]:
    """Yield the settings whose value the user gave and the engine changed; respelling a value is no change."""
    settled = run.settings
    for name, asked in subject.settings.items():
        value = settled.get(name)
        if value == asked or asked is None or isinstance(value, Unknown):
            continue
        sentinel = subject.view.spans[name].sentinel
        if (sentinel is None or asked != sentinel) and not _respelled(subject, history, name):
            yield name


def _respelled(subject: Subject, history: History, name: str) -> bool:
    program = subject.view.program
    if not any(program.statements[index].alias for index in program.writers.get(name, ())):
        return False
    writes = [history.trace[at] for at in history.writes(len(history.trace), _SET, name)]
    whole = [event[STATEMENT] for event in writes if event[NAME] == name]
    return bool(whole) and all(program.statements[index].alias for index in whole)
