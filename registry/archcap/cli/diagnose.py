"""`capctl diagnose`: from a traceback or log to the finding behind it, with causes and fixes."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from archcap.cli import FOUND, UNKNOWN
from archcap.cli.command import Parser, Session
from archcap.cli.console import Console
from archcap.cli.files import read_text
from archcap.cli.launch import add_launch_options, asked, use_source
from archcap.cli.text import finding_text, fix_text
from archcap.errors import RequestError
from archcap.model.base import JsonObject
from archcap.model.codec import dumps, finding_object, fix_object
from archcap.model.resolution import Resolution
from archcap.resolver import resolve
from archcap.resolver.diagnose import Diagnosis, diagnose, launch_line, launch_marks, read_failure

SUMMARY = "say which rule a traceback is about, why, and what would help"
TAKES_COMMAND = True


def configure(parser: Parser) -> None:
    """Declare the options."""
    parser.add_argument("log", metavar="LOG", help="a file that holds the traceback or log, or - for stdin")
    add_launch_options(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace, session: Session) -> int:
    """Read, resolve, match and write; 1 when a finding matches, 3 when none does."""
    text = read_text(args.log)
    failure = read_failure(text)
    if failure is None:
        raise RequestError(
            "no-traceback", f"{args.log} holds no traceback", "paste it from `Traceback` to the exception"
        )
    use_source(args, session)
    _launch_of(text, args, session)
    question = asked(args, session, fixes=True)
    answer = resolve(question.request, session.snapshot)
    for note in (*question.notes, *session.notes):
        session.console.say(f"capctl: {note}")
    found = diagnose(failure, answer)
    if args.format == "json":
        session.console.write_bytes(dumps(to_object(found, answer), indent=2))
    else:
        session.console.write(render(found, answer, session))
    return FOUND if found.matched else UNKNOWN


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
        "fixes": [fix_object(one) for one in answer.fixes or ()],
    }


def render(found: Diagnosis, answer: Resolution, session: Session) -> str:
    """Return the diagnosis as text."""
    console: Console = session.console
    last = found.failure.frames[-1]
    lines = [console.paint(f"{found.failure.exception} in {last.function}, {last.file} line {last.line}", "bold"), ""]
    if found.matched:
        lines += [finding_text(one, console) for one in found.matched]
    else:
        lines.append(f"No rule of {answer.engine} {answer.release} that this launch meets stands in these functions.")
    if found.other:
        lines += ["", "The launch itself meets:", *(finding_text(one, console) for one in found.other)]
    if answer.fixes:
        view = session.snapshot.release(answer.engine, answer.release)
        rows = [f"  {fix_text(one, answer, view, session.snapshot)}" for one in answer.fixes]
        lines += ["", console.paint("fixes, smallest first", "bold"), *rows]
    return "\n".join(lines)
