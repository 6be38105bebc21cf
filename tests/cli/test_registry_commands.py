"""list, show, diff, history, validate, build, doctor: what programs get."""

import json

import pytest

from archcap.snapshot import Snapshot
from tests.mini import copy_to, edit


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ((), ["RiverForCausalLM", "RiverTextForCausalLM", "StoneDraftModel", "StoneForCausalLM"]),
        (("--engine", "toy@0.9"), ["RiverForCausalLM", "StoneForCausalLM"]),
        (("--family", "river"), ["RiverForCausalLM", "RiverTextForCausalLM"]),
        (("--with", "extra_buffer"), ["RiverForCausalLM", "RiverTextForCausalLM"]),
        (("--with", "extra_buffer", "--engine", "toy@0.10"), ["RiverForCausalLM"]),
        (("--with", "extra_buffer", "--with", "max_depth"), ["RiverForCausalLM"]),
        (("--with", "state_cache", "--without", "max_depth"), ["RiverTextForCausalLM"]),
        (("--with", "window"), []),
        (("--with", "window", "--include-conditional"), ["StoneForCausalLM"]),
        (("--without", "window", "--include-conditional", "--family", "stone"), ["StoneDraftModel"]),
    ],
)
def test_architectures_are_filtered_by_what_they_have(capctl, words, names):
    assert capctl("list", "architectures", "--format", "json", *words).json == names


@pytest.mark.parametrize(
    "kind",
    ["capabilities", "settings", "releases", "lists", "steps", "families", "hardware", "checkpoints", "engines"],
)
def test_every_kind_is_listed_as_an_array_of_names_and_shown_by_name(capctl, kind):
    names = capctl("list", kind, "--format", "json").json
    assert names
    assert all(isinstance(name, str) for name in names)
    irregular = {"capabilities": "capability", "families": "family", "hardware": "hardware", "engines": None}
    one = irregular.get(kind, kind[:-1])
    if one is not None:
        shown = capctl("show", one, names[0], "--format", "json").json
        assert (shown["kind"], shown["name"], shown["engine"]) == (one, names[0], "toy")
        assert capctl("show", one, names[0]).code == 0


def test_an_architecture_is_shown_as_the_release_has_it(capctl):
    shown = capctl("show", "architecture", "StoneForCausalLM", "--engine", "toy@0.11", "--format", "json").json
    assert shown["family"] == "stone"
    assert shown["in_release"] is True
    assert "hidden_capture" in shown["capabilities"]
    assert "window" in shown["conditional"]
    assert shown["record"]["support"]["hidden_capture"][0]["state"] == "partial"


def test_releases_are_compared_and_histories_told_as_data(capctl):
    changes = capctl("diff", "toy@0.10", "toy@0.11", "--format", "json").json
    assert changes["architectures_added"] == ["StoneForCausalLM"]
    happenings = capctl("history", "RiverForCausalLM", "max_depth", "--format", "json").json
    assert [one["release"] for one in happenings] == ["0.9", "0.9", "0.11"]


def test_sound_data_validates_quietly(capctl):
    ran = capctl("validate", "tests/mini")
    assert (ran.code, ran.out) == (0, "")
    assert ran.err == "capctl: the registry is sound\n"
    assert capctl("validate", "tests/mini", "--format", "json").json == []


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        ("settings.yaml", "draft_depth: {", "page_size: {", "page_size"),
        ("rules/10-parse.yaml", "require: setting(size) >= 1", "require: setting(sise) >= 1", "sise"),
        ("rules/20-resolve.yaml", "when: draft_method is None", 'when: __import__("os")', "__import__"),
        ("rules/20-resolve.yaml", "when: draft_method is None", 'when: profile == "StoneForCausalLM"', "StoneFor"),
        ("engine.yaml", "title: Toy", "title: &a [*a, *a]", "engine.yaml"),
        ("settings.yaml", "default: 1, flags: [\"--tp-size\"", "default: on, flags: [\"--tp-size\"", "on"),
    ],
)  # fmt: skip
def test_broken_data_is_exit_2_with_file_and_line(capctl, tmp_path, file, old, new, says):
    root = copy_to(tmp_path / "mini")
    edit(root, file, old, new)
    ran = capctl("validate", root)
    assert ran.code == 2
    assert ran.err == ""
    assert says in ran.out
    assert file in ran.out
    assert "Traceback" not in ran.out
    problems = capctl("validate", root, "--format", "json").json
    assert len(problems) == ran.out.count("\n")
    assert capctl("validate", root, "--format", "github").out.startswith("::error file=")


def test_a_snapshot_is_written_whole_and_read_again(capctl, tmp_path):
    path = tmp_path / "snapshot.json"
    ran = capctl("build", "--out", path)
    snapshot = Snapshot.open(path.read_bytes())
    assert (ran.code, ran.out) == (0, "")
    assert snapshot.digest in ran.err
    assert capctl("--registry", path, "list", "engines").out == "toy  Toy\n"
    assert capctl("build", "--quiet").err == ""


def test_a_slice_is_what_engines_fetch(capctl, tmp_path):
    path = tmp_path / "slice.json"
    capctl("build", "--slice", "toy@0.10", "--out", path)
    assert json.loads(path.read_bytes())["digest"].startswith("sha256:")
    assert capctl("build", "--slice", "toy@0.10", "--out", "-").out.encode() == path.read_bytes()


def test_what_others_make_of_a_snapshot_is_an_option_of_build(capctl, monkeypatch, tmp_path):
    class Point:
        name = "atlas"

        def load(self):
            return lambda folder, session: (folder / "atlas.txt").write_text(session.snapshot.digest)

    points = {"archcap.exports": [Point()]}
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: points.get(group, []))
    assert capctl("build", "--atlas", tmp_path).code == 0
    assert (tmp_path / "atlas.txt").read_text().startswith("sha256:")


def test_the_doctor_says_what_is_sound_and_what_to_do(capctl, tmp_path):
    findings = {one["what"]: one for one in capctl("doctor", "--format", "json").json}
    assert {"archcap", "python", "snapshot", "digest", "cache"} <= set(findings)
    assert findings["digest"]["fine"] is True
    assert capctl("doctor").code == 0

    broken = tmp_path / "broken.json"
    capctl("build", "--out", broken)
    broken.write_bytes(broken.read_bytes()[:-30])
    ran = capctl("--registry", broken, "doctor")
    assert ran.code == 1
    assert "Traceback" not in ran.out


@pytest.mark.parametrize(
    ("words", "answers"),
    [
        (("list", "architectures", "--engine", "toy@0.10.post7"), "0.10.post1, the nearest one before it"),
        (("show", "architecture", "RiverForCausalLM", "--engine", "toy@0.11.dev3"), "0.10.post1, the"),
        (("diff", "toy@0.10", "toy@0.12"), "0.11, the nearest one before it"),
        (("diff", "toy@0.1", "toy@0.11"), "0.9, the oldest one known"),
        (("explain", "--engine", "toy@2", "--architecture", "RiverForCausalLM", "--setting", "page_size"), "0.11, the"),
    ],
)
def test_another_release_that_answers_is_always_named(capctl, words, answers):
    ran = capctl(*words)
    assert ran.code == 0
    assert f"is not in the registry; this is the answer of {answers}" in ran.err


@pytest.mark.parametrize("asked", ["0.9", "0.10.0"])
def test_a_release_that_is_known_needs_no_note(capctl, asked):
    assert capctl("list", "architectures", "--engine", f"toy@{asked}").err == ""


def test_what_is_no_release_has_no_nearest(capctl):
    assert "'main' is no release of toy; known are 0.9 to 0.11" in capctl("diff", "toy@main", "toy@0.9").err
    assert "unknown release '0.12'; 0.9 to 0.11 are known" in capctl("show", "release", "0.12").err


def test_a_write_that_cannot_be_decided_is_explained(capctl):
    words = ("explain", "--engine", "toy@0.11", "--architecture", "RiverForCausalLM", "--setting", "cache_mode")
    ran = capctl(*words)
    assert ran.code == 0
    assert capctl(*words, "--format", "json").json["setting"] == "cache_mode"
