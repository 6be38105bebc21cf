"""`capctl explain`: the chain of statements behind one setting's value."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from archcap.cli import OK
from archcap.cli.command import Parser, Session
from archcap.cli.console import Console
from archcap.cli.launch import add_launch_options, asked, say_nearest, use_source
from archcap.cli.text import chain, value_text
from archcap.model.base import Json
from archcap.model.codec import dumps
from archcap.resolver import explain
from archcap.resolver.explain import Explanation, Write

SUMMARY = "say why a setting gets its value"
TAKES_COMMAND = True


def configure(parser: Parser) -> None:
    """Declare the options."""
    add_launch_options(parser)
    answer = parser.add_argument_group("answer")
    answer.add_argument("--setting", metavar="NAME", required=True, help="the setting, or one leaf of it: name.leaf")
    answer.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace, session: Session) -> int:
    """Explain and write."""
    use_source(args, session)
    question = asked(args, session)
    explanation = explain(question.request, session.snapshot, args.setting)
    request = question.request
    say_nearest(request.release, session.snapshot.release(request.engine, explanation.release), session)
    for note in (*question.notes, *session.notes):
        session.console.say(f"capctl: {note}")
    if args.format == "json":
        session.console.write_bytes(dumps(asdict(explanation), indent=2))
    else:
        session.console.write(render(explanation, request.engine, session.console))
    return OK


def render(explanation: Explanation, engine: str, console: Console) -> str:
    """Return the chain as prose, in the order in which the engine decides."""
    name, outcome = explanation.setting, explanation.outcome
    leaf = name.partition(".")[2]
    before = value_text(_leaf(explanation.default, leaf))
    default = f"Its default is {before}."
    if outcome is None:
        final = f"keeps its default ({before})"
    elif outcome.origin == "unknown":
        final = "cannot be decided with what is given"
    else:
        final = f"is {value_text(_leaf(outcome.value, leaf))}"
    lines = [console.paint(f"{name} {final} on {engine} {explanation.release}.", "bold"), ""]
    if outcome is not None and outcome.requested is not None:
        default += f" The launch asks for {value_text(_leaf(outcome.requested, leaf))}."
    lines.append(default)
    for number, write in enumerate(explanation.writes, 1):
        lines += ["", *_write(number, write, name, console)]
    if not explanation.writes:
        lines.append("No rule writes it here." if explanation.left_alone else "No rule writes it.")
        lines += chain(explanation.left_alone, console, "  ")
    return "\n".join(lines)


def _leaf(value: Json, path: str) -> Json:
    """Return the leaf at a dotted *path*; the value itself for the empty path."""
    for name in path.split(".") if path else ():
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _write(number: int, write: Write, name: str, console: Console) -> list[str]:
    what = "it" if write.path == name else write.path
    value = value_text(write.value) if write.decided else "what cannot be decided with what is given"
    lines = [f"{number}. {console.paint(write.rule, 'bold')} sets {what} to {value}, because"]
    causes = list(chain(write.causes, console, "   "))
    if not causes:
        lines[0] = lines[0].removesuffix(", because") + "."
    lines += causes
    if write.source:
        lines.append(console.paint(f"   source: {write.source}", "dim"))
    return lines
