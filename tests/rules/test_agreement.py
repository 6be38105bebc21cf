"""Compiled and interpreted, a rule means the same; and what the interpreter settles without knowing all is true."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from archcap.resolver.history import History
from archcap.rules import compile_release
from archcap.rules.interpret import Interpreter
from archcap.rules.names import universe_of
from archcap.rules.release import lower_release
from archcap.rules.run import KIND, STATEMENT, Kind, Unknown
from tests.rules.generate import FUNCTIONS, VOCABULARY, engine, launch, partly, rules
from tests.rules.toy import compiled_run

seeds = st.integers(0, 2**48)
checked = settings(max_examples=40, deadline=None)


class Made:
    """A random program, and its rules interpreted throughout."""

    def __init__(self, rng):
        reg = engine(rules(rng))
        self.program = compile_release(reg, VOCABULARY, "1.0", FUNCTIONS)
        ir = lower_release(reg, universe_of(reg, VOCABULARY, FUNCTIONS), "1.0").ir
        self.throughout = Interpreter(ir)

    def interpreted(self, launch):
        yield self.program.interpret(launch)
        yield self.throughout.run(replace(launch, functions=FUNCTIONS))


@checked
@given(seeds)
def test_the_interpreter_does_what_the_compiled_rules_do(seed):
    rng = Random(seed)
    made = Made(rng)
    for _ in range(12):
        check_equal(made, launch(rng))


@checked
@given(seeds)
def test_what_is_settled_without_knowing_all_is_true(seed):
    rng = Random(seed)
    made = Made(rng)
    for _ in range(8):
        check_parts(made, launch(rng), rng)


@checked
@given(seeds)
def test_conditions_are_worth_the_same_compiled_and_in_three_values(seed):
    rng = Random(seed)
    made = Made(rng)
    for _ in range(3):
        known = launch(rng)
        for given_ in (known, partly(rng, known)):
            check_conditions(made.program, given_, rng)


def check_conditions(program, given_, rng):
    run = compiled_run(program, given_)
    if run is None:
        return
    assert run.context is not None
    compiled, interpreted = (History(one, given_, program.parts) for one in (run, replace(run, context=None)))
    for at in {0, len(run.trace), *rng.choices(range(len(run.trace) + 1), k=3)}:
        for index in range(len(program.expressions)):
            value = program.judge().evaluate(index, given_, interpreted.before(at))
            assert same(program.judge().evaluate(index, given_, compiled.before(at)), value)
            known = () if isinstance(value, Unknown) else (bool(value),)
            reasons = [
                program.judge().reasons(index, given_, history.before(at), truth)
                for history in (compiled, interpreted)
                for truth in (None, *known)
            ]
            assert len(set(reasons)) == 1


def check_equal(made, known):
    before = repr(known)
    fast = made.program.fast(known)
    for slow in made.interpreted(known):
        assert repr(known) == before
        assert slow == fast
        assert repr(slow) == repr(fast)


def check_parts(made, known, rng):
    full = made.program.fast(known)
    for _ in range(2):
        part = partly(rng, known)
        for run in made.interpreted(part):
            check_sound(full, run)
            check_run(made.program, part, run)


def check_run(program, part, run):
    """What `fast` settles although something is unknown is what the interpreter settles."""
    fast = compiled_run(program, part)
    assert fast is None or repr(run) == repr(fast)


def check_sound(full, part):
    open_ = {index for index, _ in part.undetermined}
    assert all(needs for _, needs in part.undetermined)
    if full.refused is not None:
        assert part.refused is not None or full.refused in open_
        assert part.refused == full.refused or full.refused in open_
        return
    assert part.refused is None
    for name in ("settings", "vars", "facts"):
        check_values(getattr(part, name), getattr(full, name))
    for name, value in part.env.items():
        assert isinstance(value, Unknown) or same(value, full.env[name])
    assert full.env.keys() <= part.env.keys()
    found = [event for event in full.trace if event[KIND] is Kind.FINDING]
    seen = [event for event in part.trace if event[KIND] is Kind.FINDING]
    assert [event[STATEMENT] for event in seen if event[STATEMENT] not in open_] == [
        event[STATEMENT] for event in found if event[STATEMENT] not in open_
    ]
    for event in seen:
        assert any(event[STATEMENT] == other[STATEMENT] for other in found)


def check_values(part, full):
    for name, value in full.items():
        if name in part and not isinstance(part[name], Unknown):
            assert same(part[name], value), name
    for name, value in part.items():
        assert isinstance(value, Unknown) or name in full


def same(one, other):
    return type(one) is type(other) and one == other
