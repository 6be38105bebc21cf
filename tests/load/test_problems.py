"""Wrong data is named by file and line, in words that say what to do. `problems.txt` is reviewed as prose."""

from __future__ import annotations

from pathlib import Path

import pytest

from archcap.errors import DataError
from archcap.load import check_registry, load_registry
from tests import mini


@pytest.mark.parametrize("case", mini.golden(Path(__file__).parent / "problems.txt"), ids=str)
def test_every_mistake_is_told_as_reviewed(tmp_path: Path, case: mini.Case) -> None:
    root = mini.copy_to(tmp_path)
    case.apply(root)
    assert [str(problem) for problem in check_registry(root).problems] == case.said


def test_the_untouched_registry_has_no_problem() -> None:
    assert check_registry(mini.ROOT).problems == ()


def test_all_problems_of_all_files_come_at_once_in_file_order(tmp_path: Path) -> None:
    root = mini.copy_to(tmp_path)
    mini.edit(root, "rules/pipeline.yaml", "- step: draft\n", "- step: drafts\n")
    mini.edit(root, "architectures/river.yaml", "value: 8}", "value: eight}")
    mini.edit(root, "hardware.yaml", "platform: hip", "platform: rocm")
    mini.edit(root, "hardware.yaml", "arch: sm90", "arch: 90")
    mini.edit(root, "capabilities.yaml", "    group: parallel\n", "    group: paralel\n")
    with pytest.raises(DataError) as caught:
        load_registry(root)
    places = [(problem.file.rpartition("/")[2], problem.line) for problem in caught.value.problems]
    expected = [("capabilities.yaml", 35), ("hardware.yaml", 2), ("hardware.yaml", 5), ("river.yaml", 15)]
    assert places == [*expected, ("pipeline.yaml", 6)]


def test_one_broken_entry_does_not_hide_what_is_wrong_with_its_neighbours(tmp_path: Path) -> None:
    root = mini.copy_to(tmp_path)
    mini.edit(root, "architectures/stone.yaml", "    role: draft\n", "    role: drafter\n")
    mini.edit(root, "architectures/stone.yaml", '{added: "0.11", platform: cuda}', '{added: "0.11", platform: cuba}')
    said = [problem.path for problem in check_registry(root).problems]
    assert said == [
        "architectures.StoneDraftModel.role",
        "architectures.StoneForCausalLM.support.pipeline[1].platform",
    ]


@pytest.mark.parametrize("file", ["engine.yaml", "settings.yaml", "rules/20-resolve.yaml", "architectures/river.yaml"])
def test_a_file_that_cannot_be_parsed_is_one_problem_and_no_avalanche(tmp_path: Path, file: str) -> None:
    root = mini.copy_to(tmp_path)
    path = mini.find(root, file)
    path.write_text(path.read_text() + "\n  {", encoding="utf-8")
    problems = check_registry(root).problems
    assert [problem.file.rpartition("/")[2] for problem in problems] == [Path(file).name]


def test_a_problem_names_the_line_of_the_key_even_in_a_short_form(tmp_path: Path) -> None:
    root = mini.copy_to(tmp_path)
    line = mini.edit(root, "architectures/river.yaml", 'pipeline: "0.10"', 'pipeline: "0.12"')
    (problem,) = check_registry(root).problems
    assert (problem.line, problem.suggestion) == (line, "0.11")
    assert problem.path == "architectures.RiverForCausalLM.support.pipeline"


def test_loading_raises_what_checking_returns(tmp_path: Path) -> None:
    root = mini.copy_to(tmp_path)
    mini.edit(root, "engine.yaml", "engine: toy", "engine: toi")
    with pytest.raises(DataError) as caught:
        load_registry(root)
    assert caught.value.problems == check_registry(root).problems
    assert caught.value.code == "bad-data"
