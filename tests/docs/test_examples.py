"""The YAML in the documentation is real: examples load and are checked, excerpts stand in the files they name."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from archcap.load import check_registry, load_registry
from archcap.model.hardware import Gpu
from archcap.rules import check_engine
from archcap.scanner.config import ScanConfig, load_config
from tests.docs.pages import ROOT, Fence, fences

EXAMPLES = [fence for fence in fences("yaml") if fence.mark == "example"]
EXCERPTS = [fence for fence in fences("yaml") if fence.mark == "excerpt"]
FORMAT, LANGUAGE = "docs/registry-format.md", "docs/rules.md"
HARDWARE = frozenset(Gpu.model_fields) | {"count", "nodes", "major", "minor", "sm"}


def written(folder: Path, *names: str) -> Path:
    """Write the examples of the pages *names* into *folder*; of the same file the later page's holds."""
    for name in names:
        for fence in EXAMPLES:
            if fence.page.name == name and fence.arg:
                file = folder / fence.arg
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(fence.body, encoding="utf-8")
    return folder


@pytest.mark.parametrize("names", [(FORMAT,), (FORMAT, LANGUAGE)], ids=["format", "language"])
def test_the_examples_are_one_registry_without_a_problem(tmp_path: Path, names: tuple[str, ...]) -> None:
    registry = load_registry(written(tmp_path, *names))
    for engine in registry.engines.values():
        assert check_engine(engine, registry.vocabulary, (), HARDWARE, registry.checkpoints) == []


def test_the_example_of_scan_settings_can_be_read(tmp_path: Path) -> None:
    config = load_config(written(tmp_path, FORMAT) / "registry/engines/kiln/scan.yaml")
    assert (config.family("clay_text"), config.role("ClayDraft")) == ("clay", "draft")


def test_every_scan_setting_is_described() -> None:
    section = (ROOT / FORMAT).read_text(encoding="utf-8").split("\n## scan.yaml\n")[1]
    assert {name for name in ScanConfig.model_fields if f"`{name}`" not in section} == set()


def test_a_wrong_word_in_an_example_is_found(tmp_path: Path) -> None:
    folder = written(tmp_path, FORMAT)
    rules = folder / "registry/engines/kiln/rules/10-cache.yaml"
    rules.write_text(rules.read_text(encoding="utf-8").replace("because:", "becuase:"), encoding="utf-8")
    problems = check_registry(folder).problems
    assert [problem.suggestion for problem in problems] == ["because"]


@pytest.mark.parametrize("fence", EXCERPTS, ids=lambda fence: fence.place)
def test_an_excerpt_stands_in_the_file_it_names(fence: Fence) -> None:
    assert fence.arg is not None
    wanted = [line.strip() for line in fence.body.strip().splitlines()]
    lines = [line.strip() for line in (ROOT / fence.arg).read_text(encoding="utf-8").splitlines()]
    assert any(lines[start : start + len(wanted)] == wanted for start in range(len(lines)))


def test_there_are_examples_and_excerpts() -> None:
    assert len(EXAMPLES) > 10
    assert len(EXCERPTS) > 5


@pytest.mark.parametrize(
    "fence", [fence for fence in fences("yaml") if fence.mark is None], ids=lambda fence: fence.place
)
def test_other_yaml_can_be_read(fence: Fence) -> None:
    yaml.safe_load(fence.body)
