"""The leading steps tell facts of a checkpoint once; later launches of it are told the same."""

import pytest

from archcap.rules import compile_release
from archcap.rules.run import KIND, Kind, Unknown
from tests.rules.toy import inputs, registry, vocabulary

SETTINGS = {"wide": {"type": "bool", "default": False}, "page": {"type": "int", "optional": True}}
FACTS = {name: {"type": "any", "meaning": "m", "optional": True} for name in ("heads", "kind", "given")}
LISTS = {"toys": {"kind": "architecture", "source": "a:b", "names": {}}}
RAW = {"wide": False, "page": None}
TELL = {"do": [{"fact": {"heads": '=shapes(hf.get("n"))', "kind": '=in_list("toys")'}}]}
USE = {"do": [{"when": "fact.heads", "set": {"page": "=fact.heads"}}]}


class Counting:
    def __init__(self):
        self.asked = []

    def __call__(self, value):
        self.asked.append(value)
        return value


def program_of(tell=TELL, **rules):
    steps = {"tell": tell, "use": USE} | rules
    engine = registry({"steps": steps}, settings=SETTINGS, facts=FACTS, lists=LISTS)
    asked = Counting()
    return compile_release(engine, vocabulary(), "1.0", {"shapes": asked}), asked


def launch(config, raw=RAW, lists={"toys": frozenset(["Toy"])}, **given):  # noqa: B006
    return inputs(raw, config=config, lists=lists, **given)


def told(program, one):
    fast = program.fast(one)
    assert repr(program.interpret(one)) == repr(fast)
    return fast


def test_a_checkpoint_launched_again_is_not_told_again():
    program, asked = program_of()
    config = {"n": 8}
    first, again = program.fast(launch(config)), program.fast(launch(config))
    assert asked.asked == [8]
    assert again == first
    assert [event[KIND] for event in again.trace] == [Kind.FACT, Kind.FACT, Kind.SET]


def test_each_checkpoint_is_told_its_own():
    program, asked = program_of()
    one, other = {"n": 8}, {"n": 4}
    assert [program.fast(launch(config)).settings["page"] for config in (one, other, one)] == [8, 4, 8]
    assert asked.asked == [8, 4]


@pytest.mark.parametrize(
    ("more", "seen"),
    [
        ({}, [8]),
        ({"raw": {**RAW, "page": 3}}, [8]),
        ({"raw": {**RAW, "wide": True}}, [8, 8]),
        ({"raw": {**RAW, "wide": 0}}, [8, 8]),
        ({"architecture": "Other"}, [8, 8]),
        ({"lists": {"toys": frozenset(["Toy"])}}, [8, 8]),
        ({"facts": {"given": 1}}, [8, 8]),
        ({"unknown": ["m"]}, [8, 8]),
    ],
)
def test_what_the_leading_steps_read_is_told_anew_where_it_differs(more, seen):
    tell = {"do": [*TELL["do"], {"when": "wide or fact.given", "fact": {"kind": True}}]}
    program, asked = program_of(tell)
    config, lists = {"n": 8}, {"toys": frozenset(["Toy"])}
    program.fast(launch(config, lists=lists, facts={"given": None}))
    program.fast(launch(config, **{"lists": lists, "facts": {"given": None}, **more}))
    assert asked.asked == seen


def test_a_fact_that_is_given_is_not_told_over():
    program, asked = program_of()
    config = {"n": 8}
    program.fast(launch(config))
    assert told(program, launch(config, facts={"heads": 2, "kind": None})).settings["page"] == 8
    assert len(asked.asked) == 3  # once kept, then by the compiled rules and by the interpreter


@pytest.mark.parametrize(
    "second",
    [
        {"do": [{"when": "hw.major == 9", "fact": {"kind": 1}}]},
        {"do": [{"fact": {"kind": 1}}, {"warn": "w"}]},
        {"do": [{"fact": {"kind": 1}}, {"when": "wide", "refuse": "r"}]},
        {"do": [{"fact": {"kind": 1}}, {"set": {"wide": True}}]},
        {"do": [{"fact": {"kind": "=user_set('wide')"}}]},
        {"do": [{"fact": {"kind": '=draft.hf.get("n")'}}]},
    ],
)
def test_a_step_that_does_more_than_tell_facts_of_the_checkpoint_does_not_lead(second):
    program, asked = program_of({"do": []}, use=second, last=TELL)
    config = {"n": 8}
    for _ in range(2):
        told(program, launch(config, hw={"major": 9}, draft={"n": 1}))
    assert asked.asked == [8, 8, 8, 8]  # by the compiled rules and by the interpreter, each time


def test_an_unknown_fact_that_nothing_reads_needs_no_interpreter():
    program, _ = program_of({"do": [{"fact": {"heads": '=hf.get("n")', "kind": '=hf.get("m")'}}]})
    for _ in range(2):
        run = told(program, launch({"n": 8}, unknown=["m"]))
        assert run.settings["page"] == 8
        assert run.facts["kind"] == Unknown(frozenset({"config.m"}))
        assert not run.exact


def test_an_unknown_fact_that_is_told_later_is_known():
    late = {"do": [{"when": "page == 8", "fact": {"kind": 3}}]}
    program, _ = program_of({"do": [{"fact": {"heads": '=hf.get("n")', "kind": '=hf.get("m")'}}]}, late=late)
    run = program.fast(launch({"n": 8}, unknown=["m"]))
    assert run.facts["kind"] == 3
    assert program.interpret(launch({"n": 8}, unknown=["m"])).facts == run.facts


def test_a_leading_statement_that_cannot_be_decided_is_said_by_every_launch():
    program, _ = program_of({"do": [{"when": 'hf.get("m")', "fact": {"kind": 1}}, {"fact": {"heads": '=hf.get("n")'}}]})
    config = {"n": 8}
    for _ in range(2):
        run = told(program, launch(config, unknown=["m"]))
        assert run.undetermined == [(0, frozenset({"config.m"}))]


def test_checkpoints_beyond_those_kept_are_told_right():
    program, asked = program_of()
    configs = [{"n": number} for number in range(1, 100)]
    for _ in range(2):
        assert [program.fast(launch(config)).settings["page"] for config in configs] == list(range(1, 100))
    assert len(asked.asked) > 99
