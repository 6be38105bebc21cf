"""What is kept on disk is whole, checked, and never in the way."""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from archcap.client.cache import Cache
from archcap.client.deadline import Deadline, Refused
from tests.client import servers
from tests.client.conftest import Made
from tests.client.test_faults import expired


def kept(folder: Path) -> Path:
    return next(folder.glob("*.slice"))


@pytest.fixture
def good(folder: Path) -> Path:
    """A cache of the invented service at example."""
    cache = Cache(str(folder), "http://example", servers.ENGINE, servers.RELEASE)
    folder.mkdir()
    cache.write(servers.sliced(), '"tag"')
    return folder


def read(folder: Path, url: str = "http://example", release: str = servers.RELEASE) -> str | None:
    found = Cache(str(folder), url, servers.ENGINE, release).read()
    return None if found is None else found.etag


def test_what_is_written_is_read(good: Path) -> None:
    assert read(good) == '"tag"'
    assert read(good, url="http://other") is None
    assert read(good, release="0.9") is None
    assert kept(good).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("at", [0, 1, 30, 60, 200, -3])
def test_one_wrong_byte_is_found(good: Path, at: int) -> None:
    data = bytearray(kept(good).read_bytes())
    data[at] ^= 1
    kept(good).write_bytes(data)
    with contextlib.suppress(Refused):
        assert read(good) not in ('"tag"', None)  # a wrong ETag costs a fetch, nothing else


@pytest.mark.parametrize("size", [0, 1, 50, 1000])
def test_a_part_of_a_file_is_found(good: Path, size: int) -> None:
    kept(good).write_bytes(kept(good).read_bytes()[:size])
    with pytest.raises(Refused):
        read(good)


def test_no_file_is_no_trouble_and_no_plain_file_is_found(good: Path) -> None:
    path = kept(good)
    path.unlink()
    assert read(good) is None
    os.mkfifo(path)
    with pytest.raises(Refused, match="no file that archcap wrote"):
        read(good)
    path.unlink()
    path.mkdir()
    with pytest.raises(Refused):
        read(good)


def test_a_damaged_cache_is_written_anew(make: Made, folder: Path) -> None:
    with servers.serving(servers.good(servers.sliced())) as server:
        assert make(server.url).source.kind == "service"
        kept(folder).write_bytes(b"\0" * 500)
        assert make(server.url).source.kind == "service"
        assert make(server.url).source.kind == "cache"
    assert len(server.questions) == 2


def test_a_damaged_cache_and_no_service_give_what_the_package_carries(make: Made, folder: Path) -> None:
    with servers.serving(servers.good(servers.sliced())) as server:
        assert make(server.url).source.kind == "service"
    kept(folder).write_bytes(b"{}\n{}")
    assert make(server.url).source.kind == "bundle"


def test_what_has_not_changed_is_confirmed_and_not_sent_again(make: Made, folder: Path) -> None:
    with servers.serving(servers.good(servers.sliced())) as server:
        assert make(server.url).source.kind == "service"
        expired(folder)
        client = make(server.url)
        assert client.source.kind == "service"
        assert b"if-none-match: " in server.questions[1]
        assert make(server.url).source.kind == "cache"
    assert len(server.questions) == 2


def test_a_file_from_the_future_is_asked_about(make: Made, folder: Path) -> None:
    with servers.serving(servers.good(servers.sliced())) as server:
        assert make(server.url).source.kind == "service"
        os.utime(kept(folder), (time.time() + 1000, time.time() + 1000))
        assert make(server.url).source.kind == "service"


@pytest.mark.parametrize("place", ["/proc/archcap", "/dev/null/archcap", "file", "\0"])
def test_a_folder_that_cannot_be_written_costs_nothing_but_speed(make: Made, tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    named = str(tmp_path / "file") if place == "file" else place
    with servers.serving(servers.good(servers.sliced())) as server:
        client = make(server.url, cache_dir=named)
        assert client.supports("RiverForCausalLM", "state_cache")
        assert client.source.kind == "service"
    assert make(server.url, cache_dir=named).source.kind == "bundle"


FULL = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
from archcap.client import Client
print(Client("toy", "0.11").source, file=sys.stderr)
"""


def test_a_full_disk_leaves_nothing_behind(folder: Path) -> None:
    assert resource.RLIMIT_FSIZE
    with servers.serving(servers.good(servers.sliced())) as server:
        env = {**os.environ, "ARCHCAP_URL": server.url, "ARCHCAP_CACHE_DIR": str(folder), "ARCHCAP_TIMEOUT_S": "20"}
        ran = subprocess.run([sys.executable, "-c", FULL], env=env, capture_output=True, text=True, check=True)
    assert ran.stderr.startswith("service")
    assert [path.suffix for path in folder.iterdir()] == [".lock"]


def test_what_killed_writers_left_is_removed(good: Path) -> None:
    old, new = good / "a.1.tmp", good / "b.2.tmp"
    for path in (old, new):
        path.write_text("")
    os.utime(old, (1, 1))
    Cache(str(good), "http://example", servers.ENGINE, servers.RELEASE).write(servers.sliced(), "")
    assert not old.exists()
    assert new.exists()


def test_nobody_waits_for_the_lock_longer_than_the_time_allows(make: Made, folder: Path) -> None:
    with servers.serving(servers.good(servers.sliced())) as server:
        holder = Cache(str(folder), server.url, servers.ENGINE, servers.RELEASE).lock(Deadline(60), 0)
        with holder:
            start = time.monotonic()
            assert make(server.url, timeout_s=1.0).source.kind == "service"
            assert 0.4 < time.monotonic() - start < 1.2


def test_nobody_waits_for_the_lock_once_there_is_an_answer(make: Made, folder: Path) -> None:
    with servers.serving(servers.good(servers.sliced())) as server:
        cache = Cache(str(folder), server.url, servers.ENGINE, servers.RELEASE)
        with cache.lock(Deadline(60), 0):
            writing = threading.Timer(0.2, cache.write, (servers.sliced(), '"tag"'))
            writing.start()
            start = time.monotonic()
            assert make(server.url, timeout_s=30.0).source.kind == "cache"
            assert time.monotonic() - start < 5
        assert not server.questions


def test_a_fork_does_not_keep_the_lock(folder: Path) -> None:
    cache = Cache(str(folder), "http://example", servers.ENGINE, servers.RELEASE)
    with cache.lock(Deadline(5), 0):
        child = os.fork()
        if child == 0:
            time.sleep(30)
            os._exit(0)
    try:
        start = time.monotonic()
        with cache.lock(Deadline(5), 0):
            assert time.monotonic() - start < 1
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
