"""Launches of the shipped SGLang data for the tests of speculation, host cache, disaggregation and pipelines.

The configurations are invented: real field names, plausible sizes, no checkpoint's truth.
"""

from __future__ import annotations

from functools import lru_cache

from archcap.model.base import Json, JsonObject
from archcap.model.request import HardwareRequest, Request
from archcap.model.resolution import Finding, Resolution
from archcap.resolver import resolve
from archcap.snapshot.store import default

NEXTN: JsonObject = {
    "speculative_algorithm": "NEXTN",
    "speculative_num_steps": 3,
    "speculative_eagle_topk": 1,
    "speculative_num_draft_tokens": 4,
}
DFLASH: JsonObject = {"tp_size": 8, "speculative_algorithm": "DFLASH"}
DFLASH_DRAFT: JsonObject = {
    "architectures": ["DFlashDraftModel"],
    "model_type": "qwen3",
    "hidden_size": 4096,
    "num_hidden_layers": 5,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "vocab_size": 151936,
    "dflash_config": {"block_size": 16, "target_layer_ids": [1, 9, 17, 25, 33]},
    "max_position_embeddings": 262144,
    "torch_dtype": "bfloat16",
}
_QWEN35_TEXT: JsonObject = {
    "model_type": "qwen3_5_moe_text",
    "hidden_size": 4096,
    "num_hidden_layers": 60,
    "num_attention_heads": 32,
    "num_key_value_heads": 2,
    "head_dim": 256,
    "num_experts": 512,
    "full_attention_interval": 4,
    "layer_types": ["full_attention" if layer % 4 == 3 else "linear_attention" for layer in range(60)],
    "max_position_embeddings": 262144,
    "vocab_size": 248320,
    "dtype": "bfloat16",
}


def qwen35(architecture: str, **changes: Json) -> JsonObject:
    """Return a configuration of the hybrid family: nested for the multimodal class, flat for the text-only one."""
    text = {**_QWEN35_TEXT, **changes}
    if architecture.endswith("ForCausalLM"):
        return {"architectures": [architecture], **text}
    return {
        "architectures": [architecture],
        "model_type": "qwen3_5_moe",
        "text_config": text,
        "vision_config": {"model_type": "qwen3_5_moe", "depth": 27, "hidden_size": 1152},
    }


def dense(architecture: str = "LlamaForCausalLM", model_type: str = "llama", **changes: Json) -> JsonObject:
    """Return a configuration of a plain decoder."""
    return {
        "architectures": [architecture],
        "model_type": model_type,
        "hidden_size": 4096,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "max_position_embeddings": 131072,
        "vocab_size": 128256,
        "torch_dtype": "bfloat16",
        **changes,
    }


def latent(**changes: Json) -> JsonObject:
    """Return a configuration with multi-head latent attention and a draft inside the checkpoint."""
    return dense(
        "DeepseekV3ForCausalLM",
        "deepseek_v3",
        num_attention_heads=128,
        num_key_value_heads=128,
        kv_lora_rank=512,
        q_lora_rank=1536,
        qk_nope_head_dim=128,
        qk_rope_head_dim=64,
        v_head_dim=128,
        n_routed_experts=256,
        num_nextn_predict_layers=1,
        **changes,
    )


@lru_cache(maxsize=1)
def _snapshot():
    return default()


def launch(
    release: str,
    config: JsonObject,
    settings: JsonObject | None = None,
    *,
    gpu: str = "h200",
    draft: JsonObject | None = None,
    env: dict[str, str | int | float | bool] | None = None,
) -> Resolution:
    """Resolve a launch on eight GPUs."""
    request = Request(
        engine="sglang",
        release=release,
        config=config,
        draft_config=draft,
        hardware=HardwareRequest(gpu=gpu, count=8),
        settings=settings or {},
        env=env or {},
    )
    return resolve(request, _snapshot())


def errors(answer: Resolution) -> list[Finding]:
    """Return what stops the launch."""
    return [finding for finding in answer.findings if finding.severity == "error"]


def rules_of(answer: Resolution) -> set[str]:
    """Return the rules behind the findings."""
    return {finding.rule for finding in answer.findings}


def value(answer: Resolution, name: str) -> Json:
    """Return a setting after resolution."""
    return answer.settings[name].value
