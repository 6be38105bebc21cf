"""Six groups of a real engine: as rules, and as plain Python written from what the engine does. They agree everywhere.

The engine's own functions (SGLang 0.5.23): arg_groups/overrides.py, hicache_hook.py, cuda_graph_hook.py, and
model_overrides/ kimi_k3.py, qwen3_5.py, deepseek_v2.py. Branches for other platforms and the linker's own file are
left out, as are explicit per-phase graph settings.
"""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from random import Random
from types import SimpleNamespace

import pytest
import yaml

from archcap.rules import check_engine, compile_release
from tests.rules.toy import inputs, registry, vocabulary

BACKENDS = (
    None, "flashmla", "trtllm_mla", "cutedsl_mla", "trtllm_mha", "hpc_ops", "fa3", "fa4", "triton", "aiter",
    "flashinfer",
)  # fmt: skip
FLAGS = (
    "enable_unified_cache_external_linker", "disable_radix_cache", "enable_hierarchical_cache", "enable_lmcache",
    "disaggregation_decode_enable_offload_kvcache", "enable_unified_memory", "enable_hisparse", "enable_symm_mem",
    "disable_cuda_graph", "disable_prefill_cuda_graph", "disable_decode_cuda_graph", "enable_two_batch_overlap",
)  # fmt: skip
WORDS = {
    "attention_backend": BACKENDS,
    "decode_attention_backend": BACKENDS,
    "prefill_attention_backend": BACKENDS,
    "speculative_draft_attention_backend": BACKENDS,
    "radix_cache_backend": (None, None, "other"),
    "hicache_storage_backend": (None, "mooncake", "npu_memcache", "file"),
    "hicache_host_memory_mode": ("cache", "cache", "buffer_only", "other"),
    "hicache_write_policy": ("write_back", "write_through"),
    "hicache_mem_layout": ("layer_first", "page_first", "page_first_direct"),
    "hicache_io_backend": ("kernel", "direct", "kernel_ascend"),
    "disaggregation_mode": ("null", "null", "prefill", "decode"),
    "disaggregation_decode_retraction_backup": (None, "host_pool", "none"),
    "speculative_algorithm": (None, None, "DSPARK", "EAGLE", "DFLASH", "dflash"),
    "speculative_attention_mode": ("prefill", "decode"),
    "dcp_comm_backend": ("ag_rs", "a2a", "fi_a2a"),
    "dsa_prefill_backend": (None, "tilelang", "trtllm"),
    "dsa_decode_backend": (None, "tilelang", "trtllm"),
    "mamba_radix_cache_strategy": ("no_buffer", "extra_buffer", "extra_buffer_lazy"),
    "moe_a2a_backend": ("none", "deepep", "mooncake", "flashinfer", "megamoe"),
    "cuda_graph_backend_decode": (None, "full", "breakable"),
    "cuda_graph_backend_prefill": (None, "full", "breakable"),
}
NUMBERS = {
    "page_size": (None, 1, 16, 32, 64, 128),
    "dcp_size": (1, 1, 2),
    "pp_size": (1, 1, 2),
    "attn_cp_size": (1, 1, 2),
    "hicache_size": (0, 10),
    "speculative_eagle_topk": (None, 1, 2),
    "cuda_graph_max_bs_decode": (None, 8),
    "cuda_graph_max_bs_prefill": (None, 16),
}
OTHERS = {
    "hicache_ratio": (None, 2.0),
    "disaggregation_decode_host_receive_threshold": (0.5, 1.0),
    "dcp_replicate_q_proj": (None, True, False),
    "cuda_graph_bs_decode": (None, [1, 2]),
    "cuda_graph_bs_prefill": (None, [4]),
    "cuda_graph_config": (None,),
}
FACTS = {
    "mla": (True, False), "asymmetric_kv": (True, False), "sinks": (True, False), "kda": (True, False),
    "multimodal": (True, False), "multimodal_graph": (True, False), "kv_heads": (8, 16, 128),
}  # fmt: skip
GPUS = (("cuda", 90), ("cuda", 100), ("cuda", 103), ("cuda", 120), ("hip", None), ("cpu", None))
GROUPS = (
    "mla_backend_page_constraints", "handle_hicache", "kimi_k3_overrides", "qwen3_5_hybrid_overrides",
    "dsa_dcp_overrides", "handle_cuda_graph_config",
)  # fmt: skip


def spans():
    result = {name: {"type": "bool", "default": False} for name in FLAGS}
    for name, values in WORDS.items():
        choices = sorted({value for value in values if value is not None} | {"fi"})
        result[name] = {"type": "str", "optional": None in values, "choices": choices}
    for name, values in NUMBERS.items():
        result[name] = {"type": "int", "optional": None in values}
    for name in ("hicache_ratio", "disaggregation_decode_host_receive_threshold"):
        result[name] = {"type": "float", "optional": True}
    result["dcp_replicate_q_proj"] = {"type": "bool", "optional": True}
    for phase in ("decode", "prefill"):
        result[f"cuda_graph_bs_{phase}"] = {"type": "list", "item": "int", "optional": True}
    leaves = [f"{phase}.{key}" for phase in ("decode", "prefill") for key in ("backend", "max_bs", "bs")]
    result["cuda_graph_config"] = {"type": "struct", "optional": True, "fields": leaves}
    return result


def engine(pipeline):
    data = yaml.safe_load((Path(__file__).parent / "data" / "groups.yaml").read_text())
    return registry(
        data,
        settings=spans(),
        facts={name: {"type": "int" if name == "kv_heads" else "bool", "meaning": "m"} for name in FACTS},
        vars={f"locked_{phase}": {"type": "bool", "meaning": "m", "default": False} for phase in ("decode", "prefill")},
        assumptions={name: {"type": "bool", "says": "s"} for name in ("flashinfer", "cutedsl_dcp", "aiter_gluon")},
        env={"SGLANG_RAGGED_VERIFY_MODE": {"type": "str", "default": "static"}},
        pipeline=pipeline,
    )


class Stops(Exception):
    """The engine stops at a rule."""


def stop(rule, holds=True):
    if holds:
        raise Stops(rule)


# -- the engine's behaviour, in plain Python -------------------------------------------


def page_constraints(s, world):
    page = s.page_size
    shared = {s.attention_backend, s.decode_attention_backend}
    everywhere = shared | {s.prefill_attention_backend}
    allowed = []
    if "flashmla" in shared:
        page = 64
    if "trtllm_mla" in shared:
        allowed.append({32, 64})
    if "cutedsl_mla" in everywhere:
        allowed.append({32, 64})
    if "trtllm_mha" in everywhere | {s.speculative_draft_attention_backend}:
        allowed.append({16, 32, 64, 128})
    if "hpc_ops" in everywhere:
        allowed.append({64})
    for pages in allowed:
        page = page if page in pages else 64
    s.page_size = page


def hicache(s, world):
    if s.enable_unified_cache_external_linker:
        stop("linker.radix", s.disable_radix_cache or s.radix_cache_backend is not None)
        stop("linker.hicache", s.enable_hierarchical_cache)
        stop("linker.storage", s.hicache_storage_backend is not None)
        return
    decode = s.disaggregation_mode == "decode"
    backed_up = decode and s.disaggregation_decode_retraction_backup in (None, "host_pool")
    if not (s.enable_hierarchical_cache or s.disaggregation_decode_enable_offload_kvcache or backed_up):
        return
    host_memory(s, decode)
    shared_pool = s.disaggregation_decode_host_receive_threshold < 1
    if shared_pool:
        s.hicache_mem_layout = "layer_first"
    if (s.hicache_mem_layout, s.hicache_io_backend) == ("page_first_direct", "kernel"):
        s.hicache_io_backend = "direct"
    if (s.hicache_mem_layout, s.hicache_io_backend) == ("page_first", "direct"):
        s.hicache_mem_layout = "page_first_direct"
    storage_layout(s)
    if s.enable_unified_memory and s.hicache_mem_layout == "page_first_direct":
        s.hicache_mem_layout, s.hicache_io_backend = "page_first", "kernel"
    stop("hicache.decode-pool", shared_pool and s.hicache_mem_layout != "layer_first")
    if s.dcp_size > 1 and s.enable_hierarchical_cache:
        hicache_dcp(s, world)


def host_memory(s, decode):
    stop("hicache.mode", s.hicache_host_memory_mode not in ("cache", "buffer_only"))
    stop("hicache.size", s.hicache_size <= 0 and s.hicache_ratio is None and not decode)
    if s.hicache_host_memory_mode == "buffer_only":
        stop("hicache.buffer-storage", s.hicache_storage_backend is None)
        s.hicache_write_policy = "write_through"
        stop("hicache.buffer-decode", decode)


def storage_layout(s):
    needs_pages = s.hicache_storage_backend in ("mooncake", "npu_memcache") and s.hicache_mem_layout == "layer_first"
    if needs_pages and not (s.hicache_storage_backend == "mooncake" and s.dcp_size > 1):
        layouts = {"direct": "page_first_direct", "kernel": "page_first"}
        s.hicache_mem_layout = layouts.get(s.hicache_io_backend, "layer_first")


def hicache_dcp(s, world):
    buffered = s.hicache_storage_backend is not None and s.hicache_host_memory_mode == "buffer_only"
    stop("hicache-dcp.buffer", buffered)
    stop("hicache-dcp.speculative", s.speculative_algorithm not in (None, "DSPARK"))
    stop("hicache-dcp.lmcache", s.enable_lmcache)
    stop("hicache-dcp.hisparse", s.enable_hisparse)
    stop("hicache-dcp.mla", not world.mla)


def kimi_k3(s, world):
    entry = deepcopy(s)
    decode = entry.decode_attention_backend or entry.attention_backend
    spark = entry.speculative_algorithm == "DSPARK"
    unset = not (entry.attention_backend or entry.prefill_attention_backend or entry.decode_attention_backend)
    if entry.dcp_size > 1:
        s.__dict__.update(kimi_k3_dcp(entry, world, decode, spark))
    elif world.sm in (100, 103):
        if unset:
            s.decode_attention_backend = s.prefill_attention_backend = decode = "trtllm_mla"
        if spark and decode in ("trtllm_mla", "cutedsl_mla"):
            s.speculative_attention_mode = "decode"


def kimi_k3_dcp(entry, world, decode, spark):
    writes = {"enable_symm_mem": False}
    if spark:
        stop("k3.ragged", world.ragged != "static")
        writes["speculative_attention_mode"] = "decode"
    prefill = entry.prefill_attention_backend or entry.attention_backend
    if decode == "aiter":
        stop("k3.gluon", not world.aiter_gluon)
        backends = ("triton" if prefill == "triton" else "aiter", "aiter")
    else:
        stop("k3.backend", decode not in (None, "cutedsl_mla"))
        stop("k3.cutedsl", not world.cutedsl_dcp)
        backends = ("trtllm_mla", "cutedsl_mla")
    writes["prefill_attention_backend"], writes["decode_attention_backend"] = backends
    return writes | replicated_query(entry)


def replicated_query(entry):
    wanted = entry.dcp_replicate_q_proj is None and entry.dcp_comm_backend != "ag_rs"
    return {"dcp_replicate_q_proj": True} if wanted else {}


def default_attention(s, world):
    one = s.speculative_eagle_topk is None or (s.speculative_eagle_topk == 1 and s.page_size in (None, 1))
    blackwell, hip = world.sm in (100, 103), world.platform == "hip"
    if world.mla:
        if world.sm == 90:
            return "fa3"
        if blackwell:
            return "flashinfer"
        return "aiter" if hip and world.kv_heads in (16, 128) else "triton"
    if world.sm == 90 and one:
        return "fa3"
    algorithm, topk = s.speculative_algorithm, s.speculative_eagle_topk
    if blackwell and one and (algorithm is None or topk is not None or algorithm.upper() == "DFLASH"):
        return "fa4" if world.asymmetric_kv else "trtllm_mha"
    if hip:
        return "aiter"
    return "flashinfer" if world.flashinfer and not world.sinks else "triton"


def qwen3_5(s, world):
    if world.sm not in (100, 103) or s.attention_backend is not None:
        return
    buffered = not s.disable_radix_cache and s.mamba_radix_cache_strategy.startswith("extra_buffer")
    pages = buffered or s.disable_radix_cache or s.speculative_algorithm is not None
    wide = default_attention(s, world) == "trtllm_mha" and pages
    s.attention_backend, s.page_size = ("trtllm_mha", 64) if wide else ("triton", 1)


def dsa_dcp(s, world):
    if s.dcp_size == 1:
        return
    stop("dsa.cache", s.enable_hisparse or s.enable_hierarchical_cache)
    stop("dsa.disaggregation", s.disaggregation_mode != "null")
    stop("dsa.topk", s.speculative_eagle_topk == 2)
    s.dsa_prefill_backend = s.dsa_prefill_backend or "trtllm"
    s.dsa_decode_backend = s.dsa_decode_backend or "trtllm"
    s.__dict__.update(replicated_query(s))


def cuda_graphs(s, world):
    graphs, locked = {}, {}
    for phase, usual in (("decode", "full"), ("prefill", "breakable")):
        off = s.disable_cuda_graph or getattr(s, f"disable_{phase}_cuda_graph")
        asked = getattr(s, f"cuda_graph_backend_{phase}")
        locked[phase] = bool(off or asked)
        backend = asked or ("disabled" if off else usual)
        sizes = {key: getattr(s, f"cuda_graph_{key}_{phase}") for key in ("max_bs", "bs")}
        graphs[phase] = {"backend": backend, **sizes}
    unfit = s.pp_size > 1 or world.kda or s.attn_cp_size > 1 or s.dcp_size > 1 or s.enable_two_batch_overlap
    unfit = unfit or s.moe_a2a_backend == "mooncake" or (world.multimodal and not world.multimodal_graph)
    if unfit and not locked["prefill"]:
        graphs["prefill"]["backend"] = "disabled"
    other = {"prefill": "decode", "decode": "prefill"}.get(s.disaggregation_mode)
    if other and not locked[other]:
        graphs[other]["backend"] = "disabled"
    s.cuda_graph_config = graphs


PLAIN = dict(zip(GROUPS, (page_constraints, hicache, kimi_k3, qwen3_5, dsa_dcp, cuda_graphs), strict=True))


# -- both, on the same launches -----------------------------------------------------------


def launch(rng):
    raw = {name: rng.random() < 0.15 for name in FLAGS}
    raw["enable_hierarchical_cache"] = rng.random() < 0.5
    for table in (WORDS, NUMBERS, OTHERS):
        raw.update({name: deepcopy(rng.choice(values)) for name, values in table.items()})
    for name in ("attention_backend", "decode_attention_backend", "prefill_attention_backend"):
        raw[name] = raw[name] if rng.random() < 0.4 else None
    platform, sm = rng.choice(GPUS)
    facts = {name: rng.choice(values) for name, values in FACTS.items()}
    assumed = {name: rng.random() < 0.7 for name in ("flashinfer", "cutedsl_dcp", "aiter_gluon")}
    ragged = rng.choice(("static", "compact"))
    world = SimpleNamespace(platform=platform, sm=sm, ragged=ragged, **facts, **assumed)
    given = inputs(
        raw, hw={"platform": platform, "sm": sm}, facts=facts, assume=assumed, config={},
        env={"SGLANG_RAGGED_VERIFY_MODE": ragged},
    )  # fmt: skip
    return world, given


def plainly(groups, world, given):
    s = SimpleNamespace(**deepcopy(given.raw))
    try:
        for group in groups:
            PLAIN[group](s, world)
    except Stops as stops:
        return None, stops.args[0]
    return vars(s), None


def ruled(program, run):
    rule = None if run.refused is None else program.statements[run.refused].id
    return (run.settings if rule is None else None), rule


def test_the_groups_pass_the_check():
    reg = engine(list(GROUPS))
    assert [str(p) for p in check_engine(reg, vocabulary(), (), {"platform", "sm"})] == []


@pytest.mark.parametrize("groups", [*[(group,) for group in GROUPS], GROUPS], ids=[*GROUPS, "all"])
def test_rules_and_plain_python_agree(groups):
    program = compile_release(engine(list(groups)), vocabulary(), "1.0", {})
    rng = Random(f"{groups}")
    refused = changed = 0
    for number in range(3000):
        world, given = launch(rng)
        run = program.fast(given)
        settings, rule = ruled(program, run)
        assert (settings, rule) == plainly(groups, world, given), given
        if number % 20 == 0:
            assert program.interpret(given) == run
        refused += rule is not None
        changed += settings is not None and settings != given.raw
    assert changed > 50
    assert refused > 50 or groups[0] in ("mla_backend_page_constraints", "qwen3_5_hybrid_overrides", GROUPS[-1])


def test_every_refusal_of_the_groups_happens():
    program = compile_release(engine(list(GROUPS)), vocabulary(), "1.0", {})
    alone = {group: compile_release(engine([group]), vocabulary(), "1.0", {}) for group in GROUPS}
    rng, met = Random(1), set()
    for _ in range(1500):
        _, given = launch(rng)
        met |= {ruled(one, one.fast(given))[1] for one in alone.values()}
    rules = {info.id for info in program.statements if info.severity == "error"}
    assert met - {None} == rules
