"""The founding bugs stand near the top of the suspicions of their releases, and are gone in the next."""

from __future__ import annotations

from functools import cache

import pytest

from archcap.load import load_registry
from archcap.siblings import Suspect, suspects_of_registry
from archcap.snapshot.store import checkout_root

TEXT_ONLY = {"Qwen3_5ForCausalLM", "Qwen3_5MoeForCausalLM"}


@cache
def found(release: str, accepted: bool = False) -> tuple[Suspect, ...]:
    root = checkout_root()
    assert root is not None
    registry = load_registry(root)
    return suspects_of_registry(registry.engines["sglang"], registry.vocabulary, release, accepted=accepted)


def ranks(release: str, what: str, names: set[str], accepted: bool = False) -> list[int]:
    return [one.rank for one in found(release, accepted) if one.what == what and names <= {n for n, _ in one.lacking}]


@pytest.mark.parametrize(
    ("release", "what", "names", "within", "gone"),
    [
        ("0.5.17", "dflash_capture", TEXT_ONLY, 40, "0.5.18"),
        ("0.5.17", "draft_depth", {"Qwen3_5ForConditionalGeneration"}, 40, "0.5.18"),
        ("0.5.18", "mamba_radix_cache", TEXT_ONLY, 10, "0.5.19"),
        ("0.5.18", "mamba_extra_buffer", TEXT_ONLY, 10, "0.5.19"),
    ],
)
def test_a_founding_bug_is_found_in_its_release_and_gone_in_the_next(release, what, names, within, gone):
    (rank,) = ranks(release, what, names)
    assert rank <= within
    assert ranks(gone, what, names) == []


@pytest.mark.parametrize(
    ("what", "names"),
    [
        ("mamba_radix_cache", {"NemotronH_Nano_VL_V2"}),
        ("allreduce_fusion", TEXT_ONLY),
        ("eplb_metadata_without_weights", {"BailingMoeV3ForCausalLM"}),
        ("pipeline_without_layer_range", {"BailingMM2NativeForConditionalGeneration"}),
        ("srt/arg_groups/overrides.py:_deterministic_is_deepseek_model#1", set()),
        ("model_override:qwen3_5_hybrid_overrides", TEXT_ONLY),
    ],
)
def test_what_a_maintainer_of_0_5_23_would_want_to_know_stands_among_the_first(what, names):
    assert min(ranks("0.5.23", what, names, accepted=True), default=999) <= 30
