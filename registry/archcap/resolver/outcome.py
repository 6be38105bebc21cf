"""One run and what it amounts to: the verdict and what stands in the way.

Cheap enough to try hundreds of variations.
"""

from __future__ import annotations

from collections.abc import Iterator

from archcap.model.base import Json
from archcap.model.resolution import Verdict
from archcap.model.values import plain_record
from archcap.resolver.history import History
from archcap.resolver.inputs import inputs_of
from archcap.resolver.knowledge import SnapshotView
from archcap.resolver.subject import Subject
from archcap.rules.run import KIND, NAME, STATEMENT, Event, Inputs, Kind, Run, StatementInfo, Unknown

_ENDS = (Kind.FINDING, Kind.REFUSED)
_BLOCKS = ("error", "unsafe")


@plain_record
class Outcome:
    """A run with its verdict.

    Attributes:
        ends: indices into the trace of its findings and the refusal, in order.
        blockers: those that stand in the way.
        barred: why the launch never reaches the rules' verdict: a value outside its choices, an unknown architecture.
    """

    subject: Subject
    inputs: Inputs
    run: Run
    verdict: Verdict
    ends: tuple[int, ...]
    blockers: tuple[int, ...]
    barred: tuple[Bar, ...]
    history: History


@plain_record
class Bar:
    """A refusal that needs no rule."""

    rule: str
    setting: str | None
    value: Json


def outcome_of(subject: Subject, snapshot: SnapshotView) -> Outcome:
    """Run the release's rules on *subject*."""
    inputs = inputs_of(subject, snapshot)
    run = subject.view.program.run(inputs)
    bars = tuple(_bars(subject))
    ends = tuple([at for at, event in enumerate(run.trace) if event[KIND] in _ENDS])
    blockers = tuple(at for at in ends if _stands_in_the_way(subject, run.trace[at]))
    verdict = _verdict(subject, run, blockers, bars)
    return Outcome(subject, inputs, run, verdict, ends, blockers, bars, History(run, inputs))


def _bars(subject: Subject) -> Iterator[Bar]:
    view = subject.view
    for name, value in subject.settings.items():
        span = view.spans[name]
        if (
            span.choices
            and not span.open_choices
            and value is not None
            and any(v not in span.choices for v in _each(value))
        ):
            yield Bar("settings.choice", name, value)
    if subject.architecture is not None and subject.architecture not in view.architectures:
        yield Bar("architecture.unknown", None, subject.architecture)


def _each(value: Json) -> list[Json]:
    return value if isinstance(value, list) else [value]


def _stands_in_the_way(subject: Subject, event: Event) -> bool:
    return event[KIND] == Kind.REFUSED or statement_of(subject, event[STATEMENT]).severity in _BLOCKS


def statement_of(subject: Subject, index: int) -> StatementInfo:
    """Return what is fixed about a statement of the subject's release."""
    return subject.view.program.statements[index]


def _verdict(subject: Subject, run: Run, blockers: tuple[int, ...], bars: tuple[Bar, ...]) -> Verdict:
    if run.refused is not None or bars:
        return "refused"
    if blockers:
        return "unsafe"
    if any(statement_of(subject, index).severity in _BLOCKS for index, _ in run.undetermined):
        return "unknown"
    return "adjusted" if any(adjusted_settings(subject, run)) else "ok"


def adjusted_settings(subject: Subject, run: Run) -> Iterator[str]:
    """Yield the settings whose value the user gave and the engine changed; respelling a value is no change."""
    for name, asked in subject.settings.items():
        span = subject.view.spans[name]
        if asked is None or (span.sentinel is not None and asked == span.sentinel):
            continue
        value = run.settings.get(name)
        if not isinstance(value, Unknown) and value != asked and not _respelled(subject, run, name):
            yield name


def _respelled(subject: Subject, run: Run, name: str) -> bool:
    writes = [event for event in run.trace if event[KIND] == Kind.SET and event[NAME] == name]
    return bool(writes) and all(statement_of(subject, event[STATEMENT]).alias for event in writes)
