"""Several replicas on one database: what one writes the others answer, and all outlive the database."""

from __future__ import annotations

import threading
import time

import pytest

from archcap_service.store.database import Database
from archcap_service.store.errors import StoreFull, StoreUnavailable, worded
from tests.service.conftest import STATEMENT, TOY, migrated
from tests.service.pg import Server, binaries

PATH = f"{TOY}/0.9/capabilities/pipeline"


def wait_for(check, seconds=20.0):
    until = time.monotonic() + seconds
    while not (found := check()) and time.monotonic() < until:
        time.sleep(0.005)
    return found


def has(service):
    return "RiverForCausalLM" in service.client.get(PATH).json()["architectures"]


def test_an_override_on_one_replica_is_answered_by_the_others(serving, url):
    first, second = serving(url, poll_s=30), serving(url, poll_s=30)
    write = first.token("write")
    for _ in range(5):
        for service in (first, second):
            assert not has(service)
        made = first.client.post("/v1/overrides", json=STATEMENT, headers=write)
        assert has(first), "the writer's own replica answers with it at once"
        assert wait_for(lambda: has(second), 10)
        assert second.client.get("/v1/overrides").headers["etag"] == made.headers["etag"]
        second.client.delete(made.headers["location"], headers=write)
        assert not has(second)
        assert wait_for(lambda: not has(first), 10)


def test_polling_stands_behind_notify(serving, postgres):
    url = postgres.create(f"polling{time.monotonic_ns()}")
    service = serving(url, poll_s=0.2)
    other = Database(url)
    with other.engine.begin() as connection:  # a write that tells nobody
        connection.exec_driver_sql("UPDATE head SET tokens_version = tokens_version + 1")
    assert wait_for(lambda: service.edge._replica._tokens_version == 1, 10)
    other.close()


def test_a_request_sees_one_revision(serving, sqlite_url):
    """While revisions come and go, no answer mixes two: the names fit the digest that stands beside them."""
    service = serving(sqlite_url)
    write = service.token("write")
    both = {service.client.get(PATH).content}
    service.client.post("/v1/overrides", json=STATEMENT, headers=write)
    both.add(service.client.get(PATH).content)
    stop, seen = threading.Event(), []

    def read():
        while not stop.is_set():
            seen.append(service.client.get(PATH).content)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for _ in range(15):
        service.client.post("/v1/revisions/1/restore", headers=write)
        service.client.post("/v1/revisions/2/restore", headers=write)
    stop.set()
    for reader in readers:
        reader.join()
    assert set(seen) <= both
    assert len(seen) > 20


@pytest.fixture
def server():
    """A server of the test's own, which it may stop."""
    found = binaries()
    if found is None:
        pytest.skip("there is no PostgreSQL")
    made = Server(found)
    yield made
    made.close()


def test_a_replica_that_loses_the_database_answers_reads_refuses_writes_and_recovers(serving, server):
    service = serving(server.create("lost"))
    write = service.token("write")
    client = service.client
    assert client.post("/v1/overrides", json=STATEMENT, headers=write).status_code == 201
    assert client.get("/readyz").json()["status"] == "ok"
    server.stop()
    assert wait_for(lambda: client.get("/readyz").json()["status"] == "degraded", 15)
    ready = client.get("/readyz")
    assert (ready.status_code, ready.json()["database"], ready.json()["revision"]) == (200, "lost", 2)
    for path in (PATH, PATH, f"{TOY}/0.11/facts", "/v1/overrides", "/v1/revisions", "/v1/snapshot"):
        answer = client.get(path)
        assert answer.status_code == 200
        assert answer.headers["warning"].startswith("199 archcap")
    assert has(service)
    assert client.post(f"{TOY}/0.11/resolve", json={"architecture": "RiverForCausalLM"}).status_code == 200
    refused = client.post("/v1/overrides", json=STATEMENT, headers=write)
    assert (refused.status_code, refused.json()["code"]) == (503, "database-unavailable")
    assert "retry-after" in refused.headers
    server.start()
    assert wait_for(lambda: client.get("/readyz").json()["status"] == "ok", 20)
    assert "warning" not in client.get(PATH).headers
    assert client.post("/v1/overrides", json=STATEMENT, headers=write).status_code == 201


def test_a_replica_that_starts_without_its_database_answers_nothing_it_does_not_know(serving, server):
    url = server.create("late")
    migrated(url).close()
    server.stop()
    service = serving(url, migrate=False)
    ready = service.client.get("/readyz")
    assert (ready.status_code, ready.json()["status"]) == (503, "starting")
    for path in (PATH, "/v1/overrides", "/"):
        answer = service.client.get(path)
        assert (answer.status_code, answer.json()["code"]) == (503, "not-ready")
    assert service.client.get("/healthz").status_code == 200
    server.start()
    assert wait_for(lambda: service.client.get("/readyz").status_code == 200, 20)
    assert service.client.get(PATH).status_code == 200


def test_a_full_disk_is_507_and_nothing_is_half_written(service):
    write = service.token("write")
    assert service.client.post("/v1/overrides", json=STATEMENT, headers=write).status_code == 201
    database = service.edge._replica.database
    with database.engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
    database.close()  # later connections are bounded
    from sqlalchemy import event

    def bound(connection, _):
        connection.execute(f"PRAGMA max_page_count={pages + 2}")

    event.listen(database.engine, "connect", bound)
    statuses = set()
    for number in range(40):
        body = {**STATEMENT, "reason": f"{number} " + "x" * 3000}
        answer = service.client.post("/v1/overrides", json=body, headers=write)
        statuses.add(answer.status_code)
        if answer.status_code == 507:
            break
    assert 507 in statuses
    assert answer.json()["code"] == "storage-full"
    assert statuses <= {201, 507}
    event.remove(database.engine, "connect", bound)
    database.close()
    held = service.client.get("/v1/overrides").json()
    assert len(held["overrides"]) == held["revision"] - 1, "every revision has its override, and no other"
    with database.engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA integrity_check").scalar_one() == "ok"
    assert service.client.post("/v1/overrides", json=STATEMENT, headers=write).status_code == 201


class DiskFull(Exception):
    sqlstate = "53100"


@pytest.mark.parametrize(
    ("original", "kind"),
    [(DiskFull("could not extend file"), StoreFull), (Exception("database or disk is full"), StoreFull),
     (Exception("server closed the connection"), StoreUnavailable), (Exception("disk I/O error"), StoreUnavailable)],
)  # fmt: skip
def test_a_drivers_error_is_worded(original, kind):
    from sqlalchemy.exc import OperationalError

    assert isinstance(worded(OperationalError("insert", {}, original)), kind)
