"""What `check_engine` finds, and what it lets pass. Near misses stand before the hits."""

from __future__ import annotations

import pytest

from archcap.errors import DataError
from archcap.rules import check_engine, compile_release
from tests.rules.toy import registry, vocabulary

SETTINGS = {
    "page_size": {"type": "int", "optional": True},
    "ranks": {"type": "int", "default": 1},
    "mode": {"type": "str", "choices": ["auto", "tree", "flat"], "default": "auto", "sentinel": "auto"},
    "backend": {"type": "str", "optional": True, "choices": ["fa3", "triton"], "open_choices": True},
    "fast": {"type": "bool", "default": False},
    "graph": {"type": "struct", "fields": ["prefill.backend", "prefill.max", "decode.backend"]},
    "tags": {"type": "list", "item": "str", "choices": ["a", "b"]},
    "ratio": {"type": "float", "default": 0.5},
    "late": [{"added": "1.2", "type": "int"}],
    "moved": [{"removed": "1.1", "type": "int"}, {"added": "1.1", "type": "str"}],
    "model_path": {"type": "str"},
}
NAMES = {
    "facts": {
        "mla": {"type": "bool", "meaning": "m"},
        "kind": {"type": "str", "meaning": "m", "optional": True, "choices": ["gdn", "river"]},
        "heads": {"type": "int", "meaning": "m"},
        "model_type": {"type": "str", "meaning": "m", "optional": True},
    },
    "vars": {"tree_page": {"type": "int", "meaning": "m", "default": 1}},
    "assumptions": {"fastkit": {"type": "bool", "says": "s", "default": True}},
    "env": {"TOY_CACHE": {"type": "int", "default": 4}, "TOY_MODE": {"type": "str"}},
    "lists": {
        "toys": {"kind": "architecture", "source": "a:b", "names": {"RiverForCausalLM": [{}]}},
        "kinds": {"kind": "model_type", "source": "a:b", "names": {"river": [{}]}},
        "classes": {"kind": "config_class", "source": "a:b", "names": {"RiverConfig": [{}]}},
    },
    "architectures": {"StoneForCausalLM": {"releases": [{}], "profile": "stone"}},
}
DEFINES = {
    "cuda": "hw.platform == 'cuda'",
    "half": {"params": ["count"], "cases": [{"when": "count is None", "value": 1}, {"else": "=count // 2"}]},
    "newer": [{"releases": ">=1.2", "expr": "late > 1"}],
}


def problems(rules, **more):
    data = {"define": DEFINES, **rules}
    if "steps" not in data:
        data["steps"] = {"one": {"do": data.pop("do")}, "other": {"do": [{"when": "cuda and half(1)", "info": "x"}]}}
    reg = registry(data, settings=SETTINGS, **{**NAMES, **more})
    known = {"platform", "major", "count", "memory_mib"}
    found = check_engine(reg, vocabulary("fly", "swim"), {"layers_of"}, known, {"river/stone-7b"})
    used = "newer" in str(data["steps"])
    return [p for p in found if used or p.path != "define.newer"]


def statement(expression, key="when"):
    return {"do": [{key: expression, **({"info": "x"} if key == "when" else {})}]}


FINE = [
    "page_size is None or page_size > 1", "page_size in (1, None)", "mode == 'tree'", "mode in ('tree', 'flat')",
    "backend == 'a_plug_in'", "graph.prefill.backend == 'x'", "graph.prefill is not None", "'a' in tags",
    "ratio > 1 and ranks // 2 == 1", "fact.kind == 'gdn'", "hf.get('layer_types', []) != []", "'river' in model_path",
    "'river' in (text.get('layer_types') or [])", "hf.get('a.b', 1) == 1", "draft.text.get('n') == 3",
    "has('fly') and not draft.has('swim')", "in_list('toys') or in_list('kinds', fact.model_type)",
    "in_list('classes', hf.get('class'))", "draft.in_list('kinds')", "profile == 'stone'", "user_set('mode')",
    "user_set('graph.prefill.backend')", "raw('ranks') == 1", "setting('ra' + 'nks') == 1", "env('TOY_CACHE') > 1",
    "env_set('TOY_MODE')", "env('TOY_MODE') is None", "assume.fastkit", "var.tree_page * 2 == 4", "hw.major >= 9",
    "hw.platform in ('cuda', 'hip')", "cuda", "half(ranks) == 1", "layers_of(1, 2)[0] == 1", "len(tags) > 1",
    "any(tag == 'a' for tag in tags if tag)", "all(n > 1 for n in [ranks, 2])", "sum(n for n in (1, 2)) == ranks",
    "max(ranks, 1) > min((n for n in [1]), default=0)", "sorted(tags, reverse=True)[:2] == ['a']",
    "upper(str(backend)) == 'X'", "mode.startswith(('t', 'f'))", "mode.split('_')[0].lower() == 'x'",
    "not -ranks < +1 <= 3", "('a' if fast else 'b') == 'a'", "{1, ranks} | {2} == {1, 2}", "{'k': ranks}['k'] == 1",
    "{'a': 1}.get('a', 2) == 1", "peer and peer.page_size == page_size", "peer.mode == 'tree'",
    "peer.fact.kind == fact.kind", "peer.var.tree_page > 1", "peer.graph.prefill.backend == 'x'", "fast == True",
    "round(ratio, 2) + ceil(ratio) + abs(-1) == 1", "bool(ranks)",
]  # fmt: skip


@pytest.mark.parametrize("expression", FINE)
def test_sound_expressions_pass(expression):
    assert problems(statement(expression)) == []


WRONG = [
    # names
    ("page_sise > 1", "unknown name `page_sise`", "page_size"),
    ("fact.mlaa", "unknown fact `mlaa`", "mla"),
    ("var.treepage == 1", "unknown variable `treepage`", "tree_page"),
    ("hw.platfrom == 'cuda'", "unknown hardware field `platfrom`", "platform"),
    ("assume.fastkitt", "unknown assumption `fastkitt`", "fastkit"),
    ("env('TOY_CASH') == 1", "unknown environment variable `TOY_CASH`", "TOY_CACHE"),
    ("has('flyy')", "unknown capability `flyy`", "fly"),
    ("in_list('toyz')", "unknown list `toyz`", "toys"),
    ("in_list('classes')", "say whose name is asked", None),
    ("user_set('rank')", "unknown setting `rank`", "ranks"),
    ("setting(mode) == 1", "takes its name as text known at load", None),
    ("graph.prefil.backend == 'x'", "unknown leaf of graph `prefil.backend`", "prefill.backend"),
    ("ranks.value", "setting `ranks` has no leaves", None),
    ("fact.kind.name", "goes too deep", None),
    ("mla", "unknown name `mla`", "fact.mla"),
    ("peer.page_sise == 1", "unknown setting `page_sise`", "page_size"),
    ("peer.fact.mlaa", "unknown fact `mlaa`", "mla"),
    ("peer.graph.prefil.backend == 'x'", "unknown leaf of graph `prefil.backend`", "prefill.backend"),
    ("peer.mode == 'tre'", "'tre' is no choice of `peer.mode`", "tree"),
    ("peer.ranks == '2'", "compares `peer.ranks` (an integer) with '2' (text)", None),
    ("peer(1)", "unknown function `peer`", None),
    ("hf == 1", "`hf` cannot stand alone", None),
    ("has == 1", "`has` cannot stand alone", None),
    ("layers(1)", "unknown function `layers`", "layers_of"),
    ("hf.fetch('a')", "unknown method of hf `fetch`", None),
    ("draft.get('a')", "unknown method of draft `get`", None),
    ("mode.replace('a', 'b') == ''", "unknown method `replace`", None),
    ("profile == 'sand'", "'sand' is no choice of `profile`", None),
    ("hf.get('a..b') == 1", "is no path of keys", None),
    # types
    ("mode == 'tre'", "'tre' is no choice of `mode`", "tree"),
    ("'tre' != mode", "'tre' is no choice of `mode`", "tree"),
    ("mode in ('tree', 'lat')", "'lat' is no choice of `mode`", "flat"),
    ("fact.kind == 'gdm'", "'gdm' is no choice of `fact.kind`", "gdn"),
    ("hw.platform == 'nvidia'", "'nvidia' is no choice of `hw.platform`", None),
    ("('tree' if fast else 'flat') == 'auto'", "'auto' is no choice of it", None),
    ("'c' in tags", "'c' is no choice of an item of `tags`", None),
    ("any(tag == 'c' for tag in tags)", "'c' is no choice of an item of `tags`", None),
    ("ranks == '2'", "compares `ranks` (an integer) with '2' (text)", None),
    ("page_size in (1, 'a')", "compares `page_size`", None),
    ("fast == 'yes'", "compares `fast` (true/false) with 'yes' (text)", None),
    ("ranks < None", "`<` with None always raises", None),
    ("mode > 3", "compares `mode` (text) with 3 (an integer)", None),
    ("'a' in ranks", "`in` takes", None),
    ("1 in mode", "`in` a text takes text", None),
    ("len(ranks) == 1", "`len` takes", None),
    ("upper(ranks) == ''", "`upper` takes text", None),
    ("ranks.lower() == ''", "`.lower` takes text", None),
    ("ranks + mode == 1", "`+` between `ranks` (an integer) and `mode` (text)", None),
    ("-mode == 1", "`-` takes", None),
    ("ranks[0] == 1", "a subscript takes", None),
    ("tags == (1, 2)", "compares `tags` (a list) with a tuple", None),
    ("mode * 3 == 'x'", "`*` between", None),
    ("'x' * ranks == 'x'", "`*` takes numbers only", None),
    ("'%d' % ranks == 'x'", "`%` takes numbers only", None),
    ("any(n for n in ranks)", "`for` takes", None),
    ("mode is 'tree'", "`is` compares with None, True or False only", None),
    # model names
    ("model_path == 'StoneForCausalLM'", "'StoneForCausalLM' is an architecture", None),
    ("'RiverForCausalLM' in hf.get('architectures', [])", "'RiverForCausalLM' is an architecture", None),
    ("model_path == 'river/stone-7b'", "'river/stone-7b' is a checkpoint", None),
    ("hf.get('model_type') == 'river'", "'river' is a model type", None),
    ("fact.model_type in ('river',)", "'river' is a model type", None),
    # forms
    ("lambda: 1", "lambda is not part of the rule language", None),
    ("[n for n in tags]", "a list comprehension is not part", None),
    ("{n for n in tags} == 1", "a set comprehension is not part", None),
    ("{n: 1 for n in tags} == 1", "a dict comprehension is not part", None),
    ("(n for n in tags)", "a generator outside any", None),
    ("any(a for b in tags for a in b)", "one `for` over one plain name", None),
    ("any(mode for mode in tags)", "already means something here", None),
    ("f'{mode}' == ''", "an f-string is not part", None),
    ("(x := 1) == 1", ":= is not part", None),
    ("ranks ** 9 == 1", "** is not part", None),
    ("ranks << 9 == 1", "<< is not part", None),
    ("~ranks == 1", "~ is not part", None),
    ("__import__('os')", "`__import__` is not part", None),
    ("().__class__", "`.__class__` is not part", None),
    ("mode.__class__.__mro__", "is not part of the rule language", None),
    ("''.join(tags) == ''", "unknown method `join`", None),
    ("'{0.__class__}'.format(mode) == ''", "unknown method `format`", None),
    ("mode.__len__() == 1", "`.__len__` is not part", None),
    ("max(*tags) == 1", "* is not part", None),
    ("{**{}} == 1", "** is not part", None),
    ("open('x') == 1", "unknown function `open`", None),
    ("eval('1') == 1", "unknown function `eval`", None),
    ("getattr(mode, 'x') == 1", "unknown function `getattr`", None),
    ("ranks(1) == 1", "is a setting and cannot be called", None),
    ("(1)(2) == 1", "only names and methods can be called", None),
    ("half == 1", "`half` takes 1 arguments", None),
    ("half(1, 2) == 1", "`half` takes 1 arguments, not 2", None),
    ("half(count=1) == 1", "takes no keyword arguments", None),
    ("len() == 1", "`len` takes 1 arguments, not 0", None),
    ("min([1], key=ranks) == 1", "`min` takes no argument `key`", None),
    ("own('ranks') == 1", "only in a step with `isolation: entry`", None),
    ("b'x' == 1", "bytes literals are not part", None),
    ("... == 1", "ellipsis literals are not part", None),
    ("1e999 == 1", "beyond what a float holds", None),
    ("99999999999999999999999 == 1", "beyond 64 bits", None),
    ("ranks ==", "is no expression", None),
    ("ranks = 1", "is no expression", None),
    ("import os", "is no expression", None),
    ("", "is no expression", None),
    ("\x00", "is no expression", None),
    ("(" * 300 + "1" + ")" * 300, "is no expression", None),
    ("not " * 60 + "fast", "nests deeper than 40 levels", None),
    ("or ".join(["1 "] * 700), "has more than 600 parts", None),
    ("'" + "x" * 600 + "' == mode", "a text of more than 500 characters", None),
    ("1 == " + "1" * 4500, "is longer than 4000 characters", None),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "says", "suggestion"), WRONG, ids=[row[0][:40] for row in WRONG])
def test_unsound_expressions_are_problems_in_one_line(expression, says, suggestion):
    found = problems(statement(expression))
    assert len({str(p) for p in found if says in str(p)}) == 1, [str(p) for p in found]
    [problem] = [p for p in found if says in str(p)]
    assert problem.file == "rules/toy.yaml"
    assert problem.path == "steps.one.do[0].when"
    assert suggestion is None or problem.suggestion == suggestion
    assert "\n" not in str(problem)


WRITES_FINE = [
    {"set": {"page_size": None}}, {"set": {"page_size": 64}}, {"set": {"page_size": "=64 if fast else None"}},
    {"set": {"mode": "tree"}}, {"set": {"mode": "='tree' if fast else 'flat'"}}, {"set": {"backend": "new_one"}},
    {"set": {"graph.prefill.backend": "x"}}, {"set": {"ratio": 1}}, {"set": {"tags": ["a"]}},
    {"set": {"tags": "=['b']"}},
    {"default": {"mode": "flat"}}, {"var": {"tree_page": "=ranks * 2"}}, {"fact": {"kind": "gdn", "mla": True}},
    {"env": {"TOY_CACHE": 3, "if_unset": True}}, {"set": {"mode": "=mode"}}, {"set": {"page_size": "=hf.get('p')"}},
    {"set": {"fast": "=has('fly')"}}, {"fact": {"model_type": "=hf.get('model_type')"}},
]  # fmt: skip
WRITES_WRONG = [
    ({"set": {"ranks": None}}, "writes None to `ranks`"),
    ({"set": {"ranks": "two"}}, "writes 'two' to `ranks`"),
    ({"set": {"ranks": True}}, "writes True to `ranks`"),
    ({"set": {"ranks": 1.5}}, "writes 1.5 to `ranks`"),
    ({"set": {"fast": 1}}, "writes 1 to `fast`"),
    ({"set": {"mode": "tre"}}, "'tre' is no choice of `mode`"),
    ({"set": {"mode": "='tree' if fast else 'fat'"}}, "'fat' is no choice of `mode`"),
    ({"set": {"ranks": "=len(tags) or 'x'"}}, "writes 'x' to `ranks`"),
    ({"set": {"ranks": "=mode"}}, "writes text to `ranks`"),
    ({"set": {"tags": ["c"]}}, "'c' is no choice of an item of `tags`"),
    ({"set": {"tags": "a"}}, "writes 'a' to `tags`"),
    ({"set": {"rank": 1}}, "unknown setting `rank`"),
    ({"set": {"graph.prefill.backnd": "x"}}, "unknown leaf of graph"),
    ({"set": {"ranks.x": 1}}, "has no leaves"),
    ({"default": {"mode": "tre"}}, "'tre' is no choice of `mode`"),
    ({"var": {"tree_pag": 1}}, "unknown variable `tree_pag`"),
    ({"var": {"tree_page": "x"}}, "writes 'x' to `var.tree_page`"),
    ({"fact": {"kind": "gdm"}}, "'gdm' is no choice of `fact.kind`"),
    ({"fact": {"mlaa": True}}, "unknown fact `mlaa`"),
    ({"env": {"TOY_CASH": 1}}, "unknown environment variable `TOY_CASH`"),
    ({"env": {"TOY_CACHE": "x"}}, "writes 'x' to `TOY_CACHE`"),
    ({"env": {"TOY_CACHE": 1, "if_unset": "yes"}}, "takes true or false"),
    ({"set": {"model_path": "river/stone-7b"}}, "'river/stone-7b' is a checkpoint"),
    ({"set": {"ranks": 1}, "default": {"ranks": 2}}, "stands under `set` as well"),
    ({"set": {"graph": None, "graph.prefill.backend": "x"}}, "is written as a whole by the same statement"),
]


@pytest.mark.parametrize("body", WRITES_FINE, ids=str)
def test_sound_writes_pass(body):
    assert problems({"do": [body]}) == []


@pytest.mark.parametrize(("body", "says"), WRITES_WRONG, ids=[str(row[0]) for row in WRITES_WRONG])
def test_unsound_writes_are_problems(body, says):
    found = problems({"do": [body]})
    assert any(says in str(p) for p in found), [str(p) for p in found]
    assert all(p.path.startswith("steps.one.do[0].") for p in found)


FORMS_FINE = [
    [{"when": "fast", "do": []}],
    [{"first": [{"when": "fast", "do": []}, {"else": [{"return": True}]}]}],
    [{"require": "fast", "because": "x"}],
    [{"refuse": "x", "because": "y", "when": "fast"}],
    [{"set": {"mode": "tree"}, "alias": True, "logged": False}],
    [{"let": {"p": "=ranks"}}, {"when": "p > 1", "let": {"p": 2}}, {"info": "p is {p}, {graph.prefill.max} {{x}}"}],
    [{"first": [{"when": "fast", "let": {"p": 1}}, {"else": [{"let": {"p": 2}}]}]}, {"when": "p == 1", "return": True}],
    [{"first": [{"when": "fast", "let": {"p": 1}}, {"else": [{"return": True}]}]}, {"when": "p == 1", "return": True}],
    [{"each": {"k": ["ranks", "page_size"]}, "when": "setting(k) == 1", "set": {"{k}": 2}}],
    [{"each": {"k": ["prefill", "decode"]}, "set": {"graph.{k}.backend": "=k"}, "id": "x.{k}"}],
    [{"releases": ">=1.2", "when": "late > 1", "return": True}, {"releases": ">=1.1", "set": {"moved": "x"}}],
    [{"releases": "<1.1", "set": {"moved": 1}}, {"call": "other"}],
    [{"releases": ">=1.2", "when": "newer", "info": "x"}],
    [{"return": True, "releases": ">=1.2"}, {"info": "x"}],
]


@pytest.mark.parametrize("block", FORMS_FINE, ids=str)
def test_sound_forms_pass(block):
    assert problems({"do": block}) == []


FORMS_WRONG = [
    ([{"because": "x", "info": "y"}], "`because` without `require` or `refuse`"),
    ([{"require": "fast"}], "needs `because`"),
    ([{"when": "fast"}], "has no effect"),
    ([{"else": [{"info": "x"}]}], "`else` stands only in a branch of `first`"),
    ([{"first": []}], "has no branch"),
    ([{"first": [{"set": {"ranks": 1}}]}], "a branch has `when` or is the `else`"),
    ([{"first": [{"else": []}, {"when": "fast", "do": []}]}], "stands after the `else`"),
    ([{"first": [{"when": "fast", "do": []}, {"else": [], "set": {"ranks": 1}}]}], "beside `else`"),
    ([{"warn": "x", "unsafe": "y"}], "in one statement"),
    ([{"require": "fast", "because": "x", "info": "y"}], "in one statement"),
    ([{"default": {"ranks": 1}, "alias": True}], "`alias` goes with `set`"),
    ([{"info": "x", "logged": False}], "`logged: false` goes with"),
    ([{"call": "othr"}], "unknown step `othr`"),
    ([{"each": {}, "info": "x"}], "names nothing"),
    ([{"each": {"k": []}, "info": "x"}], "unrolls to nothing"),
    ([{"each": {"k": ["a", "a"]}, "info": "{k}"}], "stands there twice"),
    ([{"each": {"mode": ["a"]}, "info": "x"}], "`mode` is a setting"),
    ([{"each": {"k": ["a"]}, "do": [{"each": {"k": ["b"]}, "info": "x"}]}], "is an each-name around it"),
    ([{"each": {"k": list(range(30)), "m": list(range(30))}, "info": "x"}], "unrolls to more than"),
    ([{"let": {"mode": 1}}], "`mode` is a setting"),
    ([{"let": {"half": 1}}], "`half` is a definition"),
    ([{"let": {"len": 1}}], "`len` is a word of the language"),
    ([{"let": {"class": 1}}], "`class` is a Python keyword"),
    ([{"when": "fast", "let": {"p": 1}}, {"when": "p == 1", "return": True}], "`p` may have no value here"),
    ([{"first": [{"when": "fast", "let": {"p": 1}}]}, {"info": "{p}"}], "`p` may have no value here"),
    ([{"info": "{p}"}, {"let": {"p": 1}}], "unknown name `p`"),
    ([{"info": "{ranks"}], "has a stray brace"),
    ([{"info": "{ranks:5}"}], "takes a plain name"),
    ([{"info": "{ranks + 1}"}], "takes a plain name"),
    ([{"info": "{cuda}"}], "is no readable name"),
    ([{"return": True}, {"info": "x"}], "is never reached"),
    ([{"refuse": "x"}, {"info": "x"}], "is never reached"),
    ([{"releases": ">1", "info": "x"}], "is no bound"),
    ([{"releases": ">=9", "info": "x"}], "holds none of the engine's releases"),
    ([{"source": {"7.0": "a:b"}, "info": "x"}], "unknown release 7.0"),
    ([{"when": "late > 1", "info": "x"}], "unknown setting `late` in this release (in 1.0, 1.1)"),
    ([{"set": {"moved": "x"}}], "writes 'x' to `moved` (in 1.0)"),
    ([{"when": "newer", "info": "x"}], "is used where no variant holds (in 1.0, 1.1)"),
    ([{"id": "a", "info": "x"}, {"id": "a", "info": "y"}], "`a` is the id of steps.one.do[0] as well"),
    ([{"do": [{"when": "fast", "do": [{"info": "{rank}"}]}]}], "unknown name `rank`"),
]


@pytest.mark.parametrize(("block", "says"), FORMS_WRONG, ids=[str(row[0])[:60] for row in FORMS_WRONG])
def test_unsound_forms_are_problems(block, says):
    found = problems({"do": block})
    assert any(says in str(p) for p in found), [str(p) for p in found]


def test_all_problems_are_collected():
    branch = {"when": "eee", "do": [{"call": "fff"}]}
    block = [{"when": "aaa", "set": {"bbb": "=ccc", "mode": "ddd"}}, {"first": [branch]}]
    found = "\n".join(map(str, problems({"do": block})))
    assert all(word in found for word in ("aaa", "bbb", "ccc", "ddd", "eee", "fff"))


def test_a_nesting_without_end_is_a_problem():
    block = [{"info": "x"}]
    for _ in range(20):
        block = [{"when": "fast", "do": block}]
    assert any("nests deeper than" in str(p) for p in problems({"do": block}))


def test_steps_that_call_each_other_are_a_problem():
    steps = {"a": {"do": [{"call": "b"}]}, "b": {"do": [{"call": "c"}]}, "c": {"do": [{"call": "a"}]}}
    assert [p.message for p in problems({"steps": steps}) if p.severity == "error"] == ["calls itself: a → b → c → a"]


def test_chains_have_an_end():
    steps = {f"s{n}": {"do": [{"call": f"s{n + 1}"}]} for n in range(40)} | {"s40": {"do": [{"info": "x"}]}}
    assert [(p.path, p.message) for p in problems({"steps": steps}) if p.severity == "error"] == [
        ("steps.s0", "calls more than 12 steps deep")
    ]
    define = {**DEFINES, **{f"d{n}": f"d{n + 1}" for n in range(40)}, "d40": "fast"}
    found = problems({"define": define, "do": [{"when": "d0", "info": "x"}]})
    assert [str(p) for p in found] == ["define.d0: uses definitions more than 20 deep"]


@pytest.mark.parametrize(
    "rules",
    [
        {"steps": {"a": {"do": [{"call": "b"}]}, "b": {"do": [{"call": "a"}]}}},
        {"define": {"a": "b", "b": "not a"}, "steps": {"s": {"do": [{"when": "a", "info": "x"}]}}},
        {"define": {f"d{n}": f"d{n + 1}" for n in range(5000)} | {"d5000": "fast"},
         "steps": {"s": {"do": [{"when": "d0", "info": "x"}]}}},
    ],
    ids=["calls", "uses", "a long chain"],
)  # fmt: skip
def test_rules_that_would_not_end_are_a_problem_and_do_not_compile(rules):
    found = check_engine(registry(rules, settings=SETTINGS, **NAMES), vocabulary(), (), None)
    assert any("itself" in p.message or "deep" in p.message for p in found)
    with pytest.raises(DataError, match=r"itself|deep"):
        compile_release(registry(rules, settings=SETTINGS, **NAMES), vocabulary(), "1.0", {})


def test_a_step_that_nothing_runs_is_a_warning():
    steps = {"a": {"do": [{"call": "b"}]}, "b": {"do": [{"info": "x"}]}, "c": {"do": [{"info": "x"}]}}
    [problem] = [p for p in problems({"steps": steps, "pipeline": ["a"]}) if p.path.startswith("steps")]
    assert (problem.path, problem.severity) == ("steps.c", "warning")


def test_a_pipeline_names_known_steps():
    found = problems({"steps": {"a": {"do": [{"info": "x"}]}}, "pipeline": ["a", "b"]})
    assert "unknown step `b`" in [p.message for p in found]


DEFINES_WRONG = [
    ({"a": "b", "b": "a or cuda"}, "uses itself: a → b → a"),
    ({"a": {"cases": [{"when": "fast", "value": 1}]}}, "the last row must be an `else`"),
    ({"a": {"cases": [{"else": 1}, {"when": "fast", "value": 1}]}}, "the `else` is the last row"),
    ({"a": {}}, "has either `expr` or `cases`"),
    ({"a": {"expr": "1", "cases": [{"else": 1}]}}, "has either `expr` or `cases`"),
    ({"mode": "1"}, "`mode` is a setting"),
    ({"len": "1"}, "`len` is a word of the language"),
    ({"a": {"params": ["mode"], "expr": "mode"}}, "already has a meaning"),
    ({"a": {"params": ["x", "x"], "expr": "x"}}, "stands there twice"),
    ({"a": [{"releases": "<1.2", "expr": "1"}, {"releases": ">=1.1", "expr": "2"}]}, "more than one variant holds"),
    ({"a": [{"releases": "<1.1", "expr": "1"}, {"releases": ">=1.1", "params": ["x"], "expr": "2"}]},
     "differ in parameters"),
    ({"a": "fact.mlaa"}, "unknown fact `mlaa`"),
    ({"a": "mode == 'tre'"}, "'tre' is no choice"),
    ({"a": "own('mode')"}, "only in a step with"),
    ({"a": "1"}, "no step uses it"),
]  # fmt: skip


@pytest.mark.parametrize(("defines", "says"), DEFINES_WRONG, ids=[str(row[0])[:60] for row in DEFINES_WRONG])
def test_unsound_definitions_are_problems(defines, says):
    uses = [] if says == "no step uses it" else [{"when": "a == 1", "info": "x"}]
    found = problems({"define": {**DEFINES, **defines}, "do": [*uses, {"info": "x"}]})
    assert any(says in str(p) for p in found), [str(p) for p in found]


def test_a_definition_is_typed_where_it_is_used_only():
    defines = {**DEFINES, "a": "late == 1"}
    assert problems({"define": defines, "do": [{"releases": ">=1.2", "when": "a", "info": "x"}]}) == []
    found = problems({"define": defines, "do": [{"when": "a", "info": "x"}]})
    assert [str(p) for p in found] == ["define.a: unknown setting `late` in this release (in 1.0, 1.1)"]
