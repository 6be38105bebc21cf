"""Decode context parallelism on the shipped data: what it needs, and which kernels know the ranks' shares."""

import pytest

from tests.sglang.spec_launches import dense, errors, latent, launch, qwen35, rules_of, value

DCP = {"tp_size": 8, "dcp_size": 2, "attention_backend": "triton"}
FEW_KV_HEADS = {"num_key_value_heads": 2}


@pytest.mark.parametrize("dcp_size", [1, 2, 4, 8])
def test_ranks_that_divide_the_tensor_parallel_ones_start(dcp_size):
    answer = launch("0.5.23", dense(num_key_value_heads=1), {**DCP, "dcp_size": dcp_size})
    assert answer.verdict == "ok"
    assert answer.plan["tree_page_size"] == dcp_size


@pytest.mark.parametrize("dcp_size", [3, 16])
def test_ranks_that_do_not_divide_are_refused_when_groups_are_formed(dcp_size):
    [finding] = errors(launch("0.5.23", dense(), {**DCP, "dcp_size": dcp_size}))
    assert (finding.rule, finding.stage) == ("dcp.divides", "load")


@pytest.mark.parametrize("release", ["0.5.15", "0.5.19", "0.5.20", "0.5.23"])
def test_no_ranks_at_all_is_refused(release):
    assert launch(release, dense(), {"dcp_size": 0}).verdict == "refused"


@pytest.mark.parametrize(
    ("release", "settings", "rule"),
    [
        ("0.5.17", {"dcp_comm_backend": "ag_rs"}, None),
        ("0.5.17", {"dcp_comm_backend": "a2a"}, "dcp.exchange-without-dcp"),
        ("0.5.23", {"dcp_comm_backend": "a2a"}, "dcp.exchange-without-dcp"),
        ("0.5.23", {"dcp_replicate_q_proj": True}, "dcp.replicated-q-without-dcp"),
        ("0.5.23", {**DCP, "dcp_comm_backend": "ag_rs", "dcp_replicate_q_proj": True}, "dcp.replicated-q-exchange"),
        ("0.5.21", {**DCP, "enable_prefill_cp": True, "cp_strategy": "zigzag"}, None),
        ("0.5.22", {**DCP, "enable_prefill_cp": True, "cp_strategy": "zigzag"}, "dcp.prefill-cp"),
    ],
)
def test_what_the_exchange_between_ranks_needs(release, settings, rule):
    answer = launch(release, dense(**FEW_KV_HEADS), settings)
    assert [one.rule for one in errors(answer)] == ([rule] if rule else [])


@pytest.mark.parametrize(("gpu", "exchange"), [("h200", "a2a"), ("b200", "fi_a2a"), ("mi300x", "a2a")])
def test_from_0_5_20_on_the_exchange_is_chosen_by_the_card(gpu, exchange):
    answer = launch("0.5.23", dense(**FEW_KV_HEADS), DCP, gpu=gpu)
    assert value(answer, "dcp_comm_backend") == exchange


def test_before_0_5_20_the_fabric_exchange_needs_a_fabric():
    [finding] = errors(launch("0.5.19", dense(**FEW_KV_HEADS), {**DCP, "dcp_comm_backend": "fi_a2a"}, gpu="b200"))
    assert (finding.rule, finding.stage) == ("dcp.fabric-old", "init")


@pytest.mark.parametrize("release", ["0.5.15", "0.5.16", "0.5.17"])
def test_until_0_5_16_it_excludes_speculative_decoding_on_cuda(release):
    settings = {**DCP, "speculative_algorithm": "NGRAM"}
    refused = [one.rule for one in errors(launch(release, dense(**FEW_KV_HEADS), settings))]
    assert ("dcp.speculation-old" in refused) == (release != "0.5.17")


# Which kernels know


@pytest.mark.parametrize("backend", ["fa3", "flashinfer", "torch_native", "flex_attention"])
def test_plain_attention_without_dcp_code_is_unsafe(backend):
    answer = launch("0.5.23", dense(**FEW_KV_HEADS), {**DCP, "attention_backend": backend})
    assert answer.verdict == "unsafe"
    assert rules_of(answer) - {"off.decode-graph"} == {"dcp.decode-backend"}


@pytest.mark.parametrize(("prefill", "rules"), [("triton", set()), ("fa3", {"dcp.prefill-backend"})])
def test_both_halves_need_dcp_code(prefill, rules):
    settings = {"tp_size": 8, "dcp_size": 2, "prefill_attention_backend": prefill, "decode_attention_backend": "triton"}
    assert rules_of(launch("0.5.23", dense(**FEW_KV_HEADS), settings)) == rules


@pytest.mark.parametrize(
    ("release", "backend", "safe"),
    [
        ("0.5.15", "flashinfer", True),
        ("0.5.15", "flashmla", True),
        ("0.5.23", "triton", False),
        ("0.5.23", "fa3", False),
        ("0.5.16", "trtllm_mla", False),
        ("0.5.18", "trtllm_mla", False),
        ("0.5.19", "trtllm_mla", True),
    ],
)
def test_latent_attention_knows_the_shares_in_few_kernels(release, backend, safe):
    gpu = "b200" if backend == "trtllm_mla" else "h200"
    answer = launch(release, latent(), {"tp_size": 8, "dcp_size": 8, "attention_backend": backend}, gpu=gpu)
    assert ("dcp.latent-backend" not in rules_of(answer)) == safe
    assert answer.verdict == ("ok" if safe else "unsafe")


@pytest.mark.parametrize(("release", "safe"), [("0.5.19", False), ("0.5.20", True)])
def test_on_rocm_latent_attention_knows_the_shares_in_aiter_from_0_5_20(release, safe):
    answer = launch(release, latent(), {"tp_size": 8, "dcp_size": 8, "attention_backend": "aiter"}, gpu="mi300x")
    assert ("dcp.latent-backend" not in rules_of(answer)) == safe


def test_flashmla_reads_no_fp8_cache_rank_by_rank():
    settings = {"tp_size": 8, "dcp_size": 8, "attention_backend": "flashmla", "kv_cache_dtype": "fp8_e4m3"}
    assert "dcp.flashmla-fp8" in rules_of(launch("0.5.23", latent(), settings))


@pytest.mark.parametrize(
    ("gpu", "settings", "rule"),
    [
        ("b200", {}, None),
        ("b200", {"dsa_decode_backend": "flashmla_sparse"}, "dcp.sparse-kernel"),
        ("h200", {}, "dcp.sparse-card"),
    ],
)
def test_sparse_attention_knows_the_shares_in_one_kernel(gpu, settings, rule):
    config = {**latent(), "architectures": ["DeepseekV32ForCausalLM"], "index_topk": 2048}
    answer = launch("0.5.23", config, {"tp_size": 8, "dcp_size": 8, **settings}, gpu=gpu)
    assert errors(answer) == []
    assert [one.rule for one in answer.findings if one.severity == "unsafe"] == ([rule] if rule else [])


@pytest.mark.parametrize(("tp_size", "safe"), [(16, True), (8, False)])
def test_kv_heads_have_to_be_whole_within_a_group(tp_size, safe):
    answer = launch("0.5.23", dense(num_key_value_heads=8), {**DCP, "tp_size": tp_size})
    assert ("dcp.kv-heads" not in rules_of(answer)) == safe


@pytest.mark.parametrize(("release", "safe"), [("0.5.17", False), ("0.5.18", True)])
def test_from_0_5_18_on_the_hybrid_family_keeps_its_kv_heads_whole(release, safe):
    config = qwen35("Qwen3_5MoeForConditionalGeneration", num_key_value_heads=8)
    answer = launch(release, config, {**DCP, "mamba_radix_cache_strategy": "extra_buffer"})
    assert ("dcp.kv-heads" not in rules_of(answer)) == safe


def test_triton_has_no_sliding_window_between_ranks():
    config = dense("GptOssForCausalLM", "gpt_oss", num_key_value_heads=1, sliding_window=128)
    assert "dcp.triton-sliding-window" in rules_of(launch("0.5.23", config, DCP))


def test_a_group_does_not_reach_over_attention_ranks_of_other_requests():
    two_groups = {"tp_size": 8, "attn_dp_size": 2, "attention_backend": "flashinfer"}
    inside = launch("0.5.23", latent(), {**two_groups, "dcp_size": 4})
    across = launch("0.5.23", latent(), {**two_groups, "dcp_size": 8})
    assert "dcp.attention-groups" not in rules_of(inside)
    assert "dcp.attention-groups" in rules_of(across)


def test_speculation_on_trtllm_mla_is_refused_at_init():
    settings = {
        "tp_size": 8, "dcp_size": 8, "attention_backend": "trtllm_mla", "speculative_algorithm": "NEXTN",
        "speculative_num_steps": 3, "speculative_eagle_topk": 1, "speculative_num_draft_tokens": 4,
    }  # fmt: skip
    assert [(one.rule, one.stage) for one in errors(launch("0.5.23", latent(), settings, gpu="b200"))] == [
        ("backend.trtllm-mla-dcp", "init")
    ]


def test_on_an_npu_only_sparse_attention_has_decode_ranks():
    [finding] = errors(launch("0.5.23", dense(), {"tp_size": 8, "dcp_size": 2}, gpu="ascend-910c"))
    assert finding.rule == "npu.dcp"
