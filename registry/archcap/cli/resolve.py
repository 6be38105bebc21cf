"""`capctl resolve`: one launch, one launch on every release, or a batch of them."""

from __future__ import annotations

import argparse
from dataclasses import replace

from archcap.cli import FOUND, OK, UNKNOWN
from archcap.cli.command import Parser, Session
from archcap.cli.launch import Asked, add_launch_options, asked, engine_release, use_source
from archcap.errors import RequestError
from archcap.model.base import JsonObject
from archcap.model.codec import dumps, to_json, to_object
from archcap.model.resolution import Resolution, deciding
from archcap.resolver import resolve

SUMMARY = "say whether a launch starts, what it changes, why not, and what would"
TAKES_COMMAND = True
EXITS = {"ok": OK, "adjusted": OK, "unsafe": FOUND, "refused": FOUND, "unknown": UNKNOWN}


def configure(parser: Parser) -> None:
    """Declare the options."""
    add_launch_options(parser)
    answer = parser.add_argument_group("answer")
    answer.add_argument("--fixes", action=argparse.BooleanOptionalAction, default=None,
                        help="look for the smallest changes that start (on; off for batches)")  # fmt: skip
    answer.add_argument("--all-releases", action="store_true", help="one line per release of the engine")
    answer.add_argument("--batch", metavar="FILE|-", help="JSON lines of requests in, JSON lines of answers out")
    answer.add_argument("--format", choices=("text", "json", "command"), default="text")


def run(args: argparse.Namespace, session: Session) -> int:
    """Resolve and write the answer; the exit code tells the verdict."""
    use_source(args, session)
    if args.batch is not None:
        from archcap.cli.batch import run_batch

        return run_batch(args, session)
    if args.all_releases:
        return _all_releases(args, session)
    question = asked(args, session, fixes=args.fixes is not False)
    answer = with_notes(resolve(question.request, session.snapshot), session)
    _notes(question, session)
    _write(answer, args.format, session)
    return EXITS[answer.verdict]


def with_notes(answer: Resolution, session: Session) -> Resolution:
    """Return an answer that also says where its facts are from, when that is not the registry."""
    return replace(answer, notes=(*answer.notes, *session.notes)) if session.notes else answer


def _notes(question: Asked, session: Session) -> None:
    for note in question.notes:
        session.console.say(f"capctl: {note}")


def _write(answer: Resolution, form: str, session: Session) -> None:
    console = session.console
    if form == "json":
        console.write_bytes(dumps(to_object(answer), indent=2))
    elif form == "command":
        console.write(answer.command)
    else:
        from archcap.cli.text import render

        view = session.snapshot.release(answer.engine, answer.release)
        console.write(render(answer, view, session.snapshot, console))


def _all_releases(args: argparse.Namespace, session: Session) -> int:
    """Resolve the same launch on every release; settings a release lacks are its refusal."""
    if args.format == "command":
        raise RequestError("usage", "--all-releases has no command form", "take --format text or json")
    if session.notes:
        raise RequestError("usage", "--engine-source is one release's source", "leave out --all-releases")
    if args.transformers:
        raise RequestError("usage", "--transformers is one release's library", "leave out --all-releases")
    engine, asked_release = engine_release(args.engine, session)
    args.engine = f"{engine}@{asked_release}"
    question = asked(args, session)
    _notes(question, session)
    codes: list[int] = []
    rows: list[list[str]] = []
    for release in session.snapshot.releases(engine):
        row, code = _on_release(question, release, args.format, session)
        rows.append(row)
        codes.append(code)
    if args.format == "text":
        from archcap.cli.console import table

        for line in table(rows):
            session.console.write(line)
    return FOUND if FOUND in codes else UNKNOWN if UNKNOWN in codes else OK


def _on_release(question: Asked, release: str, form: str, session: Session) -> tuple[list[str], int]:
    request = question.request.model_copy(update={"release": release, "fixes": False})
    try:
        answer = resolve(request, session.snapshot)
    except RequestError as error:
        if error.code != "unknown-setting":
            raise
        if form == "json":
            body: JsonObject = {"code": error.code, "message": error.message, "hint": error.hint}
            session.console.write_bytes(dumps({"engine": request.engine, "release": release, "error": body}))
        return [release, "refused", error.message], FOUND
    if form == "json":
        session.console.write_bytes(to_json(answer))
    blocker = deciding(answer.verdict, answer.findings)
    return [release, answer.verdict, blocker.message if blocker is not None else ""], EXITS[answer.verdict]
