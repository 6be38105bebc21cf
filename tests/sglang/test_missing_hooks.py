"""What a launch asks of a class that the class does not have, release by release."""

import pytest

from tests.sglang.spec_launches import NEXTN, dense, errors, launch, rules_of

LLAMA_DRAFT = dense("LlamaForCausalLMEagle", num_hidden_layers=1)
PIECEWISE = {"enable_pdmux": True, "chunked_prefill_size": -1, "disable_overlap_schedule": True}
WORDS = {"speculative_algorithm": "EAGLE"}


def of(answer, *prefixes):
    return sorted(rule for rule in rules_of(answer) if rule.startswith(prefixes))


@pytest.mark.parametrize(
    ("config", "settings", "rule"),
    [
        (dense(), {"quantization": "bitsandbytes"}, None),
        (dense("GPT2LMHeadModel", "gpt2"), {}, None),
        (dense("GPT2LMHeadModel", "gpt2"), {"quantization": "bitsandbytes"}, "load.bitsandbytes"),
        (dense(), {"load_format": "layered"}, "load.layered"),
        (dense(), {"quantization_param_path": "scales.json", "kv_cache_dtype": "fp8_e4m3"}, None),
        (dense("GPT2LMHeadModel", "gpt2"), {"quantization_param_path": "scales.json"}, None),
        (
            dense("GPT2LMHeadModel", "gpt2"),
            {"quantization_param_path": "scales.json", "kv_cache_dtype": "fp8_e4m3"},
            "load.cache-scales",
        ),
    ],
)
def test_a_loader_needs_what_the_class_brings(config, settings, rule):
    assert of(launch("0.5.23", config, settings), "load.") == ([rule] if rule else [])


def test_a_draft_takes_what_the_target_lends():
    assert of(launch("0.5.23", dense(), {**NEXTN, **WORDS}, draft=LLAMA_DRAFT), "draft.takes") == []
    gpt2 = dense("GPT2LMHeadModel", "gpt2", num_hidden_layers=1)
    lent = launch("0.5.23", dense(), {**NEXTN, **WORDS}, draft=gpt2)
    assert of(lent, "draft.takes") == ["draft.takes-embedding-and-head"]
    eagle3 = launch("0.5.23", dense(), {**NEXTN, "speculative_algorithm": "EAGLE3"}, draft=gpt2)
    assert of(eagle3, "draft.takes") == ["draft.takes-embedding"]


@pytest.mark.parametrize(
    ("config", "settings", "rule"),
    [
        (dense(), {"is_embedding": True}, None),
        (dense("GPT2LMHeadModel", "gpt2"), {}, None),
        (dense("GPT2LMHeadModel", "gpt2"), {"is_embedding": True}, "embedding.class"),
        (dense(), PIECEWISE, None),
        (dense("GPT2LMHeadModel", "gpt2"), PIECEWISE, "pdmux.class"),
    ],
)
def test_the_first_request_needs_the_class(config, settings, rule):
    answer = launch("0.5.23", config, settings)
    assert of(answer, "embedding.class", "pdmux.") == ([rule] if rule else [])
    if rule and not errors(answer):
        assert answer.verdict == "unsafe"


@pytest.mark.parametrize(
    ("config", "pp_size", "rule"),
    [
        (dense(), 2, None),
        (dense("MiniMaxM2ForCausalLM", "minimax_m2", num_local_experts=8), 1, None),
        (dense("MiniMaxM2ForCausalLM", "minimax_m2", num_local_experts=8), 2, "pipeline.cache-for-all-layers"),
    ],
)
def test_a_class_that_does_not_say_its_layers_sizes_its_cache_for_all(config, pp_size, rule):
    found = launch("0.5.23", config, {"pp_size": pp_size, "tp_size": 2}).findings
    assert [(f.rule, f.severity) for f in found if f.rule.startswith("pipeline.cache")] == (
        [(rule, "silent")] if rule else []
    )


QWEN2_MOE = dense("Qwen2MoeForCausalLM", "qwen2_moe", num_experts=64, moe_intermediate_size=1024)


def test_balancing_without_the_weights_stops_at_the_first_rebalance():
    asked = {"tp_size": 8, "ep_size": 8}
    assert launch("0.5.23", QWEN2_MOE, asked).verdict == "ok"
    qwen3 = dense("Qwen3MoeForCausalLM", "qwen3_moe", num_experts=128, moe_intermediate_size=768)
    assert launch("0.5.23", qwen3, {**asked, "enable_eplb": True}).verdict == "ok"
    answer = launch("0.5.23", QWEN2_MOE, {**asked, "enable_eplb": True})
    assert answer.verdict == "unsafe"
    assert "experts.balance-without-weights" in rules_of(answer)
