"""`capctl token`: make, list and revoke the bearer tokens of the service."""

from __future__ import annotations

import argparse
import getpass
import os
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from archcap.cli import OK
from archcap.cli.command import Parser, Session
from archcap.cli.console import table
from archcap.cli.numbers import days
from archcap.errors import RequestError
from archcap.model.codec import dumps
from archcap_service.commands import service_needed

if TYPE_CHECKING:
    from archcap_service.store.audit import Actor
    from archcap_service.store.tokens import Token

SUMMARY = "make, list and revoke the service's tokens"


def configure(parser: Parser) -> None:
    """Declare the options."""
    parser.add_argument("action", choices=("create", "list", "revoke"))
    parser.add_argument("name", nargs="?", help="the token's name; of revoke also its id")
    parser.add_argument("--scope", action="append", metavar="SCOPE", default=None,
                        help="read, write or admin (each implies the ones before); may be repeated (read)")  # fmt: skip
    parser.add_argument("--days", type=days, help="how long it is valid; for ever when left out")
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace, session: Session) -> int:
    """Do it, and write the result; the text of a new token goes to stdout, once."""
    with service_needed():
        from archcap_service.commands.opened import opened
        from archcap_service.store.tokens import Tokens

        with opened() as database:
            tokens = Tokens(database)
            if args.action == "list":
                _list(list(tokens.all().values()), args.format, session)
            elif args.action == "create":
                expires = datetime.now(UTC) + timedelta(days=args.days) if args.days is not None else None
                token, text = tokens.create(_name(args), args.scope or ["read"], expires, host_actor())
                session.console.say(f"capctl: token {token.id} ({token.name}); it is shown this once")
                session.console.write(text if args.format == "text" else dumps({**_row(token), "token": text}).decode())
            else:
                token = tokens.revoke(_name(args), host_actor())
                session.console.say(f"capctl: revoked token {token.id} ({token.name})")
    return OK


def host_actor() -> Actor:
    """Return who writes from the service's own host."""
    from archcap_service.store.audit import Actor

    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = str(os.getuid()) if hasattr(os, "getuid") else "unknown"
    return Actor(f"{user} (host)")


def _name(args: argparse.Namespace) -> str:
    if not args.name:
        raise RequestError("usage", f"capctl token {args.action} needs a name", "see capctl token --help")
    return str(args.name)


def _row(token: Token) -> dict[str, str | None]:
    scopes = " ".join(sorted(token.scopes))
    return {
        "id": token.id, "name": token.name, "scopes": scopes, "created": token.created, "expires": token.expires,
        "revoked": token.revoked,
    }  # fmt: skip


def _list(tokens: list[Token], form: str, session: Session) -> None:
    rows = [_row(one) for one in tokens]
    if form == "json":
        session.console.write_bytes(dumps([dict(row) for row in rows], indent=2))
        return
    for line in table([[row[key] or "-" for key in row] for row in rows]):
        session.console.write(line)
