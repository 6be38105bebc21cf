"""`capctl upgrade`: what another release makes of a launch, and the command that asks it for the same."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import asdict

from archcap.cli.command import Parser, Session
from archcap.cli.console import Console, table
from archcap.cli.launch import Asked, add_launch_options, asked, engine_release
from archcap.cli.resolve import EXITS
from archcap.cli.text import VERDICTS, finding_text, fix_text, value_text
from archcap.errors import RequestError
from archcap.model.base import Json, JsonObject
from archcap.model.codec import dumps, finding_object, fix_object
from archcap.model.resolution import Finding, Resolution
from archcap.resolver import upgrade
from archcap.resolver.upgrade import FlagChange, Turn, Upgrade

SUMMARY = "say what another release makes of a launch, and how to ask it for the same"
TAKES_COMMAND = True
_KINDS = {
    "renamed": "is now",
    "unneeded": "is gone: what it says is the default",
    "gone": "is gone",
    "deprecated": "is deprecated",
    "ignored": "does nothing",
}


def configure(parser: Parser) -> None:
    """Declare the options."""
    parser.add_argument("--from", metavar="[NAME@]RELEASE", required=True, dest="before", help="the launch is from")
    parser.add_argument("--to", metavar="RELEASE", required=True, dest="after", help="the other release")
    add_launch_options(parser, source=False)
    parser.add_argument("--format", choices=("text", "json", "command"), default="text")


def run(args: argparse.Namespace, session: Session) -> int:
    """Compare and write; the exit code tells the other release's verdict."""
    args.engine = _engine(args, session)
    question = asked(args, session, fixes=True)
    found = upgrade(question.request, session.snapshot, _plain(args.after, args.engine), question.flags)
    _notes(question, session)
    if args.format == "json":
        session.console.write_bytes(dumps(to_object(found), indent=2))
    elif args.format == "command":
        session.console.write(found.after.command)
    else:
        session.console.write(render(found, session))
    return EXITS[found.after.verdict]


def _engine(args: argparse.Namespace, session: Session) -> str:
    """Return `NAME@RELEASE` of the release the launch is from."""
    named = args.before if "@" in args.before else f"{args.engine or session.default_engine}@{args.before}"
    engine, _ = engine_release(named, session)
    if args.engine is not None and args.engine != engine:
        raise RequestError("usage", f"--engine {args.engine} and --from {args.before} disagree", "name the engine once")
    return str(named)


def _plain(after: str, before: str) -> str:
    """Return the release of `[NAME@]RELEASE`."""
    engine, at, release = after.rpartition("@")
    if at and engine != before.partition("@")[0]:
        raise RequestError("usage", f"--from and --to name different engines, {engine} in --to", "compare one engine")
    return release


def _notes(question: Asked, session: Session) -> None:
    for note in question.notes:
        session.console.say(f"capctl: {note}")


def render(found: Upgrade, session: Session) -> str:
    """Return the comparison as text: verdicts, flags, findings, settings, then the command."""
    console = session.console
    blocks = [
        "\n".join(_head(found.before, console) + _head(found.after, console)),
        _flags(found.flags, console),
        _environment(found, console),
        *(finding_text(one, console) for one in _shown(found)),
        _fixes(found.after, session),
        _cured(found, console),
        _settings(found, console),
        "\n".join([console.paint("launch command", "bold"), f"  {found.after.command}"]),
    ]
    return "\n\n".join(block for block in blocks if block)


def _shown(found: Upgrade) -> Iterable[Finding]:
    """Yield what is new in the other release, and all that stands in the way there."""
    return (one for one in found.after.findings if one in found.findings or one.severity in ("error", "unsafe"))


def _head(answer: Resolution, console: Console) -> list[str]:
    words, colour = VERDICTS[answer.verdict]
    near = " (the nearest release known)" if answer.release_match == "nearest" else ""
    verdict = console.paint(answer.verdict, "bold", colour)
    return [f"{answer.engine} {answer.release}{near}: {verdict}, {answer.architecture or 'the launch'} {words}"]


def _flags(changes: Iterable[FlagChange], console: Console) -> str:
    rows = [(one.flag, _KINDS[one.kind], one.now or "") for one in changes]
    return "\n".join([console.paint("flags", "bold"), *table(rows, "  ")]) if rows else ""


def _environment(found: Upgrade, console: Console) -> str:
    said = {"gone": "is not read any more", "new": f"is not read in {found.before.release}, and is here"}
    rows = [(one.name, said[one.kind], one.instead or "") for one in found.environment]
    return "\n".join([console.paint("environment", "bold"), *table(rows, "  ")]) if rows else ""


def _fixes(answer: Resolution, session: Session) -> str:
    view = session.snapshot.release(answer.engine, answer.release)
    rows = [(f"{number}.", fix_text(fix, answer, view, session.snapshot), fix.verdict)
            for number, fix in enumerate(answer.fixes or (), 1)]  # fmt: skip
    lines = [session.console.paint("fixes, smallest first", "bold"), *table(rows, "  ")]
    return "\n".join(lines) if rows else ""


def _cured(found: Upgrade, console: Console) -> str:
    rows = [(one.severity, one.rule) for one in found.cured]
    return "\n".join([console.paint("no longer found", "bold"), *table(rows, "  ")]) if rows else ""


def _settings(found: Upgrade, console: Console) -> str:
    title = console.paint("settings that come out differently", "bold")
    if not found.compared:
        refuses = next(one for one in (found.after, found.before) if one.verdict == "refused")
        return f"{title}\n  not compared: {refuses.engine} {refuses.release} refuses the launch before it has them all"
    rows = [_row(turn) for turn in found.settings]
    head = ("setting", found.before.release, found.after.release, "by")
    lines = table([head, *rows], "  ") if rows else ["  none"]
    if found.undecided:
        lines.append(console.wrap("cannot be compared with what is given: " + ", ".join(found.undecided), "  "))
    return "\n".join([title, *lines])


def _row(turn: Turn) -> tuple[str, str, str, str]:
    before = "–" if turn.kind == "new" else value_text(turn.before)
    after = "–" if turn.kind == "gone" else value_text(turn.after)
    return turn.setting, before, after, turn.rule_after or (turn.rule_before and f"no longer {turn.rule_before}") or ""


def to_object(found: Upgrade) -> JsonObject:
    """Return the comparison as a JSON object."""
    return {
        "engine": found.after.engine,
        "architecture": found.after.architecture,
        "before": _answer(found.before),
        "after": _answer(found.after),
        "flags": [{**asdict(one)} for one in found.flags],
        "environment": [{**asdict(one)} for one in found.environment],
        "compared": found.compared,
        "settings": [{**asdict(one)} for one in found.settings],
        "undecided": [*found.undecided],
        "findings": [finding_object(one) for one in found.findings],
        "cured": [finding_object(one) for one in found.cured],
        "fixes": [fix_object(one) for one in found.after.fixes or ()],
        "command": found.after.command,
        "snapshot": found.after.snapshot,
    }


def _answer(answer: Resolution) -> Json:
    return {"release": answer.release, "release_match": answer.release_match, "verdict": answer.verdict}
