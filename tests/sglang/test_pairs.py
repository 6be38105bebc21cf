"""Prefill and decode servers that do not fit each other, and neighbours that do."""

import json
from functools import lru_cache
from pathlib import Path

import pytest

from archcap.model.request import HardwareRequest, PeerRequest, Request
from archcap.resolver import resolve
from archcap.snapshot.store import default

CONFIGS = Path(__file__).parent / "recorded" / "configs"
DENSE, LATENT, WINDOWS = "LlamaForCausalLM", "DeepseekV3ForCausalLM", "GptOssForCausalLM"
TRITON = {"attention_backend": "triton", "tp_size": 8}


@lru_cache(maxsize=1)
def snapshot():
    return default()


def config(name):
    return json.loads((CONFIGS / f"{name}.json").read_text(encoding="utf-8"))


def servers(release, model, own, other, role="prefill", fixes=False, **peer):
    """Resolve a server of *role* whose peer has the other one."""
    against = "decode" if role == "prefill" else "prefill"
    request = Request(
        engine="sglang",
        release=release,
        config=config(model),
        hardware=HardwareRequest(gpu="h200", count=8),
        settings={"disaggregation_mode": role, **TRITON, **own},
        peer=PeerRequest(settings={"disaggregation_mode": against, **TRITON, **other}, **peer),
        fixes=fixes,
    )
    return resolve(request, snapshot())


def pair_rules(answer):
    return [one.rule for one in answer.findings if one.severity == "unsafe" and one.rule.startswith("pd-pair.")]


HALVES = {"dp_size": 2, "enable_dp_attention": True}
SHARED = {"attn_dp_size": 2}
NIXL, MORI = {"disaggregation_transfer_backend": "nixl"}, {"disaggregation_transfer_backend": "mori"}
PAIRS = [
    ("0.5.23", DENSE, {}, {}, []),
    ("0.5.23", DENSE, {"page_size": 16}, {"page_size": 16}, []),
    ("0.5.23", DENSE, {"page_size": 16}, {"page_size": 32}, ["pd-pair.page-size"]),
    ("0.5.9", DENSE, {"page_size": 16}, {"page_size": 32}, ["pd-pair.page-size"]),
    ("0.5.9", DENSE, {}, {"kv_cache_dtype": "fp8_e5m2"}, []),
    ("0.5.10", DENSE, {}, {"kv_cache_dtype": "fp8_e5m2"}, ["pd-pair.kv-type"]),
    ("0.5.10", DENSE, {"kv_cache_dtype": "fp8_e5m2"}, {"kv_cache_dtype": "fp8_e5m2"}, []),
    ("0.5.23", DENSE, NIXL, NIXL, []),
    ("0.5.23", DENSE, NIXL, {}, ["pd-pair.backends"]),
    ("0.5.23", DENSE, {"disaggregation_mode": "decode"}, {}, ["pd-pair.roles"]),
    ("0.5.23", DENSE, {"pp_size": 2}, {}, []),
    ("0.5.23", DENSE, {"pp_size": 2}, {"pp_size": 2}, []),
    ("0.5.23", DENSE, {}, {"pp_size": 2}, ["pd-pair.stages"]),
    ("0.5.9", DENSE, {}, {"pp_size": 2}, ["pd-pair.stages"]),
    ("0.5.23", DENSE, {"tp_size": 8}, {"tp_size": 4}, []),
    ("0.5.21", WINDOWS, {}, {}, []),
    ("0.5.21", WINDOWS, {}, HALVES, ["pd-pair.window-ranks"]),
    ("0.5.22", WINDOWS, {}, SHARED, []),
    ("0.5.23", WINDOWS, MORI, {**MORI, **SHARED}, ["pd-pair.window-ranks"]),
    ("0.5.21", DENSE, {}, HALVES, []),
    ("0.5.23", LATENT, {"page_size": 64}, {"page_size": 64}, []),
    ("0.5.23", LATENT, {"page_size": 64}, {"page_size": 64, "dcp_size": 2}, []),
    ("0.5.23", DENSE, {}, {"dcp_size": 2}, ["pd-pair.dcp-latent"]),
    ("0.5.16", DENSE, {}, {"dcp_size": 2}, []),
]


TURNED = [one for one in PAIRS if "disaggregation_mode" not in one[2]]


@pytest.mark.parametrize(("release", "model", "own", "other", "rules"), PAIRS)
def test_a_pair_is_checked_as_the_servers_would(release, model, own, other, rules):
    assert pair_rules(servers(release, model, own, other)) == rules


@pytest.mark.parametrize(("release", "model", "own", "other", "rules"), TURNED)
def test_either_server_of_a_pair_may_be_the_launch(release, model, own, other, rules):
    assert pair_rules(servers(release, model, other, own, role="decode")) == rules


@pytest.mark.parametrize("role", ["prefill", "decode"])
@pytest.mark.parametrize("release", ["0.5.9", "0.5.10", "0.5.16", "0.5.23"])
@pytest.mark.parametrize(
    ("other", "verdict", "rules"),
    [({"tp_size": 4}, "ok", []), ({"tp_size": 3}, "unsafe", ["tensor-parallel.heads"])],
)
def test_a_peer_that_would_not_start_is_all_that_is_told(release, role, other, verdict, rules):
    answer = servers(release, DENSE, {}, other, role)
    assert answer.verdict == verdict
    assert [one.rule for one in answer.findings if one.severity in ("error", "unsafe")] == rules


ROLE = "disaggregation_mode"


@pytest.mark.parametrize(
    ("own", "other", "fixes"),
    [
        ({}, {}, []),
        ({ROLE: "null"}, {}, [({ROLE: "prefill"}, None)]),
        ({ROLE: "decode"}, {}, [({ROLE: "prefill"}, None)]),
        ({}, {ROLE: "prefill"}, [({ROLE: "decode"}, None)]),
        ({ROLE: "null"}, {ROLE: "null"}, []),
        ({}, {"tp_size": 3}, [({}, {"tp_size": 2}), ({}, {"tp_size": 1})]),
        ({}, {"dcp_size": 2}, [({}, {"dcp_size": 1})]),
    ],
)
def test_what_cures_a_pair_is_a_role_or_a_change_of_the_server_that_stands_in_the_way(own, other, fixes):
    answer = servers("0.5.23", DENSE, own, other, fixes=True)
    assert [(fix.changes, fix.peer_changes) for fix in answer.fixes] == fixes
    assert bool(answer.notes) == (answer.verdict != "ok" and not fixes)


def test_a_fix_takes_away_only_what_was_asked_for():
    fp8 = {"kv_cache_dtype": "fp8_e4m3"}
    (as_there,) = servers("0.5.23", DENSE, {}, fp8, fixes=True).fixes
    (away, *_) = servers("0.5.23", DENSE, {"kv_cache_dtype": "fp8_e5m2"}, fp8, fixes=True).fixes
    assert (as_there.changes, as_there.gives_up) == (fp8, None)
    assert (away.changes, away.gives_up) == (fp8, "the KV cache type asked for")


def test_ranks_of_which_neither_number_is_a_multiple_are_paired_wrongly():
    own, other = {"tp_size": 6, "attention_backend": "triton"}, {"tp_size": 4}
    heads = {**config(DENSE), "num_attention_heads": 24, "num_key_value_heads": 12, "intermediate_size": 13_824}
    answer = servers("0.5.23", DENSE, own, other)
    assert "pd-pair.ranks-divide" not in pair_rules(answer), "six ranks do not divide these heads: refused before"
    request = Request(
        engine="sglang", release="0.5.23", config=heads, hardware=HardwareRequest(gpu="h200", count=8),
        settings={"disaggregation_mode": "prefill", **own},
        peer=PeerRequest(settings={"disaggregation_mode": "decode", **TRITON, **other}),
    )  # fmt: skip
    assert pair_rules(resolve(request, snapshot())) == ["pd-pair.ranks-divide"]


def test_two_architectures_make_no_pair():
    answer = servers("0.5.23", DENSE, {}, {}, config=config(LATENT))
    assert "pd-pair.architectures" in pair_rules(answer)


def test_a_server_without_a_peer_meets_no_check_of_a_pair():
    for role in ("null", "prefill", "decode"):
        settings = {"disaggregation_mode": role, **TRITON}
        answer = resolve(Request(engine="sglang", release="0.5.23", config=config(DENSE), settings=settings,
                                 hardware=HardwareRequest(gpu="h200", count=8)), snapshot())  # fmt: skip
        assert (answer.verdict, answer.peer, pair_rules(answer)) == ("ok", None, [])
