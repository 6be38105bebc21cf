"""Launches whose arguments SGLang 0.5.23 accepted, and what a later check makes of them.

The expectations are worked out here from what the engine settled and from its model classes, looked at after importing
them, not from our rules.
"""

from collections import Counter
from functools import lru_cache

from tests.sglang.figures import Found, figures
from tests.sglang.test_recorded import answer_to, config, launches

PIPELINE = frozenset(
    """
    BailingMoeV2_5ForCausalLM DeepseekV32ForCausalLM DeepseekV3ForCausalLM Gemma4ForConditionalGeneration
    Glm4MoeForCausalLM GptOssForCausalLM GraniteMoeHybridForCausalLM InternS2PreviewForConditionalGeneration
    KimiK3ForConditionalGeneration KimiLinearForCausalLM LlamaForCausalLM MiMoV2FlashForCausalLM
    MiniMaxM2ForCausalLM NemotronHForCausalLM Qwen2ForCausalLM Qwen3MoeForCausalLM
    Qwen3VLMoeForConditionalGeneration Qwen3_5ForCausalLM Qwen3_5ForConditionalGeneration
    Qwen3_5MoeForCausalLM Qwen3_5MoeForConditionalGeneration
    """.split()
)
EAGLE3 = frozenset(
    """
    DeepseekV32ForCausalLM DeepseekV3ForCausalLM Gemma3ForConditionalGeneration Gemma4ForConditionalGeneration
    Glm4MoeForCausalLM GptOssForCausalLM InternS2PreviewForConditionalGeneration
    Llama4ForConditionalGeneration LlamaForCausalLM MiniMaxM2ForCausalLM Qwen2ForCausalLM Qwen3MoeForCausalLM
    Qwen3NextForCausalLM Qwen3VLMoeForConditionalGeneration Qwen3_5ForCausalLM Qwen3_5ForConditionalGeneration
    Qwen3_5MoeForCausalLM Qwen3_5MoeForConditionalGeneration
    """.split()
)
DFLASH = frozenset(
    """
    DeepseekV32ForCausalLM DeepseekV3ForCausalLM Gemma4ForConditionalGeneration GptOssForCausalLM
    InternS2PreviewForConditionalGeneration KimiK3ForConditionalGeneration Lfm2ForCausalLM LlamaForCausalLM
    MiMoV2FlashForCausalLM NemotronHForCausalLM Qwen3MoeForCausalLM Qwen3NextForCausalLM
    Qwen3VLMoeForConditionalGeneration Qwen3_5ForCausalLM Qwen3_5ForConditionalGeneration
    Qwen3_5MoeForCausalLM Qwen3_5MoeForConditionalGeneration
    """.split()
)
GATED_DELTA = ("Qwen3Next", "InternS2Preview", "Qwen3_5")
RULES = {
    "tree": "mamba.tree-page-one",
    "pipeline": "pipeline.class",
    "eagle3": ("eagle3.capture", "eagle3.capture-wrapper", "eagle3.own-draft"),
    "dflash": ("dflash.capture", "dflash.capture-wrapper"),
    "fa3": "backend.fa3-card",
    "heads": "tensor-parallel.heads",
    "gated delta": "backend.gated-delta-blackwell",
}
NAMES = {name for rule in RULES.values() for name in ((rule,) if isinstance(rule, str) else rule)}


def settled(launch):
    values = {**launch["flags"], **launch["changed"]}
    both = values.get("attention_backend")
    kernels = {values.get("prefill_attention_backend") or both, values.get("decode_attention_backend") or both}
    return values, kernels


def cache_and_classes(launch, values):
    """Yield what the prefix tree and the model class refuse."""
    architecture = launch["config"].removesuffix(".json")
    pages = (values.get("page_size") or 1) * (values.get("dcp_size") or 1)
    tree = values.get("uses_mamba_radix_cache") and not values.get("disable_radix_cache")
    if tree and values.get("mamba_radix_cache_strategy", "auto") == "no_buffer" and pages != 1:
        yield "tree"
    if (values.get("pp_size") or 1) > 1 and architecture not in PIPELINE:
        yield "pipeline"
    for method, able in (("EAGLE3", EAGLE3), ("DFLASH", DFLASH)):
        if values.get("speculative_algorithm") == method and architecture not in able:
            yield method.lower()


def kernels_and_heads(launch, values, kernels):
    """Yield what the card and the number of ranks refuse."""
    blackwell, small = launch["gpu"] in ("b200", "b300", "rtx-pro-6000"), launch["gpu"] == "rtx-pro-6000"
    if "fa3" in kernels and blackwell:
        yield "fa3"
    top = config(launch["config"])
    heads = top.get("text_config", top).get("num_attention_heads")
    ranks = (values.get("tp_size") or 1) // ((values.get("dp_size") or 1) if values.get("enable_dp_attention") else 1)
    if heads and ranks and heads % ranks:
        yield "heads"
    served = {"triton", "trtllm_mha", "flashinfer"} | (set() if small else {"fa4"})
    if launch["config"].startswith(GATED_DELTA) and blackwell and kernels - served:
        yield "gated delta"


def later_checks(launch):
    values, kernels = settled(launch)
    return {*cache_and_classes(launch, values), *kernels_and_heads(launch, values, kernels)}


@lru_cache(maxsize=1)
def accepted():
    chosen = [one for one in launches()["0.5.23"] if not one["refused"] and one["config"] and cuda_or_rocm(one)]
    return [(one, later_checks(one), answer_to(one)) for one in chosen]


def cuda_or_rocm(launch):
    return not launch["gpu"].startswith(("xeon", "ascend", "arc", "gpu-max"))


def stops(answer):
    return [one.rule for one in answer.findings if one.severity == "error"]


def test_a_launch_that_a_later_check_stops_is_refused():
    assert [(one["id"], why) for one, why, answer in accepted() if why and answer.verdict != "refused"] == []


def test_a_launch_that_passes_those_checks_is_not_refused_by_them():
    assert [
        (one["id"], stops(answer)) for one, why, answer in accepted() if not why and NAMES & set(stops(answer))
    ] == []


def test_neither_refusing_always_nor_refusing_never_would_do():
    sides = Counter(bool(why) for _, why, _ in accepted())
    assert sides[True] >= 10
    assert sides[False] >= 100


def test_no_launch_of_another_reason_is_counted_for_or_against():
    line = figures("launches", iter([Found(True, True, "a", True), Found(False, True, "b", False)]))
    assert line.startswith("launches: 1 have to stop, 0 have not; precision 100.0 %, recall 100.0 %; 1 stop")


def test_precision_falls_when_everything_is_refused_and_recall_when_nothing_is():
    everything = figures("all", iter([Found(True, True, "a", True), Found(False, True, "a", True)]))
    nothing = figures("none", iter([Found(True, False, "", True), Found(False, False, "", True)]))
    assert "precision 50.0 %, recall 100.0 %" in everything
    assert "precision none, recall 0.0 %" in nothing
