"""What is settled, and what is left open with its needs, where something is not known."""

from __future__ import annotations

import pytest

from archcap.rules import compile_release, condition
from archcap.rules.run import KIND, VALUE, ConfigView, Kind, NeedsInterpreter, PeerRun, Reference, Unknown
from tests.rules.test_run import GIVEN, RAW, double, engine, program_of
from tests.rules.toy import compiled_run, inputs, vocabulary

HW = frozenset({"hardware"})
CONFIG = frozenset({"config"})
NO_HW = {"hw": {}}
NO_CONFIG = {"config": None}


def part(rules, raw=None, **given):
    """Return the program and what it does; the compiled rules must pass it on wherever they read something unknown."""
    program = rules if not isinstance(rules, list | dict) else program_of(rules)
    launch = inputs({**RAW, **(raw or {})}, **{**GIVEN, **given})
    return program, program.interpret(launch)


def open_ids(program, result):
    return {program.statements[index].id: set(needs) for index, needs in result.undetermined}


NEEDS = [
    ("hw.major == 9", NO_HW, {"hardware"}),
    ("hf.get('n') == 8", NO_CONFIG, {"config"}),
    ("hf.has('n')", NO_CONFIG, {"config"}),
    ("text.get('n', 1) == 8", NO_CONFIG, {"config"}),
    ("hf.get('m') == 8", {"unknown": ["m"]}, {"config.m"}),
    ("hf.get('m.k') == 8", {"unknown": ["m"]}, {"config.m.k"}),
    ("hf.get('sub.j') == 8", {"unknown": ["sub.j"]}, {"config.sub.j"}),
    ("hf.get('sub') == 8", {"unknown": ["sub.j"]}, {"config.sub"}),
    ("hf.has('m')", {"unknown": ["m"]}, {"config.m"}),
    ("draft.hf.get('n') == 1", {"draft": None}, {"draft_config"}),
    ("has('fly')", {"architecture": None}, {"architecture"}),
    ("in_list('toys')", {"architecture": None}, {"architecture"}),
    ("profile == 'stone'", {"architecture": None, "profile": None}, {"architecture"}),
    ("has('fly')", {"unknown_capabilities": {"fly": frozenset({"config.x"})}}, {"config.x"}),
    ("has('fly')", {"unknown_capabilities": {"fly": frozenset()}}, {"capability:fly"}),
    ("draft.has('swim')", {"draft_architecture": None}, {"draft_architecture"}),
    ("draft.in_list('toys')", {"draft_architecture": None}, {"draft_architecture"}),
    ("in_list('kinds')", NO_CONFIG, {"config"}),
    ("fact.heads == 1", {}, {"fact.heads"}),
    ("assume.kit", {"assume": {}}, {"assumption.kit"}),
    ("peer.page == 1", {}, {"peer"}),
    ("peer.page == 1", {"peer": PeerRun({"page": Unknown(CONFIG)}, {}, {})}, {"peer.page"}),
    ("peer and peer.fact.heads == 1", {"peer": PeerRun({}, {}, {})}, {"peer.fact.heads"}),
    ("hw.major == 9 and fact.heads == 1", NO_HW, {"hardware", "fact.heads"}),
]


@pytest.mark.parametrize(("expression", "given", "needs"), NEEDS, ids=[f"{row[0]} {row[1]}" for row in NEEDS])
def test_an_unknown_name_says_what_it_needs(expression, given, needs):
    program = program_of([{"id": "it", "when": expression, "set": {"page": 1}}])
    with pytest.raises(NeedsInterpreter):
        program.fast(inputs(RAW, **{**GIVEN, **given}))
    _, result = part(program, **given)
    assert open_ids(program, result) == {"it": needs}
    assert result.settings["page"] == Unknown(frozenset(needs))
    assert not result.exact
    assert program.run(inputs(RAW, **{**GIVEN, **given})) == result


KNOWN_ANYWAY = [
    ("fast and hw.major == 9", False),
    ("hw.major == 9 and fast", False),
    ("ranks == 2 or hw.major == 9", True),
    ("hw.major == 9 or ranks == 2", True),
    ("not (hw.major == 9 or ranks == 2)", False),
    ("bool(hw.major or ranks)", True),
    ("'x' in (hw.platform, 'x')", True),
    ("(hw.major == 9 if fast else ranks == 2)", True),
    ("(ranks == 2 if hw.major == 9 else ranks > 1)", True),
    ("any(k == 2 or hw.major == k for k in [1, 2])", True),
    ("all(k == 2 and hw.major == k for k in [1, 2])", False),
    ("any(hw.major == k for k in [1] if fast)", False),
    ("1 < ranks < 1 < hw.major", False),
    ("table == 5 or True", True),
    ("table in (1, 2) or ranks == 2", True),
]


@pytest.mark.parametrize(("expression", "truth"), KNOWN_ANYWAY, ids=[row[0] for row in KNOWN_ANYWAY])
def test_logic_is_kleenes(expression, truth):
    table = {"cases": [{"when": "hw.major == 9", "value": 1}, {"else": 2}]}
    rules = {"define": {"table": table}, "steps": {"one": {"do": [{"when": expression, "set": {"page": 1}}]}}}
    _, result = part(rules, **NO_HW)
    assert result.settings["page"] == (1 if truth else None)


OPEN = [
    "hw.major == 9 or fast", "hw.major", "not hw.major", "hw.major == 9 and ranks == 2", "hw.platform in ('x', mode)",
    "mode in ('x', hw.platform)", "(hw.major == 9 if fast is False else True)", "1 < hw.major < 3",
    "hw.major in {1, 2}",
    "any(hw.major == k for k in [1, 2])", "len([hw.major, 1]) == hw.major", "hw.major + 1 == 2", "str(hw.major) == '9'",
    "double(hw.major) == 2", "hw.platform.lower() == 'x'", "[hw.major][0] == 9", "min(hw.major, 1) == 1", "table == 1",
    "max((k for k in [1, 2] if hw.major == k), default=0) == 1", "{'a': hw.major} == {'a': 9}", "-hw.major == 1",
]  # fmt: skip


@pytest.mark.parametrize("expression", OPEN)
def test_what_depends_on_an_unknown_is_unknown(expression):
    table = {"cases": [{"when": "hw.major == 9", "value": 1}, {"else": 2}]}
    rules = {
        "define": {"table": table},
        "steps": {"one": {"do": [{"id": "it", "when": expression, "set": {"page": 1}}]}},
    }
    program, result = part(rules, **NO_HW)
    assert result.settings["page"] == Unknown(HW)
    assert open_ids(program, result) == {"it": {"hardware"}}


def test_equal_values_on_both_ways_stay_known():
    both = [{"when": "hw.major == 9", "set": {"page": 1}}, {"else": [{"set": {"page": 1, "ranks": 3}}]}]
    _, result = part([{"first": both}, {"when": "hw.major == 9", "set": {"mode": "auto", "fast": True}}], **NO_HW)
    assert (result.settings["page"], result.settings["mode"]) == (1, "auto")
    assert (result.settings["ranks"], result.settings["fast"]) == (Unknown(HW), Unknown(HW))


def test_an_equal_value_of_another_type_is_another_value():
    _, result = part([{"set": {"page": 1}}, {"when": "hw.major == 9", "set": {"page": True}}], **NO_HW)
    assert result.settings["page"] == Unknown(HW)


def test_leaves_are_told_apart():
    rules = [{"when": "hw.major == 9", "set": {"graph.a.x": 9}},
             {"when": "graph.z == 3", "set": {"page": "=graph.a.y"}},
             {"set": {"ranks": "=graph.a.x"}}]  # fmt: skip
    _program, result = part(rules, **NO_HW)
    assert (result.settings["page"], result.settings["ranks"]) == (2, Unknown(HW))
    assert result.settings["graph"] == Unknown(HW)


def test_a_way_that_returns_waits_for_the_end_of_its_step():
    steps = {
        "one": {"do": [{"when": "hw.major == 9", "return": True}, {"set": {"page": 1}},
                       {"when": "page == 1", "set": {"mode": "x"}}]},
        "two": {"do": [{"id": "two", "when": "ranks == 2", "set": {"ranks": 5}}]},
    }  # fmt: skip
    program, result = part({"steps": steps}, **NO_HW)
    assert (result.settings["page"], result.settings["mode"], result.settings["ranks"]) == (Unknown(HW), Unknown(HW), 5)
    assert "two" not in open_ids(program, result)


def test_a_way_that_stops_the_pipeline_waits_for_its_end():
    steps = {"one": {"do": [{"when": "hw.major == 9", "stop": "pipeline"}]},
             "two": {"do": [{"id": "no", "when": "ranks == 2", "refuse": "x"}]}}  # fmt: skip
    program, result = part({"steps": steps}, **NO_HW)
    assert (result.refused, open_ids(program, result)) == (None, {"no": {"hardware"}})


def test_a_way_that_stops_its_stage_goes_on_with_the_next():
    steps = {"one": {"do": [{"when": "hw.major == 9", "stop": "stage"}]}, "two": {"do": [{"set": {"page": 1}}]},
             "three": {"stage": "init", "do": [{"id": "no", "when": "ranks == 2", "refuse": "x"}]}}  # fmt: skip
    program, result = part({"steps": steps}, **NO_HW)
    assert program.statements[result.refused].id == "no"
    assert result.settings["page"] == Unknown(HW)


def test_a_refusal_that_may_not_happen_is_undetermined_and_the_run_goes_on():
    rules = [{"id": "no", "when": "hw.major == 9", "refuse": "x"}, {"set": {"page": 1}},
             {"id": "nor", "require": "hf.get('n') == 8", "because": "x"}, {"set": {"ranks": 3}}]  # fmt: skip
    program, result = part(rules, **NO_HW, **NO_CONFIG)
    assert open_ids(program, result) == {"no": {"hardware"}, "nor": {"config"}}
    assert (result.refused, result.settings["page"], result.settings["ranks"]) == (None, 1, 3)


def test_a_sure_refusal_after_an_open_one_is_reported():
    rules = [{"id": "no", "when": "hw.major == 9", "refuse": "x"}, {"id": "yes", "refuse": "{ranks} on {hw.major}"}]
    program, result = part(rules, **NO_HW)
    assert program.statements[result.refused].id == "yes"
    assert result.trace[-1][VALUE] == {"ranks": 2, "hw.major": Unknown(HW)}
    assert open_ids(program, result) == {"no": {"hardware"}}


def test_a_launch_refused_on_every_way_is_refused():
    rules = [{"first": [{"id": "a", "when": "hw.major == 9", "refuse": "x"}, {"else": [{"id": "b", "refuse": "y"}]}]}]
    program, result = part(rules, **NO_HW)
    assert program.statements[result.refused].id == "a"
    assert open_ids(program, result) == {"a": {"hardware"}, "b": {"hardware"}}
    assert result.trace[-1][KIND] is Kind.REFUSED


def test_a_finding_that_may_not_happen_is_undetermined_and_not_found():
    program, result = part(
        [{"id": "f", "when": "hw.major == 9", "unsafe": "x"}, {"id": "g", "unsafe": "{hw.major}"}], **NO_HW
    )
    assert open_ids(program, result) == {"f": {"hardware"}}
    assert [(event[KIND], event[VALUE]) for event in result.trace] == [(Kind.FINDING, {"hw.major": Unknown(HW)})]


def test_an_operation_that_might_raise_on_an_unknown_is_undetermined():
    program, result = part([{"id": "it", "when": "hw.major // 2 == 4 and fast", "info": "x"}], **NO_HW)
    assert open_ids(program, result) == {"it": {"hardware"}}
    program, result = part([{"id": "it", "when": "hw.major == 4 and fast", "info": "x"}], **NO_HW)
    assert open_ids(program, result) == {}


def test_an_exception_on_a_way_that_may_not_be_taken_is_undetermined():
    rules = [{"id": "it", "when": "hw.major == 9", "set": {"page": "=page + 1"}},
             {"id": "that", "when": "hw.major == 9 and page + 1 == 2", "info": "x"}, {"set": {"ranks": 3}}]  # fmt: skip
    program, result = part(rules, **NO_HW)
    assert (result.refused, result.settings["page"], result.settings["ranks"]) == (None, None, 3)
    assert open_ids(program, result) == {"it": {"hardware"}, "that": {"hardware"}}


def test_writing_a_leaf_of_an_unknown_whole_might_raise():
    rules = [{"when": "hw.major == 9", "set": {"graph": None}}, {"id": "it", "set": {"graph.a.x": 1}}]
    program, result = part(rules, **NO_HW)
    assert open_ids(program, result)["it"] == {"hardware"}
    assert result.settings["graph"] == Unknown(HW)


def test_a_default_over_an_unknown_is_unknown():
    rules = [
        {"when": "hw.major == 9", "set": {"page": 5}},
        {"id": "it", "default": {"page": 5, "mode": "x", "ranks": 7}},
    ]
    program, result = part(rules, **NO_HW)
    assert (result.settings["page"], result.settings["mode"], result.settings["ranks"]) == (Unknown(HW), "x", 2)
    assert open_ids(program, result)["it"] == {"hardware"}


def test_environment_that_may_be_set_is_unknown():
    rules = [
        {"when": "hw.major == 9", "env": {"CACHE": 8}},
        {"env": {"CACHE": 9, "if_unset": True}},
        {"set": {"page": "=env('CACHE')", "fast": "=env_set('CACHE')", "mode": "=env('MODE')"}},
    ]
    _, result = part(rules, **NO_HW)
    assert result.env == {"CACHE": Unknown(HW)}
    assert (result.settings["page"], result.settings["fast"], result.settings["mode"]) == (
        Unknown(HW),
        Unknown(HW),
        "m",
    )


def test_a_fact_that_may_be_written_is_unknown_and_one_that_is_not_needs_what_it_declares():
    _, result = part([{"when": "hw.major == 9", "fact": {"heads": 3}}, {"set": {"page": "=fact.heads"}}], **NO_HW)
    assert result.settings["page"] == Unknown(frozenset({"hardware"}))
    assert result.facts == {"heads": Unknown(frozenset({"hardware"}))}


def test_what_an_isolated_step_may_have_written_is_unknown_at_its_end():
    steps = {"one": {"isolation": "entry", "do": [
        {"set": {"page": 1, "graph.z": 0}},
        {"when": "hw.major == 9", "return": True},
        {"set": {"page": 2, "mode": "x"}, "env": {"CACHE": 4}},
        {"when": "own('page') == 2", "set": {"ranks": 6}},
    ]}}  # fmt: skip
    _, result = part({"steps": steps}, **NO_HW)
    assert (result.settings["page"], result.settings["mode"], result.settings["ranks"]) == (Unknown(HW),) * 3
    assert result.settings["graph"] == {"a": {"x": 1, "y": 2}, "z": 0}
    assert result.env == {"CACHE": Unknown(HW)}


def test_the_trace_shows_what_a_split_wrote_as_unknown():
    _program, result = part([{"when": "hw.major == 9", "do": [{"set": {"page": 1}}, {"return": True}]}], **NO_HW)
    assert result.trace == [(Kind.SET, 1, "page", Unknown(HW))]


def test_knowing_more_of_a_launch_never_takes_back_what_was_settled():
    rules = [
        {"when": "hw.major == 9", "set": {"page": 1}},
        {"when": "page == 1", "set": {"mode": "x"}},
        {"set": {"ranks": 4}},
    ]
    program, less = part(rules, **NO_HW)
    _, more = part(program)
    assert {name for name, value in less.settings.items() if isinstance(value, Unknown)} == {"page", "mode"}
    assert all(more.settings[name] == value for name, value in less.settings.items() if not isinstance(value, Unknown))


# -- conditions and their reasons -------------------------------------------------------


class Now:
    """The values in force, as a table of each kind over what the launch gives; *context* is that of a compiled run."""

    def __init__(self, launch, settings=(), vars=(), facts=(), env=(), context=None):
        self.context = context
        self.tables = {
            "setting": {**launch.raw, **dict(settings)},
            "var": dict(vars),
            "fact": {**launch.facts, **dict(facts)},
            "env": {**launch.env, **dict(env)},
        }

    def values(self, kind):
        return self.tables[kind]


def judged(expression, index=0, define=None, **state):
    rules = {"define": define or {}, "steps": {"one": {"do": [{"when": expression, "set": {"page": 1}}]}}}
    program = compile_release(engine(rules), vocabulary("fly", "swim"), "1.0", {"double": double})
    given = {key: state.pop(key) for key in list(state) if key in ("hw", "config", "assume")}
    launch = inputs(RAW, **{**GIVEN, **given})
    moment = Now(launch, **state)
    told = program.judge().evaluate(index, launch, moment), program.judge().reasons(index, launch, moment, None)
    run = compiled_run(program, launch)
    compiled = Now(launch, **state, context=None if run is None else run.context)
    assert (
        program.judge().evaluate(index, launch, compiled),
        program.judge().reasons(index, launch, compiled, None),
    ) == told
    return told


S, V, F = ((lambda key, kind=kind: Reference(kind, key)) for kind in ("setting", "var", "fact"))
REASONS = [
    ("page == 1", {"settings": {"page": 1}}, True, [S("page")]),
    ("page == 1", {}, False, [S("page")]),
    ("fast and ranks == 2", {}, False, [S("fast")]),
    ("ranks == 2 and fast", {}, False, [S("fast")]),
    ("ranks == 2 and not fast", {}, True, [S("ranks"), S("fast")]),
    ("fast or ranks == 2", {}, True, [S("ranks")]),
    ("fast or ranks == 3", {}, False, [S("fast"), S("ranks")]),
    ("(page == 1 if fast else ranks == 2)", {}, True, [S("fast"), S("ranks")]),
    ("var.tree == 7 and fact.heads == 3", {"facts": {"heads": 3}}, True, [V("tree"), F("heads")]),
    ("env('CACHE') == 4", {}, True, [Reference("env", "CACHE")]),
    ("env('CACHE') == 5", {"env": {"CACHE": 5}}, True, [Reference("env", "CACHE")]),
    ("double(ranks) == 4", {}, True, [S("ranks")]),
    ("page + 1 == 2", {}, Unknown, [S("page")]),
    ("hw.major == 9 and fast", {"hw": {}}, False, [S("fast")]),
    ("hw.major == 9 and ranks == 2", {"hw": {}}, Unknown, [Reference("hw", "major"), S("ranks")]),
]


@pytest.mark.parametrize(("expression", "state", "value", "reasons"), REASONS, ids=[f"{r[0]} {r[1]}" for r in REASONS])
def test_a_condition_tells_its_value_and_what_made_it_so(expression, state, value, reasons):
    found, why = judged(expression, **state)
    assert isinstance(found, Unknown) if value is Unknown else found == value
    assert list(why) == reasons


def test_a_definition_gives_the_row_that_was_taken_as_reason():
    table = {"cases": [{"when": "fast", "value": "=page"}, {"when": "ranks == 2", "value": "=mode"}, {"else": "x"}]}
    value, why = judged("table == 'auto'", define={"table": table})
    assert value is True
    assert S("page") not in why
    assert {S("ranks"), S("mode")} <= set(why)


def test_a_condition_on_a_local_name_is_judged_by_what_it_stands_for():
    rules = [{"let": {"p": "=page"}}, {"when": "fast", "let": {"p": "=ranks * 8"}}, {"when": "p == 16", "info": "x"}]
    program = program_of(rules)
    launch = inputs(RAW, **GIVEN)
    at = program.expressions.index("p == 16")
    assert program.judge().evaluate(at, launch, Now(launch)) is False
    assert program.judge().evaluate(at, launch, Now(launch, settings={"fast": True})) is True
    assert program.judge().evaluate(at, launch, Now(launch, settings={"page": 16})) is True


def test_a_branch_before_hides_the_locals_of_one_after():
    first = [{"when": "fast", "let": {"p": 1}}, {"when": "ranks == 2", "let": {"p": 2}}, {"else": [{"let": {"p": 3}}]}]
    program = program_of([{"let": {"p": 0}}, {"first": first}, {"when": "p == 1", "info": "x"}])
    at = program.expressions.index("p == 1")
    launch = inputs(RAW, **GIVEN)
    assert program.judge().evaluate(at, launch, Now(launch, settings={"fast": True})) is True
    assert program.judge().evaluate(at, launch, Now(launch)) is False


@pytest.mark.parametrize(
    ("text", "view", "value"),
    [
        ("hf.get('n', 0) > 1", ConfigView("config", {"n": 2}), True),
        ("hf.get('n', 0) > 1", ConfigView("config", {}), False),
        ("hf.get('n') > 1", ConfigView("config", {}), Unknown(CONFIG)),
        ("hf.get('n') == 1 or True", ConfigView("config", None), True),
        ("hf.get('n') == 1", ConfigView("config", {}, frozenset({"n"})), Unknown(frozenset({"config.n"}))),
    ],
)
def test_conditions_of_support_read_the_configuration(text, view, value):
    launch = inputs({}, config={})
    launch.hf = view
    assert condition(text)(launch) == value
