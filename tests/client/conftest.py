"""A client's surroundings: no variables of the developer, a cache of its own, the invented engine's slices carried."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from archcap.client import Client, bundle
from tests.client import servers

Made = Callable[..., Client]


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("URL", "TOKEN", "CACHE_DIR", "TIMEOUT_S", "MAX_LOSS", "STRICT", "MODE", "PREFLIGHT"):
        monkeypatch.delenv(f"ARCHCAP_{name}", raising=False)
    carried = tmp_path / "carried"
    for release in ("0.9", "0.11"):
        (carried / servers.ENGINE).mkdir(parents=True, exist_ok=True)
        (carried / servers.ENGINE / f"{release}.json").write_bytes(servers.sliced(release))
    monkeypatch.setattr(bundle, "FOLDER", str(carried))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "kept"


@pytest.fixture
def make(folder: Path) -> Made:
    """Return a function that makes a client of the invented engine, with a short deadline and a cache of its own."""

    def made(url: str | None = None, release: str = servers.RELEASE, **options: object) -> Client:
        given: dict[str, object] = {"timeout_s": 0.6, "cache_dir": str(folder), **options}
        return Client(servers.ENGINE, release, url, **given)  # type: ignore[arg-type]

    return made
