"""Launches made out of the registry's data."""

import sys

import pytest

from archcap.snapshot import store
from archcap.verify.generate import Space, grid, random_launches
from archcap.verify.launches import Subject
from archcap.verify.values import literals, values_of
from tests.verify.conftest import PEBBLE, REGISTRY, STONE


@pytest.fixture(scope="module")
def values():
    snapshot = store.open_registry(REGISTRY)
    return values_of(snapshot.registry_of("sglang"), snapshot.release("sglang", "0.5.23").spans)


@pytest.fixture(scope="module")
def space(values):
    settings = store.open_registry(REGISTRY).registry_of("sglang").settings
    targets = (Subject(STONE, "stone"), Subject(PEBBLE, "pebble"))
    drafts = (Subject(STONE, "draft"),)
    return Space(
        "sglang", "0.5.23", targets, drafts, ("h100", "mi300x"), values, settings, "speculative_algorithm", "nnodes"
    )


def test_settings_are_tried_that_some_rule_reads_and_some_flag_sets(values):
    assert set(values) == {"lora_modules", "page_size", "speculative_algorithm", "tp_size"}
    assert "uses_pages" not in values
    assert "trust_remote_code" not in values


def test_a_list_is_tried_as_one(values):
    assert values["lora_modules"].usual == (["q_proj"], ["all"])


def test_values_are_choices_and_what_rules_compare_with(values):
    assert values["speculative_algorithm"].usual == ("EAGLE", "NGRAM")
    assert set(values["page_size"].usual) >= {1, 2, 4, 8, 16}
    assert set(values["page_size"].edge) >= {0, 17}


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("page_size == 64", {"page_size": {64}}),
        ("64 < page_size <= 128", {"page_size": {64, 128}}),
        ("page_size % 48 == 0", {"page_size": {48, 0}}),
        ("page_size in (1, -1)", {"page_size": {1, -1}}),
        ("not page_size", {"page_size": set()}),
        ("other == 3", {}),
        ("a plain text, no expression", {}),
    ],
)
def test_literals_are_those_a_setting_is_compared_with(expression, found):
    spans = store.open_registry(REGISTRY).release("sglang", "0.5.23").spans
    assert dict(literals([expression], spans)) == found


def test_a_grid_has_every_value_once_per_configuration_and_device(space, values):
    launches = list(grid(space))
    singles = sum(len(one.all) for one in values.values())
    assert len(launches) == (1 + singles) * 2 * 2
    assert len({launch.id for launch in launches}) == len(launches)
    assert all(len(launch.settings) <= 1 for launch in launches)


def test_a_grid_over_named_settings_combines_them(space, values):
    launches = list(grid(space, ("page_size", "tp_size")))
    assert len(launches) == (1 + len(values["page_size"].all)) * (1 + len(values["tp_size"].all)) * 4
    assert {"page_size": 16, "tp_size": 4} in [launch.settings for launch in launches]


def test_a_draft_comes_with_a_speculative_method_only(space):
    assert all((launch.draft is not None) == ("speculative_algorithm" in launch.settings) for launch in grid(space))


def test_random_launches_are_the_same_for_the_same_seed_only(space):
    first, again, other = (list(random_launches(space, 50, seed)) for seed in (1, 1, 2))
    assert first == again
    assert [one.settings for one in first] != [one.settings for one in other]
    assert {one.gpu for one in first} == {"h100", "mi300x"}
    assert max(len(one.settings) for one in first) > 2


def test_nodes_are_those_the_launch_sets(space):
    launch = space.launch("x", "h100", space.targets[0], {"nnodes": 2}, None)
    assert launch.question()["hardware"] == {"gpu": "h100", "count": 8, "nodes": 2}


def test_a_grid_runs_through_the_engine(live):
    ran = live("--grid", "--settings", "page_size", "--platforms", "h100")
    assert ran.code == 1
    assert "only the engine refuses, in sglang/srt/server_args.py:choose_page (2 launches)" in ran.out


def test_random_launches_of_known_checkpoints_run_through_the_engine(verify, source):
    ran = verify("--engine", "sglang", "--python", sys.executable, "--engine-source", source, "--random", "5",
                 "--seed", "3", "--platforms", "h100", folder=None)  # fmt: skip
    assert ran.code in (0, 1)
    assert "sglang 0.5.23: 5 launches on h100" in ran.out
