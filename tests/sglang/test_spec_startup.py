"""What SGLang refuses after it has accepted the arguments: classes, draft workers, host pools, the scheduler."""

import pytest

from tests.sglang.spec_launches import DFLASH_DRAFT, NEXTN, dense, errors, latent, launch, qwen35, rules_of

EAGLE3_DRAFT = dense("LlamaForCausalLMEagle3", num_hidden_layers=1, draft_vocab_size=32000)
EAGLE3 = {**NEXTN, "speculative_algorithm": "EAGLE3"}


def first(answer):
    """Return the rule that stops the launch, or None."""
    found = errors(answer)
    return found[0].rule if found else None


REMOTE = {"auto_map": {"AutoConfig": "configuration_sdar.SDARConfig"}}


@pytest.mark.parametrize(
    ("release", "config", "more"),
    [
        ("0.5.9", dense("SDARForCausalLM", "sdar", **REMOTE), {"trust_remote_code": True}),
        ("0.5.23", dense("NanbeigeForCausalLM", "nanbeige"), {}),
    ],
)
def test_a_class_of_one_stage_refuses_a_pipeline(release, config, more):
    answer = launch(release, config, {"pp_size": 2, "tp_size": 2, **more})
    assert [e.stage for e in errors(answer) if e.rule == "pipeline.single-stage-class"] == ["load"]
    assert "pipeline.single-stage-class" not in rules_of(launch(release, config, {"tp_size": 2, **more}))


def test_a_configuration_class_may_come_with_the_checkpoint():
    config = dense("SDARForCausalLM", "sdar", **REMOTE)
    assert first(launch("0.5.23", config)) == "model.config-type-remote"
    assert first(launch("0.5.23", config, {"trust_remote_code": True})) != "model.config-type-remote"
    assert first(launch("0.5.23", dense("SDARForCausalLM", "sdar"))) == "model.config-type"


def test_layer_inputs_do_not_cross_stages_through_cuda_graphs():
    config = dense("Gemma4ForCausalLM", "gemma4_text", hidden_size_per_layer_input=256)
    assert "pipeline.layer-inputs-graph" in rules_of(launch("0.5.17", config, {"pp_size": 2}))
    without = launch("0.5.17", config, {"pp_size": 2, "disable_cuda_graph": True})
    assert "pipeline.layer-inputs-graph" not in rules_of(without)


def blocks(**changes):
    """Return a mixture of experts whose weights are quantised in blocks of 128."""
    layout = {"quant_method": "fp8", "weight_block_size": [128, 128], "activation_scheme": "dynamic"}
    return dense("Qwen3MoeForCausalLM", "qwen3_moe", **{"num_experts": 96, "quantization_config": layout, **changes})


@pytest.mark.parametrize(
    ("width", "settings", "rule"),
    [
        (1536, {"tp_size": 8}, "experts.blocks"),
        (1536, {"tp_size": 4}, None),
        (1536, {"tp_size": 8, "ep_size": 8}, None),
        (1500, {"tp_size": 8}, "experts.width"),
        (1536, {"tp_size": 8, "ep_size": 3}, "experts.ranks"),
    ],
)
def test_quantised_experts_split_in_whole_blocks(width, settings, rule):
    answer = launch("0.5.23", blocks(moe_intermediate_size=width), settings)
    assert [r for r in (e.rule for e in errors(answer)) if r.startswith("experts.")] == ([rule] if rule else [])


def test_rejection_sampling_needs_one_vocabulary():
    settings = {**EAGLE3, "speculative_use_rejection_sampling": True}
    assert first(launch("0.5.23", dense(), settings, draft=EAGLE3_DRAFT)) == "eagle.rejection-vocabulary"
    whole = {**EAGLE3_DRAFT, "draft_vocab_size": 128256}
    assert first(launch("0.5.23", dense(), settings, draft=whole)) is None
    assert first(launch("0.5.23", dense(), EAGLE3, draft=EAGLE3_DRAFT)) is None


def test_eagle_per_layer_has_one_token_more_than_steps():
    settings = {"enable_multi_layer_eagle": True, **NEXTN, "speculative_eagle_topk": 4}
    config = dense("MiMoV2FlashForCausalLM", "mimo_v2_flash")
    assert "eagle.multi-layer-sizes" not in rules_of(launch("0.5.23", config, settings))
    wide = launch("0.5.23", config, {**settings, "speculative_num_draft_tokens": 16})
    assert "eagle.multi-layer-sizes" in rules_of(wide)


def test_recording_states_asks_the_class_as_a_draft_would():
    settings = {
        "enable_return_aux_hidden_states": True,
        "speculative_algorithm": "DFLASH",
        "return_aux_hidden_state_layer_ids": [1, 9, 60],
    }
    answer = launch("0.5.23", dense(), settings)
    assert [e.rule for e in errors(answer)][:1] == ["capture.layer-range"]
    assert first(launch("0.5.23", dense(), {**settings, "return_aux_hidden_state_layer_ids": [1, 9]})) is None
    lacking = launch("0.5.23", dense("GPT2LMHeadModel", "gpt2"), {**settings, "return_aux_hidden_state_layer_ids": [1]})
    assert "dflash.capture" in rules_of(lacking)


def test_the_host_pool_of_a_decode_server_keeps_no_recurrent_state():
    settings = {"disaggregation_mode": "decode", "disaggregation_decode_retraction_backup": "host_pool"}
    hybrid = launch("0.5.23", qwen35("Qwen3_5MoeForConditionalGeneration"), {"tp_size": 2, **settings})
    assert "retraction.recurrent-state" in rules_of(hybrid)
    assert "retraction.recurrent-state" not in rules_of(launch("0.5.23", dense(), settings))


def test_dcp_stores_the_host_cache_through_file_or_mooncake():
    asked = {"tp_size": 8, "dcp_size": 2, "enable_hierarchical_cache": True}
    other = launch("0.5.23", latent(), {**asked, "hicache_storage_backend": "hf3fs"})
    assert "hicache.dcp-storage-kind" in rules_of(other)
    assert "hicache.dcp-storage-kind" not in rules_of(
        launch("0.5.23", latent(), {**asked, "hicache_storage_backend": "file"})
    )


def test_the_prefill_delayer_needs_the_overlap_schedule():
    settings = {"enable_prefill_delayer": True, "disable_overlap_schedule": True}
    assert first(launch("0.5.23", dense(), settings)) == "scheduler.prefill-delayer"
    assert first(launch("0.5.23", dense(), {"enable_prefill_delayer": True})) is None


@pytest.mark.parametrize(("release", "rule"), [("0.5.21", None), ("0.5.22", "scheduler.chunk-below-tile")])
def test_deterministic_chunks_hold_a_tile_since_0_5_22(release, rule):
    settings = {
        "enable_deterministic_inference": True,
        "attention_backend": "flashinfer",
        "chunked_prefill_size": 2048,
    }
    assert first(launch(release, dense(), settings)) == rule


def test_the_staging_buffer_sends_whole_pages_of_heads():
    env = {"SGLANG_DISAGG_STAGING_BUFFER": "1"}
    prefill = {"disaggregation_mode": "prefill"}
    assert first(launch("0.5.23", latent(), {"tp_size": 8, **prefill}, env=env)) == "staging.latent"
    assert first(launch("0.5.23", dense(), {**prefill, "chunked_prefill_size": -1}, env=env)) == "staging.chunk"
    assert first(launch("0.5.23", dense(), prefill, env=env)) is None


# What surprised whoever recorded the engine's answers.


@pytest.mark.parametrize("architecture", ["LlamaForCausalLM", "Qwen3ForCausalLM"])
def test_without_a_draft_path_the_target_is_its_own_draft(architecture):
    model_type = {"LlamaForCausalLM": "llama", "Qwen3ForCausalLM": "qwen3"}[architecture]
    for algorithm in ("NEXTN", "EAGLE3"):
        answer = launch("0.5.23", dense(architecture, model_type), {**NEXTN, "speculative_algorithm": algorithm})
        assert "draft.target-again" in rules_of(answer)
        assert not errors(answer)


def test_a_page_the_user_asked_for_is_replaced_without_a_log_line():
    answer = launch("0.5.23", qwen35("Qwen3_5MoeForConditionalGeneration"), {"tp_size": 8, "page_size": 64}, gpu="b200")
    page = answer.settings["page_size"]
    assert (page.requested, page.value) == (64, 1)
    assert answer.verdict == "adjusted"


def test_tensor_ranks_that_dcp_does_not_divide_pass_the_arguments():
    answer = launch("0.5.23", latent(), {"tp_size": 8, "dcp_size": 3})
    assert [e.stage for e in errors(answer)][:1] == ["load"]


def test_a_dflash_draft_reaches_beyond_a_small_target():
    config = dense(num_hidden_layers=16)
    answer = launch("0.5.23", config, {"speculative_algorithm": "DFLASH"}, draft=DFLASH_DRAFT)
    assert "dflash.target-layers" in rules_of(answer)


DIFFUSION = dense("SDARForCausalLM", "sdar", auto_map={"AutoConfig": "configuration_sdar.SDARConfig"})


def test_block_diffusion_fixes_pages_overlap_and_stages():
    asked = {
        "trust_remote_code": True,
        "dllm_algorithm": "LowConfidence",
        "pp_size": 2,
        "enable_hierarchical_cache": True,
    }
    answer = launch("0.5.23", DIFFUSION, asked)
    names = ("page_size", "disable_overlap_schedule", "pp_size", "enable_hierarchical_cache", "attention_backend")
    assert [answer.settings[name].value for name in names] == [4, True, 1, False, "flashinfer"]
    assert not errors(answer)


@pytest.mark.parametrize(
    ("release", "algorithm", "rule"),
    [
        ("0.5.23", "Gemma4Renoise", "diffusion.renoise-model"),
        ("0.5.23", "Nothing", "diffusion.algorithm"),
        ("0.5.18", "Nothing", None),
    ],
)
def test_block_diffusion_knows_its_algorithms_since_0_5_21(release, algorithm, rule):
    asked = {"trust_remote_code": True, "dllm_algorithm": algorithm}
    config = {**DIFFUSION, "tie_word_embeddings": True}
    assert first(launch(release, config, asked)) == rule


def test_block_diffusion_is_for_diffusion_models():
    assert first(launch("0.5.17", dense(), {"dllm_algorithm": "LowConfidence"})) == "diffusion.model"


def test_leaving_the_encoders_out_is_for_a_few_classes():
    refused = launch("0.5.23", dense(), {"language_model_only": True})
    assert first(refused) == "language-model-only.architecture"
    split = launch("0.5.23", dense(), {"language_model_only": True, "disaggregation_mode": "decode"})
    assert first(split) == "language-model-only.disaggregation"


def test_unquantised_is_a_way_to_ask_for_nothing():
    answer = launch("0.5.23", dense(), {"quantization": "unquant"})
    assert answer.settings["quantization"].value is None
    assert not errors(answer)
