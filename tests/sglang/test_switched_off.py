"""What is off after argument resolution that nobody switched off: each is told, also several at once."""

import pytest

from tests.sglang.spec_launches import dense, launch, qwen35

DETERMINISTIC = {"enable_deterministic_inference": True, "attention_backend": "flashinfer"}
EMBEDDING = dense("EmbeddingGemmaModel", "gemma3_text", sliding_window=512, use_bidirectional_attention=True)


def off(answer):
    return sorted(
        f.rule for f in answer.findings if f.severity == "silent" and f.rule.startswith("off.")
    )


@pytest.mark.parametrize(
    ("release", "config", "settings", "gpu", "rules"),
    [
        ("0.5.23", dense(), {}, "h200", []),
        ("0.5.23", dense(), {"disable_overlap_schedule": True, "disable_radix_cache": True}, "h200", []),
        ("0.5.23", dense(), {"chunked_prefill_size": -1}, "h200", []),
        ("0.5.23", dense(), {"disable_cuda_graph": True}, "h200", []),
        ("0.5.23", dense(), {"pp_size": 2}, "h200", ["off.overlap-schedule"]),
        ("0.5.23", dense(), {"pp_size": 2, "disable_overlap_schedule": True}, "h200", []),
        ("0.5.23", dense(), DETERMINISTIC, "h200", ["off.prefix-cache"]),
        ("0.5.18", dense(), DETERMINISTIC, "h200", ["off.prefix-cache"]),
        ("0.5.23", dense(), {**DETERMINISTIC, "pp_size": 2}, "h200", ["off.overlap-schedule", "off.prefix-cache"]),
        ("0.5.23", dense(), {"disaggregation_mode": "decode"}, "h200", ["off.prefix-cache"]),
        ("0.5.23", dense(), {"disaggregation_mode": "prefill"}, "h200", []),
        ("0.5.23", dense(), {"attention_backend": "torch_native"}, "h200", ["off.decode-graph"]),
        ("0.5.23", dense("Lfm2ForCausalLM", "lfm2"), {}, "h200", ["off.overlap-schedule"]),
        ("0.5.23", dense("Lfm2ForCausalLM", "lfm2"), {"pp_size": 1, "disable_radix_cache": True}, "h200", []),
        ("0.5.23", qwen35("Qwen3_5MoeForConditionalGeneration"), {"tp_size": 2}, "h200", []),
        (
            "0.5.23",
            EMBEDDING,
            {"is_embedding": True},
            "h200",
            ["off.chunked-prefill", "off.decode-graph", "off.prefix-cache"],
        ),
    ],
)
def test_what_nobody_switched_off_is_told(release, config, settings, gpu, rules):
    assert off(launch(release, config, settings, gpu=gpu)) == rules


def test_the_cause_of_a_silent_change_is_said():
    [finding] = [f for f in launch("0.5.23", dense(), {"pp_size": 2}).findings if f.rule == "off.overlap-schedule"]
    assert [cause.text for cause in finding.causes] == ["disable_overlap_schedule is true", "pp_size is 2"]


@pytest.mark.parametrize(
    ("config", "gpu", "settings", "name"),
    [
        (dense("GptOssForCausalLM", "gpt_oss", num_local_experts=8), "b200", {"dtype": "float16"}, "dtype"),
        (dense(), "mi300x", {"attention_backend": "aiter", "mem_fraction_static": 0.8}, "mem_fraction_static"),
        (qwen35("Qwen3_5MoeForConditionalGeneration"), "b200", {"tp_size": 2, "page_size": 64}, "page_size"),
    ],
)
def test_a_value_replaced_without_a_log_line_is_told(config, gpu, settings, name):
    layout = {"quantization_config": {"quant_method": "mxfp4"}} if name == "dtype" else {}
    answer = launch("0.5.23", {**config, **layout}, settings, gpu=gpu)
    said = [f.message for f in answer.findings if f.severity == "silent" and "is replaced by" in f.message]
    assert [message for message in said if message.startswith(name)]
    assert answer.verdict == "adjusted"
