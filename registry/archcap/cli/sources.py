"""Scans engine sources for commands: finds the scan settings, uses the user's cache, tells the release.

Knows where things lie; knows no layout and none of what is done with a scan.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from archcap.cli.command import Session
from archcap.errors import RequestError
from archcap.model.architectures import ListsFile
from archcap.model.engine import SettingsFile
from archcap.model.releases import nearest
from archcap.scanner.cache import default_folder
from archcap.scanner.config import ScanConfig, load_config
from archcap.scanner.git_source import open_commit
from archcap.scanner.overlay import Overlay, overlay
from archcap.scanner.scan import scan_files, scan_source
from archcap.scanner.scan_record import Scan
from archcap.snapshot import Snapshot
from archcap.snapshot.files import BUILT
from archcap.snapshot.store import ENVIRONMENT, SCAN_SETTINGS, checkout_root


def config_of(engine: str, session: Session) -> ScanConfig:
    """Return how the source of *engine* is laid out.

    Raises:
        RequestError: `no-scan-settings`, when nobody has said it.
    """
    places = list(_places(engine, session))
    found = next((path for path in places if path.is_file()), None)
    if found is None:
        said = f"nobody has said how the source of {engine} is laid out: {places[0]} is missing"
        raise RequestError("no-scan-settings", said, "name an engine whose source can be scanned")
    return load_config(found)


def _places(engine: str, session: Session) -> Iterator[Path]:
    named = os.environ.get(ENVIRONMENT)
    asked = session.registry or (Path(named) if named else None)
    root = asked if asked is not None and asked.is_dir() else checkout_root()
    if root is not None:
        yield root / "registry" / "engines" / engine / "scan.yaml"
    if asked is None or not asked.is_dir():
        yield BUILT / SCAN_SETTINGS / f"{engine}.yaml"


def scanned(path: Path, config: ScanConfig, session: Session, anew: bool = False) -> Scan:
    """Scan the source at *path*.

    Args:
        path: a tree, a wheel or an sdist.
        config: of its engine.
        session: for the vocabulary.
        anew: whether to leave the user's cache alone.
    Raises:
        RequestError: *path* holds no such source.
    """
    return scan_source(path, session.snapshot.vocabulary, config, None if anew else default_folder())


def scanned_commit(path: Path, ref: str, config: ScanConfig, session: Session) -> Scan:
    """Scan the source at *path* as a commit has it.

    Raises:
        RequestError: *path* is in no repository, or *ref* is no commit of it.
    """
    source = open_commit(path, ref, config.package)
    return scan_files(source, session.snapshot.vocabulary, config, default_folder())


def answer_from(path: Path | None, engine: str | None, session: Session) -> tuple[str | None, tuple[str, ...]]:
    """Let a session answer from an engine's source: its facts are scanned, the rules are those of the nearest release.

    Args:
        path: the source, None when answers come from the registry alone.
        engine: as asked for, `sglang@0.5.18`; without a release the source's own, or the nearest before it.
        session: its snapshot is replaced.
    Returns:
        The engine and release to ask about, and what an answer has to say of them.
    """
    if path is None:
        return engine, ()
    name, _, asked = (engine or session.default_engine).partition("@")
    config = config_of(name, session)
    scan = scanned(path, config, session)
    release = registry_release(scan, asked or None, session)
    snapshot = session.snapshot
    found = overlay(scan, snapshot.registry_of(name), snapshot.vocabulary, config, release)
    session.snapshot = _overlaid(snapshot, name, found)
    return f"{name}@{release}", tuple(_notes(scan, found, path))


def _overlaid(whole: Snapshot, engine: str, found: Overlay) -> Snapshot:
    snapshot = whole
    base = f"engines/{engine}"
    registry = snapshot.registry_of(engine)
    for name, family in found.families.items():
        snapshot = snapshot.with_part_replaced(f"{base}/families/{name}", family)
    if found.lists:
        snapshot = snapshot.with_part_replaced(f"{base}/lists", ListsFile(lists={**registry.lists, **found.lists}))
    if found.settings:
        settings = SettingsFile(settings={**registry.settings, **found.settings})
        snapshot = snapshot.with_part_replaced(f"{base}/settings", settings)
    if snapshot is not whole:
        snapshot.modules = None  # rules compiled for this source are not to be kept in the place of the registry's
    return snapshot


def _notes(scan: Scan, found: Overlay, path: Path) -> Iterator[str]:
    version = scan.release or "it does not say its release"
    number = len(found.differences)
    what = {0: "nothing in that source differs", 1: "1 thing in that source differs"}
    yield f"facts are those of the source at {path} ({version}), rules those of {scan.engine} {found.release}"
    said = what.get(number, f"{number} things in that source differ")
    yield f"{said} from {scan.engine} {found.release}" + ("; capctl drift says what" if number else "")
    if scan.unknown:
        yield f"{len(scan.unknown)} files of that source cannot be read; what they hold is as in {found.release}"


def registry_release(scan: Scan, asked: str | None, session: Session) -> str:
    """Return the release of the registry that a source stands next to: the one asked for, else the nearest to its own.

    Raises:
        RequestError: `no-release`, the source does not say which it is and nobody else did; `unknown-release`.
    """
    known = session.snapshot.releases(scan.engine)
    if asked is None and scan.release is None:
        said = f"{scan.where} does not say its release"
        raise RequestError("no-release", said, f"name the nearest one, as in --engine {scan.engine}@{known[-1]}")
    try:
        return nearest(asked or scan.release or "", known)
    except ValueError:
        said = f"{asked or scan.release!r} is no release of {scan.engine}"
        raise RequestError("unknown-release", said, f"known are {known[0]} to {known[-1]}") from None
