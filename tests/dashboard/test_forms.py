"""What people send: launches that are wrong, writes without a token, text that tries to be markup."""

from __future__ import annotations

import json
import random
import re
import zlib
from base64 import urlsafe_b64encode
from urllib.parse import quote

import pytest

from archcap.cli import main
from archcap.load import load_registry
from archcap.snapshot import build
from tests.dashboard.pages import LAUNCH, RIVER_CONFIG, TRACEBACK, Read
from tests.service.conftest import MINI, started

HTML = {"accept": "text/html"}
EVIL = "\"'><script>alert(1)</script><img src=x onerror=alert(2)>&lt;{{7*7}}"
CHECK = {"engine": "toy", "release": "0.10", "gpu": "alpha", "count": "1", "config": RIVER_CONFIG}


@pytest.fixture
def own(mini, tmp_path):
    with started(mini) as start:
        yield start(f"sqlite:///{tmp_path / 'archcap.db'}")


def test_a_posted_launch_leads_to_the_link_that_repeats_it(service):
    answer = service.client.post("/check", data={**CHECK, "command": "--shard-size 2"}, follow_redirects=False)
    assert answer.status_code == 303
    page = service.client.get(answer.headers["location"], headers=HTML)
    assert page.status_code == 200
    assert 'class="verdict v-' in page.text
    assert "python -m toy.serve --shard-size 2" in page.text


def test_a_known_issue_is_shown_with_its_workaround_and_its_report(service):
    data = {**CHECK, "command": "--attention plain --tags a b c"}
    page = service.client.post("/check", data=data, headers=HTML)
    assert "Give two tags at most." in page.text
    assert 'href="https://example.org/toy/issues/7"' in page.text


def test_an_empty_form_is_no_question(service):
    page = service.client.post("/check", data={"engine": "toy", "gpu": "alpha", "count": "8"}, headers=HTML)
    assert page.status_code == 200
    assert "What you get" in page.text


def test_a_launch_too_long_for_a_link_is_answered_at_once(service):
    noise = random.Random(1)
    long = RIVER_CONFIG[:-1] + ', "junk": "' + "".join(chr(noise.randrange(0x4E00, 0x9000)) for _ in range(6000)) + '"}'
    page = service.client.post("/check", data={**CHECK, "config": long}, headers=HTML, follow_redirects=False)
    assert page.status_code == 200
    assert 'class="verdict v-' in page.text
    assert "Too long for a link" in page.text


WRONG = [
    ({"config": "{"}, "config.json is no JSON"),
    ({"config": "[1]"}, "holds a list"),
    ({"config": "<html>"}, "is a web page"),
    ({"config": "[" * 200}, "nested deeper"),
    ({"config": '{"a": NaN}'}, "NaN"),
    ({"config": '{"a": ' + "9" * 5_000 + "}"}, "thousands of digits"),
    ({"config": "", "command": "--shard-size 2"}, "not said what is launched"),
    ({"config": "", "command": "--model-path /etc/passwd"}, "is no checkpoint the registry knows"),
    ({"command": "--shard-siez 2"}, "shard"),
    ({"command": "ls -la"}, "launch"),
    ({"command": "'unclosed"}, ""),
    ({"gpu": "h2000"}, "h2000"),
    ({"count": "many"}, "is no whole number"),
    ({"count": "0"}, "count"),
    ({"checkpoint": "acme/river-9b", "config": ""}, "acme/river-9b"),
    ({"release": "newest"}, "newest"),
    ({"draft_config": "nothing"}, "the draft"),
]


@pytest.mark.parametrize(("fields", "says"), WRONG)
def test_a_launch_that_is_wrong_is_said_beside_the_form_that_keeps_it(service, fields, says):
    page = service.client.post("/check", data={**CHECK, **fields}, headers=HTML)
    assert page.status_code in (404, 422), page.text
    assert says in page.text
    if page.status_code == 422:
        assert 'role="alert"' in page.text
        assert '<textarea id="command"' in page.text


def test_a_command_opens_no_file_of_the_server(service, tmp_path):
    (tmp_path / "config.json").write_text(RIVER_CONFIG)
    page = service.client.post("/check", data={**CHECK, "config": "", "command": f"--model-path {tmp_path}"})
    assert page.status_code == 422
    assert "no checkpoint the registry knows" in page.text


@pytest.mark.parametrize("size", [3 * 1024 * 1024, 2 * 1024 * 1024 + 1])
def test_a_body_that_is_too_large_is_refused(service, size):
    answer = service.client.post("/check", content=b"config=" + b"x" * size, headers=HTML)
    assert answer.status_code == 413
    assert "larger than 2 MiB" in answer.text
    assert service.client.post("/overrides", content=b"x" * 70_000, headers=HTML).status_code == 413


def test_a_link_that_unpacks_to_too_much_is_refused(service):
    bomb = urlsafe_b64encode(zlib.compress(b'{"engine":"' + b"x" * 50_000_000 + b'"}', 9)).decode()
    assert service.client.get(f"/check?q={bomb[:60000]}").status_code == 422
    assert service.client.get("/check", params={"q": bomb}).json()["code"] == "bad-link"


def test_a_posted_error_leads_to_the_link_that_repeats_the_diagnosis(service):
    answer = service.client.post("/diagnose", data={**LAUNCH, "log": TRACEBACK}, follow_redirects=False)
    assert answer.status_code == 303
    page = service.client.get(answer.headers["location"], headers=HTML)
    assert page.status_code == 200
    words = " ".join(Read(page.text).words.split())
    assert "IndexError in Tree.grow" in words
    assert "Trees of six levels overflow the draft's buffer." in words
    assert "Take --draft-depth 4." in words
    assert "The launch command is taken from the log" in words
    assert "secret" not in page.text, "the link holds what is read and nothing else"


def test_the_twin_of_a_diagnosis_is_what_the_command_line_prints(service, mini, tmp_path, capsys, monkeypatch):
    snapshot, log = tmp_path / "snapshot.json", tmp_path / "log"
    snapshot.write_bytes(build(load_registry(MINI)))
    log.write_text(TRACEBACK)
    monkeypatch.setenv("ARCHCAP_REGISTRY", str(snapshot))
    launch = ["--engine", "toy@0.10", "--checkpoint", "acme/river-8b", "--gpu", "alpha", "--gpus", "1"]
    assert main(["diagnose", str(log), *launch, "--format", "json"]) == 1
    printed = json.loads(capsys.readouterr().out)
    page = service.client.post("/diagnose", data={**LAUNCH, "log": TRACEBACK}, headers=HTML)
    assert service.client.get(Read(page.text).twin).json() == printed
    assert [one["rule"] for one in printed["matched"]] == ["shallow-trees"]


def test_a_text_without_a_traceback_is_kept_and_answered_with_what_to_do(service):
    page = service.client.post("/diagnose", data={**LAUNCH, "log": "it does not work"}, headers=HTML)
    assert page.status_code == 422
    assert "holds no traceback" in page.text
    assert "it does not work" in page.text


def test_a_log_without_a_launch_says_what_is_missing(service):
    data = {"engine": "toy", "release": "0.10", "log": TRACEBACK.split("\n", 1)[1]}
    page = service.client.post("/diagnose", data=data, headers=HTML)
    assert page.status_code == 422
    assert "not said what is launched" in page.text
    assert "Tree.grow" in page.text


def test_a_log_as_long_as_a_day_is_read_or_refused_in_words(service):
    line = "[10:00:00 TP0] Decode batch. #running-req: 1\n"
    page = service.client.post("/diagnose", data={**LAUNCH, "log": line * 20_000 + TRACEBACK}, headers=HTML)
    assert "IndexError" in page.text
    assert service.client.post("/diagnose", data={**LAUNCH, "log": line * 60_000}, headers=HTML).status_code == 413


@pytest.mark.parametrize("field", ["log", "command", "config", "gpu", "release"])
def test_what_is_pasted_into_the_diagnosis_is_text(service, field):
    given = {**LAUNCH, "log": TRACEBACK}
    given[field] = TRACEBACK.replace("level 6 of 5", EVIL).replace("/opt/toy", EVIL) if field == "log" else EVIL
    assert_text(service.client.post("/diagnose", data=given, headers=HTML).text)


FIELDS = ("command", "config", "draft_config", "architecture", "checkpoint", "gpu", "count", "nodes", "release")


@pytest.mark.parametrize("field", FIELDS)
def test_what_is_pasted_into_the_check_is_text(service, field):
    page = service.client.post("/check", data={**CHECK, field: EVIL}, headers=HTML)
    assert_text(page.text)


PLACES = [
    "/search?q={}", "/matrix/toy/0.11?q={}", "/matrix/toy/0.11?with={}", "/matrix/toy/0.11?since={}",
    "/matrix/toy/{}", "/architectures/toy/0.11/{}", "/capabilities/toy/0.11/{}", "/compare/toy/{}/0.11",
    "/rules/toy/0.11/settings/{}", "/rules/toy/0.11/steps/{}", "/overrides?architecture={}", "/{}",
    "/check?engine={}", "/check?engine=toy&architecture={}", "/check?q={}", "/overrides?done={}",
]  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
def test_what_stands_in_an_address_is_text(service, place):
    page = service.client.get(place.format(quote(EVIL, safe="")), headers=HTML)
    assert page.status_code in (200, 404, 422)
    assert_text(page.text)


def assert_text(text):
    seen = Read(text)
    assert seen.inline == []
    assert "img" not in seen.tags
    assert all(path.startswith("/assets/") for path in seen.loaded)


def tag_of(service):
    page = service.client.get("/overrides", headers=HTML).text
    return re.search(r'name="tag" value="([^"]+)"', page)[1].replace("&#34;", '"')


def statement(service, **more):
    return {
        "engine": "toy", "releases": "0.9", "architecture": "RiverForCausalLM", "capability": "pipeline",
        "value": "true", "reason": "Backported.", "tag": tag_of(service), **more,
    }  # fmt: skip


def token(service, *scopes):
    return service.token(*scopes)["authorization"].removeprefix("Bearer ")


def overrides(service):
    return service.client.get("/v1/overrides").json()["overrides"]


def test_an_override_is_written_taken_away_and_restored_with_a_token(own):
    data = statement(own, token=token(own, "write"), expires="2099-01-31")
    answer = own.client.post("/overrides", data=data, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/overrides?done=2")
    page = own.client.get("/overrides?done=2", headers=HTML).text
    assert "Revision 2 holds now" in page
    assert "Backported." in page
    assert "2099-01-31" in page
    assert overrides(own)[0]["statement"]["value"] is True
    removed = own.client.post("/overrides/1/remove", data={"tag": tag_of(own), "token": token(own, "write")})
    assert removed.status_code == 200
    assert overrides(own) == []
    shown = own.client.get("/overrides/revisions/3", headers=HTML).text
    assert "taken away" in shown
    again = own.client.post("/overrides/revisions/2/restore", data={"tag": tag_of(own), "token": token(own, "write")})
    assert again.status_code == 200
    assert len(overrides(own)) == 1


@pytest.mark.parametrize(
    ("scopes", "status"), [(None, 401), ("wrong", 401), (("read",), 403)], ids=["none", "wrong", "read-only"]
)
def test_nothing_is_written_without_a_token_that_may(own, scopes, status):
    given = "" if scopes is None else "acap_0_nothing" if scopes == "wrong" else token(own, *scopes)
    for path, data in (
        ("/overrides", statement(own)), ("/overrides/1/remove", {"tag": tag_of(own)}),
        ("/overrides/revisions/1/restore", {"tag": tag_of(own)}),
    ):  # fmt: skip
        answer = own.client.post(path, data={**data, "token": given}, headers=HTML)
        assert answer.status_code == status, path
        assert 'role="alert"' in answer.text
        assert given == "" or given not in answer.text
    assert overrides(own) == []
    assert own.client.get("/v1/revisions").json()["current"] == 1


def test_a_form_from_before_somebody_elses_write_changes_nothing(own):
    stale = statement(own, token=token(own, "write"))
    assert own.client.post("/overrides", data=statement(own, token=token(own, "write"))).status_code == 200
    answer = own.client.post("/overrides", data=stale, headers=HTML)
    assert answer.status_code == 412
    assert "Nothing was changed" in answer.text
    assert "Backported." in answer.text
    assert len(overrides(own)) == 1


def test_a_refused_override_keeps_what_was_filled_in_and_says_what_is_wrong(own):
    data = statement(own, token=token(own, "write"), capability="pipelin", reason="Because <b>we</b> can.")
    answer = own.client.post("/overrides", data=data, headers=HTML)
    assert answer.status_code == 422
    assert "did you mean pipeline?" in answer.text
    assert "Because &lt;b&gt;we&lt;/b&gt; can." in answer.text
    assert "value=&#34;pipelin&#34;" not in answer.text
    assert 'value="pipelin"' in answer.text
    assert data["token"] not in answer.text


def test_an_override_that_tries_to_be_markup_is_text(own):
    data = statement(own, token=token(own, "write"), reason=EVIL)
    assert own.client.post("/overrides", data=data).status_code == 200
    for path in ("/overrides", "/overrides/revisions/2", "/architectures/toy/0.9/RiverForCausalLM"):
        assert_text(own.client.get(path, headers=HTML).text)
