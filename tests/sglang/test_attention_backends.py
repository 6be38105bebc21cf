"""Attention backends on the shipped data: what the engine picks per card, which pages follow, what it refuses."""

import pytest

from tests.sglang.spec_launches import dense, errors, latent, launch, qwen35, value

HYBRID = "Qwen3_5MoeForConditionalGeneration"
SINKS = dense("GptOssForCausalLM", "gpt_oss")
TRTLLM_E5M2 = {"attention_backend": "trtllm_mla", "kv_cache_dtype": "fp8_e5m2"}


@pytest.mark.parametrize(
    ("gpu", "plain", "latent_attention"),
    [
        ("a100-80gb", "flashinfer", "triton"),
        ("l40s", "flashinfer", "triton"),
        ("h200", "fa3", "fa3"),
        ("b200", "trtllm_mha", "trtllm_mla"),
        ("b300", "trtllm_mha", "trtllm_mla"),
        ("rtx-pro-6000", "flashinfer", "triton"),
        ("mi300x", "aiter", "aiter"),
        ("mi355x", "aiter", "aiter"),
        ("xeon-amx", "intel_amx", "intel_amx"),
        ("ascend-910c", "ascend", "ascend"),
    ],
)
@pytest.mark.parametrize("release", ["0.5.17", "0.5.20", "0.5.23"])
def test_the_default_follows_the_card(release, gpu, plain, latent_attention):
    assert value(launch(release, dense(), gpu=gpu), "attention_backend") == plain
    assert value(launch(release, latent(), {"tp_size": 8}, gpu=gpu), "attention_backend") == latent_attention


@pytest.mark.parametrize(("heads", "backend"), [(128, "aiter"), (64, "triton")])
def test_on_rocm_latent_attention_takes_aiter_at_16_or_128_heads_per_rank(heads, backend):
    config = {**latent(), "num_key_value_heads": heads, "num_attention_heads": heads}
    assert value(launch("0.5.23", config, gpu="mi300x"), "attention_backend") == backend


def test_heads_of_unequal_width_take_fa4_on_blackwell_from_0_5_17():
    config = dense(head_dim=192, v_head_dim=128)
    assert value(launch("0.5.16", config, gpu="b200"), "attention_backend") == "trtllm_mha"
    assert value(launch("0.5.17", config, gpu="b200"), "attention_backend") == "fa4"


def test_without_flashinfer_the_older_cards_fall_back_to_triton():
    answer = launch("0.5.23", dense(), gpu="a100-80gb", env={"SGLANG_IS_FLASHINFER_AVAILABLE": False})
    assert value(answer, "attention_backend") == "triton"


@pytest.mark.parametrize(
    ("backend", "asked", "page"),
    [
        ("trtllm_mha", None, 64),
        ("trtllm_mha", 16, 16),
        ("trtllm_mha", 128, 128),
        ("trtllm_mha", 256, 64),
        ("fa4", None, 128),
        ("triton", None, 1),
        ("triton", 48, 48),
    ],
)
def test_pages_of_plain_attention_on_blackwell(backend, asked, page):
    settings = {"attention_backend": backend} | ({"page_size": asked} if asked else {})
    assert value(launch("0.5.23", dense(), settings, gpu="b200"), "page_size") == page


@pytest.mark.parametrize(
    ("release", "backend", "asked", "page"),
    [
        ("0.5.23", "flashmla", None, 64),
        ("0.5.23", "trtllm_mla", 32, 32),
        ("0.5.23", "trtllm_mla", 16, 64),
        ("0.5.19", "cutlass_mla", None, 128),
    ],
)
def test_pages_of_latent_attention(release, backend, asked, page):
    settings = {"tp_size": 8, "attention_backend": backend} | ({"page_size": asked} if asked else {})
    assert value(launch(release, latent(), settings, gpu="b200"), "page_size") == page


@pytest.mark.parametrize(
    ("gpu", "config", "settings", "rule", "stage"),
    [
        ("h200", latent(), {"attention_backend": "trtllm_mla"}, "attention.trtllm-mla-card", "resolve"),
        ("b200", latent(), TRTLLM_E5M2, "attention.trtllm-mla-kv-type", "resolve"),
        ("h200", latent(), {"decode_attention_backend": "cutedsl_mla"}, "attention.cutedsl-card", "resolve"),
        ("b200", latent(), {"prefill_attention_backend": "cutedsl_mla"}, "attention.cutedsl-prefill", "resolve"),
        ("a100-80gb", dense(), {"attention_backend": "trtllm_mha"}, "attention.trtllm-mha-prefill-card", "resolve"),
        ("b200", dense(), {"attention_backend": "trtllm_mla"}, "backend.trtllm_mla-latent", "init"),
        ("b200", latent(), {"attention_backend": "trtllm_mha"}, "backend.trtllm_mha-heads", "init"),
        ("b200", dense(), {"attention_backend": "fa3"}, "backend.fa3-card", "init"),
        ("a100-80gb", latent(), {"attention_backend": "fa3"}, "backend.fa3-card", "init"),
        ("rtx-pro-6000", qwen35(HYBRID), {"attention_backend": "fa4"}, "backend.gated-delta-blackwell", "init"),
        ("h200", dense("Olmo2ForCausalLM", "olmo2"), {"attention_backend": "flashinfer"}, "olmo2.backend", "resolve"),
        ("h200", SINKS, {"attention_backend": "flashinfer"}, "gpt-oss.backend", "resolve"),
        ("h200", dense(), {"kv_cache_dtype": "nvfp4"}, "kv4.card", "resolve"),
        ("mi300x", dense(), {"kv_cache_dtype": "fp4_mx_block16"}, "kv4.platform", "resolve"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_where_the_engine_would(gpu, config, settings, rule, stage):
    answer = launch("0.5.23", config, {"tp_size": 8, **settings}, gpu=gpu)
    assert [(one.rule, one.stage) for one in errors(answer)] == [(rule, stage)]


def test_fa3_reads_no_fp8_e5m2_and_gives_way_to_triton():
    answer = launch("0.5.23", dense(), {"kv_cache_dtype": "fp8_e5m2"})
    assert (answer.verdict, value(answer, "attention_backend")) == ("ok", "triton")


@pytest.mark.parametrize(("gpu", "backend"), [("h200", "fa3"), ("b200", "flashinfer"), ("a100-80gb", "fa3")])
def test_deterministic_inference_picks_its_own_backend(gpu, backend):
    answer = launch("0.5.23", dense(), {"enable_deterministic_inference": True}, gpu=gpu)
    assert value(answer, "attention_backend") == backend


def test_deterministic_inference_on_flashinfer_gives_up_the_prefix_cache():
    answer = launch("0.5.23", dense(), {"enable_deterministic_inference": True}, gpu="b200")
    assert value(answer, "disable_radix_cache") is True


@pytest.mark.parametrize(
    ("release", "spelt", "meant"), [("0.5.22", "tokenspeed_mla", None), ("0.5.23", "tokenspeed_mla", "cutedsl_mla")]
)
def test_an_old_spelling_is_respelt_and_is_no_adjustment(release, spelt, meant):
    settings = {"tp_size": 8, "decode_attention_backend": spelt, "kv_cache_dtype": "fp8_e4m3"}
    answer = launch(release, latent(), settings, gpu="b200")
    assert answer.verdict == "ok"
    assert value(answer, "decode_attention_backend") == (meant or spelt)


# What start-up finds out


@pytest.mark.parametrize(("backend", "verdict"), [("triton", "ok"), ("fa3", "unsafe"), ("flashinfer", "unsafe")])
def test_rocm_has_no_kernels_of_cuda_though_nothing_checks(backend, verdict):
    assert launch("0.5.23", dense(), {"attention_backend": backend}, gpu="mi300x").verdict == verdict


@pytest.mark.parametrize(("heads", "refused"), [(16, False), (8, True)])
def test_pages_of_128_on_trtllm_mha_need_several_query_heads_per_kv_head(heads, refused):
    config = dense(num_attention_heads=heads, num_key_value_heads=8)
    answer = launch("0.5.23", config, {"attention_backend": "trtllm_mha", "page_size": 128}, gpu="b200")
    assert [one.rule for one in errors(answer)] == (["backend.trtllm-mha-page"] if refused else [])


@pytest.mark.parametrize(("interval", "refused"), [(256, False), (128, True)])
def test_the_track_interval_covers_a_chunk_of_the_mamba_kernels(interval, refused):
    config = dense("FalconH1ForCausalLM", "falcon_h1", mamba_chunk_size=256)
    answer = launch("0.5.23", config, {"mamba_track_interval": interval})
    assert [one.rule for one in errors(answer)] == (["mamba.track-interval-chunk"] if refused else [])


@pytest.mark.parametrize(
    ("changes", "page_size", "refused"),
    [({}, 256, False), ({}, 96, True), ({"chunk_size": 96}, 96, False), ({"mamba_chunk_size": 32}, 96, False)],
)
def test_the_chunk_is_what_the_configuration_class_makes_of_it(changes, page_size, refused):
    config = dense("NemotronHForCausalLM", "nemotron_h", hybrid_override_pattern="M-M*" * 8, **changes)
    answer = launch("0.5.23", config, {"page_size": page_size, "mamba_track_interval": page_size * 4})
    assert ("mamba.chunk-page" in [one.rule for one in errors(answer)]) == refused


@pytest.mark.parametrize(
    ("gpu", "config", "settings", "rule"),
    [
        (
            "ascend-910c",
            dense("Lfm2ForCausalLM", "lfm2"),
            {"disable_radix_cache": True},
            "backend.short-convolution-npu",
        ),
        ("xeon-amx", dense(), {"kv_cache_dtype": "fp8_e4m3", "attention_backend": "torch_native"}, "cpu-fp8.backend"),
        ("gpu-max-1550", SINKS, {"tp_size": 8, "dcp_size": 1, "attention_backend": "triton"}, None),
    ],
)
def test_what_other_platforms_do_not_run(gpu, config, settings, rule):
    assert [one.rule for one in errors(launch("0.5.23", config, settings, gpu=gpu))] == ([rule] if rule else [])


@pytest.mark.parametrize(("page_size", "topk", "safe"), [(1, 4, True), (16, 1, True), (16, 4, False)])
def test_a_tree_of_drafts_under_a_sliding_window_takes_pages_of_one(page_size, topk, safe):
    settings = {
        "attention_backend": "fa3",
        "page_size": page_size,
        "speculative_algorithm": "EAGLE",
        "speculative_num_steps": 3,
        "speculative_eagle_topk": topk,
        "speculative_num_draft_tokens": 4,
        "speculative_draft_model_path": "draft",
    }
    answer = launch("0.5.23", SINKS, settings, draft=dense("LlamaForCausalLMEagle", "llama"))
    assert ("backend.fa-window-tree-pages" not in [one.rule for one in answer.findings]) == safe


@pytest.mark.parametrize(
    ("gpu", "config", "backend", "rule"),
    [
        ("h200", latent(), "flashmla", None),
        ("h200", dense(), "flashmla", "backend.flashmla-model"),
        ("h200", dense(), "dsa", "backend.sparse-model"),
        ("h200", dense(), "dsv4", "backend.compressed-model"),
        ("h200", dense(), "minicpm_flashattn", "backend.minicpm-model"),
        ("h200", dense(), "hpc_ops", None),
        ("b200", dense(), "hpc_ops", "backend.hpc-ops-card"),
        ("h200", dense(head_dim=64), "hpc_ops", "backend.hpc-ops-shape"),
        ("xeon-amx", dense(), "intel_amx", None),
        ("h200", dense(), "intel_amx", "backend.amx-device"),
        ("h200", dense(), "ascend", "backend.ascend-device"),
        ("mi300x", dense(), "aiter", None),
        ("h200", dense(), "aiter", "backend.aiter-device"),
        ("xeon-amx", dense(), "flashinfer", "backend.flashinfer-other-device"),
        ("h200", dense(), "flashinfer", None),
    ],
)
def test_a_backend_of_one_kind_of_model_or_device_serves_no_other(gpu, config, backend, rule):
    answer = launch("0.5.23", config, {"tp_size": 8, "attention_backend": backend}, gpu=gpu)
    stops = [f.rule for f in answer.findings if f.severity in ("error", "unsafe")]
    assert stops[:1] == ([rule] if rule else [])
