"""Ten launches from 0.5.18 to 0.5.23: each difference that is told is the engine's own, and none of its is missing.

The answers beside this file are the engine's: both releases' own argument resolution of the launch as each wants it
asked, recorded by `capctl verify --resume`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from archcap.cli.launch import options_of
from archcap.model.reading import request_of
from archcap.resolver import upgrade
from archcap.resolver.upgrade import Turn, Upgrade
from archcap.snapshot import store
from archcap.verify.compare import MEANINGLESS, same

BEFORE, AFTER = "0.5.18", "0.5.23"
HERE = Path(__file__).with_name("upgrade")
CONFIGS = Path(__file__).parents[1] / "conformance" / "configs"
LAUNCHES: list[Any] = json.loads((HERE / "launches.json").read_text())
FLAGS = {
    "--enable-dp-attention": ("deprecated", "--attn-dp-size <dp-size>"),
    "--mamba-scheduler-strategy": ("renamed", "--mamba-radix-cache-strategy extra_buffer"),
    "--nsa-prefill-backend": ("renamed", "--dsa-prefill-backend flashmla_sparse"),
    "--cuda-graph-max-bs": ("renamed", "--cuda-graph-max-bs-decode 128"),
    "--cuda-graph-bs": ("renamed", "--cuda-graph-bs-decode 1 2 4 8"),
    "--disable-piecewise-cuda-graph": ("renamed", "--cuda-graph-backend-prefill disabled"),
    "--stream-output": ("renamed", "--incremental-streaming-output"),
}


def answers(release: str) -> dict[str, Any]:
    lines = (HERE / f"{release}.jsonl").read_text().splitlines()
    return {one["id"]: one for one in map(json.loads, lines)}


def upgraded(launch: Any) -> Upgrade:
    snapshot = store.default()
    view = snapshot.release("sglang", BEFORE)
    read = view.code.parse_command([launch["command"]], options_of(view))
    question = {
        "engine": "sglang", "release": BEFORE, "config": json.loads((CONFIGS / f"{launch['config']}.json").read_text()),
        "hardware": {"gpu": launch["gpu"], "count": 8}, "settings": read.settings,
    }  # fmt: skip
    return upgrade(request_of(question), snapshot, AFTER, read.flags)


def finals(answer: Any) -> dict[str, Any]:
    """Every setting of a release as the engine left it."""
    defaults = store.default().release("sglang", answer["release"]).defaults
    return {**defaults, **answer["flags"], **answer["changed"]}


def leaves(value: Any, path: str) -> dict[str, Any]:
    if isinstance(value, dict) and value:
        return {key: leaf for name, inner in value.items() for key, leaf in leaves(inner, f"{path}.{name}").items()}
    return {path: value}


def differences(before: Any, after: Any) -> Iterator[tuple[str, Any, Any]]:
    old, new = finals(before), finals(after)
    defaults = {at: store.default().release("sglang", at).defaults for at in (BEFORE, AFTER)}
    for name in sorted((old.keys() | new.keys()) - MEANINGLESS):
        if name not in old:
            if not same(new[name], defaults[AFTER][name]):
                yield name, None, new[name]
        elif name not in new:
            if not same(old[name], defaults[BEFORE][name]):
                yield name, old[name], None
        elif isinstance(old[name], dict) and isinstance(new[name], dict):
            one, other = leaves(old[name], name), leaves(new[name], name)
            for path in sorted(one.keys() | other.keys()):
                if not same(one.get(path), other.get(path)):
                    yield path, one.get(path), other.get(path)
        elif not same(old[name], new[name]):
            yield name, old[name], new[name]


def meant(turns: tuple[Turn, ...]) -> dict[str, Turn]:
    return {one.setting: one for one in turns if one.setting not in MEANINGLESS}


@pytest.mark.parametrize("launch", LAUNCHES, ids=lambda one: one["id"])
def test_every_difference_is_the_engines_and_none_is_missing(launch: Any) -> None:
    found = upgraded(launch)
    before, after = answers(BEFORE)[launch["id"]], answers(AFTER)[launch["id"]]
    assert (before["outcome"], after["outcome"]) == ("ok", "ok")
    assert found.compared
    assert found.undecided == ()
    told, engine = meant(found.settings), list(differences(before, after))
    assert engine, "the releases differ in something"
    assert sorted(told) == sorted(name for name, _, _ in engine)
    for name, was, now in engine:
        assert same(told[name].before, was), name
        assert same(told[name].after, now), name


@pytest.mark.parametrize("launch", LAUNCHES, ids=lambda one: one["id"])
def test_the_translated_launch_is_the_one_the_engine_was_asked(launch: Any) -> None:
    found = upgraded(launch)
    view = store.default().release("sglang", AFTER)
    again = view.code.parse_command([found.after.command], options_of(view))
    assert {**again.settings} == {**answers(AFTER)[launch["id"]]["flags"], "model_path": again.settings["model_path"]}


def test_flags_of_all_launches_that_are_not_what_they_were() -> None:
    found = {one.flag: (one.kind, one.now) for launch in LAUNCHES for one in upgraded(launch).flags}
    assert found == FLAGS


@pytest.mark.parametrize(
    ("before", "after", "name", "kind"),
    [
        ("0.5.20", "0.5.23", "SGLANG_ENABLE_UNIFIED_RADIX_TREE", "gone"),
        ("0.5.17", "0.5.18", "SGLANG_OPT_USE_DEEPGEMM_MEGA_MOE", "gone"),
        ("0.5.9", "0.5.23", "SGLANG_USE_AITER_UNIFIED_ATTN", "new"),
        ("0.5.18", "0.5.23", "SGLANG_USE_AITER_UNIFIED_ATTN", None),
        ("0.5.18", "0.5.23", "NCCL_MAX_NCHANNELS", None),
    ],
)
def test_a_variable_of_the_launch_is_told_when_only_one_release_reads_it(before, after, name, kind):
    question = {"engine": "sglang", "release": before, "architecture": "LlamaForCausalLM", "env": {name: "1"}}
    found = upgrade(request_of(question), store.default(), after, {})
    assert [(one.name, one.kind) for one in found.environment] == ([(name, kind)] if kind else [])
