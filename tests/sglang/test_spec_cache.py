"""The hierarchical cache, disaggregated serving and checkpoint facts as SGLang settles them."""

import pytest

from tests.sglang.spec_launches import NEXTN, dense, errors, latent, launch, qwen35, rules_of, value

HICACHE = {"enable_hierarchical_cache": True}
LAYERS = {"hicache_mem_layout": "layer_first"}


def test_the_host_cache_under_dcp_is_for_latent_attention():
    settings = {"tp_size": 8, "dcp_size": 2, **HICACHE}
    assert errors(launch("0.5.23", dense(), settings))[0].rule == "hicache.dcp-mla"
    assert "hicache.dcp-mla" not in rules_of(launch("0.5.23", latent(), settings))


def test_a_draft_under_the_host_cache_and_dcp_is_refused_since_0_5_18_unless_dspark():
    settings = {"tp_size": 8, "dcp_size": 2, **HICACHE, **NEXTN}
    assert errors(launch("0.5.23", latent(), settings))[0].rule == "hicache.dcp-draft"
    assert errors(launch("0.5.17", latent(), settings))[0].rule == "hicache.dcp-any-draft"


def test_the_host_cache_needs_the_prefix_cache():
    answer = launch("0.5.23", dense(), {**HICACHE, "disable_radix_cache": True})
    assert errors(answer)[0].rule == "hicache.without-radix-cache"


@pytest.mark.parametrize(
    ("given", "layout", "io"),
    [
        ({"hicache_mem_layout": "page_first_direct", "hicache_io_backend": "kernel"}, "page_first_direct", "direct"),
        ({"hicache_mem_layout": "page_first", "hicache_io_backend": "direct"}, "page_first_direct", "direct"),
        ({"hicache_storage_backend": "mooncake", **LAYERS, "hicache_io_backend": "kernel"}, "page_first", "kernel"),
        ({"hicache_storage_backend": "file", **LAYERS, "hicache_io_backend": "kernel"}, "layer_first", "kernel"),
    ],
)
def test_layout_copy_engine_and_storage_are_matched(given, layout, io):
    answer = launch("0.5.23", dense(), {**HICACHE, **given})
    assert value(answer, "hicache_mem_layout") == layout
    assert value(answer, "hicache_io_backend") == io


def test_a_decode_server_has_no_prefix_cache_unless_asked_for():
    plain = launch("0.5.23", dense(), {"disaggregation_mode": "decode"})
    asked = launch(
        "0.5.23", dense(), {"disaggregation_mode": "decode", "disaggregation_decode_enable_radix_cache": True}
    )
    assert value(plain, "disable_radix_cache") is True
    assert value(asked, "disable_radix_cache") is False


def test_a_prefill_server_cannot_send_over_the_fake_backend():
    settings = {"disaggregation_mode": "prefill", "disaggregation_transfer_backend": "fake"}
    assert errors(launch("0.5.23", dense(), settings))[0].rule == "pd.prefill-fake"


def test_a_context_beyond_the_checkpoints_is_refused_unless_allowed():
    settings = {"context_length": 500_000}
    assert errors(launch("0.5.23", dense(), settings))[0].rule == "model.context-length"
    allowed = launch("0.5.23", dense(), settings, env={"SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN": "1"})
    assert not errors(allowed)


def test_a_quantisation_the_checkpoint_does_not_have_is_refused():
    config = dense(quantization_config={"quant_method": "fp8"})
    assert errors(launch("0.5.23", config, {"quantization": "awq"}))[0].rule == "model.quantization-mismatch"
    assert not errors(launch("0.5.23", config, {"quantization": "fp8"}))


def test_mxfp4_runs_on_the_newer_instinct_only():
    config = dense(quantization_config={"quant_method": "mxfp4"})
    assert errors(launch("0.5.23", config, gpu="mi300x"))[0].rule == "model.quantization-unknown"
    assert "model.quantization-unknown" not in rules_of(launch("0.5.23", config, gpu="mi355x"))


def test_a_config_type_newer_than_the_pinned_transformers_is_refused():
    config = dense("MiMoV2FlashForCausalLM", "mimo_v2_flash", hybrid_layer_pattern=[1] * 31 + [0])
    assert errors(launch("0.5.20", config))[0].rule == "model.config-type"
    assert "model.config-type" not in rules_of(launch("0.5.22", config))


def test_lora_without_adapters_needs_rank_and_modules():
    bare = launch("0.5.23", dense(), {"enable_lora": True, "max_lora_rank": 16})
    whole = launch("0.5.23", dense(), {"enable_lora": True, "max_lora_rank": 16, "lora_target_modules": ["q_proj"]})
    assert errors(bare)[0].rule == "lora.shape"
    assert not errors(whole)


def test_recurrent_layers_follow_the_interval_and_not_the_list_of_kinds():
    config = qwen35("Qwen3_5MoeForConditionalGeneration", full_attention_interval=6)
    ranks = launch("0.5.23", config, {"tp_size": 8, "pp_size": 2}).plan["pipeline"]
    assert [layer for rank in ranks for layer in rank["attention_layers"]] == [5, 11, 17, 23, 29, 35, 41, 47, 53, 59]


@pytest.mark.parametrize(
    ("release", "gpu", "rule"),
    [("0.5.18", "a100-80gb", "unified.backend"), ("0.5.23", "a100-80gb", None), ("0.5.18", "h200", "unified.backend")],
)
def test_one_pool_for_all_state_was_read_by_triton_only_before_0_5_19(release, gpu, rule):
    config = qwen35("Qwen3_5MoeForConditionalGeneration")
    answer = launch(release, config, {"tp_size": 8, "enable_unified_memory": True}, gpu=gpu)
    assert [e.rule for e in errors(answer)] == ([rule] if rule else [])
