"""`capctl list`: names of one kind, one per line, or a JSON array of them."""

from __future__ import annotations

import argparse

from archcap.cli import OK
from archcap.cli.catalogue import KINDS, Filter, rows_of
from archcap.cli.command import Parser, Session
from archcap.cli.console import table
from archcap.cli.launch import add_source_option, named_view, use_source
from archcap.model.codec import dumps

SUMMARY = "list architectures, capabilities, settings, releases, hardware and more"


def configure(parser: Parser) -> None:
    """Declare the options."""
    parser.add_argument("kind", choices=KINDS, metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--engine", metavar="NAME[@RELEASE]", help="as in sglang@0.5.18; else the newest release")
    add_source_option(parser)
    only = parser.add_argument_group("only architectures that")
    only.add_argument("--with", metavar="CAPABILITY", action="append", default=[], dest="having", help="have it")
    only.add_argument("--without", metavar="CAPABILITY", action="append", default=[], dest="lacking", help="lack it")
    only.add_argument("--family", metavar="NAME", help="belong to it")
    only.add_argument("--include-conditional", action="store_true",
                      help="count support that depends on the configuration as having")  # fmt: skip
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace, session: Session) -> int:
    """Write the names."""
    use_source(args, session)
    for note in session.notes:
        session.console.say(f"capctl: {note}")
    view = named_view(args.engine or session.default_engine, session)
    wanted = Filter(tuple(args.having), tuple(args.lacking), args.family, args.include_conditional)
    rows = rows_of(args.kind, view, session.snapshot, wanted)
    if args.format == "json":
        session.console.write_bytes(dumps([name for name, _ in rows], indent=2))
        return OK
    for line in table(rows):
        session.console.write(line)
    return OK
