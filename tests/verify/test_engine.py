"""The real resolution of an engine, run on a machine that is faked below it."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from archcap.errors import RequestError
from archcap.verify.answers import kept_in
from archcap.verify.compare import compact
from archcap.verify.engine_process import EngineProcess, Environment
from tests.verify.conftest import PEBBLE, REGISTRY, STONE, launch, lines
from tests.verify.engine import write_engine


def answers(path):
    return {value["id"]: value for value in map(json.loads, path.read_text().splitlines())}


def asked(live, tmp_path, *launches, code=0, **options):
    """Run the launches and return the engine's answers by id."""
    ran = live("--launches", "-", "--resume", tmp_path / "a.jsonl", stdin=lines(*launches), **options)
    assert ran.code == code, (ran.out, ran.err)
    return answers(tmp_path / "a.jsonl")


def test_an_answer_tells_what_changed_and_who_changed_it(live, tmp_path):
    answer = asked(live, tmp_path, launch({"tp_size": 8}))["stone {'tp_size': 8}"]
    assert answer["changed"] == {
        "attention_backend": "fa3", "page_size": 64, "uses_pages": True, "mem_fraction_static": 0.9,
        "graph_sizes": compact(list(range(1, 15))),
    }  # fmt: skip
    assert answer["writer"] == {
        "attention_backend": "choose_backend", "page_size": "choose_page", "uses_pages": "choose_page",
        "mem_fraction_static": "choose_page", "graph_sizes": "choose_page",
    }  # fmt: skip
    assert answer["env_set"] == {"SGLANG_PAGED": "1"}
    assert (answer["release"], answer["platform"], answer["config"]) == ("0.5.23", "cuda-sm90", "configs/stone.json")


def test_an_answer_tells_which_function_refused(live, tmp_path):
    error = asked(live, tmp_path, launch({"tp_size": 9}))["stone {'tp_size': 9}"]["error"]
    assert error["where"] == "sglang/srt/server_args.py:check_tp"
    assert (error["type"], error["stage"], error["message"]) == ("AssertionError", "check", "too few devices")


@pytest.mark.parametrize(
    ("gpu", "backend", "fraction"),
    [("h100", "fa3", 0.9), ("cuda-sm80", "triton", 0.9), ("mi300x", "triton", 0.958)],
)
def test_the_engine_sees_the_device_of_the_catalogue(live, tmp_path, gpu, backend, fraction):
    changed = asked(live, tmp_path, launch({}, gpu=gpu))["stone {}"]["changed"]
    assert (changed["attention_backend"], changed["mem_fraction_static"]) == (backend, fraction)


def test_the_device_count_is_that_of_the_launch(live, tmp_path):
    few = launch({"tp_size": 8}, gpu_count=4)
    assert asked(live, tmp_path, few)["stone {'tp_size': 8}"]["outcome"] == "error"


def test_a_release_that_resolves_while_it_is_constructed_answers_alike(verify, tmp_path):
    source = write_engine(tmp_path / "early", "0.5.19")
    ran = verify("--engine", "sglang@0.5.19", "--python", sys.executable, "--engine-source", source, "--launches", "-",
                 "--resume", tmp_path / "a.jsonl", stdin=lines(launch({}), launch({"page_size": 0})))  # fmt: skip
    assert ran.code == 1
    told = answers(tmp_path / "a.jsonl")
    assert told["stone {}"]["changed"]["page_size"] == 64
    assert told["stone {}"]["writer"]["page_size"] == "choose_page"
    assert told["stone {'page_size': 0}"]["error"]["stage"] == "construct"


def test_a_launch_s_environment_is_there_before_the_engine_is(live, tmp_path):
    told = asked(live, tmp_path, launch({}), {**launch({}), "id": "env", "env": {"SGLANG_PAGE": 32}})
    assert (told["stone {}"]["changed"]["page_size"], told["env"]["changed"]["page_size"]) == (64, 32)


def test_the_caller_s_environment_does_not_reach_the_engine(live, tmp_path, monkeypatch):
    monkeypatch.setenv("SGLANG_PAGE", "16")
    assert asked(live, tmp_path, launch({}))["stone {}"]["changed"]["page_size"] == 64


def test_a_launch_leaves_no_environment_behind_for_the_next(live, tmp_path):
    told = asked(live, tmp_path, launch({}), launch({}, "pebble"))
    assert told["pebble {}"]["env_set"] == {"SGLANG_PAGED": "1"}


def test_paths_of_the_checkpoint_are_not_in_an_answer(live, tmp_path):
    drafted = {**launch({"speculative_algorithm": "EAGLE"}), "draft_config": "configs/draft/small.json"}
    asked(live, tmp_path, drafted)
    assert "archcap-verify-" not in (tmp_path / "a.jsonl").read_text()


def test_a_configuration_may_stand_in_the_launch_itself(live, tmp_path, capsys):
    told = asked(live, tmp_path, {"id": "own", "config": PEBBLE, "platform": "h100", "settings": {}}, folder=None)
    assert told["own"]["config"] == PEBBLE


def test_a_launch_without_a_device_runs_on_each_that_was_asked_for(live, tmp_path):
    ran = live("--launches", "-", "--platforms", "h100,cuda-sm80", "--resume", tmp_path / "a.jsonl",
               stdin=lines({"id": "both", "config": STONE, "settings": {}}))  # fmt: skip
    assert ran.code == 0
    assert set(answers(tmp_path / "a.jsonl")) == {"both|h100", "both|a100-80gb"}


# -- going on ------------------------------------------------------------------------------------


def test_a_second_run_asks_the_engine_nothing_again(live, tmp_path, source):
    first = asked(live, tmp_path, launch({}), launch({"page_size": 8}))
    kept = (tmp_path / "a.jsonl").read_bytes()
    ran = live("--launches", "-", "--resume", tmp_path / "a.jsonl", python="/no/such/python",
               stdin=lines(launch({}), launch({"page_size": 8})))  # fmt: skip
    assert "/no/such/python cannot be run" in ran.err  # another interpreter: its answers may be others
    again = live("--launches", "-", "--resume", tmp_path / "a.jsonl", stdin=lines(launch({}), launch({"page_size": 8})))
    assert "2 answered in earlier runs" in again.out
    assert (tmp_path / "a.jsonl").read_bytes() == kept
    assert len(first) == 2


def test_a_line_cut_off_by_a_killed_run_is_dropped(live, tmp_path):
    asked(live, tmp_path, launch({}))
    path = tmp_path / "a.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + whole[: len(whole) // 2])
    told = asked(live, tmp_path, launch({}), launch({"page_size": 8}))
    assert set(told) == {"stone {}", "stone {'page_size': 8}"}
    assert path.read_bytes().startswith(whole)


def test_an_engine_source_that_changed_is_asked_again(verify, tmp_path):
    source = write_engine(tmp_path / "engine")
    words = ("--engine", "sglang@0.5.23", "--python", sys.executable, "--engine-source", source, "--launches", "-",
             "--resume", tmp_path / "a.jsonl")  # fmt: skip
    verify(*words, stdin=lines(launch({})))
    module = source / "sglang/srt/server_args.py"
    module.write_text(module.read_text().replace("else 64", "else 2 * 16"))
    ran = verify(*words, stdin=lines(launch({})))
    assert "answered in earlier runs" not in ran.out
    assert "engine 32, ours 64" in ran.out


def test_a_killed_run_is_taken_up_where_it_was(source, configs, tmp_path):
    kept = tmp_path / "a.jsonl"
    settings = [{"page_size": page} for page in range(1, 200)]
    (tmp_path / "l.jsonl").write_bytes(lines(*map(launch, settings)))
    words = [sys.executable, "-c", "import sys; from archcap.cli import main; sys.exit(main())", "verify", "--engine",
             "sglang@0.5.23", "--python", sys.executable, "--engine-source", source, "--launches", tmp_path / "l.jsonl",
             "--configs", configs, "--resume", tmp_path / "a.jsonl", "--registry", REGISTRY]  # fmt: skip
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    running = subprocess.Popen(words, stdout=subprocess.DEVNULL, env={**os.environ, "TMPDIR": str(scratch)})
    while running.poll() is None and not (kept.exists() and kept.read_bytes()):
        time.sleep(0.02)
    running.send_signal(signal.SIGKILL)
    running.wait()
    before = len(answers(tmp_path / "a.jsonl"))
    assert 0 < before < len(settings)
    deadline = time.monotonic() + 30
    while list(scratch.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert list(scratch.iterdir()) == [], "the worker that lost its run must clean up after it"
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"199 launches on h100, {before} answered in earlier runs" in done.stdout
    assert len(answers(tmp_path / "a.jsonl")) == len(settings)


def test_two_runs_do_not_write_to_one_file(live, tmp_path):
    with kept_in(tmp_path / "a.jsonl"):
        ran = live("--launches", "-", "--resume", tmp_path / "a.jsonl", stdin=lines(launch({})))
    assert "another run writes to" in ran.is_one_clear_line()


# -- what goes wrong -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"page_size": 666}, "the engine's process died (signal 11)"),
        ({"page_size": 667}, "it took longer than 2 s"),
        ({"page_size": 668}, "the engine's process broke: it was killed by signal 9"),
        ({"trust_remote_code": True}, "the engine has no setting trust_remote_code"),
    ],
)
def test_a_launch_that_breaks_the_engine_costs_no_other(live, settings, why):
    launches = lines(launch({}), launch(settings), launch({"page_size": 8}))
    ran = live("--launches", "-", "--timeout", "2", stdin=launches)
    assert ran.code == 3
    assert "sglang 0.5.23: 2 launches on h100" in ran.out
    assert "1 launch not run, " in ran.out
    assert why in ran.out
    assert "Traceback" not in ran.err


def test_an_engine_that_breaks_again_and_again_ends_the_run(live):
    broken = [launch({"page_size": 668, "tp_size": size}) for size in range(1, 6)]
    ran = live("--launches", "-", stdin=lines(*broken))
    assert "the engine's process broke 3 times in a row: it was killed by signal 9" in ran.is_one_clear_line()


def script(tmp_path, text):
    path = tmp_path / "python"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("echo hello there; sleep 60", "does not run the worker: it wrote 'hello there' instead of an answer"),
        ("echo '[1, 2]'; sleep 60", "it wrote '[1, 2]' instead of an answer"),
        ("exit 3", "it ended with exit code 3"),
        ("echo some trouble >&2; exit 1", "it ended with exit code 1: some trouble"),
        ("printf half; exit 1", "it ended with exit code 1 after writing 'half'"),
        ("kill -9 $$", "it was killed by signal 9"),
    ],
)
def test_an_interpreter_that_is_none_is_one_clear_line(live, tmp_path, text, says):
    ran = live("--launches", "-", python=script(tmp_path, text), stdin=lines(launch({})))
    assert says in ran.is_one_clear_line()


def test_there_is_no_such_interpreter(live):
    ran = live("--launches", "-", python="/no/such/python", stdin=lines(launch({})))
    assert "/no/such/python cannot be run: No such file or directory" in ran.is_one_clear_line()


def test_an_environment_without_the_engine_is_told_so(live, tmp_path):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch/__init__.py").write_text("import types\nversion = cuda = types.SimpleNamespace()\n")
    line = live("--launches", "-", source=tmp_path, stdin=lines(launch({}))).is_one_clear_line()
    assert f"there is no sglang in {tmp_path}; install it there, or give --engine-source" in line


@pytest.mark.parametrize(
    ("breaks", "says"),
    [
        ("raise", "does not import: ModuleNotFoundError: No module named 'a_library_that_is_missing'"),
        ("die", "it ended with exit code 7"),
    ],
)
def test_an_engine_that_does_not_import_is_one_clear_line(live, breaks, says):
    ran = live("--launches", "-", stdin=lines({**launch({}), "env": {"FAKE_IMPORT": breaks}}))
    assert says in ran.is_one_clear_line()


def test_an_engine_that_never_gets_ready_is_given_up(source):
    machine = {"platform": "cuda", "arch": "sm90", "name": "x", "compute": [9, 0], "memory_mib": 1, "count": 1,
               "cores": 1, "driver": "1", "cuda": "13.0"}  # fmt: skip
    environment = Environment(Path(sys.executable), source, ready_timeout_s=1.0)
    with pytest.raises(RequestError, match="it said nothing for 1 s"):
        EngineProcess("sglang", environment, machine, {"FAKE_IMPORT": "hang"})


def test_another_release_than_the_one_asked_for_is_refused(verify, tmp_path):
    source = write_engine(tmp_path / "early", "0.5.19")
    ran = verify("--engine", "sglang@0.5.23", "--python", sys.executable, "--engine-source", source, "--launches", "-",
                 stdin=lines(launch({})))  # fmt: skip
    assert "has sglang 0.5.19, not 0.5.23; --engine sglang@0.5.19?" in ran.is_one_clear_line()


def test_a_fork_may_call_itself_what_it_likes(verify, tmp_path):
    source = write_engine(tmp_path / "fork", "0.5.24.dev7")
    ran = verify("--engine", "sglang@0.5.23", "--python", sys.executable, "--engine-source", source, "--launches", "-",
                 stdin=lines(launch({})))  # fmt: skip
    assert ran.code == 0
    assert "note: the engine calls itself 0.5.24.dev7" in ran.out


@pytest.mark.parametrize(
    ("gpu", "says"),
    [
        ("strange", "strange cannot be faked: its platform is musa"),
        ("unmeasured", "hardware.yaml does not say its memory"),
        ("h1000", "runs on 'h1000', which hardware.yaml does not know"),
    ],
)
def test_a_device_that_cannot_be_faked_is_one_clear_line(live, gpu, says):
    assert says in live("--launches", "-", stdin=lines(launch({}, gpu=gpu))).is_one_clear_line()


def test_nothing_is_left_running_or_lying_about(live, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    live("--launches", "-", "--timeout", "1", stdin=lines(launch({}), launch({"page_size": 667})))
    assert list(tmp_path.iterdir()) == []
    children = subprocess.run(
        ["ps", "--ppid", str(os.getpid()), "-o", "args="], capture_output=True, text=True, check=False
    )
    assert "archcap_worker" not in children.stdout
