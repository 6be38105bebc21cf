"""Random programs and launches of an invented engine: small, but with every form of the language.

Drawn from a `Random`, whose seed the property tests draw: a program has hundreds of choices.
"""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random

from archcap.model.registry import EngineRegistry
from archcap.model.rules import PipelineEntry, Step
from archcap.rules.run import ConfigView, PeerRun, Unknown
from tests.rules.toy import defines, inputs, registry, vocabulary

SETTINGS = {
    "i": {"type": "int", "optional": True},
    "j": {"type": "int", "default": 1},
    "s": {"type": "str", "choices": ["x", "y", "auto"], "sentinel": "auto", "default": "auto"},
    "t": {"type": "str", "optional": True},
    "b": {"type": "bool", "default": False},
    "c": {"type": "bool", "optional": True},
    "g": {"type": "struct", "fields": ["a.x", "a.y", "z"]},
    "l": {"type": "list", "item": "str"},
}
FACTS = {name: {"type": "any", "meaning": "m", "optional": True} for name in ("f", "h")}
VARS = {"v": {"type": "any", "optional": True, "meaning": "m"}, "w": {"type": "int", "default": 3, "meaning": "m"}}
ASSUMPTIONS = {name: {"type": "bool", "says": "s"} for name in ("p", "q")}
ENV = {"M": {"type": "int", "default": 2}, "N": {"type": "str"}}
LISTS = {
    "toys": {"kind": "architecture", "source": "a:b", "names": {}},
    "kinds": {"kind": "model_type", "source": "a:b", "names": {}},
}
CAPABILITIES = ("fly", "swim")
FUNCTIONS = {"half": lambda value: value // 2, "join": lambda one, two: [one, two]}
STEPS = ("one", "two", "three", "four")
STAGES = ("parse", "resolve", "init")

_BASE: EngineRegistry = registry(
    {"steps": {}}, settings=SETTINGS, facts=FACTS, vars=VARS, assumptions=ASSUMPTIONS, env=ENV, lists=LISTS
)
VOCABULARY = vocabulary(*CAPABILITIES)

INT_LEAVES = [
    "i", "j", "0", "1", "2", "3", "w_", "var.w", "hw.major", "env('M')", "hf.get('n')", "hf.get('n', 2)", "len(l)",
    "text.get('sub.n', 1)", "draft.hf.get('n', 4)", "g.z", "g.a.x", "setting('j')", "raw('i')", "half(j)", "fact.f",
    "len(s)", "len(k for k in l)", "peer.i", "peer.g.a.x", "peer.var.w", "peer.fact.f",
]  # fmt: skip
TEXT_LEAVES = [
    "s", "t", "'x'", "'y'", "'auto'", "hw.platform", "env('N')", "g.a.y", "hf.get('kind')", "profile", "var.v",
    "fact.h", "peer.s", "lower(s)", "s.upper()", "str(i)", "raw('s')",
]  # fmt: skip
TRUTH_LEAVES = [
    "b", "c", "True", "False", "assume.p", "assume.q", "has('fly')", "has('swim')", "in_list('toys')",
    "in_list('kinds')", "in_list('kinds', t)", "user_set('i')", "user_set('s')", "env_set('N')", "env_set('M')",
    "hf.has('kind')", "hf.has('sub.n')", "text.get('flag')", "draft.has('fly')", "plain", "fact.f is None",
    "'x' in l", "s.startswith('a')", "peer", "peer.b",
]  # fmt: skip


SAFE_NUMBERS = ("({0} or 1)", "({0} or 1)", "len(str({0}))")
SAFE_TEXTS = ("({0} or 'x')", "str({0})")


class Expressions:
    """Draws expressions; any may raise, and any may be of another type than it seems."""

    def __init__(self, rng: Random) -> None:
        self.rng, self.loops = rng, 0

    def name(self):
        self.loops += 1
        return f"k{self.loops}"

    def pick(self, *options):
        return self.rng.choice(options)

    def number(self, depth):
        if depth <= 0 or self.rng.random() < 0.3:
            leaf = self.pick(*INT_LEAVES)
            return self.pick(*SAFE_NUMBERS).format(leaf) if self.rng.random() < 0.95 else leaf
        k, a, b = self.name(), self.number(depth - 1), self.number(depth - 1)
        return self.pick(
            lambda: f"({a} {self.pick('+', '-', '*', '+', '-', '*', '//', '%')} {b})",
            lambda: f"({a} if {self.truth(depth - 1)} else {b})",
            lambda: f"({a} or {b})",
            lambda: f"{self.pick('min', 'max')}({a}, {b})",
            lambda: f"double({a})",
            lambda: f"sum({k} for {k} in ({a}, {b}, 1) if {k} is not None and {k} > {self.number(depth - 1)})",
            lambda: f"max(({k} for {k} in ({a}, {b}) if {self.truth(depth - 1)}), default={self.number(depth - 1)})",
            lambda: f"(1, {a}, 3)[{self.pick('0', '1', '2', '-1', 'j')}]",
            lambda: f"-{a}",
            lambda: f"int({self.text(depth - 1)})" if self.rng.random() < 0.1 else f"len({self.text(depth - 1)})",
        )()

    def text(self, depth):
        if depth <= 0 or self.rng.random() < 0.3:
            leaf = self.pick(*TEXT_LEAVES)
            return self.pick(*SAFE_TEXTS).format(leaf) if self.rng.random() < 0.95 else leaf
        a, b = self.text(depth - 1), self.text(depth - 1)
        return self.pick(
            lambda: f"({a} if {self.truth(depth - 1)} else {b})",
            lambda: f"({a} or {b})",
            lambda: f"({a} and {b})",
            lambda: f"({a} + {b})",
            lambda: f"choose({a}, {self.number(depth - 1)})",
            lambda: f"({a})[:{self.number(depth - 1)}]",
        )()

    def list(self, depth):
        return f"[{self.text(depth - 1)}, {self.text(depth - 1)}]"

    def any(self, depth):
        return self.pick(self.number, self.text, self.truth)(depth)

    def truth(self, depth):
        if depth <= 0 or self.rng.random() < 0.3:
            return self.pick(*TRUTH_LEAVES)
        k, t, n, m = self.name(), self.text(depth - 1), self.number(depth - 1), self.number(depth - 1)
        return self.pick(
            lambda: f"(not {self.any(depth - 1)})",
            lambda: f"({self.truth(depth - 1)} and {self.any(depth - 1)})",
            lambda: f"({self.truth(depth - 1)} or {self.any(depth - 1)})",
            lambda: f"({n} {self.pick('<', '<=', '>', '>=', '==', '!=')} {m})",
            lambda: f"({n} < {m} <= {self.number(depth - 1)})",
            lambda: f"({t} {self.pick('==', '!=')} {self.text(depth - 1)})",
            lambda: f"({self.any(depth - 1)} {self.pick('is', 'is not')} {self.pick('None', 'True', 'None')})",
            lambda: f"({t} {self.pick('in', 'not in')} ('x', {self.text(depth - 1)}, None))",
            lambda: f"({n} in {{1, 2, {m}}})",
            lambda: f"any({k} == {t} for {k} in l)",
            lambda: f"all({n} < {k} for {k} in ({m}, 2) if {self.truth(depth - 1)})",
            lambda: f"bool({self.any(depth - 1)})",
        )()

    def fitting(self, key, depth=2):
        """Return a value for *key*, mostly of its type."""
        if self.rng.random() < 0.1 or key not in FITTING:
            return self.value(depth)
        kind, literals = FITTING[key]
        return self.pick(f"={getattr(self, kind)(depth)}", f"={getattr(self, kind)(depth)}", self.pick(*literals))

    def value(self, depth=2):
        literal = self.pick(None, 0, 1, 7, True, False, "x", "y", "auto", ["x"], {"k": 1})
        shape = self.pick("=join({}, {})", "=({}, {})", "=[{}, ({},)]").format(self.number(1), self.text(1))
        return self.pick(literal, f"={self.any(depth)}", f"={self.any(depth)}", shape)


SETTING_KEYS = ["i", "j", "s", "t", "b", "c", "g.a.x", "g.a.y", "g.z", "l", "{e}"]
SAYS = ["plain", "i is {i}, leaf {g.a.x}", "{fact.f} and {w_}", "{hw.major} {assume.p} {var.w}"]


FITTING = {
    **dict.fromkeys(("i", "j", "g.a.x", "g.z", "w", "M", "{e}", "f"), ("number", (0, 1, 7))),
    **dict.fromkeys(("s", "t", "g.a.y", "v", "N", "h"), ("text", ("x", "y", "auto"))),
    **dict.fromkeys(("b", "c"), ("truth", (True, False))),
    "l": ("list", (["x"], [])),
}


class Statements:
    """Draws the statements of one step."""

    def __init__(self, rng: Random, step: str) -> None:
        self.rng, self.ex = rng, Expressions(rng)
        self.later = STEPS[STEPS.index(step) + 1 :]

    def writes(self):
        ex, pick = self.ex, self.ex.pick

        def fill(*keys, depth=2):
            key = pick(*keys)
            return {key: ex.fitting(key, depth)}

        return pick(
            lambda: {"set": fill(*SETTING_KEYS)},
            lambda: {"set": fill(*SETTING_KEYS, depth=1), "var": fill("v", "w", depth=1)},
            lambda: {"default": fill("i", "s", "t", "c", "g.z", "g.a.x")},
            lambda: {"var": fill("v", "w")},
            lambda: {"fact": fill("f", "h")},
            lambda: {"env": {**fill("M", "N"), **pick({}, {"if_unset": True})}},
            lambda: {"let": {"w_": f"={ex.number(1)}"}},
        )()

    def effects(self):
        ex, pick = self.ex, self.ex.pick
        says = pick(*SAYS)
        choices = [self.writes] * 7 + [
            lambda: {"require": ex.truth(2), "because": says},
            lambda: {"refuse": says},
            lambda: {pick("warn", "unsafe", "info", "silent"): says},
            lambda: {"return": True},
            lambda: {"stop": pick("pipeline", "stage")},
        ]
        if self.later:
            choices += [lambda: {"call": pick(*self.later)}] * 2
        return pick(*choices)()

    def statement(self, depth):
        body, kind = self.effects(), self.rng.randrange(8)
        if depth > 0 and kind == 0:
            body = {**({} if "refuse" in body else body), "do": self.block(depth - 1)}
        elif depth > 0 and kind in (1, 2):
            body = {"first": self.branches(depth - 1)}
        leaving = any(key in body for key in ("return", "stop", "refuse"))
        if leaving or self.rng.random() < 0.7:
            body = {"when": self.ex.truth(2), **body}
        nested = json.dumps([body.get("do"), body.get("first")])
        if '"each"' in nested:
            inner = {key: body[key] for key in ("do", "first") if key in body}
            body = {**json.loads(json.dumps(body).replace('"{e}"', '"i"')), **inner}
        elif "{e}" in json.dumps({key: body[key] for key in body if key not in ("do", "first")}):
            body = {"each": {"e": ["i", "j", "t"]}, **body}
        return body

    def branches(self, depth):
        result = [{"when": self.ex.truth(2), **self.plain()} for _ in range(self.rng.randint(1, 3))]
        return result + ([{"else": self.block(depth)}] if self.rng.random() < 0.5 else [])

    def plain(self):
        body = self.effects()
        return self.plain() if "{e}" in json.dumps(body) else body

    def block(self, depth):
        return [self.statement(depth) for _ in range(self.rng.randint(1, 4))]


def rules(rng: Random):
    """Return random rules as data; names may be unset, values of any type may be anywhere."""
    ex = Expressions(rng)
    steps = {}
    for name in STEPS:
        body = [{"let": {"w_": 5}}, *Statements(rng, name).block(2)]
        steps[name] = {"stage": rng.choice(STAGES), "do": body}
        if rng.random() < 0.3:
            steps[name]["isolation"] = "entry"
            body.append({"set": {"i": "=own('i')", "j": "=own('var.w')", "t": "=own('g.a.y')"}, "when": "own('b')"})
    plain = ex.truth(1)
    while any(word in plain for word in ("plain", "double", "choose", "w_")):
        plain = ex.truth(1)
    definitions = {
        "plain": plain,
        "double": {"params": ["a"], "cases": [{"when": "a is None", "value": 0}, {"else": "=a * 2"}]},
        "choose": {"params": ["a", "n"], "reads": "live", "cases": [
            {"when": "n == 1 or assume.q", "value": "=a"}, {"when": "b", "value": "y"}, {"else": "=s"}]},
    }  # fmt: skip
    return {"define": definitions, "steps": steps, "pipeline": [rng.choice(STEPS) for _ in range(rng.randint(2, 5))]}


def engine(data):
    """Return the engine with rules *data*."""
    return _BASE.model_copy(
        update={
            "steps": {name: Step.model_validate_json(json.dumps(step)) for name, step in data["steps"].items()},
            "step_files": dict.fromkeys(data["steps"], "r.yaml"),
            "defines": {name: defines(one) for name, one in data["define"].items()},
            "pipeline": tuple(PipelineEntry(step=name) for name in data["pipeline"]),
        }
    )


NUMBERS = (None, 0, 1, 2, 3, 8)
TEXTS = ("x", "y", "auto", None, "3")
GRAPHS = (None, {}, {"a": {"x": 1, "y": "x"}, "z": 2}, {"a": {"x": None}, "z": 0}, {"a": None, "z": 1})


def launch(rng: Random):
    """Return what a run reads, everything known."""
    pick = rng.choice
    raw = {
        "i": pick(NUMBERS), "j": pick(NUMBERS), "s": pick(TEXTS), "t": pick(TEXTS), "b": pick((True, False)),
        "c": pick((None, True, False)), "g": pick((*GRAPHS, *[GRAPHS[2]] * 15)), "l": pick(([], ["x"], ["x", "y"])),
    }  # fmt: skip
    config = {"n": pick(NUMBERS), "kind": pick(TEXTS), "flag": pick((True, False)), "sub": {"n": 4, "m": 5}}
    return inputs(
        raw,
        user=some(rng, raw),
        hw={"major": pick(NUMBERS), "platform": pick(TEXTS)},
        assume={"p": pick((True, False)), "q": pick((True, False))},
        env={"M": pick(NUMBERS), "N": pick(TEXTS)},
        env_set=some(rng, ("M", "N")),
        config={key: config[key] for key in some(rng, config)},
        draft=pick(({}, {"n": 3})),
        profile=pick(TEXTS),
        capabilities=some(rng, CAPABILITIES),
        lists={"toys": frozenset(some(rng, ("Toy",))), "kinds": frozenset(["x"])},
        facts={"f": pick(NUMBERS), "h": pick(TEXTS)},
        draft_architecture="Draft",
        draft_capabilities=frozenset(some(rng, CAPABILITIES)),
        peer=PeerRun({**raw, "i": pick(NUMBERS), "s": pick(TEXTS)}, {"f": pick(NUMBERS)}, {"w": pick(NUMBERS)}),
    )


def _partly_known(rng, peer):
    unsure = Unknown(frozenset({"config"}))
    return PeerRun(*({name: unsure if rng.random() < 0.2 else value for name, value in values.items()}
                     for values in (peer.settings, peer.facts, peer.vars)))  # fmt: skip


def some(rng, names):
    """Return some of *names*, in order."""
    return [name for name in names if rng.random() < 0.6]


def partly(rng: Random, known):
    """Return *known* with some of it forgotten."""
    hf = known.hf
    if rng.random() < 0.25:
        hf = ConfigView("config", None)
    elif rng.random() < 0.6:
        gone = frozenset(some(rng, ("n", "kind", "flag", "sub", "sub.n")))
        data = {key: value for key, value in known.hf.data.items() if key not in gone}
        if "sub.n" in gone and "sub" in data:
            data["sub"] = {"m": 5}
        hf = ConfigView("config", data, gone)
    no_architecture = rng.random() < 0.25
    return replace(
        known,
        hw={key: known.hw[key] for key in some(rng, known.hw)},
        assume={key: known.assume[key] for key in some(rng, known.assume)},
        facts={key: known.facts[key] for key in some(rng, known.facts)},
        hf=hf,
        text=hf,
        draft_hf=ConfigView("draft_config", None) if rng.random() < 0.3 else known.draft_hf,
        architecture=None if no_architecture else known.architecture,
        profile=None if no_architecture else known.profile,
        unknown_capabilities={"fly": frozenset({"config.n"})} if rng.random() < 0.4 else {},
        draft_architecture=None if rng.random() < 0.3 else known.draft_architecture,
        peer=_partly_known(rng, known.peer),
    )
