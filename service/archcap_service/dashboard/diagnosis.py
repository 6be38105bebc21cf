"""What the diagnosis page shows: the exception of a pasted log, the findings it is about, and what would help.

Knows answers; knows no template and no request. What it finds is what `capctl diagnose` finds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from archcap.cli.diagnose import failures_of, to_object, undecided_lines
from archcap.errors import RequestError
from archcap.model.base import JsonObject
from archcap.model.resolution import Finding
from archcap.resolver.diagnose import Diagnosis, diagnose, launch_line, launch_marks
from archcap.snapshot import Snapshot
from archcap_service.dashboard.check import Answered, Found, LaunchForm, answered, launch_form
from archcap_service.dashboard.question import LONGEST_LINK, Question, encoded
from archcap_service.dashboard.render import link


@dataclass(frozen=True, slots=True)
class Diagnosed:
    """A log with the answer to its launch.

    Attributes:
        diagnosis: what was matched.
        answered: the launch, laid out as the launch check does.
        matched, other: the findings where the exception passed, and what else stops the launch.
        undecided: what to give, where nothing is matched for want of it.
        command: the launch command, where it was taken from the log.
        check: the link to the same launch in the launch check; None when it is too long for one.
    """

    diagnosis: Diagnosis
    answered: Answered
    matched: tuple[Found, ...]
    other: tuple[Found, ...]
    undecided: list[str]
    command: str | None
    check: str | None


@dataclass(frozen=True, slots=True)
class DiagnosisPage:
    """The form, and below it the diagnosis, or what is wrong with what was pasted."""

    engine: str
    release: str
    releases: tuple[str, ...]
    form: LaunchForm
    path: str | None
    answer: Diagnosed | None
    problem: RequestError | None


def diagnosis_page(question: Question, snapshot: Snapshot, max_depth: int) -> DiagnosisPage:
    """Return the page for *question*; one that cannot be answered says why.

    Raises:
        RequestError: `unknown-engine`.
    """
    answer, problem = None, None
    releases = tuple(snapshot.releases(question.engine))
    if question.log.strip():
        try:
            answer = diagnosed(question, snapshot, max_depth)
        except RequestError as error:
            problem = error
    return DiagnosisPage(
        engine=question.engine,
        release=answer.answered.resolution.release if answer else releases[-1],
        releases=releases,
        form=launch_form(question, snapshot),
        path=diagnosis_link(question, snapshot),
        answer=answer,
        problem=problem,
    )


def diagnosis_link(question: Question, snapshot: Snapshot, page: str = "diagnose") -> str | None:
    """Return the link that repeats *question* with what is read of its log; None when it is too long for one."""
    path = link(page, q=encoded(question, launch_marks(snapshot.engine(question.engine))))
    return path if len(path) <= LONGEST_LINK else None


def diagnosed(question: Question, snapshot: Snapshot, max_depth: int) -> Diagnosed:
    """Read the log, resolve the launch, and match the two.

    Raises:
        RequestError: `no-traceback`, or the launch cannot be read.
    """
    failures = failures_of(question.log, "The text")
    command = None
    if not question.command.strip():
        command = launch_line(question.log, launch_marks(snapshot.engine(question.engine)))
    asked = question.model_copy(update={"command": command or question.command, "log": ""})
    answer = answered(asked, snapshot, max_depth)
    resolution = answer.resolution
    found = diagnose(failures, resolution, snapshot.release(resolution.engine, resolution.release))
    return Diagnosed(
        diagnosis=found,
        answered=answer,
        matched=_laid_out(found.matched, answer),
        other=_laid_out(found.other, answer),
        undecided=undecided_lines(found),
        command=command,
        check=diagnosis_link(asked, snapshot, "check"),
    )


def _laid_out(findings: Iterable[Finding], answer: Answered) -> tuple[Found, ...]:
    shown = {id(one.finding): one for one in answer.found}
    return tuple(shown[id(one)] for one in findings)


def twin(question: Question, snapshot: Snapshot, max_depth: int) -> JsonObject:
    """Return what `capctl diagnose --format json` prints of the same log and launch.

    Raises:
        RequestError: as `diagnosed`.
    """
    found = diagnosed(question, snapshot, max_depth)
    return to_object(found.diagnosis, found.answered.resolution)
