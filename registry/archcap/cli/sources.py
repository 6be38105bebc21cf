"""Scans engine sources for commands: finds the scan settings, uses the user's cache, tells the release.

Knows where things lie; knows no layout and none of what is done with a scan.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from archcap.cli.command import Session
from archcap.errors import RequestError
from archcap.model.releases import nearest
from archcap.scanner.cache import default_folder
from archcap.scanner.config import ScanConfig, load_config
from archcap.scanner.scan import scan_source
from archcap.scanner.scan_record import Scan
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
