"""Tokens, scopes, limits: who is let in, before the body, and what never shows."""

from __future__ import annotations

import json
import logging

import pytest

from archcap_service.logs import JsonLines, redacted
from archcap_service.problems import Problem
from archcap_service.security import Failures, Gate, TooManyFailures
from archcap_service.store.audit import Actor
from archcap_service.store.database import Database
from archcap_service.store.tokens import Tokens, matches, split_token
from tests.service.conftest import RIVER, STATEMENT, TOY

WRITES = [
    ("POST", "/v1/overrides"),
    ("DELETE", "/v1/overrides/1"),
    ("POST", "/v1/revisions/1/restore"),
    ("GET", "/v1/audit"),
]


@pytest.mark.parametrize(("method", "path"), WRITES)
def test_without_a_token_nothing_changes_whatever_the_body(read_only, method, path):
    for body in (b"", b"{", b"x" * 100_000):
        answer = read_only.client.request(method, path, content=body)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert Problem.model_validate_json(answer.content).code == "unauthorized"


@pytest.mark.parametrize(("method", "path"), WRITES)
def test_a_token_without_the_scope_is_403(read_only, method, path):
    headers = read_only.token("read")
    answer = read_only.client.request(method, path, headers=headers, content=b"{")
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


def test_the_decision_comes_before_the_body_is_read(read_only):
    """A body that never comes is not waited for."""
    import anyio

    sent = []

    async def receive():
        raise AssertionError("the body was asked for")

    async def send(message):
        sent.append(message)

    async def ask():
        scope = {
            "type": "http", "method": "POST", "path": "/v1/overrides", "raw_path": b"/v1/overrides",
            "query_string": b"", "headers": [(b"content-length", b"9999999999")], "client": ("1.2.3.4", 1),
            "scheme": "http", "server": ("service", 80), "http_version": "1.1", "root_path": "",
        }  # fmt: skip
        await read_only.edge(scope, receive, send)

    anyio.run(ask)
    assert sent[0]["status"] == 401


@pytest.mark.parametrize("given", ["", "Basic YTpi", "Bearer", "Bearer x", "Bearer acap_000000000000_" + "A" * 43])
def test_what_is_no_token_is_401(serving, sqlite_url, given):
    service = serving(sqlite_url)
    answer = service.client.post("/v1/overrides", json=STATEMENT, headers={"authorization": given})
    assert answer.status_code == 401


def test_a_token_is_compared_with_its_secret_and_may_be_revoked(service):
    headers = service.token("write", name="ci")
    assert service.client.post("/v1/overrides", json=STATEMENT, headers=headers).status_code == 201
    text = headers["authorization"]
    wrong = text[:-1] + ("A" if text[-1] != "A" else "B")
    assert service.client.post("/v1/overrides", json=STATEMENT, headers={"authorization": wrong}).status_code == 401
    database = Database(service.url)
    Tokens(database).revoke("ci", Actor("me"))
    database.close()
    answer = service.client.post("/v1/overrides", json=STATEMENT, headers=headers)
    assert answer.status_code == 401, "also on a replica that has not heard of it yet"


def test_the_database_holds_no_secret(service):
    text = service.token("admin")["authorization"].split("_", 2)[2]
    database = Database(service.url)
    found = database.engine.raw_connection().driver_connection.iterdump()
    assert not any(text in line for line in found)
    database.close()


def test_an_address_that_keeps_failing_is_told_to_wait(serving, sqlite_url):
    service = serving(sqlite_url, auth_failures_per_minute=3)
    good = service.token("write")
    bad = {"authorization": "Bearer nonsense"}
    statuses = [service.client.post("/v1/overrides", json=STATEMENT, headers=bad).status_code for _ in range(5)]
    assert statuses == [401, 401, 401, 429, 429]
    answer = service.client.post("/v1/overrides", json=STATEMENT, headers=bad)
    assert 0 < int(answer.headers["retry-after"]) <= 60
    service.edge._replica.refresh()
    assert service.client.post("/v1/overrides", json=STATEMENT, headers=good).status_code == 201
    assert service.client.get(f"{TOY}/0.10/facts").status_code == 200


def test_failures_are_forgotten_after_a_minute_and_memory_is_bounded():
    now = [0.0]
    failures = Failures(2, clock=lambda: now[0])
    failures.add("a")
    failures.add("a")
    with pytest.raises(TooManyFailures):
        failures.check("a")
    failures.check("b")
    now[0] = 61.0
    failures.check("a")
    for number in range(11_000):
        failures.add(str(number))
    assert len(failures._at) <= 10_000


def test_an_unknown_token_is_compared_as_long_as_a_known_one():
    assert not matches(None, "0" * 64)
    asked = []
    gate = Gate(dict, lambda token_id: asked.append(token_id), 5)
    with pytest.raises(Exception, match="not valid"):
        gate.admit("Bearer acap_0123456789ab_" + "x" * 43, "me", "read")
    assert asked == ["0123456789ab"]
    assert split_token("acap_0123456789ab_" + "x" * 42) is None


def test_reads_may_be_protected_hot_or_not(serving, sqlite_url):
    service = serving(sqlite_url, protect_reads=True)
    paths = [f"{TOY}/0.10/facts", "/v1/overrides", "/v1/revisions", "/v1/snapshot"]
    for path in paths:
        assert service.client.get(path).status_code == 401
        for _ in range(2):
            answer = service.client.get(path, headers=service.token("read"))
            assert answer.status_code == 200
            assert "public" not in answer.headers["cache-control"]
        assert service.client.get(path).status_code == 401
    ask = {"config": RIVER}
    assert service.client.post(f"{TOY}/0.10/resolve", json=ask).status_code == 401
    assert service.client.post(f"{TOY}/0.10/resolve", json=ask, headers=service.token("read")).status_code == 200
    assert service.client.get("/healthz").status_code == 200


def test_other_origins_are_let_in_only_when_named(serving, sqlite_url, read_only):
    origin = {"origin": "https://pages.example"}
    assert "access-control-allow-origin" not in read_only.client.get("/v1/engines", headers=origin).headers
    service = serving(sqlite_url, cors_origins=("https://pages.example",))
    for _ in range(2):
        answer = service.client.get("/v1/engines", headers=origin)
        assert answer.headers["access-control-allow-origin"] == "https://pages.example"
    other = service.client.get("/v1/engines", headers={"origin": "https://evil.example"})
    assert "access-control-allow-origin" not in other.headers


def test_logs_are_json_with_the_request_id_and_without_secrets(service, caplog):
    caplog.set_level(logging.INFO, "archcap_service")
    headers = {**service.token("write"), "x-request-id": "night-1"}
    answer = service.client.post("/v1/overrides", json=STATEMENT, headers=headers)
    assert answer.headers["x-request-id"] == "night-1"
    lines = [JsonLines().format(record) for record in caplog.records]
    secret = headers["authorization"].split()[1]
    assert not any(secret in line or secret.split("_", 2)[2] in line for line in lines)
    [row] = [json.loads(line) for line in lines if '"request"' in line]
    assert (row["method"], row["path"], row["status"], row["route"]) == ("POST", "/v1/overrides", 201, "create")


@pytest.mark.parametrize("given", ["a" * 65, "a b", "ä", 'x"y', "", "x\ty"])
def test_a_strange_request_id_is_replaced(read_only, given):
    answer = read_only.client.get("/healthz", headers={"x-request-id": given.encode()})
    assert len(answer.headers["x-request-id"]) == 32


def test_passwords_and_tokens_are_cut_out_of_texts():
    text = "postgresql://me:hunter2@host/db acap_0123456789ab_SECRET password=abc"
    assert redacted(text) == "postgresql://me:…@host/db acap_0123456789ab_… password=…"
