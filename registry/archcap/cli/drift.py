"""`capctl drift`: where the registry and an engine's source disagree, both ways, with file and line."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from archcap.cli import FOUND, OK
from archcap.cli.command import Parser, Session
from archcap.cli.drift_text import RULES, report, said
from archcap.cli.reports import annotation, sarif
from archcap.cli.sources import config_of, registry_release, scanned
from archcap.model.base import Json
from archcap.model.codec import dumps
from archcap.scanner.drift import Drift, drift

SUMMARY = "compare the registry with an engine's source, both ways"


def configure(parser: Parser) -> None:
    """Declare the options."""
    parser.add_argument("source", metavar="SOURCE", type=Path, help="a source tree, a wheel or an sdist")
    parser.add_argument("--engine", metavar="NAME[@RELEASE]",
                        help="as in sglang@0.5.18; else the release the source says, or the one before it")  # fmt: skip
    parser.add_argument("--prefix", metavar="FOLDER", default="",
                        help="where the package lies in its repository, as in python/sglang")  # fmt: skip
    parser.add_argument("--no-cache", action="store_true", help="read every file anew, and keep nothing of it")
    parser.add_argument("--format", choices=("text", "json", "sarif", "github"), default="text")


def run(args: argparse.Namespace, session: Session) -> int:
    """Scan, compare and write; the exit code tells whether anything differs."""
    engine, _, asked = (args.engine or session.default_engine).partition("@")
    config = config_of(engine, session)
    scan = scanned(args.source, config, session, anew=args.no_cache)
    release = registry_release(scan, asked or None, session)
    snapshot = session.snapshot
    found = drift(scan, snapshot.registry_of(engine), snapshot.vocabulary, config, release)
    _write(found, args.format, f"{args.prefix.rstrip('/')}/" if args.prefix else "", session)
    if args.format == "text":
        _summary(found, scan.release, session)
    return FOUND if found.differences else OK


def _write(found: Drift, form: str, prefix: str, session: Session) -> None:
    console = session.console
    if form == "json":
        console.write_bytes(dumps(_object(found), indent=2))
    elif form == "sarif":
        reports = [report(one, found.release) for one in found.differences]
        console.write_bytes(dumps(sarif(reports, RULES, prefix), indent=2))
    for one in found.differences if form in ("text", "github") else ():
        if form == "github":
            console.write(annotation(report(one, found.release), prefix))
        else:
            place = console.paint(f"{prefix}{one.file}:{one.line}", "bold")
            console.write(f"{place}: {said(one, found.release)}")


def _object(found: Drift) -> Json:
    return {
        "engine": found.engine,
        "release": found.release,
        "differences": [{**asdict(one), "message": said(one, found.release)} for one in found.differences],
        "unlooked": found.unlooked,
    }


def _summary(found: Drift, says: str | None, session: Session) -> None:
    number = len(found.differences)
    what = "no difference" if not number else f"{number} difference{'s' if number > 1 else ''}"
    near = "" if says == found.release else f", the nearest to {says or 'a source that does not say its release'}"
    session.console.say(f"capctl: {what} from {found.engine} {found.release}{near}")
    if found.unlooked:
        session.console.say(f"capctl: {found.unlooked} facts could not be looked for, because files are unreadable")
