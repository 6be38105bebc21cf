"""The OpenAPI document is complete, and the service keeps to it whatever it is sent."""

from __future__ import annotations

import os

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from archcap_service.api.app import create_app
from archcap_service.settings import read_settings
from archcap_service.store.audit import Actor
from archcap_service.store.tokens import Tokens
from tests.service.conftest import migrated

EXAMPLES = int(os.environ.get("ARCHCAP_SCHEMATHESIS_EXAMPLES", "3"))
CHECKS = (not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance)
OPERATIONS = 26


@pytest.fixture(scope="module")
def writer(snapshot, tmp_path_factory):
    """A service of this file's own, with a token that may do everything."""
    url = f"sqlite:///{tmp_path_factory.mktemp('fuzz') / 'archcap.db'}"
    database = migrated(url)
    _, text = Tokens(database).create("fuzz", ["admin"], None, Actor("test"))
    database.close()
    edge = create_app(read_settings(database_url=url, auth_failures_per_minute=10**6), snapshot)
    edge._replica.start()
    yield edge, {"authorization": f"Bearer {text}"}
    edge._replica.stop()


def test_no_request_gets_an_answer_that_is_not_documented(writer):
    """With a token and without, whatever the parameters and the body."""
    edge, headers = writer
    asked = 0
    for found in schemathesis.openapi.from_asgi("/openapi.json", edge).get_all_operations():
        operation = found.ok()

        @settings(
            max_examples=EXAMPLES, deadline=None, phases=(Phase.explicit, Phase.generate), database=None,
            derandomize=True, suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(case=st.one_of(operation.as_strategy(), operation.as_strategy(GenerationMode.NEGATIVE)))
        def ask(case):
            nonlocal asked
            for given_headers in (headers, {}):
                case.call_and_validate(headers=given_headers, checks=list(CHECKS))
                asked += 1

        ask()
    print(f"{asked} requests")
    assert asked >= OPERATIONS * EXAMPLES


def test_every_operation_documents_its_answers_and_has_words(read_only):
    document = read_only.client.get("/openapi.json").json()
    found = [(path, verb, one) for path, verbs in document["paths"].items() for verb, one in verbs.items()]
    assert len(found) == OPERATIONS
    for path, verb, operation in found:
        assert operation.get("summary"), (verb, path)
        assert operation.get("description"), (verb, path)
        statuses = operation["responses"]
        good = next(one for status, one in statuses.items() if status in ("200", "201"))
        assert any("schema" in content for content in good["content"].values()), (verb, path)
        for status, answer in statuses.items():
            if int(status) >= 400 and path != "/readyz":
                schema = answer["content"]["application/problem+json"]["schema"]
                assert schema == {"$ref": "#/components/schemas/Problem"}, (verb, path, status)


def test_every_reference_in_the_document_leads_somewhere(read_only):
    document = read_only.client.get("/openapi.json").json()
    known = document["components"]["schemas"]

    def references(value):
        if isinstance(value, dict):
            if isinstance(value.get("$ref"), str):
                yield value["$ref"]
            for part in value.values():
                yield from references(part)
        elif isinstance(value, list):
            for part in value:
                yield from references(part)

    found = set(references(document))
    assert len(found) > 20
    assert [one for one in found if one.removeprefix("#/components/schemas/") not in known] == []
    assert "HTTPValidationError" not in known
