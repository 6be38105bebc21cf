"""`capctl scan`: what an engine's source says of itself, and the registry's generated files brought up to date."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from archcap.cli import OK
from archcap.cli.command import Parser, Session
from archcap.cli.console import table
from archcap.cli.progress import Progress
from archcap.cli.sources import config_of, scanned
from archcap.cli.validate import registry_root
from archcap.errors import RequestError
from archcap.model.base import Json, JsonObject
from archcap.model.codec import dumps
from archcap.scanner.config import ScanConfig
from archcap.scanner.points import Point
from archcap.scanner.scan_record import Scan
from archcap.scanner.write import write_engine

SUMMARY = "read the facts of releases from an engine's source"


def configure(parser: Parser) -> None:
    """Declare the options."""
    parser.add_argument("sources", metavar="SOURCE", nargs="+", type=Path, help="a source tree, a wheel or an sdist")
    parser.add_argument("--engine", metavar="NAME", help="as in sglang")
    parser.add_argument("--write", action="store_true",
                        help="update the registry; wants the sources of all its releases")  # fmt: skip
    parser.add_argument("--no-cache", action="store_true", help="read every file anew, and keep nothing of it")
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace, session: Session) -> int:
    """Scan each source; write what was found, or put it into the registry."""
    engine = args.engine or session.default_engine
    config = config_of(engine, session)
    if args.write:
        folder = registry_root(session.registry) / "registry" / "engines" / engine
        return _write(folder, scans_of_all(args.sources, config, session, args.no_cache), config, session)
    scans = _scans(args.sources, config, session, args.no_cache)
    if args.format == "json":
        session.console.write_bytes(dumps([_summary(release, scan) for release, scan in scans.items()], indent=2))
        return OK
    for line in table([_HEADS, *map(_row, scans.items())]):
        session.console.write(line)
    for release, scan in scans.items():
        for missing in (*scan.unknown, *scan.unresolved):
            session.console.say(f"{release}: {missing.file}:{missing.line}: {missing.reason}")
    return OK


_HEADS = ["release", "architectures", "settings", "lists", "points", "not resolved"]


def scans_of_all(
    sources: Sequence[Path], config: ScanConfig, session: Session, anew: bool = False
) -> dict[str, Scan]:
    """Return the scans of all of an engine's releases, over which intervals can be drawn.

    Args:
        sources: trees, wheels or sdists.
        config: how the engine's source is laid out; names the engine.
        session: knows the releases.
        anew: whether to leave the user's cache alone.
    Raises:
        RequestError: a path holds no source, does not say its release, two say the same, or a release is missing.
    """
    scans = _scans(sources, config, session, anew)
    missing = [release for release in session.snapshot.releases(config.engine) if release not in scans]
    if missing:
        shown = ", ".join(missing[:5]) + (" …" if len(missing) > 5 else "")
        hint = "intervals are drawn over all releases: give the source of each"
        raise RequestError("missing-releases", f"no source of {shown}", hint)
    return scans


def _scans(sources: Sequence[Path], config: ScanConfig, session: Session, anew: bool) -> dict[str, Scan]:
    """Return the scans by release.

    Raises:
        RequestError: a path holds no source, a source does not say its release, or two say the same.
    """
    scans: dict[str, Scan] = {}
    with Progress(session.console.err, len(sources), "sources") as progress:
        for path in sources:
            scan = scanned(path, config, session, anew=anew)
            if scan.release is None:
                raise RequestError("no-release", f"{path} does not say its release", "give the wheel or the sdist")
            if scan.release in scans:
                raise RequestError("same-release", f"two sources are of {scan.release}", "give each release once")
            scans[scan.release] = scan
            progress.step(scan.release)
    return scans


def _write(folder: Path, scans: Mapping[str, Scan], config: ScanConfig, session: Session) -> int:
    for path in write_engine(folder, scans, config):
        session.console.write(str(path))
    return OK


def _row(item: tuple[str, Scan]) -> list[str]:
    release, scan = item
    counts = (len(scan.architectures), len(scan.settings.settings), len(scan.lists), len(scan.points))
    return [release, *map(str, counts), str(len(scan.unknown) + len(scan.unresolved))]


def _summary(release: str, scan: Scan) -> Json:
    architectures: JsonObject = {name: _names(one.support) for name, one in sorted(scan.architectures.items())}
    return {
        "release": release,
        "architectures": architectures,
        "settings": _names(scan.settings.settings),
        "lists": _names(scan.lists),
        "points": [_point(one) for one in scan.points],
        "unresolved": [f"{one.file}:{one.line}: {one.reason}" for one in (*scan.unknown, *scan.unresolved)],
    }


def _point(one: Point) -> Json:
    return {
        "file": one.file,
        "line": one.line,
        "key": one.key,
        "form": one.form,
        "owner": one.owner,
        "subject": one.subject,
        "names": [*one.names],
        "uses": [*one.uses],
        "negated": one.negated,
    }


def _names(of: Iterable[str]) -> Json:
    return list[Json](sorted(of))
