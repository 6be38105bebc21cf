"""What a run of 800 rules costs, beside a plain Python function that holds the same statements.

The program is invented, of the shape real ones have: 60 steps, many left early or guarded as a whole, about 100 writes
in a run. The plain function does what an engine's own code does: attributes of one object, no trace, nothing unknown.
Both are measured in turns in one process; both must end with the same settings.
"""

import random
import re
import statistics
import time
from types import SimpleNamespace

from tests.rules.toy import inputs, registry, vocabulary

from archcap.rules import compile_release
from benchmarks import Row, milliseconds

STEPS, STATEMENTS, SETTINGS, FACTS = 60, 800, 300, 20
CHOICES = ("auto", "triton", "fa3", "flashinfer", "trtllm_mha", "none")
TYPES = ({"type": "bool"}, {"type": "int", "optional": True}, {"type": "str", "optional": True, "choices": CHOICES})


class Shape:
    """Draws rules; a setting's number says its type."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.raw = {f"s{n}": self.value(n) for n in range(SETTINGS)}
        self.facts = {f"f{n}": self.rng.random() < 0.5 for n in range(FACTS)}

    def number(self, kind):
        return self.rng.randrange(SETTINGS // 3) * 3 + kind

    def value(self, number):
        return self.rng.choice(((True, False, False), (None, 1, 2, 8, 64), (*CHOICES, None))[number % 3])

    def condition(self):
        flag, count, word = (f"s{self.number(kind)}" for kind in range(3))
        picked = self.rng.sample(CHOICES, 2)
        return self.rng.choice(
            (
                f"{flag} and not s{self.number(0)}",
                f"{count} is not None and {count} > {self.rng.randrange(2, 32)}",
                f"{word} in ({picked[0]!r}, {picked[1]!r})",
                f"hw.major >= {self.rng.randrange(8, 12)} and {word} is None",
                f"fact.f{self.rng.randrange(FACTS)} and {word} != {picked[0]!r}",
                f"user_set({flag!r}) or {count} == 1 and s{self.number(2)} == {picked[1]!r}",
                f"({count} or 1) * (s{self.number(1)} or 1) > 8 and {word} not in {tuple(picked)!r}",
            )
        )

    def statement(self):
        roll = self.rng.random()
        if roll < 0.22:
            return {"when": self.condition(), "require": self.condition() + " or True", "because": "no"}
        if roll < 0.3:
            return {"when": self.condition(), "info": "s1 is {s1}"}
        if roll < 0.4:
            number = self.number(1)
            return {"when": self.condition(), "set": {f"s{number}": f"=(s{self.number(1)} or 1) * 2 % 64"}}
        number = self.rng.randrange(SETTINGS)
        return {"when": self.condition(), "set": {f"s{number}": self.value(number)}}

    def step(self, count):
        head = [{"when": self.condition(), "return": True}] if self.rng.random() < 0.4 else []
        body = [self.statement() for _ in range(count - len(head))]
        if self.rng.random() < 0.5 and len(body) > 6:
            half = len(body) // 2
            return [*head, *body[:half], {"when": self.condition(), "do": body[half:]}]
        return [*head, *body]

    def steps(self):
        return {f"step{n}": {"do": self.step(STATEMENTS // STEPS)} for n in range(STEPS)}


NAMES = re.compile(r"'[^']*'|\bhw\.|\bfact\.|\bs\d+\b|user_set\((.*?)\)")


def python(text):
    """Return an expression over plain objects."""

    def swap(match):
        word = match.group()
        if word.startswith("user_set"):
            return f"{match.group(1)} in user"
        return word if word[0] in "'hf" else f"a.{word}"

    return NAMES.sub(swap, text)


def lines(body, indent):
    """Yield the lines of a block of statements."""
    for statement in body:
        yield f"{indent}if {python(statement['when'])}:"
        inner = indent + "    "
        if "require" in statement:
            yield f"{inner}if not ({python(statement['require'])}):\n{inner}    raise ValueError('no')"
        if "info" in statement:
            yield f"{inner}log.append('s1 is %s' % a.s1)"
        for name, value in statement.get("set", {}).items():
            yield f"{inner}a.{name} = {python(value[1:]) if str(value).startswith('=') else repr(value)}"
        if statement.get("return"):
            yield f"{inner}return"
        yield from lines(statement.get("do", ()), inner)


def plain_function(steps):
    bodies = {name: "\n".join(lines(step["do"], "    ")) for name, step in steps.items()}
    text = "\n".join(f"def {name}(a, fact, hw, user, log):\n{body}" for name, body in bodies.items())
    namespace = {}
    exec(text, namespace)
    functions = [namespace[name] for name in steps]

    def run(raw, facts, hw, user):
        a, fact, hw, log = SimpleNamespace(**raw), SimpleNamespace(**facts), SimpleNamespace(**hw), []
        for function in functions:
            function(a, fact, hw, user, log)
        return a

    return run


def rows():
    shape = Shape(3)
    steps = shape.steps()
    engine = registry(
        {"steps": steps},
        settings={f"s{n}": TYPES[n % 3] for n in range(SETTINGS)},
        facts={name: {"type": "bool", "meaning": "m"} for name in shape.facts},
    )
    start = time.process_time()
    program = compile_release(engine, vocabulary(), "1.0", {})
    yield Row("compile of 800 statements", time.process_time() - start, "s", 0.5)
    hw, user = {"major": 9}, frozenset(list(shape.raw)[::7])
    launch = inputs(shape.raw, user=user, hw=hw, facts=shape.facts, config={})
    plain = plain_function(steps)
    run = program.fast(launch)
    assert run.refused is None
    assert run.settings == vars(plain(shape.raw, shape.facts, hw, user))
    yield Row("statements", len(program.statements), "")
    yield Row("writes in the run", sum(kind == 1 for kind, *_ in run.trace), "")
    fast, late, other = [], [], []
    for _ in range(5):
        median, last = milliseconds(lambda: program.fast(launch), 400)
        fast.append(median)
        late.append(last)
        other.append(milliseconds(lambda: plain(shape.raw, shape.facts, hw, user), 400)[0])
    yield Row("compiled rules with trace, median", statistics.median(fast), "ms", 0.2)
    yield Row("compiled rules with trace, 99th percentile", statistics.median(late), "ms")
    yield Row("plain Python function, no trace, median", statistics.median(other), "ms")
    yield Row("compiled rules / plain Python function", statistics.median(fast) / statistics.median(other), "x")
    yield Row("interpreter, nothing unknown, median", milliseconds(lambda: program.interpret(launch), 60)[0], "ms")
    forgotten = inputs(shape.raw, user=user, hw={}, facts={}, config=None, architecture=None)
    median = milliseconds(lambda: program.interpret(forgotten), 30)[0]
    yield Row("interpreter, hardware and facts unknown, median", median, "ms")
