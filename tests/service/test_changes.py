"""Writes over HTTP, on both databases: overrides, revisions, conditions, who may."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import TypeAdapter

from archcap_service import schemas
from archcap_service.problems import Problem
from tests.service.conftest import STATEMENT, TOY


def holders(service, release="0.9", capability="pipeline"):
    return service.client.get(f"{TOY}/{release}/capabilities/{capability}").json()["architectures"]


@pytest.fixture
def service(serving, url):
    return serving(url)


@pytest.fixture
def write(service):
    return service.token("write", name="night shift")


def test_an_override_answers_at_once_and_says_who_and_why(service, write):
    before = service.client.get("/v1/snapshot").json()
    assert "RiverForCausalLM" not in holders(service)
    made = service.client.post("/v1/overrides", json=STATEMENT, headers=write)
    assert made.status_code == 201, made.text
    TypeAdapter(schemas.Written).validate_json(made.content)
    assert holders(service) == ["RiverForCausalLM", "StoneForCausalLM"]
    shown = service.client.get(made.headers["location"]).json()
    assert (shown["author"], shown["statement"]["reason"], shown["revision"]) == ("night shift", "Backported.", 2)
    [entry] = service.client.get(f"{TOY}/0.9/architectures/RiverForCausalLM").json()["support"]["pipeline"]
    assert (entry["source"], entry["note"], entry["removed"]) == ("override 1", "Backported.", "0.10")
    after = service.client.get("/v1/snapshot").json()
    assert (after["revision"], after["overrides"], after["base"]) == (2, 1, before["digest"])
    assert after["digest"] != before["digest"]


def test_what_an_override_does_not_touch_keeps_its_etag(service, write):
    paths = [f"{TOY}/0.10/capabilities/pipeline", f"{TOY}/0.9/capabilities/state_cache", f"{TOY}/0.11/facts"]
    touched = [f"{TOY}/0.9/capabilities/pipeline", f"{TOY}/0.9/facts", "/v1/snapshot", "/v1/overrides"]
    before = {path: service.client.get(path).headers["etag"] for path in (*paths, *touched)}
    assert service.client.post("/v1/overrides", json=STATEMENT, headers=write).status_code == 201
    after = {path: service.client.get(path).headers["etag"] for path in (*paths, *touched)}
    assert {path for path in before if before[path] != after[path]} == set(touched)


def test_resolutions_follow_an_override(service, write):
    ask = {"architecture": "RiverForCausalLM", "hardware": {"gpu": "alpha"}}
    first = [service.client.post(f"{TOY}/0.9/resolve", json=ask).json() for _ in range(2)]
    assert first[0] == first[1]
    service.client.post("/v1/overrides", json=STATEMENT, headers=write)
    after = service.client.post(f"{TOY}/0.9/resolve", json=ask).json()
    assert after["snapshot"] != first[0]["snapshot"]


def test_if_match_lets_the_first_writer_in_and_tells_the_second(service, write):
    etag = service.client.get("/v1/overrides").headers["etag"]
    first = service.client.post("/v1/overrides", json=STATEMENT, headers={**write, "if-match": etag})
    second = service.client.post("/v1/overrides", json=STATEMENT, headers={**write, "if-match": etag})
    assert (first.status_code, second.status_code) == (201, 412)
    assert second.json()["code"] == "revision-mismatch"
    assert first.headers["etag"] == service.client.get("/v1/overrides").headers["etag"]
    third = service.client.post("/v1/overrides", json=STATEMENT, headers={**write, "if-match": first.headers["etag"]})
    assert third.status_code == 201
    assert service.client.delete("/v1/overrides/1", headers={**write, "if-match": etag}).status_code == 412
    assert service.client.post("/v1/revisions/1/restore", headers={**write, "if-match": etag}).status_code == 412
    assert service.client.delete("/v1/overrides/1", headers={**write, "if-match": "*"}).status_code == 200


def test_of_a_hundred_concurrent_writers_with_one_etag_exactly_one_wins(service, write):
    etag = service.client.get("/v1/overrides").headers["etag"]

    def post(number):
        body = {**STATEMENT, "reason": f"writer {number}"}
        return service.client.post("/v1/overrides", json=body, headers={**write, "if-match": etag}).status_code

    with ThreadPoolExecutor(32) as pool:
        statuses = list(pool.map(post, range(100)))
    assert sorted(set(statuses)) == [201, 412]
    assert statuses.count(201) == 1
    assert len(service.client.get("/v1/overrides").json()["overrides"]) == 1


def test_delete_and_restore_are_revisions(service, write):
    client = service.client
    empty = client.get("/v1/overrides").json()
    client.post("/v1/overrides", json=STATEMENT, headers=write)
    held = client.get("/v1/overrides").json()
    assert client.delete("/v1/overrides/1", headers=write).status_code == 200
    assert client.delete("/v1/overrides/1", headers=write).status_code == 404
    gone = client.get("/v1/overrides").json()
    assert (gone["overrides"], gone["digest"]) == (empty["overrides"], empty["digest"])
    back = client.post("/v1/revisions/2/restore", headers=write)
    assert back.status_code == 201
    again = client.get("/v1/overrides").json()
    assert (again["overrides"], again["digest"]) == (held["overrides"], held["digest"])
    listed = client.get("/v1/revisions?limit=3").json()
    assert [(one["id"], one["kind"]) for one in listed["revisions"]] == [(4, "restore"), (3, "delete"), (2, "override")]
    rest = client.get(listed["next"]).json()
    assert ([one["id"] for one in rest["revisions"]], rest["next"]) == ([1], None)
    assert client.post("/v1/revisions/99/restore", headers=write).status_code == 404


WRONG = [
    ({**STATEMENT, "capability": "pipelin"}, "capability", "pipeline"),
    ({**STATEMENT, "architectur": "x"}, "architectur", "architecture"),
    ({key: STATEMENT[key] for key in STATEMENT if key != "reason"}, "reason", None),
    ({**STATEMENT, "value": 1.5}, "value", None),
    ({**STATEMENT, "expires": "yesterday"}, "expires", None),
    ({**STATEMENT, "expires": "2020-01-01T00:00:00Z"}, "expires", None),
    ({**STATEMENT, "architecture": "'; DROP TABLE overrides; --"}, "architecture", None),
]


@pytest.mark.parametrize(("body", "field", "suggestion"), WRONG)
def test_a_wrong_override_is_422_with_the_nearest_name(read_only, serving, body, field, suggestion):
    headers = read_only.token("write")
    answer = read_only.client.post("/v1/overrides", json=body, headers=headers)
    assert answer.status_code == 422, answer.text
    problem = Problem.model_validate_json(answer.content)
    assert (problem.code, problem.errors[0].field, problem.errors[0].suggestion) == ("bad-override", field, suggestion)


def test_an_override_ends_by_itself(serving, url):
    service = serving(url, sqlite_poll_s=0.02)
    write = service.token("write")
    ends = datetime.now(UTC) + timedelta(seconds=1.5)
    body = {**STATEMENT, "expires": ends.isoformat()}
    assert service.client.post("/v1/overrides", json=body, headers=write).status_code == 201
    assert "RiverForCausalLM" in holders(service)
    until = time.monotonic() + 15
    while "RiverForCausalLM" in holders(service) and time.monotonic() < until:
        time.sleep(0.05)
    assert "RiverForCausalLM" not in holders(service)
    newest = service.client.get("/v1/revisions").json()["revisions"][0]
    assert (newest["kind"], newest["author"], newest["id"]) == ("expire", "archcap", 3)


def test_a_service_may_ask_for_if_match(serving, sqlite_url):
    service = serving(sqlite_url, require_if_match=True)
    write = service.token("write")
    answer = service.client.post("/v1/overrides", json=STATEMENT, headers=write)
    assert (answer.status_code, answer.json()["code"]) == (428, "if-match-required")


def test_the_audit_log_is_for_admins(service, write):
    service.client.post("/v1/overrides", json=STATEMENT, headers={**write, "x-request-id": "deploy-7"})
    assert service.client.get("/v1/audit").status_code == 401
    assert service.client.get("/v1/audit", headers=write).status_code == 403
    answer = service.client.get("/v1/audit", headers=service.token("admin"))
    TypeAdapter(schemas.AuditAnswer).validate_json(answer.content)
    entries = {one["action"]: one for one in answer.json()["entries"]}
    assert entries["override.create"]["request_id"] == "deploy-7"
