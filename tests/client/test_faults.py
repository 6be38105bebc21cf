"""A service that is gone, slow or wrong never costs more than the deadline, and never raises."""

from __future__ import annotations

import os
import socket
import threading
import time
from pathlib import Path

import pytest

from archcap.client import Client, ClientError, names
from archcap.client.cache import FRESH_S, Cache
from tests.client import servers
from tests.client.conftest import Made

LIMIT_S = 0.6 + 0.2


def asked(client: Client) -> tuple[set[str], float]:
    start = time.monotonic()
    found = set(client.capability_set("state_cache"))
    return found, time.monotonic() - start


def expired(folder: Path) -> None:
    """Make what is kept too old to be taken without asking."""
    for path in folder.glob("*.slice"):
        os.utime(path, (time.time() - 100, time.time() - 100))


@pytest.mark.parametrize("fault", servers.FAULTS)
def test_what_the_package_carries_answers_in_time(fault: str, make: Made) -> None:
    with servers.serving(servers.FAULTS[fault]()) as server:
        client = make(server.url)
        found, seconds = asked(client)
    assert seconds < LIMIT_S
    assert "RiverForCausalLM" in found
    assert client.source.kind == "bundle"
    assert client.source.why
    assert client.source.digest


@pytest.mark.parametrize("fault", servers.FAULTS)
def test_what_was_kept_answers_in_time(fault: str, make: Made, folder: Path) -> None:
    with servers.serving(servers.good(servers.sliced())) as server:
        assert make(server.url).source.kind == "service"
        url = server.url
    expired(folder)
    if fault == "says nothing has changed":
        return  # that is what it should say
    again = servers.Server(servers.FAULTS[fault]())
    try:
        moved = next(folder.glob("*.slice"))
        text = moved.read_bytes().replace(url.encode(), again.url.encode(), 1)
        other = make(again.url)
        Path(Cache(str(folder), again.url, servers.ENGINE, servers.RELEASE).path).write_bytes(text)
        expired(folder)
        found, seconds = asked(other)
    finally:
        again.close()
    assert seconds < LIMIT_S
    assert "RiverForCausalLM" in found
    assert other.source.kind == "cache"
    assert 90 < other.source.age_s < 200


def test_nobody_listens(make: Made) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
    client = make(url)
    assert asked(client)[1] < LIMIT_S
    assert client.source.kind == "bundle"
    assert "refused" in client.source.why.lower()


def test_connections_that_are_never_taken(make: Made) -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        address = full.getsockname()
        waiting = [socket.socket() for _ in range(4)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(address)
        client = make(f"http://127.0.0.1:{address[1]}")
        assert asked(client)[1] < LIMIT_S
        assert client.source.kind == "bundle"
        for one in waiting:
            one.close()


@pytest.mark.parametrize("talk", ["says nothing", "drips its header", "sends a page", "sends without end"])
def test_encryption_that_never_comes_about(talk: str, make: Made) -> None:
    with servers.serving(servers.FAULTS[talk](), asked=False) as server:
        client = make(server.url.replace("http:", "https:"))
        assert asked(client)[1] < LIMIT_S + 0.3  # the first use of it loads the library and its certificates
        assert client.source.kind == "bundle"
        assert client.source.why


def test_a_resolver_that_hangs_is_ended(make: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []
    begin = names._started
    monkeypatch.setattr(names, "_ASK", "import time; time.sleep(60)")
    monkeypatch.setattr(names, "_started", lambda *given: started.append(begin(*given)) or started[-1])
    client = make("http://registry.example:8000")
    before = threading.active_count()
    assert asked(client)[1] < LIMIT_S
    assert "no answer within 0.6 s" in client.source.why
    assert threading.active_count() <= before  # those of servers before may still have been ending
    assert len(started) == 1
    with pytest.raises(ChildProcessError):
        os.waitpid(started[0], os.WNOHANG)


def test_a_name_that_does_not_exist(make: Made) -> None:
    client = make("http://archcap.invalid:8000", timeout_s=5.0)
    assert asked(client)[1] < 5.2
    assert "archcap.invalid cannot be found" in client.source.why


def test_no_thread_and_no_process_is_left_behind(make: Made) -> None:
    with servers.serving(servers.good(servers.sliced())) as server:
        time.sleep(0.05)
        before = threading.active_count()
        assert make(server.url.replace("127.0.0.1", "localhost")).source.kind == "service"
        deadline = time.monotonic() + 2
        while threading.active_count() > before and time.monotonic() < deadline:
            time.sleep(0.01)  # the server's own
        assert threading.active_count() == before


@pytest.mark.parametrize(
    "url",
    ["127.0.0.1:8000", "ftp://127.0.0.1", "http://", "http://u:p@127.0.0.1", "http://127.0.0.1:x", "http://127.0.0.1:0",
     "http://127.0.0.1/?a=b", "http://a b", "http://\N{LATIN SMALL LETTER E WITH ACUTE}", "http://[::1"],
)  # fmt: skip
def test_an_address_that_is_none_is_said(url: str, make: Made) -> None:
    client = make(url)
    assert asked(client)[1] < LIMIT_S
    assert client.source.kind == "bundle"
    assert client.source.why


def test_proxies_of_the_environment_are_not_used(make: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with servers.serving(servers.good(servers.sliced())) as server:
        assert make(server.url).source.kind == "service"


def test_a_shrunken_registry_is_taken_where_that_is_meant(make: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    with servers.serving(servers.FAULTS["lost most of its facts"]()) as server:
        client = make(server.url)
        assert client.source.kind == "bundle"
        assert "ARCHCAP_MAX_LOSS" in client.source.why
        monkeypatch.setenv("ARCHCAP_MAX_LOSS", "1")
        assert make(server.url).source.kind == "service"


def test_an_empty_registry_is_never_taken(make: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCHCAP_MAX_LOSS", "1")
    with servers.serving(servers.FAULTS["has an empty registry"]()) as server:
        assert make(server.url).source.kind == "bundle"


def test_a_few_facts_less_are_taken(make: Made) -> None:
    facts = servers.facts()
    next(row for row in facts["architectures"].values() if row["has"])["has"].pop()
    with servers.serving(servers.good(servers.signed(facts))) as server:
        assert make(server.url).source.kind == "service"


def test_strict_raises_and_says_why(make: Made) -> None:
    with servers.serving(servers.FAULTS["answers 401 as a problem"]()) as server:
        client = make(server.url, strict=True)
        with pytest.raises(ClientError, match="needs a token"):
            client.supports("RiverForCausalLM", "state_cache")


def test_strict_is_content_with_a_good_answer(make: Made) -> None:
    with servers.serving(servers.good(servers.sliced())) as server:
        client = make(server.url, strict=True)
        assert client.supports("RiverForCausalLM", "state_cache")
        with pytest.raises(ClientError, match="no capability 'state_cash'; did you mean state_cache"):
            client.supports("RiverForCausalLM", "state_cash")


def test_an_engine_nobody_knows_gives_nothing_and_goes_on(make: Made, folder: Path) -> None:
    client = Client("kiln", "1.0", "", cache_dir=str(folder))
    assert client.capability_set("x", default={"A"}) == {"A"}
    assert not client.supports("A", "x")
    assert client.source.kind == "nothing"


def test_a_token_is_sent_and_a_line_break_in_it_is_not(make: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    with servers.serving(servers.good(servers.sliced())) as server:
        monkeypatch.setenv("ARCHCAP_TOKEN", "secret")
        assert make(server.url).source.kind == "service"
        assert b"authorization: Bearer secret\r\n" in server.questions[0]
        monkeypatch.setenv("ARCHCAP_TOKEN", "a\r\nX-Evil: 1")
        assert make(server.url, cache_dir="").source.kind == "bundle"
        assert len(server.questions) == 1


def test_chunks_and_announcements_are_read(make: Made) -> None:
    body = servers.sliced()
    chunks = b"".join(b"%x;note=1\r\n%s\r\n" % (len(part), part) for part in (body[:10], body[10:]))
    early = b"HTTP/1.1 103 Early Hints\r\nLink: </>\r\n\r\n"
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    with servers.serving(servers.saying(early + head + chunks + b"0\r\n\r\n")) as server:
        assert make(server.url).source.kind == "service"


def test_the_window_in_which_nobody_asks_again_is_short() -> None:
    assert FRESH_S <= 5
