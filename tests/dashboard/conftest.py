"""The dashboard: over the invented registry and over the shipped one, asked directly and in a real browser."""

from __future__ import annotations

import importlib
import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from archcap.load import load_registry
from archcap.snapshot import Snapshot, build, store
from archcap_service.api.app import create_app
from archcap_service.settings import read_settings
from tests.cli import toy_engine
from tests.service.conftest import MINI, Service, migrated, started

ROOT = Path(__file__).parents[2]
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def toy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Make the invented engine known, and keep databases out of the user's folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "archcap.engines.toy", toy_engine)
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        patch.delenv("ARCHCAP_REGISTRY", raising=False)
        patch.delenv("ARCHCAP_DATABASE_URL", raising=False)
        yield


@pytest.fixture(scope="module")
def mini(toy: None) -> Snapshot:
    """The invented registry."""
    return Snapshot.open(build(load_registry(MINI)))


@pytest.fixture(scope="module")
def shipped(toy: None) -> Snapshot:
    """The registry of the checkout."""
    return store.default()


@pytest.fixture(scope="module")
def service(mini: Snapshot, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service over the invented registry, without a network."""
    with started(mini) as start:
        yield start(f"sqlite:///{tmp_path_factory.mktemp('mini') / 'archcap.db'}")


@pytest.fixture(scope="module")
def real(shipped: Snapshot, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service over the shipped registry, without a network."""
    with started(shipped) as start:
        yield start(f"sqlite:///{tmp_path_factory.mktemp('real') / 'archcap.db'}")


@contextmanager
def listening(snapshot: Snapshot, folder: Path) -> Iterator[str]:
    """Yield the address of a service that listens."""
    url = f"sqlite:///{folder / 'archcap.db'}"
    migrated(url).close()
    app = create_app(read_settings(database_url=url), snapshot)
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None, server_header=False))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(timeout=20)


@pytest.fixture(scope="module")
def site(mini: Snapshot, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service over the invented registry."""
    with listening(mini, tmp_path_factory.mktemp("site")) as address:
        yield address


@pytest.fixture(scope="module")
def real_site(shipped: Snapshot, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service over the shipped registry."""
    with listening(shipped, tmp_path_factory.mktemp("real-site")) as address:
        yield address


@pytest.fixture(scope="module")  # while it runs, nothing else in this thread can start an event loop
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A headless Chromium."""
    given = os.environ.get("ARCHCAP_CHROMIUM", "chromium")
    found = shutil.which(given) or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("there is no Chromium: install it (Debian: package chromium) or name it in ARCHCAP_CHROMIUM")
    try:
        playwright = importlib.import_module("playwright.sync_api")
    except ImportError:
        pytest.skip("Playwright is not installed: make setup")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield browser
        browser.close()


@dataclass
class Visit:
    """A browser's window, and everything its pages complained about."""

    browser: Any
    context: Any
    page: Any
    complaints: list[str] = field(default_factory=list)

    def text(self, selector: str) -> str:
        """Return what an element shows."""
        return " ".join(self.page.locator(selector).first.inner_text().split())


class Visits:
    """Opens windows that end with the test; a test fails when a page of one complained."""

    def __init__(self, browser: Any) -> None:
        self._browser = browser
        self.open: list[Visit] = []

    def __call__(self, width: int = 1280, height: int = 800, scheme: str = "light", **more: object) -> Visit:
        """Open a window."""
        context = self._browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, **more)
        visit = Visit(self._browser, context, context.new_page())
        visit.page.on("console", lambda said: said.type == "error" and visit.complaints.append(said.text))
        visit.page.on("pageerror", lambda error: visit.complaints.append(str(error)))
        visit.page.on("dialog", lambda dialog: (visit.complaints.append(f"dialog {dialog.message}"), dialog.dismiss()))
        self.open.append(visit)
        return visit


@pytest.fixture
def visit(chromium: Any) -> Iterator[Visits]:
    """Return a function that opens windows; violations of the policy and errors of scripts fail the test."""
    visits = Visits(chromium)
    yield visits
    complaints = [one for opened in visits.open for one in opened.complaints]
    for opened in visits.open:
        opened.context.close()
    assert complaints == []
