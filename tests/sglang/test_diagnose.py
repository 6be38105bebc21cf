"""Tracebacks in the shape of public reports lead to the rule that says why."""

import pytest

from archcap.resolver.diagnose import diagnose, launch_line, read_failure
from tests.sglang.test_cases import answer, launches

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
    failure = read_failure("INFO starting\n" + traceback(frames, raised, prefix) + "\nKilled\n")
    assert [one.rule for one in diagnose(failure, answer(launch)).matched][:1] == [launch["rule"]]


def test_a_traceback_from_elsewhere_leads_to_no_rule_but_the_launch_is_still_told_about():
    failure = read_failure(traceback(ARGUMENTS, "ValueError: something else"))
    found = diagnose(failure, answer(case("D01", "0.5.23")))
    assert found.matched == ()
    assert [one.rule for one in found.other] == ["dcp.flashmla-write"]


def test_the_last_exception_of_a_log_counts():
    text = traceback(ARGUMENTS, "KeyError: 'a'") + "\n\nDuring handling:\n\n" + traceback(SCHEDULER, "RuntimeError: b")
    failure = read_failure(text)
    assert (failure.exception, failure.message, failure.frames[-1].function) == ("RuntimeError", "b", "__init__")


def test_a_log_without_a_traceback_tells_of_no_exception():
    assert read_failure("ValueError: seen\nserver is up") is None


def test_the_launch_command_is_found_over_continued_lines():
    text = 'hello\n$ python -m sglang.launch_server \\\n  --tp 8\n  File "sglang.launch_server"\n'
    assert launch_line(text, ("sglang.launch_server",)) == "python -m sglang.launch_server   --tp 8"
