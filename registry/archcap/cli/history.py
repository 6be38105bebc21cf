"""`capctl history`: how an architecture came to what it has."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from archcap.cli import OK
from archcap.cli.command import Parser, Session
from archcap.cli.console import table
from archcap.cli.diff import holding_text
from archcap.cli.launch import engine_release
from archcap.model.codec import dumps
from archcap.snapshot.compare import Happening, history

SUMMARY = "say in which releases an architecture got and lost what"
_SIGNS = {"gained": "+", "added": "+", "lost": "-", "removed": "-", "changed": "~"}


def configure(parser: Parser) -> None:
    """Declare the options."""
    parser.add_argument("architecture", metavar="ARCHITECTURE")
    parser.add_argument("capability", metavar="CAPABILITY", nargs="?")
    parser.add_argument("--engine", metavar="NAME", help="as in sglang")
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace, session: Session) -> int:
    """Write what happened, oldest first."""
    engine, _ = engine_release(args.engine or session.default_engine, session)
    happenings = history(session.snapshot, engine, args.architecture, args.capability)
    if args.format == "json":
        session.console.write_bytes(dumps([{**asdict(one)} for one in happenings], indent=2))
        return OK
    for line in table([_row(one) for one in happenings]) or ["nothing is recorded"]:
        session.console.write(line)
    return OK


def _row(one: Happening) -> tuple[str, str, str, str]:
    what = one.capability or "the architecture itself"
    held = holding_text(one.holdings) if one.holdings else ""
    release = f"{one.release} or earlier" if one.or_earlier else one.release
    return (release, _SIGNS[one.kind], what, "" if held == "yes" else held)
