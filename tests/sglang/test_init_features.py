"""What features find out while SGLang starts: experts, LoRA, pools, prefix trees, graphs, other drafts."""

import pytest

from archcap.model.request import HardwareRequest, Request
from archcap.resolver import resolve
from archcap.snapshot.store import default
from tests.sglang.spec_launches import dense, errors, latent, launch, qwen35, rules_of

MIXTRAL = dense("MixtralForCausalLM", "mixtral", num_local_experts=8)
QWEN_MOE = dense("Qwen3MoeForCausalLM", "qwen3_moe", num_experts=128, moe_intermediate_size=768)
GPT_OSS = dense("GptOssForCausalLM", "gpt_oss", num_local_experts=8, sliding_window=128)
HYBRID = qwen35("Qwen3_5MoeForConditionalGeneration")
EXPERTS = {"tp_size": 8, "ep_size": 8}


def first(answer):
    """Return the rule that stops the launch, or None."""
    found = errors(answer)
    return found[0].rule if found else None


def of(answer, *prefixes):
    return sorted(rule for rule in rules_of(answer) if rule.startswith(prefixes))


@pytest.mark.parametrize(
    ("config", "settings", "rule"),
    [
        (QWEN_MOE, {"enable_eplb": True}, None),
        (MIXTRAL, {}, None),
        (MIXTRAL, {"enable_eplb": True}, "experts.no-placement"),
        (MIXTRAL, {"expert_distribution_recorder_mode": "stat"}, "experts.no-placement"),
        (QWEN_MOE, {"moe_a2a_backend": "deepep", "enable_eplb": True, "deepep_mode": "normal"}, None),
        (QWEN_MOE, {"moe_a2a_backend": "deepep", "enable_eplb": True}, "experts.record-both-modes"),
        (QWEN_MOE, {"expert_distribution_recorder_mode": "stat_approx"}, "experts.approximate-record"),
    ],
)
def test_balancing_experts_needs_to_know_where_they_are(config, settings, rule):
    assert first(launch("0.5.23", config, {**EXPERTS, **settings})) == rule


@pytest.mark.parametrize("release", ["0.5.9", "0.5.13", "0.5.17", "0.5.20"])
def test_balancing_experts_always_needed_the_class(release):
    assert first(launch(release, QWEN_MOE, {**EXPERTS, "enable_eplb": True})) is None
    assert first(launch(release, MIXTRAL, {**EXPERTS, "enable_eplb": True})) == "experts.no-placement"


def test_a_placement_that_nobody_reads_is_said():
    placed = {**EXPERTS, "init_expert_location": "placement.json"}
    assert of(launch("0.5.23", QWEN_MOE, placed), "experts.placement") == []
    found = [f for f in launch("0.5.23", MIXTRAL, placed).findings if f.rule == "experts.placement-ignored"]
    assert [f.severity for f in found] == ["silent"]


def test_the_linear_program_is_for_a_few_classes():
    asked = {**EXPERTS, "ep_dispatch_algorithm": "lp", "moe_a2a_backend": "deepep", "deepep_mode": "normal"}
    assert of(launch("0.5.23", latent(), asked), "experts.linear") == []
    assert of(launch("0.5.23", QWEN_MOE, asked), "experts.linear") == ["experts.linear-program"]


LORA = {"enable_lora": True, "tp_size": 8, "max_lora_rank": 16, "lora_target_modules": ["q_proj"]}


@pytest.mark.parametrize(
    ("release", "more", "rule"),
    [
        ("0.5.23", {}, None),
        ("0.5.23", {"dp_size": 8, "enable_dp_attention": True, "lora_backend": "triton"}, None),
        ("0.5.23", {"dp_size": 8, "enable_dp_attention": True}, "lora.attention-dp-backend"),
        ("0.5.23", {"dp_size": 2, "enable_dp_attention": True, "lora_backend": "triton"}, "lora.attention-dp-whole"),
        ("0.5.20", {"dp_size": 2, "enable_dp_attention": True}, None),
    ],
)
def test_lora_with_attention_replicas_is_one_rank_each_on_triton(release, more, rule):
    assert first(launch(release, dense(), {**LORA, **more})) == rule


@pytest.mark.parametrize(
    ("release", "config", "rule"),
    [
        ("0.5.18", dense(), None),
        ("0.5.18", HYBRID, "decode-radix.recurrent"),
        ("0.5.21", HYBRID, None),
        ("0.5.18", GPT_OSS, "decode-radix.sliding-window"),
        ("0.5.20", GPT_OSS, "decode-radix.sliding-window-tree"),
        ("0.5.21", GPT_OSS, None),
        ("0.5.23", GPT_OSS, None),
    ],
)
def test_a_prefix_cache_on_decode_servers_learned_pools_over_time(release, config, rule):
    asked = {"tp_size": 2, "disaggregation_mode": "decode", "disaggregation_decode_enable_radix_cache": True}
    assert of(launch(release, config, asked), "decode-radix") == ([rule] if rule else [])


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ({"max_total_tokens": 4096}, None),
        ({"max_total_tokens": 4096, "swa_full_tokens_ratio": 0.02}, "pool.window-holds-no-request"),
    ],
)
def test_a_window_pool_holds_a_request(settings, rule):
    assert of(launch("0.5.23", GPT_OSS, settings), "pool.") == ([rule] if rule else [])


@pytest.mark.parametrize(
    ("more", "rule"),
    [
        ({}, None),
        ({"pp_size": 2}, "cpu-graph.pipeline"),
        ({"enable_lora": True, "max_lora_rank": 8, "lora_target_modules": ["q_proj"]}, "cpu-graph.lora"),
    ],
)
def test_graphs_on_a_cpu_are_for_plain_launches(more, rule):
    answer = launch("0.5.23", dense(), {"enable_torch_compile": True, **more}, gpu="xeon-amx")
    assert of(answer, "cpu-graph") == ([rule] if rule else [])
    assert of(launch("0.5.23", dense(), more, gpu="xeon-amx"), "cpu-graph") == []


@pytest.mark.parametrize(
    ("release", "settings", "rule"),
    [
        ("0.5.23", {"radix_cache_backend": "flexkv"}, None),
        ("0.5.23", {"radix_cache_backend": "mine"}, "tree.unregistered"),
        ("0.5.23", {"enable_session_radix_cache": True}, None),
        ("0.5.23", {"enable_session_radix_cache": True, "enable_flexkv": True}, "tree.session"),
        ("0.5.17", {"enable_session_radix_cache": True}, "tree.session"),
        ("0.5.22", {"enable_streaming_session": True}, None),
        ("0.5.22", {"enable_streaming_session": True, "enable_flexkv": True}, "tree.streaming"),
        ("0.5.21", {"enable_streaming_session": True, "enable_flexkv": True}, None),
    ],
)
def test_sessions_need_the_unified_tree(release, settings, rule):
    assert of(launch(release, dense(), settings), "tree.") == ([rule] if rule else [])


def test_another_tree_of_a_plug_in_is_taken_at_its_word():
    request = Request(
        engine="sglang",
        release="0.5.23",
        config=dense(),
        hardware=HardwareRequest(gpu="h200", count=8),
        settings={"radix_cache_backend": "mine", "attention_backend": "mine"},
        assumptions={"plugins": True},
    )
    assert of(resolve(request, default()), "tree.", "settings.") == []


@pytest.mark.parametrize(("config", "rule"), [(HYBRID, None), (GPT_OSS, None), (dense(), "unified.family")])
def test_unified_memory_is_for_hybrids(config, rule):
    answer = launch("0.5.23", config, {"enable_unified_memory": True, "attention_backend": "triton"})
    assert of(answer, "unified.family") == ([rule] if rule else [])


def test_a_standalone_draft_has_the_targets_vocabulary():
    asked = {
        "speculative_algorithm": "STANDALONE",
        "speculative_num_steps": 3,
        "speculative_eagle_topk": 1,
        "speculative_num_draft_tokens": 4,
    }
    small = {"num_hidden_layers": 4, "hidden_size": 1024, "num_attention_heads": 8, "num_key_value_heads": 8}
    assert first(launch("0.5.23", dense(), asked, draft=dense(**small))) is None
    assert first(launch("0.5.23", dense(), asked, draft=dense(**small, vocab_size=32000))) == "standalone.vocabulary"


def test_embeddings_per_layer_are_offloaded_where_there_are_any():
    assert first(launch("0.5.23", dense(), {"ple_offload_embedding": False})) is None
    assert first(launch("0.5.23", dense(), {"ple_offload_embedding": True})) == "offload.embedding-model"


def test_a_lazy_buffer_needs_the_overlap_schedule():
    lazy = {"tp_size": 2, "mamba_radix_cache_strategy": "extra_buffer_lazy"}
    assert of(launch("0.5.23", HYBRID, lazy), "pool.") == []
    eager = launch("0.5.23", HYBRID, {**lazy, "disable_overlap_schedule": True})
    assert "pool.lazy-buffer-overlap" in rules_of(eager) or first(eager) is not None


def test_staging_of_a_decode_server_is_for_heads():
    env = {"SGLANG_DISAGG_STAGING_BUFFER": "1"}
    asked = {"tp_size": 8, "disaggregation_mode": "decode"}
    assert "staging.decode-latent" not in rules_of(launch("0.5.23", dense(), asked, env=env))
    assert "staging.decode-latent" in rules_of(launch("0.5.23", latent(), asked, env=env))
