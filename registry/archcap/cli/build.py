"""`capctl build`: the registry as one snapshot file, or one release's slice of it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, cast

from archcap.cli import OK
from archcap.cli.command import Parser, Session
from archcap.cli.launch import named_view
from archcap.cli.run import loaded
from archcap.errors import RequestError
from archcap.snapshot import Snapshot, release_slice
from archcap.snapshot.store import write_slices

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

SUMMARY = "compile the registry into a snapshot"
EXPORTS = "archcap.exports"
Export = Callable[[Path, Session], None]


def configure(parser: Parser) -> None:
    """Declare the options."""
    parser.add_argument("--out", metavar="FILE", type=Path, help="where to write it; - is stdout")
    parser.add_argument("--slice", metavar="ENGINE@RELEASE", help="only what an engine of that release fetches")
    for point in _exports():
        parser.add_argument(f"--{point.name}", metavar="FOLDER", type=Path, dest=f"export_{point.name}",
                            help=f"write the {point.name} there")  # fmt: skip
    parser.add_argument("--cache", action="store_true", help="compile rules and slices of every release for later")
    parser.add_argument("--quiet", action="store_true", help="say nothing when all is well")


def run(args: argparse.Namespace, session: Session) -> int:
    """Build, write and say what was built."""
    if args.slice is not None and args.out is None:
        raise RequestError("usage", "--slice needs a place to write to", "add --out FILE")
    snapshot = session.snapshot
    if args.cache:
        for engine, release in unready(snapshot):
            _ = snapshot.release(engine, release).program
        if snapshot.modules is not None:
            write_slices(snapshot, snapshot.modules)
    if args.out is not None:
        _write(args.out, _slice(args.slice, session) if args.slice else snapshot.to_bytes(), session)
    for point in _exports():
        folder = getattr(args, f"export_{point.name}")
        if folder is not None:
            cast(Export, loaded(point))(folder, session)
    if not args.quiet:
        session.console.say(f"capctl: snapshot {snapshot.digest}" + (f" in {args.out}" if args.out else ""))
    return OK


def unready(snapshot: Snapshot) -> list[tuple[str, str]]:
    """Return the releases whose compiled rules are missing or were made from other rules, without loading any."""
    from archcap.snapshot import programs

    missing = []
    for engine in snapshot.engine_names:
        digest = programs.rules_digest(snapshot, engine)
        for release in snapshot.releases(engine):
            path = programs.BUILT / f"{programs.module_name(engine, release)}.py"
            if not path.is_file() or digest not in path.read_text(encoding="utf-8")[-300:]:
                missing.append((engine, release))
    return missing


def _exports() -> Iterable[EntryPoint]:
    """Return what other parts make out of a snapshot: functions of a folder and the session."""
    from importlib.metadata import entry_points

    return sorted(entry_points(group=EXPORTS), key=lambda point: point.name)


def _slice(text: str, session: Session) -> bytes:
    view = named_view(text, session)
    return release_slice(session.snapshot, view.engine.engine, view.release)


def _write(place: Path, data: bytes, session: Session) -> None:
    """Write whole or not at all."""
    if str(place) == "-":
        session.console.write_bytes(data.removesuffix(b"\n"))
        return
    from archcap.snapshot.files import write_atomically

    if not place.parent.is_dir():
        raise RequestError("no-file", f"there is no folder {place.parent}", "make it first")
    write_atomically(place, data)
