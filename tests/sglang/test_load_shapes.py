"""What SGLang finds out while it loads: sizes that do not divide over the ranks, quantisations without kernels."""

import pytest

from tests.sglang.spec_launches import dense, errors, latent, launch, qwen35, rules_of

AWQ = {"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True}


def first(answer):
    """Return the rule that stops the launch, or None."""
    found = errors(answer)
    return found[0].rule if found else None


@pytest.mark.parametrize(
    ("gpu", "settings", "rule"),
    [
        ("t4", {}, None),
        ("v100-32gb", {}, "device.before-sm75"),
        ("l40s", {"quantization": "w8a8_fp8"}, None),
        ("a100-80gb", {"quantization": "w8a8_fp8"}, "quantisation.card"),
        ("a100-80gb", {"quantization": "fp8"}, None),
        ("t4", {"quantization": "fp8"}, "quantisation.card"),
        ("h200", {"quantization": "fp8", "dtype": "bfloat16"}, None),
        ("h200", {"quantization": "fp8", "dtype": "float32"}, "quantisation.half-or-bfloat16"),
    ],
)
def test_a_quantisation_has_a_lowest_card_and_types_it_computes_in(gpu, settings, rule):
    assert first(launch("0.5.23", dense(), settings, gpu=gpu)) == rule


@pytest.mark.parametrize(
    ("gpu", "settings", "rule"),
    [
        ("h200", {}, None),
        ("h200", {"quantization": "awq", "dtype": "float16"}, None),
        ("t4", {"quantization": "awq"}, None),
        ("h200", {"quantization": "awq"}, "quantisation.half-only"),
    ],
)
def test_plain_awq_computes_in_half_only(gpu, settings, rule):
    assert first(launch("0.5.23", dense(quantization_config=AWQ), settings, gpu=gpu)) == rule


@pytest.mark.parametrize(("release", "rule"), [("0.5.12", "quantisation.card"), ("0.5.13", None)])
def test_nvfp4_checkpoints_load_on_hopper_since_0_5_13(release, rule):
    config = dense(quantization_config={"quant_method": "modelopt", "quant_algo": "NVFP4", "group_size": 16})
    assert first(launch(release, config, {"quantization": "modelopt_fp4"})) == rule


def heads(total, kv, **changes):
    return dense(num_attention_heads=total, num_key_value_heads=kv, hidden_size=128 * total, **changes)


@pytest.mark.parametrize(
    ("config", "tp_size", "rule"),
    [
        (heads(48, 8), 8, None),
        (heads(48, 8), 16, None),
        (heads(36, 6, intermediate_size=9216), 6, None),
        (heads(36, 6), 4, "tensor-parallel.kv-heads"),
        (heads(36, 4, intermediate_size=9216), 6, "tensor-parallel.kv-heads"),
        (heads(36, 7), 5, "tensor-parallel.heads"),
        (latent(), 8, None),
    ],
)
def test_kv_heads_divide_over_the_ranks_or_repeat_evenly(config, tp_size, rule):
    assert first(launch("0.5.23", config, {"tp_size": tp_size})) == rule


@pytest.mark.parametrize(
    ("width", "tp_size", "settings", "rule"),
    [
        (11008, 4, {}, None),
        (11000, 3, {}, "tensor-parallel.dense-width"),
        (11000, 3, {"model_impl": "transformers"}, None),
    ],
)
def test_dense_layers_divide_over_the_ranks(width, tp_size, settings, rule):
    config = heads(24, 3, intermediate_size=width) if tp_size == 3 else heads(24, 4, intermediate_size=width)
    assert first(launch("0.5.23", config, {"tp_size": tp_size, **settings})) == rule


@pytest.mark.parametrize(
    ("layout", "tp_size", "rule"),
    [(AWQ, 2, "tensor-parallel.awq-groups"), (AWQ, 1, None), ({**AWQ, "group_size": 16}, 2, None), (None, 2, None)],
)
def test_a_shard_holds_whole_quantisation_groups(layout, tp_size, rule):
    changes = {"quantization_config": layout} if layout else {}
    config = dense(intermediate_size=29568 // 4 * 2, **changes)
    assert first(launch("0.5.23", config, {"tp_size": tp_size})) == rule


def experts(**changes):
    return dense(
        "Qwen3MoeForCausalLM",
        "qwen3_moe",
        **{"num_experts": 96, "moe_intermediate_size": 768, "num_attention_heads": 48, "hidden_size": 6144, **changes},
    )


@pytest.mark.parametrize(
    ("config", "settings", "rule"),
    [
        (experts(), {"tp_size": 8, "ep_size": 8}, None),
        (experts(num_experts=100), {"tp_size": 4, "ep_size": 4}, None),
        (experts(num_experts=100), {"tp_size": 8, "ep_size": 8}, "experts.over-ranks"),
        (experts(num_experts=100), {"tp_size": 8, "ep_size": 8, "ep_num_redundant_experts": 4}, None),
        (experts(num_experts=100), {"tp_size": 8, "moe_a2a_backend": "deepep"}, "experts.over-ranks"),
        (experts(moe_intermediate_size=770), {"tp_size": 2}, None),
        (experts(moe_intermediate_size=770), {"tp_size": 4, "ep_size": 2}, None),
        (experts(moe_intermediate_size=770), {"tp_size": 4}, "experts.plain-width"),
    ],
)
def test_experts_divide_over_the_ranks(config, settings, rule):
    assert first(launch("0.5.23", config, settings)) == rule


@pytest.mark.parametrize(
    ("values", "keys", "tp_size", "rule"),
    [
        (64, 16, 16, None),
        (64, 16, 32, "recurrent.key-heads"),
        (60, 16, 8, "recurrent.value-heads"),
    ],
)
def test_recurrent_heads_divide_over_the_ranks(values, keys, tp_size, rule):
    changes = {"linear_num_value_heads": values, "linear_num_key_heads": keys, "num_attention_heads": 64}
    answer = launch("0.5.23", qwen35("Qwen3_5MoeForCausalLM", **changes), {"tp_size": tp_size})
    assert [r for r in (f.rule for f in answer.findings) if r.startswith("recurrent.")] == ([rule] if rule else [])


def mamba(**changes):
    layers = ["attention" if layer % 4 == 3 else "mamba" for layer in range(32)]
    return dense("GraniteMoeHybridForCausalLM", "granitemoehybrid", layer_types=layers, **changes)


@pytest.mark.parametrize(
    ("changes", "tp_size", "rule"),
    [
        ({"mamba_n_heads": 48, "mamba_n_groups": 1}, 8, None),
        ({"mamba_n_heads": 48, "mamba_n_groups": 8}, 8, None),
        ({"mamba_n_heads": 42, "mamba_n_groups": 1}, 8, "recurrent.mamba-heads"),
        ({"mamba_n_heads": 48, "mamba_n_groups": 2}, 8, "recurrent.mamba-groups"),
    ],
)
def test_mamba_heads_and_groups_divide_over_the_ranks(changes, tp_size, rule):
    found = rules_of(launch("0.5.23", mamba(**changes), {"tp_size": tp_size}))
    assert [r for r in found if r.startswith("recurrent.mamba")] == ([rule] if rule else [])


def omni(**audio):
    text = dense("", "qwen3_omni_moe_text", num_experts=128, moe_intermediate_size=768)
    del text["architectures"]
    thinker = {
        "model_type": "qwen3_omni_moe_thinker",
        "text_config": text,
        "vision_config": {"num_heads": 16, "hidden_size": 1152},
        "audio_config": {"encoder_attention_heads": 20, "d_model": 1280, **audio},
    }
    return {
        "architectures": ["Qwen3OmniMoeForConditionalGeneration"],
        "model_type": "qwen3_omni_moe",
        "thinker_config": thinker,
    }


@pytest.mark.parametrize(("tp_size", "rule"), [(4, None), (8, "towers.audio-heads")])
def test_an_audio_tower_divides_over_the_ranks(tp_size, rule):
    found = rules_of(launch("0.5.23", omni(), {"tp_size": tp_size}))
    assert [r for r in found if r.startswith("towers.")] == ([rule] if rule else [])


def seeing(architecture, **vision):
    config = qwen35("Qwen3_5MoeForConditionalGeneration", num_attention_heads=64, linear_num_value_heads=64)
    return {
        **config,
        "architectures": [architecture],
        "vision_config": {**config["vision_config"], "num_heads": 12, **vision},
    }


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ({"tp_size": 4}, None),
        ({"tp_size": 8, "mm_enable_dp_encoder": True}, None),
        ({"tp_size": 8}, "towers.vision-heads"),
    ],
)
def test_a_vision_tower_divides_over_the_ranks_unless_each_has_it_whole(settings, rule):
    found = rules_of(launch("0.5.23", seeing("Qwen3_5MoeForConditionalGeneration"), settings))
    assert [r for r in found if r.startswith("towers.")] == ([rule] if rule else [])


@pytest.mark.parametrize(
    ("settings", "warned"),
    [
        ({"tp_size": 8}, False),
        ({"tp_size": 4, "pp_size": 2}, False),
        ({"tp_size": 8, "pp_size": 2}, True),
        ({"tp_size": 8, "dp_size": 8, "enable_dp_attention": True}, False),
        ({"tp_size": 4, "dp_size": 4}, True),
    ],
)
def test_more_ranks_than_cards_are_warned_of_and_not_refused(settings, warned):
    answer = launch("0.5.23", dense(), settings)
    assert ("launch.more-ranks-than-cards" in rules_of(answer)) is warned
    assert answer.verdict == "ok"
