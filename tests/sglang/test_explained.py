"""`capctl explain` for ten settings of 0.5.23: each chain is a golden file, reviewed as prose."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from archcap.cli import main

HERE = Path(__file__).with_name("explained")
CONFIGS = Path(__file__).parents[1] / "conformance" / "configs"
HYBRID = ("Qwen3_5MoeForCausalLM", "--gpu", "h200", "--set", "tp_size=8")
DEEPSEEK = ("DeepseekV3ForCausalLM", "--gpu", "b200", "--set", "tp_size=8")
DATA_PARALLEL = ("DeepseekV3ForCausalLM", "--gpu", "h200", "--set", "tp_size=8", "--set", "dp_size=8",
                 "--set", "enable_dp_attention=true")  # fmt: skip
CHAINS = {
    "attention_backend": DEEPSEEK,
    "chunked_prefill_size": DATA_PARALLEL,
    "cuda_graph_config.prefill.backend": ("Qwen3NextForCausalLM", "--gpu", "h200", "--set", "pp_size=2"),
    "load_balance_method": ("LlamaForCausalLM", "--gpu", "h100", "--set", "disaggregation_mode=prefill"),
    "mamba_radix_cache_strategy": HYBRID,
    "mem_fraction_static": DEEPSEEK,
    "moe_runner_backend": DEEPSEEK,
    "page_size": (*HYBRID, "--set", "attention_backend=trtllm_mha"),
    "sampling_backend": ("LlamaForCausalLM", "--gpu", "mi300x"),
    "speculative_num_steps": (*DEEPSEEK, "--set", "speculative_algorithm=EAGLE"),
}


@pytest.mark.parametrize("setting", CHAINS)
def test_a_value_of_the_engine_is_explained(capsys, setting):
    config, *words = CHAINS[setting]
    launch = ["--engine", "sglang@0.5.23", "--config", str(CONFIGS / f"{config}.json"), "--gpus", "8", *words]
    assert main(["explain", *launch, "--setting", setting]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    path = HERE / f"{setting}.txt"
    if os.environ.get("ARCHCAP_GOLDEN") == "write":
        path.write_text(said.out, encoding="utf-8")
    assert said.out == path.read_text(encoding="utf-8")


def test_every_golden_file_is_compared():
    assert {path.stem for path in HERE.glob("*.txt")} == set(CHAINS)
