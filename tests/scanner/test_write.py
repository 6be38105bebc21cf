"""Writing scanned facts into the registry: what changes, what stays, and that the loader reads it."""

import os
from pathlib import Path

import pytest
import yaml

from archcap.model.vocabulary import Probe
from archcap.scanner.emit import flow, scalar
from archcap.scanner.write import read_comments, with_comments, write_engine, write_texts
from tests.scanner.wagon import CONFIG, scan

ENGINE = """\
# The wagon engine.
engine: wagon
title: Wagon   # a small one
package: wagon
launch: [wagon, serve]
releases:
  "1.1": {note: the first}
"""


def release(version: str, methods: str = "pass", **more: str):
    files = {
        "core/models/one.py": f"class AForCausalLM:\n    {methods}\nEntryClass = AForCausalLM\n",
        "core/args.py": "class Args:\n    x: int = 1\n",
        **more,
    }
    return scan(files, CONFIG, version, cap=Probe(method="capture"))


CAPTURE = "def capture(self): ..."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "engine.yaml").write_text(ENGINE, encoding="utf-8")
    return tmp_path


def family(folder: Path) -> dict:
    return yaml.safe_load((folder / "architectures" / "one.yaml").read_text(encoding="utf-8"))


def test_facts_stand_in_a_file_per_family_with_their_intervals(folder):
    write_engine(folder, {"1.1": release("1.1"), "1.2": release("1.2", CAPTURE)}, CONFIG)
    assert (folder / "architectures" / "one.yaml").read_text(encoding="utf-8") == (
        'family: one\narchitectures:\n  AForCausalLM:\n    releases: "<=1.1"\n    module: one\n'
        '    support:\n      cap: "1.2"\n'
    )


def test_writing_twice_changes_nothing(folder):
    scans = {"1.1": release("1.1"), "1.2": release("1.2", CAPTURE)}
    assert write_engine(folder, scans, CONFIG) != []
    assert write_engine(folder, scans, CONFIG) == []


def test_entries_with_a_source_and_other_keys_are_never_overwritten(folder):
    scans = {"1.1": release("1.1"), "1.2": release("1.2", CAPTURE)}
    write_engine(folder, scans, CONFIG)
    path = folder / "architectures" / "one.yaml"
    text = path.read_text(encoding="utf-8").replace(
        '      cap: "1.2"', '      # Seen by hand.\n      cap: {added: "1.1", source: "wagon#7"}  # sure'
    )
    path.write_text(text.replace("    module: one", "    module: one\n    profile: fast"), encoding="utf-8")
    write_engine(folder, scans, CONFIG)
    after = path.read_text(encoding="utf-8")
    assert '      # Seen by hand.\n      cap: {added: "1.1", source: "wagon#7"}  # sure\n' in after
    assert family(folder)["architectures"]["AForCausalLM"]["profile"] == "fast"


def test_an_entry_without_a_source_follows_the_source(folder):
    write_engine(folder, {"1.1": release("1.1", CAPTURE)}, CONFIG)
    write_engine(folder, {"1.1": release("1.1")}, CONFIG)
    assert "support" not in family(folder)["architectures"]["AForCausalLM"]


def test_comments_at_the_head_and_at_the_end_of_a_file_stay(folder):
    scans = {"1.1": release("1.1")}
    write_engine(folder, scans, CONFIG)
    path = folder / "architectures" / "one.yaml"
    path.write_text("# Read me.\n" + path.read_text(encoding="utf-8") + "# The end.\n", encoding="utf-8")
    write_engine(folder, scans, CONFIG)
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# Read me.\nfamily: one\n")
    assert text.endswith("# The end.\n")


def test_the_engines_own_words_stay_and_releases_are_added(folder):
    write_engine(folder, {"1.1": release("1.1"), "1.2": release("1.2")}, CONFIG)
    text = (folder / "engine.yaml").read_text(encoding="utf-8")
    assert text.startswith("# The wagon engine.\nengine: wagon\ntitle: Wagon  # a small one\n")
    assert yaml.safe_load(text)["releases"] == {"1.1": {"note": "the first"}, "1.2": {}}


def test_titles_of_settings_are_peoples(folder):
    scans = {"1.1": release("1.1")}
    write_engine(folder, scans, CONFIG)
    path = folder / "settings.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("x: {", "x: {title: number of exes, "), encoding="utf-8")
    changed = {"1.1": release("1.1", **{"core/args.py": "class Args:\n    x: int = 2\n"})}
    write_engine(folder, changed, CONFIG)
    assert yaml.safe_load(path.read_text(encoding="utf-8"))["settings"]["x"] == {
        "title": "number of exes",
        "type": "int",
        "default": 2,
    }


def test_a_setting_has_one_span_per_change(folder):
    scans = {
        "1.1": release("1.1"),
        "1.2": release("1.2"),
        "1.3": release("1.3", **{"core/args.py": "class Args:\n    x: int = 2\n"}),
    }
    write_engine(folder, scans, CONFIG)
    settings = yaml.safe_load((folder / "settings.yaml").read_text(encoding="utf-8"))["settings"]
    assert settings["x"] == [
        {"removed": "1.3", "type": "int", "default": 1},
        {"added": "1.3", "type": "int", "default": 2},
    ]


def test_a_family_whose_architectures_moved_away_loses_its_file(folder):
    write_engine(folder, {"1.1": release("1.1")}, CONFIG)
    other = scan({"core/models/two.py": "class AForCausalLM: ...\nEntryClass = AForCausalLM\n"}, CONFIG, "1.1")
    write_engine(folder, {"1.1": other}, CONFIG)
    assert sorted(p.name for p in (folder / "architectures").iterdir()) == ["two.yaml"]


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "facts.yaml"
    path.write_text("old\n", encoding="utf-8")
    monkeypatch.setattr(os, "replace", _fails)
    with pytest.raises(OSError, match="disk"):
        write_texts({path: "new\n"})
    assert path.read_text(encoding="utf-8") == "old\n"
    assert [p.name for p in tmp_path.iterdir()] == ["facts.yaml"]


def test_one_read_only_file_keeps_every_file_as_it_is(tmp_path):
    first, second = tmp_path / "a.yaml", tmp_path / "b.yaml"
    for path in (first, second):
        path.write_text("old\n", encoding="utf-8")
    second.chmod(0o444)
    assert write_texts({second: "old\n"}) == []
    with pytest.raises(PermissionError, match="read-only") as refused:
        write_texts({first: "new\n", second: "new\n"})
    assert refused.value.filename == str(second)
    assert (first.read_text(encoding="utf-8"), second.read_text(encoding="utf-8")) == ("old\n", "old\n")


def test_line_ends_stay_as_the_file_has_them(tmp_path):
    path = tmp_path / "facts.yaml"
    path.write_bytes(b"a: 1\r\nb: 2\r\n")
    assert write_texts({path: "a: 1\nb: 2\n"}) == []
    assert write_texts({path: "a: 1\nb: 3\n"}) == [path]
    assert path.read_bytes() == b"a: 1\r\nb: 3\r\n"


def _fails(*_: object) -> None:
    raise OSError("the disk is full")


@pytest.mark.parametrize(
    "value",
    [
        "0.5.18",
        "0.5",
        "<=0.5.9",
        "1e3",
        "yes",
        "no",
        "null",
        "~",
        "",
        " a",
        "a: b",
        "a #b",
        "- a",
        "-",
        "--flag",
        "+",
        "*",
        "a, b",
        "[a]",
        "{a}",
        "plain words",
        "a@b",
        "0x1f",
        "12:30:00",
        "2026-01-02",
        "=",
        "true",
        "a'b",
        'a"b',
        "a\nb",
        "über",
        "#a",
        "&a",
        "!a",
        "%a",
        "@a",
        "`a",
        "|",
        ">",
        "?",
        "? a",
        ":",
        "a:",
        "1_000",
        ".5",
        "-1",
        "-.inf",
        ".nan",
    ],
)
def test_every_text_is_read_back_as_itself(value):
    assert yaml.safe_load(f"- {scalar(value)}") == [value]
    assert yaml.safe_load(f"- {flow([value, {value or 'k': value}])}") == [[value, {value or "k": value}]]


def test_comments_go_back_to_their_keys_though_lines_come_before():
    comments = read_comments("# head\na: 1  # one\nb:\n  # of c\n  c: 2\n")
    assert with_comments(["a: 1", "aa: 3", "b:", "  x: 0", "  c: 2"], comments) == [
        "# head",
        "a: 1  # one",
        "aa: 3",
        "b:",
        "  x: 0",
        "  # of c",
        "  c: 2",
    ]
