"""What each form does, on small rules: the compiled run and the interpreted one, which must agree."""

from __future__ import annotations

import types

import pytest

from archcap.errors import ArchcapError, DataError
from archcap.rules import compile_release, load_program, source_of_release
from archcap.rules.run import KIND, NAME, STATEMENT, Kind, Reference
from tests.rules.toy import inputs, registry, vocabulary

SETTINGS = {
    "page": {"type": "int", "optional": True},
    "ranks": {"type": "int", "default": 1},
    "mode": {"type": "str", "default": "auto", "sentinel": "auto"},
    "fast": {"type": "bool", "default": False},
    "graph": {"type": "struct", "fields": ["a.x", "a.y", "z"]},
    "tags": {"type": "list", "item": "str"},
}
RAW = {"page": None, "ranks": 2, "mode": "auto", "fast": False, "graph": {"a": {"x": 1, "y": 2}, "z": 3}, "tags": []}
NAMES = {
    "facts": {"heads": {"type": "int", "meaning": "m"}, "kind": {"type": "str", "meaning": "m", "optional": True}},
    "vars": {
        "tree": {"type": "int", "meaning": "m", "default": 7},
        "seen": {"type": "list", "meaning": "m", "default": []},
    },
    "assumptions": {"kit": {"type": "bool", "says": "s"}, "lib": {"type": "bool", "says": "s"}},
    "env": {"CACHE": {"type": "int", "default": 4}, "MODE": {"type": "str"}},
    "lists": {
        "toys": {"kind": "architecture", "source": "a:b", "names": {}},
        "kinds": {"kind": "model_type", "source": "a:b", "names": {}},
    },
}
GIVEN = {
    "user": ["ranks"], "hw": {"major": 9, "platform": "cuda"}, "assume": {"kit": True, "lib": False},
    "env_set": ["MODE"], "env": {"MODE": "m"}, "config": {"n": 8, "model_type": "river", "sub": {"k": None}},
    "capabilities": ["fly"], "lists": {"toys": frozenset(["Toy"]), "kinds": frozenset(["river"])}, "profile": "stone",
    "draft": {"n": 1}, "draft_architecture": "Draft", "draft_capabilities": frozenset(["swim"]),
}  # fmt: skip


def double(value):
    return value * 2


def engine(rules, release="1.0", **more):
    data = rules if isinstance(rules, dict) else {"steps": {"one": {"do": rules}}}
    return registry(data, settings=SETTINGS, **NAMES, **more)


def program_of(rules, release="1.0", **more):
    return compile_release(engine(rules, **more), vocabulary("fly", "swim"), release, {"double": double})


def run(rules, release="1.0", raw=None, **given):
    program = program_of(rules, release)
    launch = inputs({**RAW, **(raw or {})}, **{**GIVEN, **given})
    result = program.fast(launch)
    assert program.interpret(launch) == result
    return program, result


def ids(program, result, kind):
    return [program.statements[event[STATEMENT]].id for event in result.trace if event[KIND] is kind]


def changed(result):
    return {name: value for name, value in result.settings.items() if value != RAW[name]}


WRITES = [
    # literals and expressions
    ([{"set": {"page": 64, "mode": "x"}}], {"page": 64, "mode": "x"}),
    ([{"set": {"page": "=ranks * 8"}}], {"page": 16}),
    ([{"set": {"mode": "='=x'"}}], {"mode": "=x"}),
    ([{"set": {"tags": ["a"]}}], {"tags": ["a"]}),
    ([{"set": {"tags": "=('a', mode)"}}], {"tags": ["a", "auto"]}),
    ([{"set": {"tags": "={'b', 'a'}"}}], {"tags": ["a", "b"]}),
    # all expressions are read before anything is written
    ([{"set": {"page": "=ranks", "ranks": "=page"}}], {"page": 2, "ranks": None}),
    ([{"let": {"p": "=ranks"}, "set": {"ranks": 5, "page": "=p + ranks"}}], {"ranks": 5, "page": 4}),
    # default
    ([{"default": {"page": 16, "ranks": 9, "mode": "tree"}}], {"page": 16, "mode": "tree"}),
    ([{"set": {"mode": "flat"}}, {"default": {"mode": "tree"}}], {"mode": "flat"}),
    ([{"default": {"graph.z": 9}}], {}),
    ([{"set": {"graph.z": None}}, {"default": {"graph.z": 9}}], {"graph": {"a": {"x": 1, "y": 2}, "z": 9}}),
    # leaves
    ([{"set": {"graph.a.x": 5}}], {"graph": {"a": {"x": 5, "y": 2}, "z": 3}}),
    ([{"set": {"page": "=graph.a.x + graph.z"}}], {"page": 4}),
    ([{"set": {"mode": "=str(setting('graph.a.y'))"}}], {"mode": "2"}),
    # guards
    ([{"when": "fast", "set": {"page": 1}}], {}),
    ([{"when": True, "set": {"page": 1}}], {"page": 1}),
    ([{"when": False, "set": {"page": 1}}], {}),
    ([{"when": "ranks > 1", "do": [{"set": {"page": 1}}, {"when": "page == 1", "set": {"mode": "x"}}]}],
     {"page": 1, "mode": "x"}),
    # a branch's writes do not re-trigger the tests
    ([{"first": [{"when": "ranks == 2", "set": {"ranks": 3}}, {"when": "ranks == 3", "set": {"ranks": 4}}]}],
     {"ranks": 3}),
    ([{"first": [{"when": "fast", "set": {"page": 1}}, {"else": [{"set": {"page": 2}}]}]}], {"page": 2}),
    ([{"first": [{"when": "fast", "set": {"page": 1}}]}], {}),
    ([{"first": [{"when": "ranks == 2", "do": []}, {"else": [{"set": {"page": 2}}]}]}], {}),
    # let
    ([{"let": {"p": 1}}, {"let": {"p": "=p + 1"}}, {"set": {"page": "=p"}}], {"page": 2}),
    ([{"let": {"p": 3, "q": "=p * 2"}}, {"when": "q == 6", "let": {"p": 9}}, {"set": {"page": "=p"}}], {"page": 9}),
    # each
    ([{"each": {"k": ["page", "ranks"]}, "when": "setting(k) is None", "set": {"{k}": 1}}], {"page": 1}),
    ([{"each": {"k": ["x", "y"], "n": [5, 6]}, "set": {"graph.a.{k}": "=n"}}],
     {"graph": {"a": {"x": 6, "y": 6}, "z": 3}}),
    ([{"each": {"k": ["x"]}, "set": {"mode": "a_{k}"}}], {"mode": "a_x"}),
    ([{"each": {"k": ["x"]}, "do": [{"set": {"graph.a.{k}": 0}}]}], {"graph": {"a": {"x": 0, "y": 2}, "z": 3}}),
    # names
    ([{"set": {"page": "=hf.get('n') + text.get('n') + hf.get('m', 5)"}}], {"page": 21}),
    ([{"set": {"tags": "=[hf.get('sub.k', 'x'), hf.get('sub.j', 'x'), hf.get('n.j', 'x')]"}}],
     {"tags": [None, "x", "x"]}),
    ([{"set": {"tags": "=[hf.has('sub.k'), hf.has('sub.j'), hf.has('n')]"}}], {"tags": [True, False, True]}),
    ([{"set": {"tags": "=[has('fly'), has('swim'), draft.has('fly'), draft.has('swim')]"}}],
     {"tags": [True, False, False, True]}),
    ([{"set": {"tags": "=[in_list('toys'), draft.in_list('toys'), in_list('kinds'), in_list('kinds', 'x')]"}}],
     {"tags": [True, False, True, False]}),
    ([{"set": {"tags": "=[user_set('ranks'), user_set('page'), env_set('MODE'), env_set('CACHE')]"}}],
     {"tags": [True, False, True, False]}),
    ([{"set": {"tags": "=[env('MODE'), env('CACHE'), profile, hw.platform, draft.hf.get('n'), assume.kit]"}}],
     {"tags": ["m", 4, "stone", "cuda", 1, True]}),
    ([{"set": {"ranks": 9}}, {"set": {"page": "=raw('ranks')"}}], {"ranks": 9, "page": 2}),
    ([{"set": {"page": "=double(ranks)"}}], {"page": 4}),
    ([{"set": {"page": "=len(k for k in [1, 2, 3] if k > 1)"}}], {"page": 2}),
    ([{"set": {"page": "=max(k * 2 for k in [1, 2])"}}], {"page": 4}),
]  # fmt: skip


@pytest.mark.parametrize(("rules", "expected"), WRITES, ids=[str(row[0])[:70] for row in WRITES])
def test_what_statements_write(rules, expected):
    assert changed(run(rules)[1]) == expected


def test_a_run_leaves_what_it_was_given_alone():
    program = program_of([{"set": {"graph.a.x": 9, "tags": "=tags + ['a']"}}])
    launch = inputs(RAW, **GIVEN)
    before = repr(launch)
    assert program.fast(launch).settings["graph"]["a"] == {"x": 9, "y": 2}
    assert repr(launch) == before


def test_two_runs_share_no_written_list():
    program = program_of([{"set": {"tags": ["a"]}, "var": {"seen": ["b"]}}])
    first, second = (program.fast(inputs(RAW, **GIVEN)) for _ in range(2))
    assert first.settings["tags"] is not second.settings["tags"]
    assert first.vars["seen"] is not second.vars["seen"]


def test_vars_facts_and_env_are_written_and_traced():
    rules = [
        {"var": {"tree": "=var.tree * 2"}},
        {"fact": {"heads": "=hf.get('n')"}},
        {"env": {"CACHE": 8, "if_unset": True}},
        {"env": {"MODE": "x", "CACHE": 9, "if_unset": True}},
        {"when": "env_set('CACHE') and env('CACHE') == 8", "set": {"page": "=fact.heads + var.tree"}},
        {"env": {"MODE": "y"}},
    ]
    _program, result = run(rules)
    assert (result.vars["tree"], result.facts, result.env) == (14, {"heads": 8}, {"CACHE": 8, "MODE": "y"})
    assert result.settings["page"] == 22
    assert [(event[KIND], event[NAME]) for event in result.trace] == [
        (Kind.VAR, "tree"), (Kind.FACT, "heads"), (Kind.ENV, "CACHE"), (Kind.SET, "page"), (Kind.ENV, "MODE"),
    ]  # fmt: skip
    assert all(type(event) is tuple and type(event[KIND]) is Kind for event in result.trace)


def test_a_refusal_ends_the_run_and_shows_its_values():
    rules = {
        "steps": {
            "one": {"do": [
                {"set": {"page": 1}},
                {"id": "one.no", "require": "ranks == 1", "because": "{ranks} ranks on {hw.platform}, {graph.a.x}."},
                {"set": {"page": 2}},
            ]},
            "two": {"do": [{"set": {"page": 3}}]},
        }
    }  # fmt: skip
    program, result = run(rules)
    assert (program.statements[result.refused].id, result.raised, result.settings["page"]) == ("one.no", None, 1)
    assert result.trace[-1] == (Kind.REFUSED, result.refused, "", {"ranks": 2, "hw.platform": "cuda", "graph.a.x": 1})
    assert program.statements[result.refused].severity == "error"


def test_a_reason_follows_its_refusal():
    program = program_of(
        [{"when": "fast", "refuse": "It stops.", "because": "It is {ranks}."}, {"refuse": "a", "because": "b"}]
    )
    assert [info.text for info in program.statements] == ["It stops. It is {ranks}.", "a: b"]


@pytest.mark.parametrize(
    ("key", "severity"), [("unsafe", "unsafe"), ("silent", "silent"), ("warn", "warning"), ("info", "info")]
)
def test_a_finding_stops_nothing(key, severity):
    program, result = run([{"id": "f", key: "{page} {tree} {var.tree}", "let": {"tree": 1}}, {"set": {"page": 1}}])
    assert program.statements[0].severity == severity
    assert result.trace[0] == (Kind.FINDING, 0, "", {"page": None, "tree": 1, "var.tree": 7})
    assert result.settings["page"] == 1


RAISES = [
    ("page + 1 == 2", "TypeError: unsupported operand type(s) for +: 'NoneType' and 'int'"),
    ("page < 1", "TypeError: '<' not supported between instances of 'NoneType' and 'int'"),
    ("ranks // (ranks - 2) == 1", "ZeroDivisionError: integer division or modulo by zero"),
    ("int(mode) == 1", "ValueError: invalid literal for int() with base 10: 'auto'"),
    ("tags[0] == 'x'", "IndexError: list index out of range"),
    ("{'a': 1}['b'] == 1", "KeyError: 'b'"),
    ("upper(hf.get('n')) == ''", "TypeError: descriptor 'upper' for 'str' objects doesn't apply to a 'int' object"),
    ("hf.get('sub').lower() == ''", "AttributeError: 'dict' object has no attribute 'lower'"),
    ("max([]) == 1", "ValueError: max() arg is an empty sequence"),
    ("'a' in ranks", "TypeError: argument of type 'int' is not iterable"),
    ("tags in {1}", "TypeError: unhashable type: 'list'"),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "says"), RAISES, ids=[row[0] for row in RAISES])
@pytest.mark.parametrize("shape", ["when", "require", "set", "branch", "let", "define", "called", "isolated"])
def test_an_exception_of_the_engine_is_a_refusal_at_its_statement(expression, says, shape):
    bad = {
        "when": {"id": "bad", "when": expression, "set": {"page": 1}},
        "require": {"id": "bad", "require": expression, "because": "{page}"},
        "set": {"id": "bad", "set": {"fast": f"={expression}"}},
        "branch": {"first": [{"when": "fast", "do": []}, {"id": "bad", "when": expression, "do": []}]},
        "let": {"id": "bad", "let": {"p": f"={expression}"}},
        "define": {"id": "bad", "when": "broken", "do": []},
        "called": {"call": "two"},
        "isolated": {"call": "three"},
    }[shape]
    steps = {
        "one": {"do": [{"info": "x"}, {"when": "ranks == 2", "do": [{"info": "y"}, bad]}, {"info": "z"}]},
        "two": {"do": [{"id": "bad" if shape == "called" else "unused", "when": expression, "do": []}]},
        "three": {"isolation": "entry", "do": [
            {"set": {"mode": "x"}},
            {"id": "bad" if shape == "isolated" else "other", "set": {"fast": f"={expression}"}},
        ]},
    }  # fmt: skip
    broken = {"cases": [{"when": "fast", "value": 1}, {"when": expression, "value": 2}, {"else": 3}]}
    program, result = run({"define": {"broken": broken}, "steps": steps, "pipeline": ["one"]})
    assert (program.statements[result.refused].id, result.raised) == ("bad", says)
    assert result.trace[-1] == (Kind.REFUSED, result.refused, "", {})
    assert [event[KIND] for event in result.trace[:-1]] == [Kind.FINDING, Kind.FINDING]


@pytest.mark.parametrize(
    ("graph", "says"),
    [(None, "'NoneType' object has no attribute 'a'"), ("x", "'str' object has no attribute 'a'"),
     ({"a": None}, "'NoneType' object has no attribute 'x'"), ({}, "'NoneType' object has no attribute 'x'")],
)  # fmt: skip
def test_a_leaf_of_nothing_raises_as_an_attribute_would(graph, says):
    for rules in ([{"when": "graph.a.x == 1", "do": []}], [{"set": {"graph.a.x": 1}}]):
        assert run(rules, raw={"graph": graph})[1].raised == f"AttributeError: {says}"


def test_a_leaf_that_is_not_there_is_none_and_fills_a_message_as_none():
    _program, result = run([{"when": "graph.z is None", "info": "{graph.z} {graph.a.x}"}], raw={"graph": {}})
    assert result.trace == [(Kind.FINDING, 0, "", {"graph.z": None, "graph.a.x": None})]


def flow(pipeline, **bodies):
    steps = {name: {"stage": stage, "do": [*body, {"var": {"seen": f"=var.seen + ['{name}']"}}]}
             for name, (stage, body) in bodies.items()}  # fmt: skip
    return run({"steps": steps, "pipeline": pipeline})[1].vars["seen"]


def test_return_leaves_the_step_only():
    assert flow(["a", "b"], a=("resolve", [{"when": "ranks == 2", "return": True}]), b=("resolve", [])) == ["b"]


def test_return_leaves_a_called_step_for_its_caller():
    called = ("resolve", [{"when": "ranks == 2", "return": True}])
    assert flow(["a"], a=("resolve", [{"call": "b"}]), b=called) == ["a"]


def test_stop_pipeline_ends_everything():
    stops = ("resolve", [{"when": "ranks == 2", "stop": "pipeline"}])
    assert flow(["a", "b", "c"], a=("parse", []), b=stops, c=("init", [])) == ["a"]


def test_stop_stage_goes_on_with_the_next_stage():
    stops = ("resolve", [{"when": "ranks == 2", "stop": "stage"}])
    bodies = {"a": ("resolve", []), "b": stops, "c": ("resolve", []), "d": ("init", []), "e": ("resolve", [])}
    assert flow(list("abcde"), **bodies) == ["a", "d"]


def test_a_called_step_stops_for_its_caller():
    stops = ("init", [{"when": "ranks == 2", "stop": "stage"}])
    assert flow(["a", "c", "d"], a=("resolve", [{"call": "b"}]), b=stops, c=("resolve", []), d=("init", [])) == ["d"]


def test_an_isolated_step_reads_its_entry_and_writes_at_its_end():
    body = [
        {"set": {"page": 5, "graph.a.x": 9}, "var": {"tree": 1}},
        {
            "when": "page is None and graph.a.x == 1 and var.tree == 7",
            "set": {"ranks": "=own('page') + own('graph.a.x')"},
        },
        {"set": {"mode": "=str(own('var.tree'))", "graph.a.y": "=own('ranks')"}},
        {"default": {"page": 6}},
        {"when": "fast is False", "return": True},
        {"set": {"page": 7}},
    ]
    steps = {"one": {"isolation": "entry", "do": body}, "two": {"do": [{"when": "page == 6", "set": {"fast": True}}]}}
    _program, result = run({"steps": steps, "pipeline": ["one", "two"]})
    expected = {"page": 6, "ranks": 14, "mode": "1", "graph": {"a": {"x": 9, "y": 14}, "z": 3}, "fast": True}
    assert changed(result) == expected
    assert result.vars["tree"] == 1
    returned = next(at for at, event in enumerate(result.trace) if event[KIND] is Kind.RETURN)
    assert {event[KIND] for event in result.trace[returned + 1 :]} == {Kind.SET, Kind.VAR}


def test_env_and_facts_are_live_in_an_isolated_step():
    body = [{"fact": {"heads": 3}, "env": {"CACHE": 6}}, {"set": {"page": "=fact.heads + env('CACHE')"}}]
    assert run({"steps": {"one": {"isolation": "entry", "do": body}}})[1].settings["page"] == 9


def test_what_an_isolated_step_calls_sees_the_entry_and_joins_what_is_pending():
    steps = {
        "one": {"isolation": "entry", "do": [
            {"set": {"page": 5, "graph.a.x": 9}},
            {"call": "two"},
            {"when": "page is None", "set": {"mode": "=str(own('page'))", "tags": "=[own('ranks')]"}},
        ]},
        "two": {"do": [
            {"when": "page is None", "set": {"page": 8, "graph.z": 0}},
            {"when": "page == 8", "set": {"ranks": 6}, "info": "{page}"},
        ]},
    }  # fmt: skip
    _program, result = run({"steps": steps, "pipeline": ["one"]})
    graph = {"a": {"x": 9, "y": 2}, "z": 0}
    assert changed(result) == {"page": 8, "graph": graph, "ranks": 6, "mode": "8", "tags": [6]}
    assert result.trace[0][KIND] is Kind.FINDING


def test_a_refusal_in_an_isolated_step_drops_what_is_pending():
    steps = {"one": {"isolation": "entry", "do": [{"set": {"page": 5}}, {"call": "two"}]},
             "two": {"do": [{"set": {"ranks": 9}}, {"warn": "w"}, {"refuse": "r"}]}}  # fmt: skip
    _program, result = run({"steps": steps, "pipeline": ["one"]})
    assert changed(result) == {}
    assert [event[KIND] for event in result.trace] == [Kind.FINDING, Kind.REFUSED]


def test_definitions_take_parameters_and_hide_locals():
    define = {
        "half": {"params": ["n"], "cases": [{"when": "n is None", "value": None}, {"else": "=n // 2"}]},
        "both": {"params": ["n", "m"], "expr": "half(n) + half(m)"},
        "plain": "ranks > 1",
        "table": {
            "cases": [{"when": "page is None", "value": {"k": [1]}}, {"when": "plain", "value": "x"}, {"else": 0}]
        },
    }
    rules = [
        {"let": {"n": 100}},
        {"when": "plain", "set": {"page": "=both(8, n)"}},
        {"set": {"tags": "=[half(None), table]"}},
    ]
    assert changed(run({"define": define, "steps": {"one": {"do": rules}}})[1]) == {"page": 54, "tags": [None, "x"]}


RELEASED = {
    "define": {"old": [{"releases": "<1.1", "expr": "1"}, {"releases": ">=1.1", "expr": "2"}]},
    "steps": {
        "one": {"do": [
            {"releases": "<1.1", "info": "a"},
            {"releases": ">=1.1,<2.0", "do": [{"info": "b"}, {"releases": ">=1.2", "info": "c"}]},
            {"set": {"page": "=old"}},
            {"call": "two"},
        ], "source": {"1.0": "a.py:f", "1.2": "b.py:g"}},
        "two": {"releases": ">=2.0", "do": [{"set": {"ranks": 9}}]},
        "three": {"do": [{"set": {"fast": True}}]},
    },
    "pipeline": ["one", {"step": "three", "releases": "<1.1"}, {"step": "two", "releases": "<1.1"}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("release", "statements", "settings", "source"),
    [
        ("1.0", ["one.1", "one.5", "one.6", "three.1"], {"page": 1, "fast": True}, "a.py:f"),
        ("1.1", ["one.2", "one.3", "one.5", "one.6"], {"page": 2}, "a.py:f"),
        ("1.2", ["one.2", "one.3", "one.4", "one.5", "one.6"], {"page": 2}, "b.py:g"),
        ("2.0", ["one.5", "one.6", "two.1"], {"page": 2, "ranks": 9}, "b.py:g"),
    ],
)
def test_a_release_has_its_statements_under_stable_ids(release, statements, settings, source):
    program, result = run(RELEASED, release)
    assert [info.id for info in program.statements] == statements
    assert [info.index for info in program.statements] == list(range(len(statements)))
    assert changed(result) == settings
    assert program.statements[0].source == source
    assert program.release == release


def test_ids_of_unrolled_statements_differ():
    rules = [{"each": {"k": ["page", "ranks"]}, "set": {"{k}": 1}},
             {"each": {"k": ["a", "b"]}, "id": "x.{k}", "info": "{k}"},
             {"each": {"k": ["a"]}, "do": [{"id": "y", "info": "{k}"}]}]  # fmt: skip
    program = program_of(rules)
    assert [info.id for info in program.statements] == ["one.1:page", "one.1:ranks", "x.a", "x.b", "one.3:a", "y:a"]
    assert [info.text for info in program.statements[2:4]] == ["a", "b"]


def test_stage_source_and_evidence_are_inherited():
    rules = {"steps": {"one": {"stage": "init", "source": "a:b", "do": [
        {"info": "x"},
        {"stage": "request", "source": "c:d", "evidence": "report", "when": "fast", "do": [
            {"info": "y"}, {"evidence": "verified", "source": {"9.0": "e:f"}, "stage": "load", "info": "z"}]},
    ]}}}  # fmt: skip
    infos = program_of(rules).statements
    assert [(info.stage, info.source, info.evidence) for info in infos if info.text] == [
        ("init", "a:b", "source"), ("request", "c:d", "report"), ("load", "c:d", "verified"),
    ]  # fmt: skip


def test_guards_reads_writes_and_returns_tell_what_a_statement_depends_on():
    rules = {"define": {"big": "ranks > var.tree"}, "steps": {"one": {"do": [
        {"when": "fast", "return": True},
        {"let": {"p": "=hf.get('n')"}},
        {"when": "big", "let": {"p": "=fact.heads"}},
        {"when": "has('fly')", "do": [
            {"first": [
                {"when": "in_list('toys')", "return": True},
                {"id": "it", "when": "p > 1", "require": "assume.kit", "because": "b",
                 "set": {"page": "=env('CACHE') + raw('ranks')", "graph.a.x": "=graph.z"}, "var": {"tree": 1}},
            ]},
        ]},
    ]}}}  # fmt: skip
    program = program_of(rules)
    it = next(info for info in program.statements if info.id == "it")
    assert [(program.expressions[guard.expr], guard.wanted) for guard in it.guards] == [
        ("has('fly')", True), ("in_list('toys')", False), ("p > 1", True), ("assume.kit", False),
    ]  # fmt: skip
    assert set(it.guards[2].reads) == {
        Reference("config", "hf:n"), Reference("fact", "heads"), Reference("setting", "ranks"),
        Reference("var", "tree"),
    }  # fmt: skip
    assert [tuple(guard.reads) for guard in it.guards[:2]] == [(Reference("has", "fly"),), (Reference("list", "toys"),)]
    assert it.reads == (Reference("env", "CACHE"), Reference("user_set", "ranks"), Reference("setting", "graph.z"))
    assert it.writes == (Reference("setting", "page"), Reference("setting", "graph.a.x"), Reference("var", "tree"))
    assert [program.statements[index].id for index in it.returns_before] == ["one.1"]
    writers = {name: [program.statements[at].id for at in indices] for name, indices in program.writers.items()}
    assert writers == {key: ["it"] for key in ["graph", "graph.a", "graph.a.x", "page", "var.tree"]}


def test_a_write_to_the_whole_writes_its_leaves():
    program = program_of(
        [{"set": {"graph": {"a": {}}}}, {"set": {"graph.a.x": 1}}, {"alias": True, "set": {"graph.z": 1}}]
    )
    assert program.writers["graph"] == (0, 1, 2)
    assert program.writers["graph.a.x"] == (0, 1)
    assert program.writers["graph.a.y"] == (0,)
    assert [info.alias for info in program.statements] == [False, False, True]


def test_assumptions_read_are_listed_once_in_order():
    rules = [{"when": "assume.lib or assume.kit", "info": "{assume.lib}"}, {"when": "fast and assume.kit", "do": []}]
    assert run(rules)[1].assumptions_read == ["lib", "kit"]
    assert run([{"when": "assume.kit or assume.lib", "do": []}])[1].assumptions_read == ["kit"]


def test_a_loaded_module_is_the_compiled_program():
    reg, functions = engine(RELEASED), {"double": double}
    text = source_of_release(reg, vocabulary("fly", "swim"), "1.2", functions)
    assert text == source_of_release(reg, vocabulary("fly", "swim"), "1.2", dict(functions))
    module = types.ModuleType("built")
    exec(compile(text, "/anywhere/built.py", "exec"), vars(module))
    loaded, compiled = load_program(module, functions), program_of(RELEASED, "1.2")
    for name in ("release", "digest", "statements", "expressions", "writers"):
        assert getattr(loaded, name) == getattr(compiled, name)
    launch = inputs(RAW, **GIVEN)
    assert loaded.fast(launch) == compiled.fast(launch) == loaded.interpret(launch)
    broken = source_of_release(engine([{"id": "b", "when": "page + 1 == 1", "do": []}]), vocabulary(), "1.0", ())
    module = types.ModuleType("broken")
    exec(compile(broken, "/anywhere/broken.py", "exec"), vars(module))
    assert load_program(module, {}).fast(launch).refused == 0


def test_a_module_of_another_version_is_refused():
    module = types.ModuleType("old")
    with pytest.raises(ArchcapError, match="another version") as caught:
        load_program(module, {})
    assert caught.value.code == "stale-rules"


def test_every_problem_of_a_release_is_told_at_once():
    with pytest.raises(DataError) as caught:
        program_of([{"when": "aaa", "set": {"bbb": 1}}, {"call": "ccc"}])
    assert [p.message for p in caught.value.problems] == [
        "unknown name `aaa`",
        "unknown setting `bbb`",
        "unknown step `ccc`",
    ]


def test_an_unknown_release_is_misuse():
    with pytest.raises(ArchcapError) as caught:
        program_of([{"info": "x"}], "3.0")
    assert caught.value.code == "unknown-release"


def test_missing_settings_and_functions_are_the_callers_fault():
    program = program_of([{"set": {"page": "=double(ranks)"}}])
    with pytest.raises(ArchcapError, match="settings that were not given: ranks"):
        program.fast(inputs({"page": 1}, **GIVEN))
    with pytest.raises(ArchcapError, match="functions that were not given: double"):
        program.fast(inputs(RAW, **GIVEN, functions={"other": double}))


def test_each_values_cannot_break_out_of_the_generated_text():
    evil = 'x"""\nimport os\nraise SystemExit(9)\n#'
    rules = [{"each": {"k": [evil, "'; raise SystemExit(9)"]}, "when": "mode == k", "set": {"mode": "=k"}}]
    program, result = run(rules, raw={"mode": evil})
    assert (result.settings["mode"], len(result.trace)) == (evil, 1)
    assert "import" in program.statements[0].id


def test_the_generated_text_can_be_read():
    text = source_of_release(engine([{"when": "fast", "set": {"page": "=ranks * 2"}}]), vocabulary(), "1.0", ())
    assert "    # S[0] fast, S[1] page, S[2] ranks\n" in text
    assert "    # one.1\n    if S[0]:\n        v1 = S[2] * 2\n        S[1] = v1\n" in text
    assert text.startswith('"""Rules of toy 1.0, generated: do not edit."""')


def test_the_deepest_rules_that_are_allowed_run():
    steps = {}
    for number in range(12):
        block = [{"call": f"s{number + 1}"} if number < 11 else {"set": {"page": "=" + "-" * 36 + "d0"}}]
        for _ in range(9):
            block = [{"when": "ranks == 2", "do": block}]
        steps[f"s{number}"] = {"do": block}
    define = {f"d{n}": f"{'-' * 36}d{n + 1}" for n in range(19)} | {"d19": "ranks"}
    program, result = run({"define": define, "steps": steps, "pipeline": ["s0"]})
    assert result.settings["page"] == 2
    assert program.interpret(inputs(RAW, **{**GIVEN, "hw": {}})).settings["page"] == 2
