"""`capctl serve`: run one replica."""

from __future__ import annotations

import argparse
import os
import stat
import sys
from typing import TYPE_CHECKING

from archcap.cli import OK
from archcap.cli.command import Parser, Session
from archcap.cli.numbers import count, port
from archcap.errors import ArchcapError, RequestError
from archcap_service.commands import service_needed

if TYPE_CHECKING:
    from archcap.snapshot import Snapshot
    from archcap_service.settings import Settings

_SWITCH_S = 0.001
"""How long the event loop may keep the interpreter while another thread takes a new revision over."""
SUMMARY = "serve look-ups, resolutions and overrides over HTTP"


def configure(parser: Parser) -> None:
    """Declare the options."""
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1: this machine only)")
    parser.add_argument("--port", type=port, default=8000, help="0 takes a free one (8000)")
    parser.add_argument("--fd", type=_socket, help="listen on this inherited socket instead")
    parser.add_argument("--forwarded-allow-ips", metavar="IPS", help="proxies whose X-Forwarded-For is believed")


def _socket(text: str) -> int:
    """Read the number of a socket that was inherited."""
    number = count(text)
    try:
        inherited = stat.S_ISSOCK(os.fstat(number).st_mode)
    except (OSError, OverflowError):
        inherited = False
    if not inherited:
        raise argparse.ArgumentTypeError(f"no socket was inherited as {number}")
    return number


def run(args: argparse.Namespace, session: Session) -> int:
    """Set the database up where it is embedded, then serve until told to stop."""
    with service_needed():
        from archcap_service.logs import set_up
        from archcap_service.settings import read_settings

        settings = read_settings()
        set_up(settings.log_level, settings.log_format)
        snapshot = _snapshot(settings, session)
        _prepare(settings)
        return _serve(args, settings, snapshot, session)


def _snapshot(settings: Settings, session: Session) -> Snapshot:
    if session.registry is None and settings.registry is not None:
        session.registry = settings.registry
    return session.snapshot


def _prepare(settings: Settings) -> None:
    """Bring the tables up to date; a database that is away is waited for, not an error."""
    from archcap_service.logs import LOGGER
    from archcap_service.store import migrations
    from archcap_service.store.database import Database
    from archcap_service.store.errors import StoreUnavailable

    database = Database(settings.database_url.get_secret_value())
    try:
        if settings.is_sqlite:
            migrations.upgrade(database)
        elif migrations.current(database) != migrations.newest():
            said = (
                f"the database is at version {migrations.current(database)}, this archcap needs {migrations.newest()}"
            )
            raise ArchcapError("database-outdated", said, "run `capctl db upgrade` once, then start the replicas")
    except StoreUnavailable as error:
        if settings.is_sqlite:
            raise
        LOGGER.error("the database is not there yet", extra={"reason": error.message})
    finally:
        database.close()


def _serve(args: argparse.Namespace, settings: Settings, snapshot: Snapshot, session: Session) -> int:
    import uvicorn

    from archcap_service.api.app import create_app
    from archcap_service.server import Announcing

    sys.setswitchinterval(_SWITCH_S)
    config = uvicorn.Config(
        create_app(settings, snapshot),
        host=args.host,
        port=args.port,
        fd=args.fd,
        loop="auto",
        http="httptools",
        lifespan="on",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=args.forwarded_allow_ips is not None,
        forwarded_allow_ips=args.forwarded_allow_ips,
        timeout_graceful_shutdown=round(settings.shutdown_s) or None,
        timeout_keep_alive=75,
        backlog=2048,
    )
    server = Announcing(config, session.console)
    try:
        server.run()
    except SystemExit as leaving:
        raise RequestError(
            "cannot-listen", f"cannot listen on {args.host}:{args.port}", "take another --port"
        ) from leaving
    return OK
