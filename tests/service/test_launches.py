"""Resolutions over HTTP: the library's own answers, remembered per state, and everything a body can get wrong."""

from __future__ import annotations

import json
import time

import pytest

from archcap.model.codec import to_json
from archcap.model.request import Request
from archcap.resolver import resolve
from archcap_service.bodies import check_depth
from archcap_service.problems import Problem
from tests.service.conftest import RIVER, TOY

ASK = {"config": RIVER, "hardware": {"gpu": "alpha"}, "settings": {"shard_size": 2}}
PATH = f"{TOY}/0.10/resolve"


def own(snapshot, **parts):
    return to_json(resolve(Request.model_validate({"engine": "toy", "release": "0.10", **ASK, **parts}), snapshot))


PARTS = [{}, {"id": "a"}, {"fixes": True}, {"settings": {}}, {"engine": "toy", "release": "0.10"}]


@pytest.mark.parametrize("parts", PARTS)
def test_an_answer_is_the_librarys_own_also_when_repeated(read_only, snapshot, parts):
    for _ in range(3):
        answer = read_only.client.post(PATH, json={**ASK, **parts})
        assert answer.status_code == 200, answer.text
        assert answer.content == own(snapshot, **parts)
        assert answer.headers["cache-control"] == "no-store"
    assert ("fixes" in answer.json()) == ("fixes" in parts)


def test_the_same_launch_under_another_id_is_not_computed_again(read_only, snapshot):
    metrics = read_only.edge._metrics
    read_only.client.post(PATH, json={**ASK, "id": "first"})
    before = sum(metrics.resolve_seconds.counts)
    for identity in (1, -5, 'ä"\n', "x" * 50, None):
        answer = read_only.client.post(PATH, json={**ASK, "id": identity})
        assert answer.content == own(snapshot, id=identity)
    assert sum(metrics.resolve_seconds.counts) == before
    for wrong in (True, 1.5, [], {}):
        assert read_only.client.post(PATH, json={**ASK, "id": wrong}).status_code == 422
    other = {**ASK, "settings": {"shard_size": 1}}
    assert read_only.client.post(PATH, json=other).content == own(snapshot, settings={"shard_size": 1})


def test_an_unknown_release_is_answered_by_the_nearest(read_only):
    answer = read_only.client.post(f"{TOY}/0.12/resolve", json=ASK).json()
    assert (answer["release"], answer["release_match"]) == ("0.11", "nearest")


def test_a_repeated_question_is_remembered_and_others_are_not_mistaken_for_it(read_only, snapshot):
    metrics = read_only.edge._metrics
    for _ in range(2):
        read_only.client.post(PATH, json=ASK)
    before = metrics.answers["hit",]
    read_only.client.post(PATH, json=ASK)
    assert metrics.answers["hit",] == before + 1
    other = read_only.client.post(f"{TOY}/0.11/resolve", json=ASK).json()
    assert other["release"] == "0.11"


WRONG = [
    (b"", 400, "bad-json"),
    (b"{", 400, "bad-json"),
    (b"\xff\xfe{}", 400, "bad-json"),
    (b"[" * 10_000, 400, "bad-json"),
    (b'{"a":' * 10_000 + b"1" + b"}" * 10_000, 400, "bad-json"),
    (b'{"config":' + b"[" * 70 + b"]" * 70 + b"}", 400, "bad-json"),
    (b"[]", 400, "bad-json"),
    (b'{"a": 1, "a": 2}', 400, "bad-json"),
    (b'{"config": NaN}', 400, "bad-json"),
    (b'{"config": ' + b"9" * 5_000 + b"}", 400, "bad-json"),
    (b'{"settingz": {}}', 422, "bad-request"),
    (b'{"settings": {"page_sizes": 1}}', 422, "unknown-setting"),
    (b'{"settings": {"page_size": "x"}}', 422, "wrong-type"),
    (b'{"checkpoint": "acme/none"}', 422, "unknown-checkpoint"),
    (b'{"release": "0.11"}', 422, "bad-request"),
    (b'{"config": {}}', 422, "no-architecture"),
    (b'{"hardware": {"gpu": "nope"}}', 422, "unknown-hardware"),
]


@pytest.mark.parametrize(("body", "status", "code"), WRONG, ids=lambda part: str(part)[:40])
def test_a_wrong_body_is_a_problem_soon(read_only, body, status, code):
    start = time.process_time()
    answer = read_only.client.post(PATH, content=body)
    assert time.process_time() - start < 0.5
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert Problem.model_validate_json(answer.content).code.startswith(code.removesuffix("hardware"))


def test_a_body_is_refused_by_its_size_whether_it_says_so_or_not(read_only):
    large = b'{"config": "' + b"x" * (10 << 20) + b'"}'
    said = read_only.client.post(PATH, content=large)
    silent = read_only.client.post(PATH, content=iter([large[at : at + 65_536] for at in range(0, len(large), 65_536)]))
    for answer in (said, silent):
        assert (answer.status_code, answer.json()["code"]) == (413, "body-too-large")


def test_unknown_engines_are_404(read_only):
    assert read_only.client.post("/v1/engines/toi/releases/0.10/resolve", json=ASK).json()["code"] == "unknown-engine"
    assert read_only.client.post(f"{TOY}/main/resolve", json=ASK).json()["code"] == "unknown-release"
    assert read_only.client.post(f"{TOY}/%ff/resolve", json=ASK).status_code == 404


def test_a_batch_answers_in_order_in_the_form_it_came(read_only, snapshot):
    asked = [{**ASK, "id": 1}, {"id": "bad", "settings": {"nope": 1}}, {**ASK, "id": 2}]
    lines = "\n".join(map(json.dumps, asked)) + "\n\nno json\n"
    answer = read_only.client.post(f"{TOY}/0.10/resolve-batch", content=lines)
    assert answer.headers["content-type"] == "application/x-ndjson"
    rows = [json.loads(line) for line in answer.text.splitlines()]
    assert [row.get("id") for row in rows] == [1, "bad", 2, None]
    assert [row["error"]["code"] for row in rows if "error" in row] == ["unknown-setting", "bad-json"]
    assert answer.content.splitlines()[0] == own(snapshot, id=1)
    array = read_only.client.post(f"{TOY}/0.10/resolve-batch", json=[*asked, 3])
    assert array.headers["content-type"] == "application/json"
    assert array.json()[:3] == rows[:3]
    assert array.json()[3]["error"]["code"] == "bad-request"


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"", 400), (b"[]", 400), (b"[" * 10_000, 400), (b"{}\n" * 1001, 422), (b"\xff", 200), (b'[{"id": 1}, {]', 400)],
    ids=lambda part: str(part)[:20],
)
def test_a_batch_is_bounded(read_only, body, status):
    assert read_only.client.post(f"{TOY}/0.10/resolve-batch", content=body).status_code == status


@pytest.mark.parametrize(
    ("body", "deep"),
    [
        (b"[[[]]]", False), (b"[[[[]]]]", True), (b'["[[[[["]', False), (b'["\\"[[[[["]', False), (b"[]" * 50, False),
        (b'{"a":{"b":{"c":{}}}}', True), (b'"\\\\"[[[[', True), (b"]]]][[[", False),
    ],
)  # fmt: skip
def test_depth_is_told_without_parsing(body, deep):
    if deep:
        with pytest.raises(Exception, match="deeper than 3"):
            check_depth(body, 3)
    else:
        check_depth(body, 3)


def test_refusals_are_counted_by_step_and_lookups_by_release(read_only):
    refused = {"config": RIVER, "hardware": {"gpu": "alpha"}, "settings": {"shard_size": 2, "cache_mode": "flat"}}
    for _ in range(2):
        read_only.client.get(f"{TOY}/0.10/architectures/RiverForCausalLM")
    assert read_only.client.post(PATH, json=refused).json()["verdict"] == "refused"
    text = read_only.client.get("/metrics").text
    assert 'archcap_resolutions_total{engine="toy",release="0.10",verdict="refused"}' in text
    assert 'archcap_lookups_total{engine="toy",release="0.10"}' in text
    assert 'archcap_architectures_total{architecture="RiverForCausalLM",engine="toy"}' in text
    assert 'archcap_request_seconds_bucket{le="0.005",method="GET",route="architecture",status="200"}' in text
    assert "archcap_resolve_seconds_count" in text
    assert 'archcap_refusals_total{engine="toy",release="0.10",step="' in text
