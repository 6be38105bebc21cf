"""A client answers as a frozenset would, from threads, forks and spawned processes, and keeps out of the way."""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Set
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from archcap.client import CapabilitySet, Client, Source
from archcap.client import core as core_module
from tests.client import servers
from tests.client.conftest import Made
from tests.snapshot import toy

ROOT = Path(__file__).parents[2]
STATE_CACHE = toy.view(servers.RELEASE).capability_set("state_cache")


def test_a_set_is_what_the_registry_says(make: Made) -> None:
    client = make()
    for capability in toy.view(servers.RELEASE).capabilities:
        assert client.capability_set(capability) == toy.view(servers.RELEASE).capability_set(capability)


def test_a_set_behaves_as_a_frozenset(make: Made) -> None:
    found = make().capability_set("state_cache")
    assert isinstance(found, Set)
    assert STATE_CACHE == found == STATE_CACHE
    assert hash(found) == hash(STATE_CACHE)
    assert {found: 1}[STATE_CACHE] == 1  # type: ignore[index]
    assert sorted(found) == sorted(STATE_CACHE)
    assert len(found) == len(STATE_CACHE)
    assert "RiverForCausalLM" in found
    assert "NobodyForCausalLM" not in found
    assert found | {"A"} == frozenset({"A"}) | found == STATE_CACHE | {"A"}
    assert found & {"RiverForCausalLM", "A"} == {"RiverForCausalLM"}
    assert STATE_CACHE - found == frozenset() == found - STATE_CACHE
    assert found <= STATE_CACHE <= found
    assert found.union(["A"]) == STATE_CACHE | {"A"}
    assert found.isdisjoint({"A"})
    assert found.issubset(STATE_CACHE)
    assert found.issuperset(STATE_CACHE)
    assert found.intersection(STATE_CACHE) == found.copy() == STATE_CACHE
    assert found.difference(STATE_CACHE) == found.symmetric_difference(STATE_CACHE) == frozenset()
    with pytest.raises(TypeError, match="unhashable"):
        _ = [] in found
    assert set(dir(frozenset)) - {"__rand__", "__ror__", "__rsub__", "__rxor__"} <= {*dir(found), "__class_getitem__"}


def test_a_set_is_looked_up_once_and_late(make: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    real = core_module.obtain
    monkeypatch.setattr(core_module, "obtain", lambda *given: (calls.append(1), real(*given))[1])
    client = make()
    found = client.capability_set("state_cache")
    assert not calls
    assert "RiverForCausalLM" in found
    assert len(found) == len(STATE_CACHE)
    assert client.supports("RiverForCausalLM", "pipeline")
    assert calls == [1]


def test_a_pickled_set_asks_nobody(make: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    data = pickle.dumps(make().capability_set("state_cache"))
    monkeypatch.setattr(core_module, "obtain", lambda *_: pytest.fail("asked"))
    again = pickle.loads(data)
    assert type(again) is CapabilitySet
    assert again == STATE_CACHE


def test_a_pickled_client_asks_for_itself(make: Made) -> None:
    client = make()
    assert client.source
    again = pickle.loads(pickle.dumps(client))
    assert again.supports("RiverForCausalLM", "state_cache")


def test_a_source_is_a_line_and_its_parts(make: Made) -> None:
    source = make().source
    assert source.startswith("bundle, age ")
    assert source.digest in source
    assert pickle.loads(pickle.dumps(source)) == source
    assert pickle.loads(pickle.dumps(source)).age_s == source.age_s


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.4, "0 s"), (-3, "0 s"), (119, "119 s"), (120, "2 min"), (7200, "2 h"), (172800, "2 d")]
)
def test_ages_are_said_in_one_unit(seconds: float, said: str) -> None:
    assert Source("cache", "toy", "0.11", "sha256:0", seconds).split(", ")[1] == f"age {said}"


def test_a_capability_nobody_knows_is_said_and_the_default_holds(make: Made, caplog: pytest.LogCaptureFixture) -> None:
    found = make().capability_set("state_cash", default=["A"])
    assert found == {"A"}
    assert "toy 0.11 has no capability 'state_cash'; did you mean state_cache?" in caplog.text


def test_a_capability_nobody_has_is_empty_and_no_trouble(make: Made, caplog: pytest.LogCaptureFixture) -> None:
    facts = servers.facts()
    facts["capabilities"].append("levitation")
    with servers.serving(servers.good(servers.signed(facts))) as server:
        assert make(server.url).capability_set("levitation", default=["A"]) == frozenset()
    assert not caplog.records


def test_a_release_nobody_knows_is_answered_by_the_one_before_it_and_said(
    make: Made, caplog: pytest.LogCaptureFixture
) -> None:
    client = make(release="0.10.5.dev3+g12ab")
    assert client.supports("RiverForCausalLM", "state_cache")
    assert client.source.release == "0.9"  # the package of this test carries 0.9 and 0.11
    assert "does not know toy 0.10.5.dev3+g12ab and answers as 0.9" in caplog.text


def test_another_spelling_of_a_release_is_that_release(make: Made, caplog: pytest.LogCaptureFixture) -> None:
    with servers.serving(servers.good(servers.sliced())) as server:
        assert make(server.url, release="0.11.0").source.kind == "service"
        assert b"GET /v1/engines/toy/releases/0.11.0/facts HTTP/1.1" in server.questions[0]
    assert not caplog.records


def test_names_are_quoted_in_paths(make: Made) -> None:
    with servers.serving(servers.good(servers.sliced())) as server:
        assert make(server.url + "/archcap/", release="0.12+cu/13").source.kind == "service"
        assert b"GET /archcap/v1/engines/toy/releases/0.12%2Bcu%2F13/facts HTTP/1.1" in server.questions[0]


def test_what_is_wrong_with_a_variable_is_said_and_left_out(
    make: Made, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("ARCHCAP_TIMEOUT_S", "soon")
    monkeypatch.setenv("ARCHCAP_MAX_LOSS", "2")
    monkeypatch.setenv("ARCHCAP_STRICT", "perhaps")
    client = make(timeout_s=None)
    assert client.supports("RiverForCausalLM", "state_cache")
    for name in ("ARCHCAP_TIMEOUT_S=soon", "ARCHCAP_MAX_LOSS=2", "ARCHCAP_STRICT=perhaps"):
        assert name in caplog.text


def test_an_error_of_our_own_never_reaches_the_engine(
    make: Made, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(core_module, "obtain", lambda *_: 1 / 0)
    assert make().capability_set("state_cache", default={"A"}) == {"A"}
    assert "ZeroDivisionError" in caplog.text


def test_threads_share_one_question(make: Made) -> None:
    with servers.serving(servers.good(servers.sliced())) as server, ThreadPoolExecutor(16) as pool:
        client = make(server.url, cache_dir="")
        found = list(pool.map(lambda _: client.supports("RiverForCausalLM", "state_cache"), range(64)))
        assert found == [True] * 64
        assert len(server.questions) == 1


def test_a_fork_made_while_a_thread_asks_asks_for_itself(make: Made) -> None:
    with servers.serving(servers.silent) as server:
        client = make(server.url, timeout_s=2.0)
        waiting = threading.Thread(target=lambda: client.source)
        waiting.start()
        time.sleep(0.2)
        child = os.fork()
        if child == 0:
            start = time.monotonic()
            fine = client.source.kind == "bundle" and time.monotonic() - start < 2.2
            os._exit(0 if fine else 1)
        waiting.join()
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_fork_knows_what_was_known(make: Made) -> None:
    with servers.serving(servers.good(servers.sliced())) as server:
        client = make(server.url)
        found = client.capability_set("state_cache")
        assert found
        child = os.fork()
        if child == 0:
            os._exit(0 if found == STATE_CACHE and client.source.kind == "service" else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert len(server.questions) == 1


def test_a_spawned_process_takes_sets_and_clients(make: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    with servers.serving(servers.good(servers.sliced())) as server:
        client = make(server.url, timeout_s=5.0)
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            found, kind = pool.apply(in_another_process, (client, client.capability_set("state_cache")))
    assert found == sorted(STATE_CACHE)
    assert kind in ("cache", "service")


def in_another_process(client: Client, found: CapabilitySet) -> tuple[list[str], str]:
    return sorted(found), client.source.kind


ASK = """
import sys
from archcap.client import Client, cache
cache.FRESH_S = 600  # a slow machine starts processes slowly
client = Client("toy", "0.11", timeout_s=20)
print(len(client.capability_set("state_cache")), client.source.kind, file=sys.stderr)
"""


def run(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    kept = {name: text for name, text in os.environ.items() if not name.startswith("ARCHCAP_")}
    return subprocess.run([sys.executable, *words], env={**kept, **env}, capture_output=True, text=True, check=True)


def test_of_many_processes_one_fetches(folder: Path) -> None:
    with servers.serving(servers.good(servers.sliced())) as server, ThreadPoolExecutor(12) as pool:
        env = {"ARCHCAP_URL": server.url, "ARCHCAP_CACHE_DIR": str(folder)}
        ran = list(pool.map(lambda _: run("-c", ASK, **env), range(12)))
        assert len(server.questions) == 1
    assert sorted(one.stderr.split()[1] for one in ran) == ["cache"] * 11 + ["service"]
    assert {one.stderr.split()[0] for one in ran} == {str(len(STATE_CACHE))}
    assert {one.stdout for one in ran} == {""}
    assert not [path for path in folder.iterdir() if path.suffix == ".tmp"]


def test_only_the_standard_library_is_imported(folder: Path) -> None:
    code = ASK + "import json; print(json.dumps(list(sys.modules)))"
    with servers.serving(servers.good(servers.sliced())) as server:
        ran = run(
            "-S", "-c", code, PYTHONPATH=str(ROOT / "registry"), ARCHCAP_URL=server.url, ARCHCAP_CACHE_DIR=str(folder)
        )
    loaded = json.loads(ran.stdout)
    assert ran.stderr.split()[1] == "service"
    strange = {
        name for name in loaded if name.partition(".")[0] not in {*sys.stdlib_module_names, "archcap", "__main__"}
    }
    assert strange == set()
    others = {name for name in loaded if name.startswith("archcap.") and not name.startswith("archcap.client")}
    assert others == set()
    assert not {"http.client", "ssl", "asyncio", "subprocess", "typing", "dataclasses"} & set(loaded)


def test_importing_touches_no_file_and_no_network() -> None:
    code = """
import sys
seen = []
sys.addaudithook(lambda event, given: seen.append((event, given)) if event.startswith("socket") else None)
import archcap.client
assert "socket" not in sys.modules
assert not seen
"""
    assert run("-c", code).stdout == ""
