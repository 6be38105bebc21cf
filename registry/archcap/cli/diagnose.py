"""`capctl diagnose`: from a traceback or log to the finding behind it, with causes and fixes."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from archcap.cli import FOUND, UNKNOWN
from archcap.cli.command import Parser, Session
from archcap.cli.console import Console
from archcap.cli.files import read_text, said_place
from archcap.cli.launch import add_launch_options, asked, use_source
from archcap.cli.text import finding_text, fix_text
from archcap.errors import RequestError
from archcap.model.base import JsonObject
from archcap.model.codec import dumps, finding_object, fix_object
from archcap.model.resolution import Resolution
from archcap.resolver import resolve
from archcap.resolver.diagnose import Diagnosis, Failure, diagnose, launch_line, launch_marks, read_failures

SUMMARY = "say which rule a traceback is about, why, and what would help"
TAKES_COMMAND = True
CUT_OFF = "An exception that the log does not name"
_WAYS = {"hardware": "--gpu and --gpus", "hw": "--gpu and --gpus", "env": "--env"}


def configure(parser: Parser) -> None:
    """Declare the options."""
    parser.add_argument("log", metavar="LOG", help="a file that holds the traceback or log, or - for stdin")
    add_launch_options(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace, session: Session) -> int:
    """Read, resolve, match and write; 1 when a finding matches, 3 when none does."""
    text = read_text(args.log)
    failures = failures_of(text, said_place(args.log))
    use_source(args, session)
    _launch_of(text, args, session)
    question = asked(args, session, fixes=True)
    answer = resolve(question.request, session.snapshot)
    for note in (*question.notes, *session.notes):
        session.console.say(f"capctl: {note}")
    found = diagnose(failures, answer, session.snapshot.release(answer.engine, answer.release))
    if args.format == "json":
        session.console.write_bytes(dumps(to_object(found, answer), indent=2))
    else:
        session.console.write(render(found, answer, session))
    return FOUND if found.matched else UNKNOWN


def failures_of(text: str, place: str) -> tuple[Failure, ...]:
    """Return the exceptions that a log tells of, at least one.

    Args:
        text: the log.
        place: what a complaint calls it.
    Raises:
        RequestError: `no-traceback`.
    """
    failures = read_failures(text)
    if not failures:
        said = f"{place} holds no traceback" if text.strip() else f"{place} is empty"
        raise RequestError("no-traceback", said, "paste the log from its first frame to the line of the exception")
    return failures


def _launch_of(text: str, args: argparse.Namespace, session: Session) -> None:
    """Take the launch command from the log where none is given."""
    if session.pasted is not None or args.command is not None:
        return
    engine = (args.engine or session.default_engine).partition("@")[0]
    if engine not in session.snapshot.engine_names:
        return  # what is wrong with the name is told where it is used
    line = launch_line(text, launch_marks(session.snapshot.engine(engine)))
    if line is not None:
        session.pasted = [line]
        session.console.say(f"capctl: the launch command is taken from the log: {line}")


def to_object(found: Diagnosis, answer: Resolution) -> JsonObject:
    """Return the JSON form."""
    return {
        "exception": found.failure.exception,
        "message": found.failure.message,
        "frames": [asdict(frame) for frame in found.failure.frames],
        "verdict": answer.verdict,
        "matched": [finding_object(one) for one in found.matched],
        "other": [finding_object(one) for one in found.other],
        "undecided": [{"rule": one.rule, "needs": list(one.needs)} for one in found.undecided],
        "fixes": [fix_object(one) for one in answer.fixes or ()],
    }


def undecided_lines(found: Diagnosis) -> list[str]:
    """Return what to give so that the rules where the exception passed can be decided; nothing when one is met."""
    if found.matched or not found.undecided:
        return []
    rows = [f"  {one.rule} needs {', '.join(one.needs)}" for one in found.undecided]
    needs = dict.fromkeys(need for one in found.undecided for need in one.needs)
    # What is assumed of a machine follows from the machine: where that is missing, only it has to be given.
    bare = "hardware" in needs
    ways = dict.fromkeys(_way(need) for need in needs if not (bare and need.startswith("assumption.")))
    return ["What stands in these functions cannot be decided with what is given:", *rows, f"Give {', '.join(ways)}."]


def _way(need: str) -> str:
    """Return the option that gives what a rule needs."""
    peer, need = need.startswith("peer."), need.removeprefix("peer.")
    if peer:
        return "--peer with the other server's whole launch"
    if need.startswith("assumption."):
        return f"--assume {need.removeprefix('assumption.')}=VALUE"
    return _WAYS.get(need.partition(".")[0], "--config with the checkpoint's config.json")


def render(found: Diagnosis, answer: Resolution, session: Session) -> str:
    """Return the diagnosis as text."""
    console: Console = session.console
    last = found.failure.frames[-1]
    what = found.failure.exception or CUT_OFF
    lines = [console.paint(f"{what} in {last.function}, {last.file} line {last.line}", "bold"), ""]
    lines += [finding_text(one, console) for one in found.matched]
    lines += undecided_lines(found)
    if not found.matched and not found.undecided:
        lines.append(f"No rule of {answer.engine} {answer.release} that this launch meets stands in these functions.")
    if found.failure.exception is None and len(found.matched) != 1:
        lines.append("The log ends before the line of the exception; with it, it is told apart what this is about.")
    if found.other:
        lines += ["", "The launch itself meets:", *(finding_text(one, console) for one in found.other)]
    if answer.fixes:
        view = session.snapshot.release(answer.engine, answer.release)
        rows = [f"  {fix_text(one, answer, view, session.snapshot)}" for one in answer.fixes]
        lines += ["", console.paint("fixes, smallest first", "bold"), *rows]
    return "\n".join(lines)
