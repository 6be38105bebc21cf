"""`--fix` mends what takes no judgment, keeps comments, and touches nothing else. Expected texts: `findings.txt`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from archcap.lint.edit import edited
from archcap.lint.fix import Put, Remove, Sort
from archcap.lint.mend import mend
from archcap.model.releases import Interval
from tests import mini
from tests.lint.test_lint import GOLDEN, found


def write(texts: Mapping[Path, str]) -> None:
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")


def mended(root: Path, scanned=None):
    return mend(root, write, scanned, lambda engine: ())


@pytest.mark.parametrize("case", [case for case in GOLDEN if case.mended], ids=str)
def test_a_finding_is_mended_where_it_stands(tmp_path: Path, case: mini.Case) -> None:
    wanted = mini.copy_to(tmp_path / "wanted")
    mini.edit(wanted, case.file, "\n".join(case.before), "\n".join(case.mended))
    root = mini.copy_to(tmp_path / "mended")
    case.apply(root)
    done = mended(root)
    path = mini.find(root, case.file)
    assert path.read_text(encoding="utf-8") == mini.find(wanted, case.file).read_text(encoding="utf-8")
    assert (done.files, done.findings) == ({path}, len(case.said))
    assert found(root) == ()


@pytest.mark.parametrize("case", [case for case in GOLDEN if case.near], ids=str)
def test_a_near_miss_is_left_alone(tmp_path: Path, case: mini.Case) -> None:
    root = mini.copy_to(tmp_path)
    case.apply(root)
    assert mended(root).files == set()


JUDGED = {
    "dead-range", "default-unset", "duplicate-flags", "formula-unreadable", "id-missing", "note-missing",
    "source-missing", "unused-names",
    "known-issue-twice",
}  # fmt: skip
"""Checks whose findings take a person."""


@pytest.mark.parametrize("case", [c for c in GOLDEN if c.said and c.said[0].split()[0] in JUDGED], ids=str)
def test_what_takes_a_person_stays(tmp_path: Path, case: mini.Case) -> None:
    root = mini.copy_to(tmp_path)
    case.apply(root)
    before = mini.find(root, case.file).read_text(encoding="utf-8")
    assert mended(root).files == set()
    assert mini.find(root, case.file).read_text(encoding="utf-8") == before
    assert [str(problem) for problem in found(root)] == [said.split(" ", 2)[2] for said in case.said]


def test_every_other_check_mends_something() -> None:
    mends = {case.said[0].split()[0] for case in GOLDEN if case.mended}
    every = {said.split()[0] for case in GOLDEN for said in case.said}
    assert mends == every - JUDGED


def test_a_source_that_the_scanner_makes_needless_is_taken_away(tmp_path: Path) -> None:
    root = mini.copy_to(tmp_path)
    scanned = {"toy": {"RiverTextForCausalLM": {"extra_buffer": [Interval(added="0.11")]}}}
    (path,) = mended(root, scanned).files
    assert 'extra_buffer: {added: "0.11"}' in path.read_text(encoding="utf-8")


def test_a_key_moves_with_the_comments_above_and_beside_it(tmp_path: Path) -> None:
    root = mini.copy_to(tmp_path)
    new = "  # Nothing yet.\n  abc: {type: int, default: 1}  # One.\n  # How much of it.\n  memory_fraction: {"
    mini.edit(root, "settings.yaml", "  memory_fraction: {", new)
    mended(root)
    text = mini.find(root, "settings.yaml").read_text(encoding="utf-8")
    assert text.startswith("settings:\n  # Nothing yet.\n  abc: {type: int, default: 1}  # One.\n  attention:\n")
    assert "  # How much of it.\n  memory_fraction: {" in text
    assert found(root) == ()


def test_several_things_in_one_file_are_mended_at_once(tmp_path: Path) -> None:
    root = mini.copy_to(tmp_path)
    mini.edit(root, "architectures/river.yaml", '      extra_buffer: "<=0.9"', '      extra_buffer: "0.9"')
    mini.edit(root, "architectures/river.yaml", '      state_cache: "0.10"',
              '      state_cache: [{added: "0.10", removed: 0.10.post1}, {added: 0.10.post1, removed: "0.11"}, "0.11"]')
    done = mended(root)
    text = mini.find(root, "architectures/river.yaml").read_text(encoding="utf-8")
    assert 'extra_buffer: "<=0.9"' in text
    assert 'state_cache: [{added: "0.10"}]' in text
    assert done.findings == 3


TEXTS = [
    ("an entry of a block, its comment above stays", "a:\n  # Why.\n  - x  # Beside.\n  - y\n", Remove(("a", 0)),
     "a:\n  # Why.\n  - y\n"),
    ("the only entry, with its key", "a:\n  - x\nb: 1\n", Remove(("a", 0)), "b: 1\n"),
    ("the last key of a file", "a: 1\nb:\n  c: 2\n", Remove(("b",)), "a: 1\n"),
    ("the last of a row", "a: [x, y]\n", Remove(("a", 1)), "a: [x]\n"),
    ("the first of a row", "a: {x: 1, y: 2}\n", Remove(("a", "x")), "a: {y: 2}\n"),
    ("behind a letter of several bytes", "ä: {ü: ö, y: 2}\n", Remove(("ä", "ü")), "ä: {y: 2}\n"),
    ("a scalar", "a: {x: 1}  # One.\n", Put(("a", "x"), "<=1"), 'a: {x: "<=1"}  # One.\n'),
    ("a scalar in a short form", "a: 1\n", Put(("a", 0, "added"), "<=1"), 'a: "<=1"\n'),
    ("the order of a row", "a: {y: 1, x: 2}\n", Sort(("a",)), "a: {x: 2, y: 1}\n"),
    ("the order of blocks", "b:\n  - 1\n\n# Of a.\na: 1\n", Sort(()), "# Of a.\na: 1\nb:\n  - 1\n\n"),
    ("no end of line", "b: 1\na: 2", Sort(()), "a: 2\nb: 1\n"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "fix", "wanted"), [case[1:] for case in TEXTS], ids=[case[0] for case in TEXTS])
def test_text_is_edited_where_it_stands(text: str, fix, wanted: str) -> None:
    made, applied = edited(text, [(fix,)])
    assert (made, applied) == (wanted, {(fix,)})


@pytest.mark.parametrize(
    ("text", "fixes"),
    [
        ("- a: 1\n  b: 2\n", (Remove((0, "a")),)),
        ("a: {y: 1,\n  x: 2}\n", (Sort(("a",)),)),
        ("a: 1\n", (Put(("b",), "2"),)),
        ("a: [x, y, z]\n", (Remove(("a", 1)), Remove(("a", 1, "deeper")))),
    ],
)
def test_what_the_layout_does_not_allow_is_left_alone(text: str, fixes) -> None:
    assert edited(text, [fixes]) == (text, frozenset())


def test_a_collection_goes_with_the_last_of_what_it_holds() -> None:
    groups = [(Remove(("a", "b", 0)),), (Remove(("a", "b", 1)),)]
    assert edited("a:\n  b:\n    - x\n    - y\n  c: 1\n", groups)[0] == "a:\n  c: 1\n"
    assert edited("a:\n  b:\n    - x\n    - y\n    - z\n  c: 1\n", groups)[0] == "a:\n  b:\n    - z\n  c: 1\n"
