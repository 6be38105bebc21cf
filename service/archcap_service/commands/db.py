"""`capctl db`: set the service's database up, and move whole registries in and out of it."""

from __future__ import annotations

import argparse
from pathlib import Path

from archcap.cli import OK
from archcap.cli.command import Parser, Session
from archcap_service.commands import service_needed

SUMMARY = "set up the service's database, import and export registries"


def configure(parser: Parser) -> None:
    """Declare the options."""
    parser.add_argument("action", choices=("upgrade", "downgrade", "status", "import", "export"))
    parser.add_argument("path", nargs="?", type=Path,
                        help="import: a registry's folder or a snapshot file; export: an empty folder")  # fmt: skip
    parser.add_argument("--to", metavar="VERSION", help="of upgrade and downgrade: this version of the tables")
    parser.add_argument("--shipped", action="store_true", help="of import: back to the registry in the package")
    parser.add_argument("--base", action="store_true", help="of export: without the overrides")


def run(args: argparse.Namespace, session: Session) -> int:
    """Do it and say what was done."""
    with service_needed():
        from archcap_service.commands.moves import ACTIONS

        session.console.say(f"capctl: {ACTIONS[args.action](args, session)}")
    return OK
