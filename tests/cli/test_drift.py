"""`capctl drift`: a source like the registry's says nothing, and one edit says itself with file and line."""

from __future__ import annotations

import json

import pytest

from tests.cli.wagon_engine import edit, line_of


@pytest.fixture
def drift(capctl, registry, source):
    def run(*words):
        return capctl("--registry", registry, "drift", source, "--engine", "wagon", *words)

    return run


def test_a_source_like_the_registry_says_nothing(drift):
    ran = drift()
    assert (ran.code, ran.out) == (0, "")
    assert "no difference from wagon 1.0" in ran.err


EDITS = {
    "a hook deleted": (
        ("core/models/coal.py", "    def make_steam(self): ...\n\nclass CoalText", "\nclass CoalText"),
        [
            ("core/models/coal.py", "class CoalForCausalLM", "CoalForCausalLM has steam in the registry"),
            ("core/models/coal.py", "class CoalTextForCausalLM", "CoalTextForCausalLM has steam in the registry"),
        ],
    ),
    "a hook added": (
        ("core/models/wood.py", "    pass", "    def make_steam(self): ..."),
        [("core/models/wood.py", "def make_steam", "WoodForCausalLM has steam here; the registry of 1.0 says no")],
    ),
    "a name added to a set": (
        ("core/defaults.py", '"WoodForCausalLM",', '"WoodForCausalLM",\n        "CoalTextForCausalLM",'),
        [
            ("core/defaults.py", '        "CoalTextForCausalLM"', "CoalTextForCausalLM has long_train here"),
            ("core/defaults.py", '        "CoalTextForCausalLM"', "is in core.defaults._LONG_TRAINS here"),
        ],
    ),
    "a name taken out of a test": (
        ("core/defaults.py", '("CoalForCausalLM", "CoalTextForCausalLM")', '("CoalForCausalLM",)'),
        [("core/defaults.py", "config.architectures", "has CoalTextForCausalLM in core/defaults.py:brakes#1")],
    ),
    "a flag renamed": (
        ("core/args.py", '"--speed"', '"--pace"'),
        [("core/args.py", '"--pace"', "the flag --speed of the setting speed is --pace here, which writes no setting")],
    ),
    "a setting renamed": (
        ("core/args.py", "page_size: int", "pages_size: int"),
        [
            ("core/args.py", "pages_size: int", "the setting page_size is called pages_size here"),
            ("core/args.py", '"--page-size"', "--page-size writes no setting"),
        ],
    ),
    "a flag added": (
        ("core/args.py", 'parser.add_argument("--page-size", type=int)',
         'parser.add_argument("--page-size", type=int); parser.add_argument("--bell")'),
        [("core/args.py", '"--bell"', "--bell writes no setting")],
    ),
    "a default changed": (
        ("core/args.py", "page_size: int = 1", "page_size: int = 2"),
        [("core/args.py", "page_size: int", "default of the setting page_size is 2 here, 1 in the registry of 1.0")],
    ),
    "a draft's depth written to one level": (
        ("core/config.py", "            self.inner.draft_layers = 1\n", ""),
        [
            ("core/config.py", "if self.is_draft", f"{name} as its own draft becomes CoalDraft with its depth")
            for name in ("CoalForCausalLM", "CoalTextForCausalLM")
        ],
    ),
    "an architecture added": (
        ("core/models/wood.py", "EntryClass = WoodForCausalLM", "class Oak: ...\nEntryClass = [WoodForCausalLM, Oak]"),
        [("core/models/wood.py", "class Oak", "Oak is an entry class here; the registry of 1.0 does not have it")],
    ),
    "a file whose syntax is broken": (
        ("core/models/wood.py", "class WoodForCausalLM:", "class WoodForCausalLM(:"),
        [("core/models/wood.py", "class WoodForCausalLM", "core/models/wood.py cannot be read: invalid syntax")],
    ),
}


@pytest.mark.parametrize("name", EDITS)
def test_one_edit_says_itself_with_file_and_line(drift, source, name):
    change, expected = EDITS[name]
    edit(source, *change)
    ran = drift("--format", "json")
    found = json.loads(ran.out)["differences"]
    assert ran.code == 1
    assert len(found) == len(expected), [one["message"] for one in found]
    for file, text, message in expected:
        line = line_of(source, file, text)
        assert any(
            (one["file"], one["line"]) == (file, line) and message in one["message"] for one in found
        ), (line, message, found)


def test_what_an_unreadable_file_may_hold_is_not_called_missing(drift, source):
    edit(source, "core/models/coal.py", "class CoalModel:", "class CoalModel(:")
    ran = drift()
    assert ran.out.count("\n") == 1
    assert "could not be looked for" in ran.err


def test_a_value_of_a_setting_is_no_model_type_though_the_settings_cannot_be_read(drift, source):
    edit(source, "core/args.py", "class Args:", "class Args(:")
    ran = drift()
    assert ran.out.count("\n") == 1
    assert "core/args.py cannot be read" in ran.out


def test_a_model_type_that_nobody_knows_is_told_though_the_settings_cannot_be_read(drift, source):
    edit(source, "core/args.py", "class Args:", "class Args(:")
    edit(source, "core/horn.py", '("coal", "slow")', '("coal", "slow", "oak")')
    assert "oak is in core/horn.py:horn#1 here" in drift().out


def test_sarif_names_the_file_below_the_prefix_and_the_rule(drift, source):
    edit(source, "core/args.py", "page_size: int = 1", "page_size: int = 2")
    (run,) = json.loads(drift("--format", "sarif", "--prefix", "python/wagon").out)["runs"]
    (result,) = run["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "python/wagon/core/args.py"
    assert place["region"]["startLine"] == line_of(source, "core/args.py", "page_size: int")
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "drift/setting"


def test_annotations_stand_on_one_line_each(drift, source):
    edit(source, "core/args.py", "page_size: int = 1", "page_size: int = 2")
    ran = drift("--format", "github", "--prefix", "python/wagon/")
    assert ran.out.startswith("::error file=python/wagon/core/args.py,line=")
    assert ran.out.count("\n") == 1


def test_a_release_nobody_knows_is_one_clear_line(capctl, registry, source):
    ran = capctl("--registry", registry, "drift", source, "--engine", "wagon@new")
    assert "known are 1.0 to 1.0" in ran.is_one_clear_line()
