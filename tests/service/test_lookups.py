"""What GETs answer: the facts, the nearest release, conditions, shapes."""

from __future__ import annotations

import json
from hashlib import sha256

import pytest
from pydantic import TypeAdapter

from archcap.snapshot import release_slice
from archcap_service import schemas
from archcap_service.problems import Problem
from tests.service.conftest import TOY


@pytest.fixture
def service(read_only):
    return read_only


ANSWERS = [
    ("/v1/engines", schemas.Engines),
    (TOY, schemas.Releases),
    (f"{TOY}/0.10/architectures", schemas.Architectures),
    (f"{TOY}/0.11/architectures?with=pipeline&without=window", schemas.Architectures),
    (f"{TOY}/0.11/architectures/StoneForCausalLM", schemas.ArchitectureAnswer),
    (f"{TOY}/0.11/capabilities/window", schemas.CapabilityAnswer),
    (f"{TOY}/0.10/facts", schemas.Facts),
    (f"{TOY}/0.11/settings", schemas.Settings),
    (f"{TOY}/0.11/settings/page_size", schemas.SettingAnswer),
    (f"{TOY}/0.11/steps", schemas.Steps),
    (f"{TOY}/0.11/steps/cache_mode", schemas.StepAnswer),
    ("/v1/engines/toy/diff?from=0.9&to=0.11", schemas.DiffAnswer),
    ("/v1/engines/toy/history/RiverForCausalLM", schemas.HistoryAnswer),
    ("/v1/engines/toy/history/RiverForCausalLM?capability=max_depth", schemas.HistoryAnswer),
    ("/v1/snapshot", schemas.SnapshotAnswer),
    ("/v1/overrides", schemas.OverridesAnswer),
    ("/v1/revisions", schemas.RevisionsAnswer),
    ("/v1/revisions/1", schemas.RevisionAnswer),
    ("/healthz", schemas.Health),
    ("/readyz", schemas.Ready),
]


@pytest.mark.parametrize(("path", "shape"), ANSWERS, ids=lambda part: part if isinstance(part, str) else "")
def test_an_answer_has_the_shape_the_reference_says(service, path, shape):
    for _ in range(2):  # the second is hot
        answer = service.client.get(path)
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == "application/json"
        TypeAdapter(shape).validate_json(answer.content)


def test_a_capability_is_the_frozenset_of_the_release(service, snapshot):
    for release in snapshot.releases("toy"):
        for name in snapshot.vocabulary.capabilities:
            answer = service.client.get(f"{TOY}/{release}/capabilities/{name}").json()
            view = snapshot.release("toy", release)
            assert answer["architectures"] == sorted(view.capability_set(name))
            assert {one["architecture"]: one["when"] for one in answer["conditional"]} == view.conditional_set(name)
            assert (answer["release"], answer["release_match"]) == (release, "exact")


def test_facts_are_the_slice_byte_for_byte(service, snapshot):
    answer = service.client.get(f"{TOY}/0.10/facts")
    assert answer.content == release_slice(snapshot, "toy", "0.10")
    facts = json.dumps(answer.json()["facts"], sort_keys=True, separators=(",", ":")).encode()
    assert answer.json()["digest"] == "sha256:" + sha256(facts).hexdigest()


@pytest.mark.parametrize(
    ("asked", "answers", "match"),
    [("0.10", "0.10", "exact"), ("0.10.0", "0.10", "exact"), ("0.10.post2", "0.10.post1", "nearest"),
     ("0.1", "0.9", "nearest"), ("9.9", "0.11", "nearest")],
)  # fmt: skip
def test_an_unknown_release_answers_with_the_nearest_and_says_so(service, asked, answers, match):
    for path in ("capabilities/pipeline", "architectures", "architectures/RiverForCausalLM"):
        answer = service.client.get(f"{TOY}/{asked}/{path}")
        assert (answer.json()["release"], answer.json()["release_match"]) == (answers, match)
        assert answer.headers.get("archcap-release-match") == ("nearest" if match == "nearest" else None)


@pytest.mark.parametrize("path", [path for path, _ in ANSWERS[:16]])
def test_the_etag_of_an_answer_makes_it_a_304(service, path):
    first = service.client.get(path)
    etag = first.headers["etag"]
    assert etag.startswith('"')
    for sent in (etag, f"W/{etag}", f'"other", {etag}', "*"):
        answer = service.client.get(path, headers={"if-none-match": sent})
        assert (answer.status_code, answer.content, answer.headers["etag"]) == (304, b"", etag)
        assert "cache-control" in answer.headers
    other = service.client.get(path, headers={"if-none-match": '"other"'})
    assert (other.status_code, other.content) == (200, first.content)


def test_a_hot_answer_is_the_one_before(service):
    path = f"{TOY}/0.10.post1/capabilities/hidden_capture"
    service.edge._table = (None, {})
    cold, hot = service.client.get(path), service.client.get(path)
    assert "x-request-id" in cold.headers
    assert "x-request-id" not in hot.headers
    assert cold.content == hot.content
    same = ("etag", "cache-control", "content-type", "archcap-revision", "x-content-type-options", "content-length")
    assert {key: cold.headers[key] for key in same} == {key: hot.headers[key] for key in same}


def test_head_answers_as_get_without_the_body(service):
    path = f"{TOY}/0.10/capabilities/pipeline"
    for _ in range(2):
        head = service.client.head(path)
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["etag"] == service.client.get(path).headers["etag"]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", ["RiverForCausalLM", "RiverTextForCausalLM", "StoneDraftModel", "StoneForCausalLM"]),
        ("with=state_cache", ["RiverForCausalLM", "RiverTextForCausalLM"]),
        ("with=state_cache,quantisations", ["RiverForCausalLM"]),
        ("with=state_cache&with=quantisations", ["RiverForCausalLM"]),
        ("without=state_cache", ["StoneDraftModel", "StoneForCausalLM"]),
        ("without=window", ["RiverForCausalLM", "RiverTextForCausalLM", "StoneDraftModel"]),
        ("family=stone&without=window", ["StoneDraftModel"]),
    ],
)
def test_filters_keep_what_fits_every_one(service, query, names):
    answer = service.client.get(f"{TOY}/0.11/architectures?{query}").json()
    assert [row["architecture"] for row in answer["architectures"]] == names


WRONG = [
    ("/v1/engines/toi/releases", 404, "unknown-engine", "did you mean toy?"),
    (f"{TOY}/latest/facts", 404, "unknown-release", "known releases: 0.9 to 0.11"),
    (f"{TOY}/0.10/capabilities/pipelin", 404, "unknown-capability", "did you mean pipeline?"),
    (f"{TOY}/0.10/settings/page_siz", 404, "unknown-setting", "did you mean page_size"),
    (f"{TOY}/0.10/steps/nothing_like_it", 404, "unknown-step", ""),
    ("/v1/revisions/99", 404, "unknown-revision", "GET /v1/revisions"),
    (f"{TOY}/0.10/architectures/RiverForCausaLM", 404, "unknown-architecture", "did you mean RiverForCausalLM"),
    (f"{TOY}/0.10/architectures/StoneForCausalLM", 404, "unknown-architecture", "it is there again from 0.10.post1"),
    (f"{TOY}/0.10/architectures?with=pipelin", 422, "bad-parameter", "did you mean pipeline?"),
    ("/v1/engines/toy/diff?from=0.9", 422, "bad-parameter", "see /docs"),
    ("/v1/engines/toy/history/Nobody", 404, "unknown-architecture", ""),
    ("/v1/overrides/7", 404, "unknown-override", "GET /v1/overrides"),
    ("/v1/overrides/seven", 422, "bad-parameter", ""),
    ("/v1/nothing", 404, "not-found", "see /docs"),
    (f"{TOY}/0.10/capabilities/'; DROP TABLE head; --", 404, "unknown-capability", ""),
    (f"{TOY}/../../../../etc/passwd", 404, "not-found", ""),
    (f"{TOY}/%2e%2e/%2e%2e/facts", 404, None, ""),
    (f"{TOY}/%ff%fe/facts", 404, "unknown-release", ""),
]


@pytest.mark.parametrize(("path", "status", "code", "hint"), WRONG)
def test_what_nobody_knows_is_a_problem_with_a_hint(service, path, status, code, hint):
    answer = service.client.get(path)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    problem = Problem.model_validate_json(answer.content)
    assert problem.status == status
    assert code in (None, problem.code)
    assert hint in (problem.hint or "")


def test_names_nobody_knows_leave_nothing_behind(service):
    state = service.edge._replica.state
    service.client.get(f"{TOY}/0.10/capabilities/pipeline")
    before = len(state.documents), len(service.edge._table[1])
    for number in range(50):
        service.client.get(f"{TOY}/0.10.{number}/capabilities/pipeline")
        service.client.get(f"{TOY}/0.10{'.0' * number}/capabilities/pipeline")
        service.client.get(f"{TOY}/0.10/capabilities/x{number}")
        service.client.get(f"{TOY}/0.10/capabilities/pipe%6{number % 10}ine")
    assert (len(state.documents), len(service.edge._table[1])) == before


def test_every_answer_has_security_headers(service):
    for path in ("/", "/docs", "/v1/engines", "/nothing", "/metrics"):
        headers = service.client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert "default-src" in headers["content-security-policy"]
        assert "access-control-allow-origin" not in headers
        assert "server" not in headers


def test_the_start_page_and_the_docs_load_nothing_from_outside(service):
    for path in ("/", "/docs"):
        text = service.client.get(path).text
        assert "http://" not in text.replace("http://service", "")
        assert "https://" not in text
    assert service.client.get("/docs/assets/swagger-ui-bundle.js").status_code == 200
    assert service.client.get("/docs/assets/swagger-ui.css").status_code == 200
