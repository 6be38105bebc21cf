"""The prefix cache of hybrid models on the shipped data: the first founding story and what stands around it."""

import gc
from functools import partial

import pytest

from archcap.model.request import HardwareRequest, Request
from archcap.resolver import resolve
from archcap.snapshot.store import default
from tests.sglang.spec_launches import dense, errors, launch, qwen35, rules_of, value

TEXT_ONLY, WRAPPED = "Qwen3_5MoeForCausalLM", "Qwen3_5MoeForConditionalGeneration"
STORY = {"tp_size": 8, "dcp_size": 2}
TRITON = {**STORY, "attention_backend": "triton"}
TREE_PAGE = "mamba.tree-page-one"


def granite(layer_types):
    return dense("GraniteMoeHybridForCausalLM", "granitemoehybrid", layer_types=layer_types)


def fixes_of(release, settings, gpu="h200"):
    answer = resolve(
        Request(
            engine="sglang",
            release=release,
            config=qwen35(TEXT_ONLY),
            hardware=HardwareRequest(gpu=gpu, count=8),
            settings=settings,
            fixes=True,
        ),
        default(),
    )
    return answer.fixes


# The first founding story


def test_an_answer_leaves_nothing_to_the_collector():
    ask = partial(launch, "0.5.18", qwen35(TEXT_ONLY), STORY)
    assert errors(ask())
    gc.collect()
    gc.disable()
    try:
        ask()
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_in_0_5_18_the_unregistered_class_starts_without_decode_ranks():
    answer = launch("0.5.18", qwen35(TEXT_ONLY), {"tp_size": 8})
    assert answer.verdict == "ok"
    assert answer.plan["tree_page_size"] == 1


def test_in_0_5_18_two_decode_ranks_widen_its_tree_page_and_the_tree_refuses_it():
    answer = launch("0.5.18", qwen35(TEXT_ONLY), STORY)
    assert answer.verdict == "refused"
    [finding] = errors(answer)
    assert (finding.rule, finding.stage) == (TREE_PAGE, "init")
    assert finding.source.startswith("srt/mem_cache/unified_cache/components/mamba_component.py:MambaComponent")
    assert answer.plan["tree_page_size"] == 2
    assert "mamba_radix_cache_strategy" not in answer.settings


def test_the_refusal_names_the_tree_page_the_ranks_and_the_missing_registration():
    [finding] = errors(launch("0.5.18", qwen35(TEXT_ONLY), STORY))
    chain = " / ".join(cause.text for cause in finding.causes)
    for words in ("the tree page is 2", "dcp_size is 2", "mamba_radix_cache_strategy stayed auto", "from 0.5.19"):
        assert words in chain


def test_its_fixes_start_and_never_trade_the_refusal_for_corruption():
    fixes = fixes_of("0.5.18", STORY)
    changes = [fix.changes for fix in fixes]
    assert {"dcp_size": 1} in changes
    assert {"attention_backend": "triton", "mamba_radix_cache_strategy": "extra_buffer"} in changes
    for fix in fixes:
        again = launch(fix.release or "0.5.18", qwen35(TEXT_ONLY), {**STORY, **fix.changes})
        assert again.verdict in ("ok", "adjusted")


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, "refused"),
        ({"mamba_radix_cache_strategy": "extra_buffer"}, "ok"),
        ({"disable_radix_cache": True}, "ok"),
    ],
)
def test_in_0_5_18_triton_alone_does_not_help_but_with_one_more_change_it_does(changes, verdict):
    assert launch("0.5.18", qwen35(TEXT_ONLY), {**TRITON, **changes}).verdict == verdict


@pytest.mark.parametrize("release", ["0.5.19", "0.5.21", "0.5.23"])
def test_from_0_5_19_on_triton_starts_with_an_extra_buffer_and_a_wider_page(release):
    answer = launch(release, qwen35(TEXT_ONLY), TRITON)
    assert answer.verdict in ("ok", "adjusted")
    assert value(answer, "mamba_radix_cache_strategy") == "extra_buffer"
    assert answer.plan["tree_page_size"] == 2 * value(answer, "page_size")


@pytest.mark.parametrize("release", ["0.5.19", "0.5.21", "0.5.23"])
def test_from_0_5_19_on_the_hopper_default_starts_but_computes_wrongly(release):
    answer = launch(release, qwen35(TEXT_ONLY), STORY)
    assert answer.verdict == "unsafe"
    assert value(answer, "attention_backend") == "fa3"
    assert "dcp.decode-backend" in rules_of(answer)


def test_the_cure_of_the_wrong_results_is_triton():
    assert {"attention_backend": "triton"} in [fix.changes for fix in fixes_of("0.5.19", STORY)]


def test_on_b200_the_page_of_trtllm_mha_fails_the_same_check_without_decode_ranks():
    answer = launch("0.5.18", qwen35(TEXT_ONLY), {"tp_size": 8}, gpu="b200")
    [finding] = errors(answer)
    assert finding.rule == TREE_PAGE
    assert answer.plan["tree_page_size"] == 64
    assert not [fix for fix in fixes_of("0.5.18", {"tp_size": 8}, gpu="b200") if "dcp_size" in fix.changes]


def test_on_b200_the_registered_class_keeps_page_64_with_an_extra_buffer():
    answer = launch("0.5.19", qwen35(TEXT_ONLY), {"tp_size": 8}, gpu="b200")
    assert answer.verdict == "ok"
    assert (value(answer, "page_size"), value(answer, "mamba_radix_cache_strategy")) == (64, "extra_buffer")


# The strategy


@pytest.mark.parametrize(
    ("settings", "strategy"),
    [
        ({}, "extra_buffer"),
        ({"page_size": 64}, "extra_buffer"),
        ({"disable_overlap_schedule": True, "page_size": 64}, "extra_buffer"),
        ({"disable_overlap_schedule": True}, "no_buffer"),
    ],
)
def test_who_wants_overlap_or_pages_gets_the_extra_buffer(settings, strategy):
    answer = launch("0.5.23", qwen35(WRAPPED), settings)
    assert value(answer, "mamba_radix_cache_strategy") == strategy


def test_a_class_without_extra_buffer_loses_overlap_scheduling_without_a_log_line():
    answer = launch("0.5.23", dense("Lfm2ForCausalLM", "lfm2"))
    assert value(answer, "disable_overlap_schedule") is True
    [finding] = [one for one in answer.findings if one.rule == "off.overlap-schedule"]
    assert finding.severity == "silent"
    assert any(cause.rule == "mamba.no-buffer" for cause in finding.causes)


def test_a_plain_decoder_asks_for_no_strategy():
    answer = launch("0.5.23", dense())
    assert answer.verdict == "ok"
    assert "mamba_radix_cache_strategy" not in answer.settings


@pytest.mark.parametrize("release", ["0.5.20", "0.5.21", "0.5.23"])
def test_from_0_5_21_on_a_strategy_on_a_plain_decoder_is_refused(release):
    answer = launch(release, dense(), {"mamba_radix_cache_strategy": "extra_buffer"})
    assert (answer.verdict == "refused") == (release != "0.5.20")


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ({"mamba_radix_cache_strategy": "no_buffer", "disable_overlap_schedule": True}, None),
        ({"mamba_radix_cache_strategy": "no_buffer"}, "mamba.no-buffer-overlap"),
        (
            {"mamba_radix_cache_strategy": "no_buffer", "disable_overlap_schedule": True, "page_size": 16},
            "mamba.no-buffer-page",
        ),
        ({"mamba_track_interval": 128, "page_size": 64}, None),
        ({"mamba_track_interval": 100, "page_size": 64}, "mamba.track-interval-page"),
        ({"page_size": 96, "mamba_track_interval": 192}, "mamba.chunk-page"),
    ],
)
def test_what_the_strategies_ask_of_pages_and_overlap(settings, rule):
    answer = launch("0.5.23", qwen35(WRAPPED), settings)
    assert [one.rule for one in errors(answer)] == ([rule] if rule else [])


@pytest.mark.parametrize(
    ("release", "setting"), [("0.5.13", "mamba_scheduler_strategy"), ("0.5.14", "mamba_radix_cache_strategy")]
)
def test_the_strategy_changed_its_name_in_0_5_14(release, setting):
    answer = launch(release, qwen35(WRAPPED), {setting: "extra_buffer", "tp_size": 8})
    assert answer.verdict == "ok"


def test_until_0_5_13_no_buffer_is_the_default_and_brings_the_page_back_to_one():
    answer = launch("0.5.13", qwen35(WRAPPED), {"page_size": 16})
    assert value(answer, "mamba_scheduler_strategy") == "no_buffer"
    assert (value(answer, "page_size"), value(answer, "disable_overlap_schedule")) == (1, True)


def test_granite_counts_as_hybrid_by_its_layers():
    attention_only = launch("0.5.23", granite(["attention"] * 32))
    with_mamba = launch("0.5.23", granite(["mamba", "attention"] * 16))
    assert "mamba_radix_cache_strategy" not in attention_only.settings
    assert value(with_mamba, "mamba_radix_cache_strategy") == "extra_buffer"


# What surprises


def test_the_multimodal_class_on_b200_gets_page_one_instead_of_the_users_without_a_log_line():
    answer = launch("0.5.23", qwen35(WRAPPED), {"page_size": 64}, gpu="b200")
    assert (value(answer, "attention_backend"), value(answer, "page_size")) == ("triton", 1)
    assert answer.verdict == "adjusted"
    [finding] = [one for one in answer.findings if one.rule == "page-size.hybrid-sm100"]
    assert finding.severity == "silent"


def test_the_text_only_class_on_b200_keeps_the_users_page():
    answer = launch("0.5.23", qwen35(TEXT_ONLY), {"page_size": 16}, gpu="b200")
    assert (value(answer, "attention_backend"), value(answer, "page_size")) == ("trtllm_mha", 16)
    assert answer.verdict == "ok"


def test_without_overlap_b200_settles_on_no_buffer_with_page_64_and_fails_at_the_tree():
    answer = launch("0.5.23", qwen35(TEXT_ONLY), {"disable_overlap_schedule": True}, gpu="b200")
    assert (value(answer, "mamba_radix_cache_strategy"), value(answer, "page_size")) == ("no_buffer", 64)
    assert [one.rule for one in errors(answer)] == [TREE_PAGE]


@pytest.mark.parametrize(
    ("config", "settings"),
    [
        (dense("Lfm2ForCausalLM", "lfm2"), STORY),
        (qwen35(WRAPPED), {**STORY, "disable_overlap_schedule": True}),
    ],
)
def test_decode_ranks_with_no_buffer_fail_at_the_tree(config, settings):
    answer = launch("0.5.23", config, settings)
    assert [(one.rule, one.stage) for one in errors(answer)] == [(TREE_PAGE, "init")]


def test_on_a_cpu_a_hybrid_fails_with_default_flags():
    answer = launch("0.5.23", qwen35(WRAPPED), gpu="xeon-amx")
    assert [one.rule for one in errors(answer)] == ["mamba.extra-buffer-platform"]


def test_a_page_size_the_backend_does_not_take_is_replaced_with_a_warning():
    kept = launch("0.5.23", dense(), {"page_size": 32}, gpu="b200")
    replaced = launch("0.5.23", dense(), {"page_size": 4}, gpu="b200")
    assert (kept.verdict, value(kept, "page_size")) == ("ok", 32)
    assert (replaced.verdict, value(replaced, "page_size")) == ("adjusted", 64)
    assert "page-size.replaced" in rules_of(replaced)
