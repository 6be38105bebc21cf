"""Every form that the reference of the language shows does what it says there."""

from __future__ import annotations

import re

import pytest
import yaml

from archcap.model.rules import Statement
from archcap.rules import check_engine, compile_release
from archcap.rules.run import KIND, STATEMENT, Kind
from tests.docs.pages import ROOT, Page
from tests.rules.toy import inputs, registry, vocabulary

FORMS = [fence for fence in Page(ROOT / "docs" / "rules.md").fences() if fence.mark == "form"]
NOTE = re.compile(r"^# (given|gives|refused|raised|says|finds): (.*)$", re.MULTILINE)
PHASES = {"prefill": "breakable", "decode": "full"}
DEFAULTS = {
    "page_size": None,
    "ranks": 1,
    "mode": "auto",
    "backend": None,
    "fast": False,
    "graph": {phase: {"backend": backend, "sizes": None} for phase, backend in PHASES.items()},
}
SETTINGS = {
    "page_size": {"type": "int", "optional": True},
    "ranks": {"type": "int"},
    "mode": {"type": "str", "choices": ["auto", "tree", "flat"], "sentinel": "auto"},
    "backend": {"type": "str", "optional": True},
    "fast": {"type": "bool"},
    "graph": {"type": "struct", "fields": [f"{phase}.{key}" for phase in PHASES for key in ("backend", "sizes")]},
}
NAMES = {
    "facts": {"heads": {"type": "int", "optional": True, "meaning": "m"}},
    "vars": {"tree_page": {"type": "int", "meaning": "m", "default": 1}},
    "assumptions": {"fastkit": {"type": "bool", "says": "s", "default": True}},
    "env": {"TOY_CACHE": {"type": "int", "default": 4}},
    "lists": {
        "birds": {"kind": "architecture", "source": "a:b", "names": {"BirdForCausalLM": [{}]}},
        "fish_types": {"kind": "model_type", "source": "a:b", "names": {"fish": [{}]}},
    },
    "architectures": {"BirdForCausalLM": {"releases": [{}], "profile": "bird"}},
    "releases": ("1.0.0", "1.1.0", "1.2.0"),
}


def engine(body):
    data = yaml.safe_load(body)
    if "do" in data:
        data["steps"] = {"step": {"do": data.pop("do")}}
    return registry(data, settings=SETTINGS, **NAMES)


def launch(given):
    return inputs(
        {**DEFAULTS, **given}, user=list(given), hw={"platform": "cuda", "major": 9}, assume={"fastkit": True},
        config={"model_type": "bird", "num_attention_heads": 8}, draft={}, architecture="BirdForCausalLM",
        profile="bird", capabilities=["fly"],
        lists={"birds": frozenset(["BirdForCausalLM"]), "fish_types": frozenset(["fish"])},
    )  # fmt: skip


@pytest.mark.parametrize("fence", FORMS, ids=lambda fence: fence.arg)
def test_a_form_does_what_the_reference_says(fence):
    notes = {key: yaml.safe_load(value) for key, value in NOTE.findall(fence.body)}
    reg = engine(fence.body)
    assert [str(p) for p in check_engine(reg, vocabulary("fly"), (), {"platform", "major"})] == []
    program = compile_release(reg, vocabulary("fly"), "1.1.0", {})
    given = launch(notes.get("given", {}))
    result = program.fast(given)
    assert program.interpret(given) == result
    changed = {name: value for name, value in result.settings.items() if value != DEFAULTS[name]}
    assert changed == notes.get("gives", {})
    refused = None if result.refused is None else program.statements[result.refused]
    assert (refused and refused.id, result.raised) == (notes.get("refused"), notes.get("raised"))
    assert "says" not in notes or refused.text == notes["says"]
    found = [program.statements[event[STATEMENT]].id for event in result.trace if event[KIND] is Kind.FINDING]
    assert found == notes.get("finds", [])


def test_the_reference_shows_every_key_of_a_statement():
    def keys(value):
        if isinstance(value, dict):
            return set(value).union(*map(keys, value.values()))
        return set().union(*map(keys, value)) if isinstance(value, list) else set()

    shown = set().union(*(keys(yaml.safe_load(fence.body)) for fence in FORMS))
    named = {field.alias or name for name, field in Statement.model_fields.items()}
    assert named - shown == {"stage", "source", "evidence", "note"} - shown
