"""What becomes of a launch: the service says, else the resolver that is installed here, else nobody in time."""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from archcap.client import Client, ClientError, launches
from tests.client import servers
from tests.client.conftest import Made

ANSWER = {"verdict": "ok", "engine": "toy", "release": "0.11", "settings": {}}
LAUNCH = {"architecture": "RiverForCausalLM", "settings": {"pp_size": 2}, "engine": "other", "release": "1"}
NOBODY = "import sys; sys.exit(5)"


def answering(body: object, status: str = "200 OK") -> servers.Talk:
    return servers.saying(servers.response(json.dumps(body).encode(), status))


def test_the_service_is_asked_about_the_clients_own_release(make: Made) -> None:
    bodies: list[bytes] = []

    def talk(connection: socket.socket, head: bytes) -> None:
        bodies.append(head.partition(b"\r\n\r\n")[2] or connection.recv(65536))
        answering(ANSWER)(connection, head)

    with servers.serving(talk) as server:
        assert make(server.url).resolve(LAUNCH) == ANSWER
        assert server.questions[0].startswith(b"POST /v1/engines/toy/releases/0.11/resolve HTTP/1.1\r\n")
    assert json.loads(bodies[0]) == {"architecture": "RiverForCausalLM", "settings": {"pp_size": 2}}


@pytest.mark.parametrize(
    "talk",
    [answering({"detail": "unknown setting 'pp'"}, "422 Unprocessable Content"), answering([1]), answering({}),
     servers.saying(servers.response(b"<html>")), servers.silent, servers.endless],
)  # fmt: skip
def test_nobody_can_say_in_time(
    talk: servers.Talk, make: Made, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(launches, "_RESOLVE", NOBODY)
    with servers.serving(talk) as server:
        start = time.monotonic()
        assert make(server.url).resolve(LAUNCH) is None
        assert time.monotonic() - start < 1.0
    assert "the resolver here: " in caplog.text


def test_strict_says_so_by_raising(make: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launches, "_RESOLVE", NOBODY)
    refused = answering({"detail": "unknown setting 'pp'"}, "422 X")
    says = "it answers 422: unknown setting 'pp'"
    with servers.serving(refused) as server, pytest.raises(ClientError, match=says):
        make(server.url, strict=True).resolve(LAUNCH)


def test_a_resolver_here_that_hangs_is_ended(make: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launches, "_RESOLVE", "import time; time.sleep(60)")
    start = time.monotonic()
    assert make("").resolve(LAUNCH) is None
    assert time.monotonic() - start < 1.5


@pytest.mark.parametrize("request_", [{"settings": {"a": object()}}, {"config": float("nan")}])
def test_what_is_no_json_is_said_and_not_raised(
    request_: Any, make: Made, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(launches, "_RESOLVE", NOBODY)
    with servers.serving(answering({"detail": "no"}, "400 Bad Request")) as server:
        assert make(server.url).resolve(request_) is None
    assert "the resolver here: " in caplog.text


def test_the_installed_archcap_answers_without_a_service(folder: Path) -> None:
    client = Client("sglang", "0.5.18", "", timeout_s=60, cache_dir=str(folder))
    found = client.resolve({"architecture": "LlamaForCausalLM", "hardware": {"gpu": "h200"}, "settings": {}})
    assert found is not None
    assert (found["engine"], found["release"]) == ("sglang", "0.5.18")
    assert found["verdict"] in ("ok", "unknown")
