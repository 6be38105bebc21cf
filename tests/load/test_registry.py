"""Short forms and long forms give the same records; parts of several files come together."""

from __future__ import annotations

from pathlib import Path

import pytest

from archcap.load import load_registry
from archcap.model.engine import Flag
from archcap.model.registry import EngineRegistry
from archcap.model.releases import Interval
from archcap.model.support import Support
from tests import mini


@pytest.fixture(scope="module")
def toy() -> EngineRegistry:
    return load_registry(mini.ROOT).engines["toy"]


SHORT_AND_LONG = [
    ('pipeline: "0.10"', 'pipeline: {added: "0.10"}'),
    ('pipeline: "0.10"', 'pipeline: [{added: "0.10"}]'),
    ('pipeline: "0.10"', 'pipeline: ["0.10"]'),
    ('extra_buffer: "<=0.9"', "extra_buffer: {}"),
    ('extra_buffer: "<=0.9"', "extra_buffer: {added: null}"),
    ('extra_buffer: "<=0.9"', 'extra_buffer: {added: "<=0.9"}'),
    ('extra_buffer: "<=0.9"', "extra_buffer: [{}]"),
    ('    added: "<=0.9"\n    body', '    releases: "<=0.9"\n    body'),
    ('    added: "<=0.9"\n    body', '    releases: [{added: "<=0.9"}]\n    body'),
    ('    added: "<=0.9"\n    body', '    releases: {added: null}\n    body'),
]


@pytest.mark.parametrize(("short", "long"), SHORT_AND_LONG)
def test_short_and_long_forms_are_the_same_facts(tmp_path: Path, short: str, long: str) -> None:
    root = mini.copy_to(tmp_path)
    mini.edit(root, "architectures/river.yaml", short, long)
    assert load_registry(root) == load_registry(mini.ROOT)


def test_support_may_mix_forms(tmp_path: Path) -> None:
    root = mini.copy_to(tmp_path)
    mini.edit(root, "architectures/river.yaml", 'pipeline: "0.10"', 'pipeline: [{removed: "0.10"}, 0.10.post1]')
    river = load_registry(root).engines["toy"].families["river"].architectures["RiverForCausalLM"]
    assert river.support["pipeline"] == (Support(removed="0.10"), Support(added="0.10.post1"))


def test_an_architecture_may_leave_and_come_back(toy: EngineRegistry) -> None:
    stone = toy.families["stone"].architectures["StoneForCausalLM"]
    assert stone.releases == (Interval(removed="0.10"), Interval(added="0.10.post1"))
    assert [release for release in toy.engine.releases if stone.exists(release)] == ["0.9", "0.10.post1", "0.11"]


def test_a_setting_with_one_span_is_written_flat(toy: EngineRegistry) -> None:
    depth = toy.settings["draft_depth"]
    assert depth.title == "draft depth"
    assert [(span.type, span.optional, span.default) for span in depth.spans] == [("int", True, None)]


def test_a_setting_may_be_a_bare_list_of_spans(tmp_path: Path) -> None:
    root = mini.copy_to(tmp_path)
    flat = "  page_size: {group: cache, title: page size, type: int, optional: true, flags: [\"--page-size\"]}\n"
    spans = '  page_size: [{type: int, optional: true, removed: "0.11"}, {type: int, default: 1, added: "0.11"}]\n'
    mini.edit(root, "settings.yaml", flat, spans)
    page_size = load_registry(root).engines["toy"].settings["page_size"]
    assert [page_size.at(release) for release in ("0.10", "0.11")] == [*page_size.spans]


def test_a_setting_differs_by_release(toy: EngineRegistry) -> None:
    overlap = toy.settings["overlap"]
    assert [span.default for span in (overlap.at("0.10.post1"), overlap.at("0.11")) if span] == [False, True]
    assert toy.settings["graph_config"].at("0.9") is None
    flags = overlap.spans[1].flags
    assert flags == (Flag(name="--no-overlap", value=False, has_value=False),)


def test_definitions_have_one_shape(toy: EngineRegistry) -> None:
    assert [define.expr for define in toy.defines["newest"]] == ["cuda and hw.major >= 10"]
    assert [define.releases for define in toy.defines["pages"]] == ["<0.11", ">=0.11"]
    assert toy.defines["half"][0].params == ("count",)


def test_names_of_several_files_come_together(toy: EngineRegistry) -> None:
    assert sorted(toy.names.facts) == ["heads", "kv_heads", "layers", "state_layers"]
    assert sorted(toy.names.env) == ["TOY_FORCE_PLAIN", "TOY_LAYOUT"]
    assert toy.names.env["TOY_LAYOUT"].spans == (Interval(added="0.10"),)


def test_steps_remember_their_file(toy: EngineRegistry) -> None:
    assert toy.step_files["draft"] == "20-resolve"
    assert [entry.step for entry in toy.pipeline][:2] == ["parse_sizes", "checkpoint_facts"]


def test_a_list_knows_its_names_in_each_release(toy: EngineRegistry) -> None:
    buffered = toy.lists["cache.buffered"]
    assert buffered.at("0.10.post1") == {"RiverForCausalLM"}
    assert buffered.at("0.11") == {"RiverForCausalLM", "RiverTextForCausalLM"}


def test_a_branch_keeps_its_else(toy: EngineRegistry) -> None:
    first = toy.steps["cache_mode"].do[2].first
    assert first is not None
    assert first[2].otherwise is not None
    assert first[2].otherwise[0].set == {"cache_mode": "flat", "overlap": False}
