"""Traces a pasted traceback to the findings of the launch it came from.

Reads text and an answer; resolves nothing itself. Knows no engine: sources name frames.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from archcap.model.engine import Engine
from archcap.model.resolution import Finding, Resolution, Undetermined
from archcap.resolver.knowledge import ReleaseView

MAX_FRAMES = 400
MAX_FAILURES = 8
"""The last ones of a log are looked at: what failed first is told by what failed in its wake, within this many."""
_FRAME = re.compile(r'File "(?P<file>[^"\n]{1,500})", line (?P<line>\d{1,9}), in (?P<function>[\w.<>]{1,200})')
_START = "Traceback (most recent call last):"
_STACK = "Stack (most recent call last):"
_RAISED = re.compile(r"^(?P<type>[A-Za-z_][\w.]{0,200}(?:Error|Exception|Interrupt|Exit|Warning))(?:: (?P<said>.*))?$")
_PREFIX = re.compile(r"^\s*(?:\([^)\n]{1,80}\)\s+|\[[^\]\n]{1,80}\]\s+)*")
_COLOUR = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
_STOPS = ("error", "unsafe", "silent")


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of a traceback: the file as it was printed, and the function."""

    file: str
    line: int
    function: str


@dataclass(frozen=True, slots=True)
class Failure:
    """What a log says of an exception: its frames, outermost first, its type (None: cut off) and its words."""

    frames: tuple[Frame, ...]
    exception: str | None
    message: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Where an exception passed, and what of the launch stands there.

    Attributes:
        failure: the exception that is told about.
        matched: findings that stand where it passed, the innermost first.
        other: what else stops the launch.
        undecided: rules that stand where it passed, and that need more than was given, the innermost first.
    """

    failure: Failure
    matched: tuple[Finding, ...]
    other: tuple[Finding, ...]
    undecided: tuple[Undetermined, ...] = ()


@dataclass(slots=True)
class _Open:
    """A traceback of which more may follow."""

    wanted: bool = True
    frames: list[Frame] = field(default_factory=list)


def read_failures(text: str) -> tuple[Failure, ...]:
    """Return the last exceptions that *text* tells of, in their order.

    Args:
        text: tracebacks, or a log that holds some, whole or cut off at either end; colours and prefixes such as
            `[2026-01-01 TP0]` are passed over.
    """
    found: list[Failure] = []
    seen = _Open()
    for raw in plain(text).splitlines():
        line = _PREFIX.sub("", raw).rstrip()
        if line.endswith((_START, _STACK)):
            _close(seen, found)
            seen = _Open(line.endswith(_START))
        elif frame := _FRAME.search(line):
            seen.frames.append(Frame(frame["file"], int(frame["line"]), frame["function"]))
        elif seen.frames and (raised := _RAISED.match(line)):
            _close(seen, found, raised["type"].rpartition(".")[2], raised["said"] or "")
            seen = _Open()
    _close(seen, found)
    return tuple(found[-MAX_FAILURES:])


def _close(seen: _Open, found: list[Failure], exception: str | None = None, message: str = "") -> None:
    """Keep what was seen of a traceback; a stack that somebody only logged is none."""
    if seen.frames and seen.wanted:
        found.append(Failure(tuple(seen.frames[-MAX_FRAMES:]), exception, message))


def plain(text: str) -> str:
    """Return *text* without the escapes that colour it on a terminal."""
    return _COLOUR.sub("", text) if "\x1b" in text else text


def gist(text: str, marks: tuple[str, ...]) -> str:
    """Return what a diagnosis reads of *text*: the launch command, and the last exceptions without their code lines."""
    command = launch_line(text, marks)
    lines = [] if command is None else [command]
    for failure in read_failures(text):
        lines.append(_START)
        lines += [f'  File "{one.file}", line {one.line}, in {one.function}' for one in failure.frames]
        if failure.exception is not None:
            lines.append(f"{failure.exception}: {failure.message}" if failure.message else failure.exception)
    return "\n".join(lines)


def launch_marks(engine: Engine) -> tuple[str, ...]:
    """Return what a line that launches *engine* holds: the word that starts it, or its console command."""
    return (*engine.launch[-1:], f"{engine.engine} serve")


def launch_line(text: str, marks: tuple[str, ...]) -> str | None:
    """Return the launch command in *text*: from the first line that holds one of *marks*, with its continued lines."""
    lines = iter(plain(text).splitlines())
    for line in lines:
        if any(mark in line for mark in marks) and not line.lstrip().startswith("File "):
            whole = line
            while whole.endswith("\\"):
                whole = whole[:-1] + next(lines, "")
            return whole.strip().removeprefix("$ ")
    return None


def diagnose(failures: Sequence[Failure], answer: Resolution, view: ReleaseView) -> Diagnosis:
    """Match failures to what *answer* finds wrong with the launch, by file and function.

    The last one that a finding stands in is told about; else the last that a rule stands in which could not be decided;
    else the last that passed the engine, for what waits for a process fails after it; else the last.

    Args:
        failures: at least one, in the order of the log.
        answer: the resolved launch.
        view: the release that answered.
    """
    told = [_diagnosis(one, answer, view) for one in reversed(failures)]
    ways = (lambda one: one.matched, lambda one: one.undecided, lambda one: _inside(one.failure, view.engine))
    return next((one for way in ways for one in told if way(one)), told[0])


def _diagnosis(failure: Failure, answer: Resolution, view: ReleaseView) -> Diagnosis:
    stops = [one for one in answer.findings if one.severity in _STOPS]
    depths = {id(one): _depth(one.source, failure.frames) for one in stops}
    matched = sorted((one for one in stops if depths[id(one)] >= 0), key=lambda one: -depths[id(one)])
    other = tuple(one for one in stops if depths[id(one)] < 0 and one.severity != "silent")
    return Diagnosis(failure, tuple(matched), other, _undecided(failure, answer, view))


def _undecided(failure: Failure, answer: Resolution, view: ReleaseView) -> tuple[Undetermined, ...]:
    """Return the rules that would stop the launch where the exception passed, and could not be decided."""
    if not answer.undetermined:
        return ()
    places = {one.id: one.source for one in view.program.statements if one.severity in _STOPS}
    depths = {one.rule: _depth(places.get(one.rule), failure.frames) for one in answer.undetermined}
    there = (one for one in answer.undetermined if depths[one.rule] >= 0)
    return tuple(sorted(there, key=lambda one: -depths[one.rule]))


def _inside(failure: Failure, engine: Engine) -> bool:
    """Return whether an exception passed the engine's package."""
    folder = f"/{engine.source_root or engine.package}/"
    return any(folder in frame.file.replace("\\", "/") for frame in failure.frames)


def _depth(source: str | None, frames: tuple[Frame, ...]) -> int:
    """Return the index of the innermost frame at a rule's source, -1 when there is none."""
    path, _, function = (source or "").partition(":")
    name = function.rpartition(".")[2]
    for index in range(len(frames) - 1, -1, -1):
        frame = frames[index]
        file = frame.file.replace("\\", "/")
        if path and name and file.endswith("/" + path) and frame.function.rpartition(".")[2] == name:
            return index
    return -1
