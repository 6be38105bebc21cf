"""Every page as it is sent: valid, linked to what exists, with a JSON twin, under a strict policy, small."""

from __future__ import annotations

import gzip
import json
from urllib.parse import parse_qs, urlsplit

import html5lib
import pytest

from archcap_service.dashboard.check import check_page, twin
from archcap_service.dashboard.question import Question, decoded, encoded
from archcap_service.dashboard.render import assets
from tests.dashboard.pages import PAGES, REFUSED, Read
from tests.service.conftest import STATEMENT, started

HTML = {"accept": "text/html,application/xhtml+xml"}
GZIP = {**HTML, "accept-encoding": "gzip"}
LIMIT_BYTES = 60 * 1024
REPORTS = "https://example.org/toy/issues/"


def read(service, path):
    answer = service.client.get(path, headers=HTML, follow_redirects=False)
    assert answer.status_code in (200, 422), (path, answer.status_code, answer.text[:500])
    return answer


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_valid_and_under_a_strict_policy(service, name):
    answer = read(service, PAGES[name])
    assert answer.status_code == (422 if name in REFUSED else 200)
    assert answer.headers["content-type"].startswith("text/html")
    html5lib.HTMLParser(strict=True).parse(answer.text)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "form-action 'self'" in policy
    seen = Read(answer.text)
    assert seen.inline == []
    assert all(path.startswith("/assets/") for path in seen.loaded)
    assert "http://" not in answer.text
    assert "https://" not in answer.text.replace(REPORTS, ""), "only reports of known issues stand elsewhere"


@pytest.mark.parametrize("name", PAGES)
def test_every_link_of_a_page_leads_somewhere(service, name):
    answer = read(service, PAGES[name])
    for link in sorted(set(Read(answer.text).links)):
        path = link.split("#")[0]
        if path.startswith(REPORTS):
            continue
        if not path:
            assert f'id="{link[1:]}"' in answer.text, link
            continue
        found = service.client.get(path, headers=HTML)
        assert found.status_code == 200, (name, link)
        if "#" in link:
            assert f'id="{link.split("#")[1]}"' in found.text, link


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_a_json_twin(service, name):
    path = Read(read(service, PAGES[name]).text).twin
    answer = service.client.get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert json.loads(answer.content)


def test_the_twin_of_a_filtered_matrix_is_filtered_as_it_is(service):
    page = read(service, "/matrix/toy/0.11?with=pipeline&without=window")
    rows = service.client.get(Read(page.text).twin).json()["architectures"]
    assert rows
    for row in rows:
        assert f">{row['architecture']}</a>" in page.text
    assert f"{len(rows)} of 4" in page.text


def test_the_twin_of_a_check_is_what_the_api_answers(service, mini):
    path = Read(read(service, PAGES["check-answered"]).text).twin
    question = decoded(parse_qs(urlsplit(path).query)["q"][0])
    asked, body = twin(question, mini, 64)
    answer = service.client.post(asked, content=body)
    assert answer.status_code == 200
    assert service.client.get(path).content == answer.content
    page = check_page(question, mini, 64)
    assert page.answer.resolution.verdict == answer.json()["verdict"]


def test_a_page_is_kept_by_its_etag_and_changes_with_an_override(mini, tmp_path):
    with started(mini) as start:
        service = start(f"sqlite:///{tmp_path / 'archcap.db'}")
        path = "/matrix/toy/0.9"
        first = service.client.get(path, headers=HTML)
        again = service.client.get(path, headers={**HTML, "if-none-match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        service.client.post("/v1/overrides", json=STATEMENT, headers=service.token("write"))
        after = service.client.get(path, headers={**HTML, "if-none-match": first.headers["etag"]})
        assert after.status_code == 200
        assert after.text != first.text


@pytest.mark.parametrize("name", sorted(assets()))
def test_an_asset_is_kept_for_ever_because_its_path_names_its_content(service, name):
    answer = service.client.get(assets()[name].path)
    assert answer.status_code == 200
    assert "immutable" in answer.headers["cache-control"]
    assert answer.content == assets()[name].plain
    assert service.client.get("/assets/x/nothing.js").status_code == 404


def test_the_matrix_of_the_newest_release_with_everything_it_loads_is_small(real):
    page = real.client.get("/matrix", headers=GZIP, follow_redirects=True)
    assert page.headers["content-encoding"] == "gzip"
    assert page.text.count("<tr") > 250
    size = len(gzip.compress(page.content, 9))
    sent = int(page.headers["content-length"])
    loaded = [real.client.get(path, headers=GZIP) for path in Read(page.text).loaded]
    assert all(one.headers["content-encoding"] == "gzip" for one in loaded)
    total = sent + sum(int(one.headers["content-length"]) for one in loaded)
    assert size <= sent + 64
    assert total <= LIMIT_BYTES, f"{total} bytes"


@pytest.mark.parametrize(
    ("path", "code", "hint"),
    [
        ("/matrix/toi/0.11", "unknown-engine", "did you mean toy?"),
        ("/matrix/toy/newest", "unknown-release", "known releases"),
        ("/matrix/toy/0.11?with=pipelin", "unknown-capability", "pipeline"),
        ("/matrix/toy/0.11?open=cach", "unknown-group", "cache"),
        ("/architectures/toy/0.11/Nobody", "unknown-architecture", "are known"),
        ("/rules/toy/0.11/settings/page_siz", "unknown-setting", "page_size"),
        ("/overrides/revisions/77", "unknown-revision", ""),
        ("/check?q=damaged", "bad-link", "paste the launch again"),
        ("/nothing-here", "not-found", ""),
    ],
)
def test_what_nobody_knows_is_a_page_for_people_and_a_problem_for_programs(service, path, code, hint):
    page = service.client.get(path, headers=HTML)
    assert page.status_code in (404, 422)
    assert page.headers["content-type"].startswith("text/html")
    html5lib.HTMLParser(strict=True).parse(page.text)
    assert code in page.text
    assert hint in page.text
    assert (
        service.client.get(path, headers={"hx-request": "true"}).headers["content-type"] == page.headers["content-type"]
    )
    problem = service.client.get(path)
    assert problem.status_code == page.status_code
    assert problem.headers["content-type"] == "application/problem+json"
    assert problem.json()["code"] == code


def test_an_unknown_release_is_shown_as_the_nearest(service):
    page = read(service, "/matrix/toy/0.12")
    assert ">0.11</a>" in page.text
    assert "/v1/engines/toy/releases/0.11/architectures" in page.text


@pytest.mark.parametrize("verb", ["HEAD", "GET"])
def test_a_page_answers_head_as_get(service, verb):
    answer = service.client.request(verb, "/", headers=HTML)
    assert answer.status_code == 200
    assert (answer.content == b"") == (verb == "HEAD")


def test_reads_that_are_protected_protect_the_pages(mini, tmp_path):
    with started(mini) as start:
        service = start(f"sqlite:///{tmp_path / 'archcap.db'}", protect_reads=True)
        for path in PAGES.values():
            assert service.client.get(path, headers=HTML).status_code == 401, path
        assert service.client.get("/matrix/toy/0.11", headers=service.token("read")).status_code == 200
        assert service.client.get(assets()["app.css"].path).status_code == 200


def test_a_question_comes_out_of_its_link_as_it_went_in():
    question = Question(engine="toy", release="0.10", command="--x 1\n--y", config='{"a": ["ä", null]}', gpu="alpha")
    assert decoded(encoded(question)) == question.model_copy(update={"config": '{"a":["ä",null]}'})
    broken = Question(engine="toy", release="0.10", config="{not json")
    assert decoded(encoded(broken)) == broken
