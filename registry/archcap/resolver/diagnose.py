"""Traces a pasted traceback to the findings of the launch it came from.

Reads text and an answer; resolves nothing itself. Knows no engine: sources name frames.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from archcap.model.engine import Engine
from archcap.model.resolution import Finding, Resolution

MAX_FRAMES = 400
_FRAME = re.compile(r'File "(?P<file>[^"\n]{1,500})", line (?P<line>\d{1,9}), in (?P<function>[\w.<>]{1,200})')
_START = "Traceback (most recent call last):"
_RAISED = re.compile(r"^(?P<type>[A-Za-z_][\w.]{0,200}(?:Error|Exception|Interrupt|Exit|Warning))(?:: (?P<said>.*))?$")
_PREFIX = re.compile(r"^\s*(?:\([^)\n]{1,80}\)\s+|\[[^\]\n]{1,80}\]\s+)*")


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of a traceback: the file as it was printed, and the function."""

    file: str
    line: int
    function: str


@dataclass(frozen=True, slots=True)
class Failure:
    """What a log says of an exception: its frames, outermost first, its type and its words."""

    frames: tuple[Frame, ...]
    exception: str
    message: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Findings that stand where the exception passed, the innermost first, and what else stops the launch."""

    failure: Failure
    matched: tuple[Finding, ...]
    other: tuple[Finding, ...]


def read_failure(text: str) -> Failure | None:
    """Return the last exception that *text* tells of, or None.

    Args:
        text: a traceback, or a log that holds some; prefixes such as `[2026-01-01 TP0]` are passed over.
    """
    lines = [_PREFIX.sub("", line).rstrip() for line in text.splitlines()]
    starts = [number for number, line in enumerate(lines) if line.endswith(_START)]
    for start in reversed(starts):
        frames: list[Frame] = []
        for line in lines[start + 1 :]:
            if line.endswith(_START):
                break
            if found := _FRAME.search(line):
                frames.append(Frame(found["file"], int(found["line"]), found["function"]))
            elif frames and (raised := _RAISED.match(line)):
                return Failure(tuple(frames[-MAX_FRAMES:]), raised["type"].rpartition(".")[2], raised["said"] or "")
    return None


def gist(text: str, marks: tuple[str, ...]) -> str:
    """Return what a diagnosis reads of *text*: the launch command, and the last exception without its code lines."""
    failure, command = read_failure(text), launch_line(text, marks)
    lines = [] if command is None else [command]
    if failure is not None:
        lines.append(_START)
        lines += [f'  File "{one.file}", line {one.line}, in {one.function}' for one in failure.frames]
        lines.append(f"{failure.exception}: {failure.message}" if failure.message else failure.exception)
    return "\n".join(lines)


def launch_marks(engine: Engine) -> tuple[str, ...]:
    """Return what a line that launches *engine* holds: the word that starts it, or its console command."""
    return (*engine.launch[-1:], f"{engine.engine} serve")


def launch_line(text: str, marks: tuple[str, ...]) -> str | None:
    """Return the launch command in *text*: from the first line that holds one of *marks*, with its continued lines."""
    lines = iter(text.splitlines())
    for line in lines:
        if any(mark in line for mark in marks) and not line.lstrip().startswith("File "):
            whole = line
            while whole.endswith("\\"):
                whole = whole[:-1] + next(lines, "")
            return whole.strip().removeprefix("$ ")
    return None


def diagnose(failure: Failure, answer: Resolution) -> Diagnosis:
    """Match *failure* to what *answer* finds wrong with the launch, by file and function."""
    stops = [one for one in answer.findings if one.severity in ("error", "unsafe", "silent")]
    depths = {id(one): _depth(one, failure.frames) for one in stops}
    matched = sorted((one for one in stops if depths[id(one)] >= 0), key=lambda one: -depths[id(one)])
    other = tuple(one for one in stops if depths[id(one)] < 0 and one.severity != "silent")
    return Diagnosis(failure, tuple(matched), other)


def _depth(finding: Finding, frames: tuple[Frame, ...]) -> int:
    """Return the index of the innermost frame at the finding's source, -1 when there is none."""
    path, _, function = (finding.source or "").partition(":")
    name = function.rpartition(".")[2]
    for index in range(len(frames) - 1, -1, -1):
        frame = frames[index]
        file = frame.file.replace("\\", "/")
        if path and name and file.endswith("/" + path) and frame.function.rpartition(".")[2] == name:
            return index
    return -1
