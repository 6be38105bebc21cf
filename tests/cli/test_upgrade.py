"""Another release's view of a launch: its flags, what it finds, what comes out differently, the command for it."""

import pytest

RIVER = (
    '{"architectures": ["RiverForCausalLM"], "model_type": "delta", "num_hidden_layers": 4, "num_attention_heads": 4, '
    '"state_layers": 2}'
)
START = ("--", "python", "-m", "toy.serve", "--model", "m")


def asked(capctl, before, after, *flags, words=()):
    return capctl("upgrade", "--from", before, "--to", after, "--config", "-", "--gpu", "alpha", *words, *START, *flags,
                  stdin=RIVER.encode())  # fmt: skip


def told(capctl, before, after, *flags):
    return asked(capctl, before, after, *flags, words=("--format", "json")).json


def test_a_launch_that_nothing_changes_for(capctl):
    found = told(capctl, "0.9", "0.9")
    assert found["flags"] == found["settings"] == found["findings"] == found["cured"] == []
    assert found["compared"]
    assert found["before"] == found["after"] == {"release": "0.9", "release_match": "exact", "verdict": "ok"}


def test_a_flag_that_says_the_default_now_is_not_turned_into_its_opposite(capctl):
    found = told(capctl, "0.10", "0.11", "--overlap")
    assert found["flags"] == [{"flag": "--overlap", "setting": "overlap", "kind": "unneeded", "now": None}]
    assert "overlap" not in found["command"]
    back = told(capctl, "0.11", "0.10", "--no-overlap")
    assert back["flags"][0]["kind"] == "unneeded"


def test_a_flag_that_is_spelled_otherwise_is_translated(capctl):
    found = told(capctl, "0.11", "0.10", "--cache-strategy", "flat")
    assert found["flags"] == [
        {"flag": "--cache-strategy", "setting": "cache_mode", "kind": "renamed", "now": "--cache-mode flat"}
    ]
    assert "--cache-mode flat" in found["command"]


def test_a_setting_that_is_gone_is_left_out_and_said(capctl):
    found = told(capctl, "0.10", "0.9", "--graph-config", '{"decode": {"backend": "off"}}')
    assert [(one["flag"], one["kind"]) for one in found["flags"]] == [("--graph-config", "gone")]
    assert "graph" not in found["command"]
    assert {"graph_config"} == {one["setting"] for one in found["settings"] if one["kind"] == "gone"}


def test_a_setting_given_without_a_flag_is_looked_at_too(capctl):
    ran = capctl("upgrade", "--from", "0.10", "--to", "0.9", "--architecture", "RiverForCausalLM", "--gpu", "alpha",
                 "--set", 'graph_config={"decode": {"backend": "off"}}', "--format", "json")  # fmt: skip
    assert [(one["flag"], one["kind"]) for one in ran.json["flags"]] == [("graph_config", "gone")]


def test_a_default_that_changed_comes_out_differently(capctl):
    turns = {one["setting"]: one for one in told(capctl, "0.10", "0.11")["settings"]}
    assert (turns["overlap"]["before"], turns["overlap"]["after"], turns["overlap"]["kind"]) == (False, True, "changed")


def test_a_value_that_both_are_asked_for_does_not_differ(capctl):
    turns = {one["setting"] for one in told(capctl, "0.10", "0.11", "--page-size", "4")["settings"]}
    assert "page_size" not in turns


def test_what_is_refused_early_is_not_compared(capctl):
    found = told(capctl, "0.11", "0.10", "--cache-mode", "lazy")
    assert not found["compared"]
    assert found["settings"] == []
    assert found["after"]["verdict"] == "refused"
    assert found["findings"]


@pytest.mark.parametrize(("after", "code"), [("0.11", 0), ("0.10", 1)])
def test_the_exit_code_is_the_other_releases(capctl, after, code):
    assert asked(capctl, "0.11", after, "--cache-mode", "lazy").code == code


def test_the_command_alone_is_written(capctl):
    ran = asked(capctl, "0.11", "0.10", "--cache-strategy", "flat", words=("--format", "command"))
    assert ran.out == "python -m toy.serve --model-path m --cache-mode flat\n"


def test_another_release_that_answers_is_marked(capctl):
    found = told(capctl, "0.10.post1", "0.12.dev4")
    assert found["after"] == {"release": "0.11", "release_match": "nearest", "verdict": found["after"]["verdict"]}
    assert "toy 0.11 (the nearest release known): " in asked(capctl, "0.9", "0.12").out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--from", "0.9", "--to", "main"), "'main'"),
        (("--from", "kiln@0.9", "--to", "0.10"), "unknown engine 'kiln'"),
        (("--from", "toy@0.9", "--to", "kiln@0.10"), "name different engines"),
        (("--from", "toy@0.9", "--to", "0.10", "--engine", "kiln"), "--engine kiln and --from toy@0.9 disagree"),
        (("--to", "0.10"), "--from"),
    ],
)
def test_misuse_is_one_line(capctl, words, says):
    ran = capctl("upgrade", *words, "--architecture", "RiverForCausalLM")
    assert ran.code == 2
    assert says in ran.err
    ran.is_one_clear_line()


@pytest.mark.parametrize(
    ("name", "before", "after", "flags"),
    [
        ("upgrade", "0.10", "0.11", ("--overlap", "--pp", "2")),
        ("upgrade-back", "0.11", "0.9", ("--cache-strategy", "flat", "--no-overlap")),
        ("upgrade-refused", "0.11", "0.10", ("--cache-mode", "lazy")),
    ],
)
def test_how_it_reads(capctl, golden, name, before, after, flags):
    golden(f"{name}.txt", asked(capctl, before, after, *flags).out)


ENVIRONMENT = [
    ("0.9", "0.11", "TOY_LAYOUT=flat", [{"name": "TOY_LAYOUT", "kind": "new", "instead": None}]),
    ("0.11", "0.9", "TOY_LAYOUT=flat",
     [{"name": "TOY_LAYOUT", "kind": "gone", "instead": "nothing: pages are always paged"}]),
    ("0.10", "0.11", "TOY_LAYOUT=flat", []),
    ("0.9", "0.11", "TOY_FORCE_PLAIN=1", []),
    ("0.9", "0.11", "HOME=/root", []),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "given", "changes"), ENVIRONMENT)
def test_a_variable_that_only_one_release_reads_is_told(capctl, before, after, given, changes):
    found = asked(capctl, before, after, words=("--format", "json", "--env", given)).json
    assert found["environment"] == changes


def test_a_variable_that_is_gone_is_told_with_what_does_its_work(capctl):
    ran = asked(capctl, "0.11", "0.9", words=("--env", "TOY_LAYOUT=flat"))
    assert "TOY_LAYOUT  is not read any more  nothing: pages are always paged" in ran.out
