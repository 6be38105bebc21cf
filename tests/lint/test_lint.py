"""Lint finds what misleads and keeps silent about near misses. `findings.txt` is reviewed as prose."""

from __future__ import annotations

from pathlib import Path

import pytest

from archcap.errors import Problem
from archcap.lint import CHECKS, lint
from archcap.lint.checks.sorted_keys import misplaced
from archcap.lint.rules_check import hardware_names, parse_path
from archcap.load import check_registry
from archcap.model.releases import Interval
from tests import mini

GOLDEN = mini.golden(Path(__file__).parent / "findings.txt")


def found(root: Path) -> tuple[Problem, ...]:
    return lint(check_registry(root), functions=lambda engine: frozenset())


def test_the_invented_registry_is_clean() -> None:
    assert found(mini.ROOT) == ()


@pytest.mark.parametrize("case", GOLDEN, ids=str)
def test_lint_says_what_was_reviewed(tmp_path: Path, case: mini.Case) -> None:
    root = mini.copy_to(tmp_path)
    case.apply(root)
    assert [f"{problem.check} {problem.severity} {problem}" for problem in found(root)] == case.said


APART = {"unneeded-source"}
"""Needs a scan as well: tested below."""


def test_every_check_has_a_case_and_a_near_miss() -> None:
    every = {check.id for check in CHECKS.all()} - APART
    assert {said.split()[0] for case in GOLDEN for said in case.said} == every
    assert {case.near for case in GOLDEN if case.near} == every


def test_a_case_without_a_finding_is_a_near_miss_of_a_check() -> None:
    assert [str(case) for case in GOLDEN if bool(case.said) == bool(case.near)] == []


def test_checks_have_a_tip_and_a_docstring() -> None:
    for check in CHECKS.all():
        assert check.tip
        assert check.find.__module__.rpartition(".")[2].replace("_", "-") == check.id


RULES = [
    ("rules/20-resolve.yaml", "when: pp_size > 1", "when: pp_sise > 1", "steps.graph.do[0].when", "error"),
    ("rules/20-resolve.yaml", "value: wide}", "value: =wid}", "define.default_attention.cases[1].value", "error"),
    ("rules/20-resolve.yaml", "expr: page_size or 1}", "expr: page_siz or 1}", "define.pages[0].expr", "error"),
    ("rules/20-resolve.yaml", "newest: cuda and", "newest: cda and", "define.newest", "error"),
    (
        "rules/20-resolve.yaml",
        "graph_config.prefill.backend: disabled",
        "graph_config.prefil.backend: disabled",
        'steps.graph.do[0].set["graph_config.prefil.backend"]',
        "error",
    ),
    ("known_issues.yaml", "len(tags) > 3", "len(tgas) > 3", "known_issues.many-tags.when", "error"),
    ("known_issues.yaml", "and {tags} the", "and {tgas} the", "known_issues.many-tags.says", "error"),
    ("known_issues.yaml", '"tree" and', '"three" and', "known_issues.shallow-trees.when", "error"),
    (
        "known_issues.yaml",
        "draft_depth == 6",
        'model_path == "RiverForCausalLM"',
        "known_issues.shallow-trees.when",
        "error",
    ),
]


@pytest.mark.parametrize(("file", "old", "new", "path", "severity"), RULES)
def test_what_the_rules_checker_finds_is_placed_in_its_file(
    tmp_path: Path, file: str, old: str, new: str, path: str, severity: str
) -> None:
    root = mini.copy_to(tmp_path)
    line = mini.edit(root, file, old, new)
    places = [(problem.file, problem.line, problem.path, problem.severity) for problem in found(root)]
    assert (f"registry/engines/toy/{file}", line, path, severity) in places
    assert {problem.check for problem in found(root)} == {"rules"}


def test_a_step_that_nothing_runs_is_a_warning_at_its_line(tmp_path: Path) -> None:
    root = mini.copy_to(tmp_path)
    mini.edit(root, "rules/pipeline.yaml", "  - step: draft\n", "")
    assert [(problem.path, problem.severity) for problem in found(root)] == [
        ("steps.draft", "warning"),
        ("steps.draft_window", "warning"),
    ]


def test_a_pure_function_is_known_by_its_name_alone(tmp_path: Path) -> None:
    root = mini.copy_to(tmp_path)
    mini.edit(root, "rules/20-resolve.yaml", "=draft_depth + 1", "=next_even(draft_depth)")
    loaded = check_registry(root)
    assert lint(loaded, functions=lambda engine: {"next_even"}) == ()
    assert [problem.check for problem in lint(loaded, functions=lambda engine: ())] == ["rules"]


def test_a_source_that_the_scanner_makes_needless_is_named() -> None:
    loaded = check_registry(mini.ROOT)
    scanned = {"toy": {"RiverTextForCausalLM": {"extra_buffer": [Interval(added="0.11")]}}}
    (problem,) = lint(loaded, scanned, lambda engine: ())
    assert (problem.check, problem.path, problem.line) == (
        "unneeded-source",
        "architectures.RiverTextForCausalLM.support.extra_buffer.source",
        27,
    )


@pytest.mark.parametrize(
    "intervals", [[], [Interval(added="0.10.post1")], [Interval(added="0.11"), Interval(removed="0.9")]]
)
def test_a_source_that_the_scanner_does_not_confirm_stays(intervals: list[Interval]) -> None:
    scanned = {"toy": {"RiverTextForCausalLM": {"extra_buffer": intervals}}}
    assert lint(check_registry(mini.ROOT), scanned, lambda engine: ()) == ()


def test_broken_data_is_linted_as_far_as_it_loads(tmp_path: Path) -> None:
    root = mini.copy_to(tmp_path)
    mini.edit(root, "architectures/stone.yaml", "    role: draft\n", "    role: drafter\n")
    mini.edit(root, "architectures/river.yaml", '      extra_buffer: "<=0.9"', '      extra_buffer: "0.9"')
    assert [problem.check for problem in found(root)] == ["oldest-bound"]


@pytest.mark.parametrize(
    ("keys", "moved"),
    [
        ("", ""),
        ("abc", ""),
        ("Bac", ""),
        ("aBc", "a"),
        ("zabc", "z"),
        ("abzc", "z"),
        ("bca", "a"),
        ("cba", "cb"),
    ],
)
def test_the_fewest_keys_are_said_to_be_out_of_order(keys: str, moved: str) -> None:
    assert "".join(misplaced(list(keys))) == moved


def test_paths_of_the_rules_checker_are_understood() -> None:
    assert parse_path("steps.a.do[2].first[0].else[1].when") == (
        "steps", "a", "do", 2, "first", 0, "else", 1, "when",
    )  # fmt: skip
    assert parse_path("steps.a.do[0].set.x.y.z") == ("steps", "a", "do", 0, "set", "x.y.z")
    assert parse_path("define.set[1].cases[0].value") == ("define", "set", 1, "cases", 0, "value")
    assert parse_path("steps.set.do[0]") == ("steps", "set", "do", 0)


def test_rules_may_read_what_the_resolver_knows_of_hardware() -> None:
    assert {"platform", "sm", "major", "count", "nodes", "memory_mib"} <= hardware_names()
