"""Tracebacks in the shape of public reports lead to the rule that says why."""

import pytest

from archcap.cli.diagnose import undecided_lines
from archcap.resolver.diagnose import diagnose, launch_line, read_failures
from tests.sglang.test_cases import answer, launches, snapshot

TP0 = "[2026-03-01 10:00:00 TP0] "
SCHEDULER = ("managers/scheduler.py", "run_scheduler_process"), ("managers/scheduler.py", "__init__")
RUNNER = *SCHEDULER, ("managers/tp_worker.py", "__init__"), ("model_executor/model_runner.py", "initialize")
LOADER = *RUNNER, ("model_executor/model_runner.py", "load_model"), ("model_loader/loader.py", "load_model")
LINEAR = *LOADER, ("layers/linear.py", "__init__"), ("layers/quantization/fp8.py", "create_weights")
ARGUMENTS = (
    ("launch_server.py", "<module>"),
    ("server_args.py", "prepare_server_args"),
    ("server_args.py", "__post_init__"),
)


def traceback(frames, raised, prefix=""):
    lines = ["Traceback (most recent call last):"]
    for number, (file, function) in enumerate(frames, 11):
        lines += [
            f'  File "/opt/env/lib/python3.12/site-packages/sglang/srt/{file}", line {number}, in {function}',
            "    call()",
        ]
    return "\n".join(prefix + line for line in [*lines, raised])


def case(name, release):
    return next(one for one in launches() if (one["case"], one["release"]) == (name, release) and "rule" in one)


def told(text, launch):
    found = answer(launch)
    return diagnose(read_failures(text), found, snapshot().release("sglang", found.release))


def matched(text, launch):
    """Return the rule that a log leads to first."""
    return next((one.rule for one in told(text, launch).matched), None)


REPORTS = [
    (
        "T01",
        "0.5.23",
        (*LINEAR, ("layers/quantization/fp8.py", "validate_block_quant_shapes")),
        "ValueError: no multiple",
    ),
    ("Q08", "0.5.9", (*LINEAR, ("layers/quantization/fp8.py", "validate_block_quant_shapes")), "ValueError: block_n"),
    ("P01", "0.5.9", (*LOADER, ("models/qwen3_vl_moe.py", "load_weights")), "KeyError: 'model.layers.30.mlp.experts'"),
    ("P03", "0.5.20", (*RUNNER, ("model_executor/model_runner.py", "__init__")), "ValueError: no pipeline"),
    (
        "S05",
        "0.5.13",
        (*RUNNER, ("model_executor/model_runner.py", "init_aux_hidden_state_capture")),
        "ValueError: hook",
    ),
    ("S08", "0.5.10", (*RUNNER, ("layers/attention/attention_registry.py", "create_trtllm_mla_backend")), "ValueError"),
    (
        "S11",
        "0.5.23",
        (*SCHEDULER, ("configs/model_config.py", "_derive_context_length")),
        "ValueError: context_length",
    ),
    ("H01", "0.5.12", (*SCHEDULER, ("mem_cache/hiradix_cache.py", "__init__")), "ValueError: pools"),
    ("D01", "0.5.23", (*SCHEDULER, ("mem_cache/memory_pool.py", "set_kv_buffer")), "AssertionError: no such path"),
    ("M01", "0.5.20", (*SCHEDULER, ("managers/schedule_batch.py", "prepare_for_extend")), "TypeError: NoneType"),
]


@pytest.mark.parametrize(("name", "release", "frames", "raised"), REPORTS, ids=[one[0] for one in REPORTS])
@pytest.mark.parametrize("prefix", ["", TP0], ids=["plain", "logged"])
def test_a_traceback_leads_to_the_rule(name, release, frames, raised, prefix):
    launch = case(name, release)
    assert matched("INFO starting\n" + traceback(frames, raised, prefix) + "\nKilled\n", launch) == launch["rule"]


def test_a_traceback_from_elsewhere_leads_to_no_rule_but_the_launch_is_still_told_about():
    found = told(traceback(ARGUMENTS, "ValueError: something else"), case("D01", "0.5.23"))
    assert found.matched == ()
    assert [one.rule for one in found.other] == ["dcp.flashmla-write"]


WRITE = traceback(REPORTS[8][2], REPORTS[8][3])
EOF = """Traceback (most recent call last):
  File "/opt/env/lib/python3.12/site-packages/sglang/launch_server.py", line 30, in <module>
  File "/usr/lib/python3.12/multiprocessing/connection.py", line 250, in recv
EOFError"""
ELSEWHERE = """Traceback (most recent call last):
  File "/usr/lib/python3.12/threading.py", line 5, in run
KeyboardInterrupt"""
BETWEEN = "\n\nDuring handling of the above exception, another exception occurred:\n\n"


@pytest.mark.parametrize("after", ["", "\n" + EOF, BETWEEN + EOF, "\n^C" + ELSEWHERE, f"\n{EOF}\n{ELSEWHERE}"])
@pytest.mark.parametrize("before", ["", ELSEWHERE + "\n", EOF + BETWEEN])
def test_what_fails_in_the_wake_of_a_failure_does_not_hide_it(before, after):
    launch = case("D01", "0.5.23")
    assert told(EOF + after, launch).matched == ()
    assert matched(before + WRITE + after, launch) == launch["rule"]


def test_where_nothing_matches_the_last_that_passed_the_engine_is_told_about():
    launch = case("D01", "0.5.23")
    assert told(f"{ELSEWHERE}\n{EOF}\n{ELSEWHERE}", launch).failure.exception == "EOFError"
    assert told(ELSEWHERE, launch).failure.exception == "KeyboardInterrupt"


def coloured(text):
    """Colour a traceback as Python 3.13 does, and the log's lines as a terminal shows them."""
    text = text.replace('File "', 'File \x1b[35m"').replace('", line', '"\x1b[0m, line')
    return "\n".join(f"\x1b[1;31m{line}\x1b[0m\x1b[K" for line in text.split("\n"))


def test_the_log_of_a_coloured_terminal_is_read_as_any_other():
    launch = case("D01", "0.5.23")
    assert read_failures(coloured("ValueError: seen\nserver is up")) == ()
    assert read_failures(coloured(WRITE)) == read_failures(WRITE)
    assert matched(coloured(WRITE), launch) == launch["rule"]


@pytest.mark.parametrize(
    ("lines", "exception"),
    [(slice(None, -1), None), (slice(3, None), "AssertionError"), (slice(3, -1), None)],
    ids=["without the exception", "from the middle", "only frames"],
)
def test_a_traceback_that_is_cut_off_is_matched_by_its_frames(lines, exception):
    launch, cut = case("D01", "0.5.23"), "\n".join(WRITE.split("\n")[lines])
    found = told(cut, launch)
    assert [one.rule for one in found.matched][:1] == [launch["rule"]]
    assert found.failure.exception == exception


@pytest.mark.parametrize(
    "text",
    [
        "ValueError: seen\nserver is up",
        WRITE.replace("Traceback (most", "Stack (most").rpartition("\n")[0],
        "Traceback (most recent call last):\nValueError: no frame",
    ],
    ids=["an exception's line", "a stack that was logged", "no frame"],
)
def test_a_log_without_a_traceback_tells_of_no_exception(text):
    assert read_failures(text) == ()


def test_a_rule_that_the_launch_leaves_open_is_told_with_what_it_needs():
    given = case("D01", "0.5.23")
    assert told(WRITE, given).undecided == ()
    found = told(WRITE, {**given, "gpu": None})
    assert found.matched == ()
    assert [one.rule for one in found.undecided] == [given["rule"]]
    assert "hardware" in found.undecided[0].needs
    assert undecided_lines(found)[-1] == "Give --gpu and --gpus."


def test_the_launch_command_is_found_over_continued_lines():
    text = 'hello\n$ python -m sglang.launch_server \\\n  --tp 8\n  File "sglang.launch_server"\n'
    assert launch_line(text, ("sglang.launch_server",)) == "python -m sglang.launch_server   --tp 8"
