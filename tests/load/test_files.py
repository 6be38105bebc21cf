"""What is in the folders that should not be, what is not there that should be, and what cannot be read."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from archcap.load import check_registry
from tests import mini

TOY = "registry/engines/toy"
ROOT_HINT = "the root of a registry is the folder that holds capabilities.yaml and registry/"


def touch(name: str, text: str = "a: 1\n") -> Callable[[Path], None]:
    def change(root: Path) -> None:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)

    return change


def remove(name: str) -> Callable[[Path], None]:
    return lambda root: (root / name).unlink()


def empty_engines(root: Path) -> None:
    mini.copy_to(root / "away")
    os.rename(root / TOY, root / "away" / "toy")
    os.rename(root / "away", root.parent / "away")


STRAY: list[tuple[str, Callable[[Path], None], list[str]]] = [
    ("no vocabulary", remove("capabilities.yaml"), [f"capabilities.yaml: the file is missing; {ROOT_HINT}"]),
    ("no hardware", remove("registry/hardware.yaml"), ["registry/hardware.yaml: the file is missing; add it"]),
    ("no engine file", remove(f"{TOY}/engine.yaml"), [f"{TOY}/engine.yaml: the file is missing; add it"]),
    ("no settings", remove(f"{TOY}/settings.yaml"), [f"{TOY}/settings.yaml: the file is missing; add it"]),
    ("another suffix", touch(f"{TOY}/architectures/x.yml"), [
        f"{TOY}/architectures/x.yml: is read by nothing; rename it to x.yaml or remove it",
    ]),
    ("misspelt file", touch(f"{TOY}/setings.yaml"), [
        f"{TOY}/setings.yaml: expected one of engine.yaml, settings.yaml, lists.yaml, names.yaml, siblings.yaml, "
        'config_classes.yaml, known_issues.yaml, found "setings.yaml", which is read by nothing; rename or remove it; '
        'did you mean "settings.yaml"?',
    ]),
    ("misspelt folder", touch(f"{TOY}/architecture/x.yaml"), [
        f"{TOY}/architecture: expected one of architectures, lists, names, rules, settings, "
        'found "architecture", which is read by nothing; rename or remove it; did you mean "architectures"?',
    ]),
    ("a folder too deep", touch(f"{TOY}/rules/more/x.yaml"), [
        f"{TOY}/rules/more: is read by nothing; rename or remove it",
    ]),
    ("a file between engines", touch("registry/engines/x.yaml"), [
        "registry/engines/x.yaml: is read by nothing; rename or remove it",
    ]),
    ("a misspelt folder of the registry", touch("registry/checkpoint/x.yaml"), [
        "registry/checkpoint: expected one of checkpoints, engines, "
        'found "checkpoint", which is read by nothing; rename or remove it; did you mean "checkpoints"?',
    ]),
    ("no engine at all", empty_engines, [
        "registry/engines: holds no engine; add a folder with an engine.yaml",
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("change", "said"), [row[1:] for row in STRAY], ids=[row[0] for row in STRAY])
def test_a_file_nobody_reads_or_nobody_finds_is_a_problem(
    tmp_path: Path, change: Callable[[Path], None], said: list[str]
) -> None:
    root = mini.copy_to(tmp_path / "root")
    change(root)
    assert [str(problem) for problem in check_registry(root).problems] == said


@pytest.mark.parametrize("name", ["README.md", ".hidden.yaml", "river.yaml~", "#river.yaml#", "notes.txt", "x.orig"])
def test_notes_and_editors_copies_are_no_data(tmp_path: Path, name: str) -> None:
    root = mini.copy_to(tmp_path)
    touch(f"{TOY}/architectures/{name}")(root)
    assert check_registry(root).problems == ()


@pytest.mark.parametrize("section", ["names", "lists", "settings"])
def test_a_file_may_be_a_folder_of_files(tmp_path: Path, section: str) -> None:
    root = mini.copy_to(tmp_path)
    folder = root / TOY / section
    folder.mkdir(exist_ok=True)
    if section != "names":
        os.rename(root / TOY / f"{section}.yaml", folder / "all.yaml")
    assert check_registry(root).problems == ()


def test_a_missing_root_is_one_problem(tmp_path: Path) -> None:
    (problem,) = check_registry(tmp_path / "nowhere").problems
    assert str(problem).startswith(f"{tmp_path}/nowhere: there is no such folder; name the folder that holds")


def test_a_file_as_root_is_one_problem(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("")
    (problem,) = check_registry(path).problems
    assert str(problem).startswith(f"{path}: is no folder; name the folder that holds")


def test_a_folder_that_may_not_be_listed_is_one_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = mini.copy_to(tmp_path)
    listed = os.listdir

    def refuse(path: Any) -> list[str]:
        if str(path).endswith("architectures"):
            raise PermissionError(13, "Permission denied")
        return listed(path)

    monkeypatch.setattr(os, "listdir", refuse)
    (problem,) = check_registry(root).problems
    assert str(problem) == f"{TOY}/architectures: the folder cannot be read: permission denied; check its permissions"


def test_a_file_that_may_not_be_read_is_one_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = mini.copy_to(tmp_path)
    opened = os.open

    def refuse(path: Any, *rest: Any, **more: Any) -> int:
        if str(path).endswith("river.yaml"):
            raise PermissionError(13, "Permission denied")
        return opened(path, *rest, **more)

    monkeypatch.setattr(os, "open", refuse)
    (problem,) = check_registry(root).problems
    said = "cannot be read: permission denied; check the file and its permissions"
    assert str(problem) == f"{TOY}/architectures/river.yaml: {said}"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes are the other system's")
def test_a_pipe_in_place_of_a_file_does_not_hang(tmp_path: Path) -> None:
    root = mini.copy_to(tmp_path)
    os.mkfifo(root / TOY / "architectures" / "pipe.yaml")
    (problem,) = check_registry(root).problems
    assert str(problem).startswith(f"{TOY}/architectures/pipe.yaml: cannot be read: not a regular file")


def test_a_dangling_link_is_one_problem(tmp_path: Path) -> None:
    root = mini.copy_to(tmp_path)
    (root / TOY / "architectures" / "gone.yaml").symlink_to(root / "nothing")
    (problem,) = check_registry(root).problems
    assert str(problem).startswith(f"{TOY}/architectures/gone.yaml: cannot be read: no such file or directory")
