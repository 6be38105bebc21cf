"""Compiled rules are used only when they were generated from the same rules by the same generator."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from archcap import rules
from archcap.errors import DataError
from archcap.snapshot import Snapshot, programs, store
from tests import mini
from tests.snapshot import toy


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Stand in for `archcap._built`: an empty package of this test's own."""
    name = f"built_{abs(hash(tmp_path))}"
    folder = tmp_path / name
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(programs, "PACKAGE", name)
    monkeypatch.setattr(programs, "BUILT", folder)
    monkeypatch.setattr(programs, "_programs", {})
    yield folder
    for module in [module for module in sys.modules if module.startswith(name)]:
        del sys.modules[module]


def keeping(folder: Path) -> Snapshot:
    return Snapshot.open(toy.data(), toy.code, modules=folder)


def as_another_process(package: Path) -> None:
    """Forget what this process has loaded."""
    programs._programs.clear()
    for module in [module for module in sys.modules if module.startswith(package.name + ".")]:
        del sys.modules[module]


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Count how often rules are generated."""
    done: list[str] = []
    for name in ("source_of_release", "compile_release"):
        made: Any = getattr(rules, name)

        def counted(reg: Any, vocabulary: Any, release: str, functions: Any, made: Any = made) -> Any:
            done.append(release)
            return made(reg, vocabulary, release, functions)

        monkeypatch.setattr(rules, name, counted)
    return done


def test_rules_are_generated_once_kept_and_loaded(package: Path, compiled: list[str]) -> None:
    first = keeping(package).release("toy", "0.10").program
    assert (package / "rules_toy_0_10.py").is_file()
    as_another_process(package)
    second = keeping(package).release("toy", "0.10").program
    assert compiled == ["0.10"]
    assert (second.digest, second.statements, second.writers) == (first.digest, first.statements, first.writers)


def test_a_program_is_shared_by_snapshots_that_differ_in_facts_alone(package: Path, compiled: list[str]) -> None:
    snapshot = keeping(package)
    raw: Any = snapshot.raw("engines/toy/families/river")
    raw["architectures"]["RiverForCausalLM"]["support"]["pipeline"] = [{}]
    other = snapshot.with_part_replaced("engines/toy/families/river", raw)
    lists: Any = other.raw("engines/toy/lists")
    lists["lists"]["cache.buffered"]["names"]["StoneForCausalLM"] = [{}]
    other = other.with_part_replaced("engines/toy/lists", lists)
    assert other.release("toy", "0.10").program is snapshot.release("toy", "0.10").program
    assert compiled == ["0.10"]


def test_changed_rules_are_generated_anew(package: Path, compiled: list[str]) -> None:
    snapshot = keeping(package)
    before = snapshot.release("toy", "0.10").program
    raw: Any = snapshot.raw("engines/toy/defines")
    raw["defines"]["cuda"][0]["expr"] = 'hw.platform == "hip"'
    other = snapshot.with_part_replaced("engines/toy/defines", raw)
    assert other.release("toy", "0.10").program.digest != before.digest
    as_another_process(package)
    assert snapshot.release("toy", "0.10").program.digest == before.digest
    assert compiled == ["0.10", "0.10"]


def test_a_changed_known_issue_is_compiled_anew(package: Path) -> None:
    snapshot = keeping(package)
    raw: Any = snapshot.raw("engines/toy/known_issues")
    raw["known_issues"]["many-tags"]["when"] = "page_size == 7"
    other = snapshot.with_part_replaced("engines/toy/known_issues", raw)
    texts = [one.release("toy", "0.10").program.expressions for one in (snapshot, other)]
    assert ["page_size == 7" in each for each in texts] == [False, True]


def test_a_module_with_another_stamp_is_not_used(package: Path, compiled: list[str]) -> None:
    program = keeping(package).release("toy", "0.10").program
    path = package / "rules_toy_0_10.py"
    digest = programs.rules_digest(keeping(package), "toy")
    path.write_text(path.read_text().replace(digest, "sha256:" + "0" * 64))
    as_another_process(package)
    assert keeping(package).release("toy", "0.10").program.digest == program.digest
    assert compiled == ["0.10", "0.10"]
    assert digest in path.read_text()


def test_a_module_that_cannot_be_imported_is_made_anew(package: Path, compiled: list[str]) -> None:
    (package / "rules_toy_0_10.py").write_text("this is no Python")
    assert keeping(package).release("toy", "0.10").program.release == "0.10"
    assert compiled == ["0.10"]


def test_another_generator_counts_as_other_rules(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot = keeping(package)
    before = programs.rules_digest(snapshot, "toy")
    monkeypatch.setattr(programs, "generator_digest", lambda: "sha256:other")
    assert programs.rules_digest(snapshot, "toy") != before


def test_where_nothing_may_be_kept_rules_are_compiled_in_the_process(package: Path) -> None:
    program = toy.snapshot().release("toy", "0.10").program
    assert program.release == "0.10"
    assert not list(package.glob("rules_*"))


def test_where_nothing_can_be_written_rules_are_compiled_in_the_process(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, data: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(programs, "write_atomically", refuse)
    assert keeping(package).release("toy", "0.10").program.release == "0.10"


@pytest.mark.parametrize("kept", [False, True])
def test_rules_that_cannot_be_compiled_are_named_by_file(package: Path, kept: bool) -> None:
    snapshot = keeping(package) if kept else toy.snapshot()
    raw: Any = snapshot.raw("engines/toy/steps/20-resolve")
    raw["steps"]["graph"]["do"][0]["when"] = "pp_sise > 1"
    broken = snapshot.with_part_replaced("engines/toy/steps/20-resolve", raw)
    with pytest.raises(DataError) as caught:
        broken.release("toy", "0.10").program  # noqa: B018
    (problem,) = caught.value.problems
    place = ("registry/engines/toy/rules/20-resolve.yaml", "steps.graph.do[0].when")
    assert (problem.file, problem.path, problem.suggestion) == (*place, "pp_size")


def test_modules_are_named_after_engine_and_release() -> None:
    assert programs.module_name("toy", "0.10.post1") == "rules_toy_0_10_post1"


# -- what a wheel carries -------------------------------------------------------------------


def module_at(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_everything_a_wheel_carries_is_built(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "_built"
    snapshot = store.build_all(mini.ROOT, folder, toy.code)
    assert (folder / "snapshot.json").read_bytes() == toy.data() == snapshot.to_bytes()
    assert (folder / "__init__.py").is_file()
    for release in toy.RELEASES:
        module = module_at(folder / f"{programs.module_name('toy', release)}.py")
        assert programs.rules_digest(snapshot, "toy") == module.COMPILED_FROM
        assert rules.load_program(module, {}).release == release
        assert json.loads((folder / "slices" / "toy" / f"{release}.json").read_bytes())["facts"]["release"] == release


def test_building_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        store.build_all(mini.ROOT, tmp_path / name, toy.code)
    files = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*") if path.is_file())
    assert len(files) == 3 + 2 * len(toy.RELEASES)
    for file in files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
