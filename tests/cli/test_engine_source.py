"""Answers from an engine's own source: `--engine-source`."""

from __future__ import annotations

import json

from archcap.cli.command import Session
from archcap.cli.console import Console
from archcap.cli.sources import answer_from
from tests.cli.wagon_engine import edit


def names(ran) -> list[str]:
    assert ran.code == 0, ran.err
    return json.loads(ran.out)


def listed(capctl, registry, source, *words):
    asked = ("list", "architectures", "--engine", "wagon", "--format", "json", "--engine-source", source)
    return capctl("--registry", registry, *asked, *words)


def test_a_source_like_the_registry_lists_the_same(capctl, registry, source):
    ran = listed(capctl, registry, source, "--with", "steam")
    assert names(ran) == ["CoalForCausalLM", "CoalTextForCausalLM"]
    assert "nothing in that source differs from wagon 1.0" in ran.err


def test_what_a_source_has_otherwise_is_listed_and_said(capctl, registry, source):
    edit(source, "core/models/wood.py", "    pass", "    def make_steam(self): ...")
    ran = listed(capctl, registry, source, "--with", "steam")
    assert names(ran) == ["CoalForCausalLM", "CoalTextForCausalLM", "WoodForCausalLM"]
    assert "1 thing in that source differs from wagon 1.0" in ran.err


def test_what_a_source_no_longer_has_is_not_listed(capctl, registry, source):
    edit(source, "core/defaults.py", '"WoodForCausalLM",', "")
    assert names(listed(capctl, registry, source, "--with", "long_train")) == ["CoalForCausalLM"]


def test_an_architecture_of_a_fork_is_there_and_a_lost_one_is_not(capctl, registry, source):
    edit(source, "core/models/wood.py", "EntryClass = WoodForCausalLM", "class Oak: ...\nEntryClass = Oak")
    assert names(listed(capctl, registry, source)) == ["CoalDraft", "CoalForCausalLM", "CoalTextForCausalLM", "Oak"]


def test_a_source_of_a_later_version_is_answered_by_the_nearest_release(capctl, registry, source):
    edit(source, "version.py", "1.0", "1.7.dev3")
    ran = listed(capctl, registry, source)
    assert "(1.7.dev3), rules those of wagon 1.0" in ran.err


def test_a_source_that_does_not_say_its_release_wants_one_named(capctl, registry, source):
    (source / "wagon" / "version.py").unlink()
    assert "--engine wagon@1.0" in listed(capctl, registry, source).is_one_clear_line()


def test_settings_lists_and_drafts_are_the_source_s(registry, source):
    edit(source, "core/args.py", "page_size: int = 1", "page_size: int = 16")
    edit(source, "core/config.py", "            self.inner.draft_layers = 1\n", "")
    session = Session(Console.standard(), registry)
    answer_from(source, "wagon", session)
    view = session.snapshot.release("wagon", "1.0")
    coal = session.snapshot.registry_of("wagon").families["coal"].architectures["CoalForCausalLM"]
    assert view.defaults["page_size"] == 16
    assert [rewrite.levels for rewrite in coal.draft] == [("hf",)]
