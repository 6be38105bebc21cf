"""Who writes and reads a setting, and what a step reads and writes, as the rules of a release have it."""

from __future__ import annotations

import pytest

from archcap.rules import compile_release
from archcap.rules.browse import setting_use, step_use
from tests.rules.test_run import NAMES, SETTINGS
from tests.rules.toy import registry, vocabulary

RULES = """
steps:
  choose_page:
    source: args.py:choose_page
    do:
      - {when: ranks > 1, do: [{when: mode == "auto", set: {page: =ranks}}]}
      - {id: page.positive, when: user_set("page"), require: page > 0, because: Pages hold something.}
  choose_graph:
    do:
      - {set: {graph.a.x: =page}, var: {tree: 3}}
      - {when: graph.z == 1 and has("fly"), releases: ">=2.0", set: {fast: true}}
"""


@pytest.fixture(scope="module")
def program():
    return compile_release(registry(RULES, settings=SETTINGS, **NAMES), vocabulary(), "1.0", {})


def test_a_setting_nobody_touches_has_no_places(program):
    assert setting_use(program, "tags").written_by == ()
    assert setting_use(program, "tags").read_by == ()


def test_a_place_says_statement_source_and_every_condition_on_the_way(program):
    (place,) = setting_use(program, "page").written_by
    assert (place.step, place.source) == ("choose_page", "args.py:choose_page")
    assert place.when == ("ranks > 1", "mode == 'auto'")


def test_conditions_values_and_questions_whether_the_user_set_it_are_reads(program):
    read = [place.statement for place in setting_use(program, "page").read_by]
    assert read == ["page.positive", "choose_graph.1"]


@pytest.mark.parametrize(
    ("path", "writers"), [("graph.a.y", 0), ("graph.z", 0), ("graph.a.x", 1), ("graph.a", 1), ("graph", 1)]
)
def test_a_leaf_counts_for_what_it_is_a_leaf_of(program, path, writers):
    assert len(setting_use(program, path).written_by) == writers


def test_a_step_names_what_it_reads_and_writes_once_by_kind(program):
    assert step_use(program, "choose_page").reads == ("setting mode", "setting page", "setting ranks")
    assert step_use(program, "choose_page").refuses == ("page.positive",)
    assert step_use(program, "choose_graph").writes == ("setting graph.a.x", "var tree")


def test_what_only_a_later_release_reads_is_not_there(program):
    assert step_use(program, "choose_graph").reads == ("setting page",)


def test_a_step_the_release_does_not_run_does_nothing(program):
    use = step_use(program, "nothing")
    assert (use.reads, use.writes, use.refuses) == ((), (), ())
