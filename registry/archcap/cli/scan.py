"""`capctl scan`: what an engine's source says of itself, and the registry's generated files brought up to date."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from archcap.cli import OK
from archcap.cli.command import Parser, Session
from archcap.cli.console import table
from archcap.cli.progress import Progress
from archcap.cli.validate import registry_root
from archcap.errors import RequestError
from archcap.model.base import Json, JsonObject
from archcap.model.codec import dumps
from archcap.scanner.config import ScanConfig, load_config
from archcap.scanner.scan import Scan, scan_source
from archcap.scanner.write import write_engine

SUMMARY = "read the facts of releases from an engine's source"


def configure(parser: Parser) -> None:
    """Declare the options."""
    parser.add_argument("sources", metavar="SOURCE", nargs="+", type=Path, help="a source tree, a wheel or an sdist")
    parser.add_argument("--engine", metavar="NAME", help="as in sglang")
    parser.add_argument("--write", action="store_true",
                        help="update the registry; wants the sources of all its releases")  # fmt: skip
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace, session: Session) -> int:
    """Scan each source; write what was found, or put it into the registry."""
    engine = args.engine or session.default_engine
    root = registry_root(session.registry)
    folder = root / "registry" / "engines" / engine
    if not (folder / "scan.yaml").is_file():
        hint = "name an engine whose source can be scanned"
        raise RequestError("no-scan-settings", f"{folder} has no scan.yaml", hint)
    config = load_config(folder / "scan.yaml")
    scans = _scans(args.sources, config, session)
    if args.write:
        return _write(folder, scans, config, session)
    if args.format == "json":
        session.console.write_bytes(dumps([_summary(release, scan) for release, scan in scans.items()], indent=2))
        return OK
    for line in table([["release", "architectures", "settings", "lists", "not resolved"], *map(_row, scans.items())]):
        session.console.write(line)
    for release, scan in scans.items():
        for missing in (*scan.unknown, *scan.unresolved):
            session.console.say(f"{release}: {missing.file}:{missing.line}: {missing.reason}")
    return OK


def _scans(sources: Sequence[Path], config: ScanConfig, session: Session) -> dict[str, Scan]:
    """Return the scans by release.

    Raises:
        RequestError: a path holds no source, a source does not say its release, or two say the same.
    """
    scans: dict[str, Scan] = {}
    vocabulary = session.snapshot.vocabulary
    with Progress(session.console.err, len(sources), "sources") as progress:
        for path in sources:
            scan = scan_source(path, vocabulary, config)
            if scan.release is None:
                raise RequestError("no-release", f"{path} does not say its release", "give the wheel or the sdist")
            if scan.release in scans:
                raise RequestError("same-release", f"two sources are of {scan.release}", "give each release once")
            scans[scan.release] = scan
            progress.step(scan.release)
    return scans


def _write(folder: Path, scans: Mapping[str, Scan], config: ScanConfig, session: Session) -> int:
    missing = [release for release in session.snapshot.releases(folder.name) if release not in scans]
    if missing:
        shown = ", ".join(missing[:5]) + (" …" if len(missing) > 5 else "")
        hint = "intervals are drawn over all releases: give the source of each"
        raise RequestError("missing-releases", f"no source of {shown}", hint)
    for path in write_engine(folder, scans, config):
        session.console.write(str(path))
    return OK


def _row(item: tuple[str, Scan]) -> list[str]:
    release, scan = item
    counts = (len(scan.architectures), len(scan.settings.settings), len(scan.lists))
    return [release, *map(str, counts), str(len(scan.unknown) + len(scan.unresolved))]


def _summary(release: str, scan: Scan) -> Json:
    architectures: JsonObject = {name: _names(one.support) for name, one in sorted(scan.architectures.items())}
    return {
        "release": release,
        "architectures": architectures,
        "settings": _names(scan.settings.settings),
        "lists": _names(scan.lists),
        "unresolved": [f"{one.file}:{one.line}: {one.reason}" for one in (*scan.unknown, *scan.unresolved)],
    }


def _names(of: Iterable[str]) -> Json:
    return list[Json](sorted(of))
