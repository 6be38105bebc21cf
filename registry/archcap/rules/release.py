"""All rules of one release: its pipeline, what that calls, and the definitions in force. Knows no engine by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from archcap.model.registry import EngineRegistry
from archcap.model.rules import Case, Define, Statement
from archcap.rules import expr as x
from archcap.rules.chains import call_places, use_places
from archcap.rules.ir import DefineIR, ReleaseIR, Row, StepIR, expressions, statements
from archcap.rules.lower import Counter, Place, StepLowering, holds
from archcap.rules.names import Universe
from archcap.rules.parse import Flaw, Scope, parse


@dataclass(slots=True)
class Lowered:
    """A release's rules with what is wrong with them.

    Attributes:
        ir: the rules.
        records: statement index -> its record and those around it.
        bindings: statement index -> each-names there.
        places: everything wrong.
    """

    ir: ReleaseIR
    records: dict[int, tuple[Statement, tuple[Statement, ...]]] = field(default_factory=dict)
    bindings: dict[int, dict[str, str | int]] = field(default_factory=dict)
    places: list[Place] = field(default_factory=list)


def pipeline_of(reg: EngineRegistry, release: str) -> tuple[str, ...]:
    """Return the steps of *release* in order; entries of steps that it does not have are left out."""
    return tuple(
        entry.step
        for entry in reg.pipeline
        if holds(entry.releases, release) and entry.step in reg.steps and holds(reg.steps[entry.step].releases, release)
    )


def lower_release(reg: EngineRegistry, universe: Universe, release: str) -> Lowered:
    """Return the rules of *release*."""
    pipeline = pipeline_of(reg, release)
    counter = Counter()
    steps: dict[str, StepIR] = {}
    records: dict[int, tuple[Statement, tuple[Statement, ...]]] = {}
    bindings: dict[int, dict[str, str | int]] = {}
    places: list[Place] = []
    waiting = list(reversed(pipeline))
    while waiting:
        name = waiting.pop()
        if name in steps:
            continue
        lowering = StepLowering(reg, universe, name, release, counter)
        steps[name] = lowering.lower()
        records.update(lowering.records)
        bindings.update({index: dict(each) for index, each in lowering.bindings.items()})
        places += lowering.places
        waiting += reversed([s.call for s in statements(steps[name].body) if s.call is not None])
    calls = {name: [s.call for s in statements(step.body) if s.call is not None] for name, step in steps.items()}
    places += call_places(calls)
    defines, more = lower_defines(reg, universe, release, tuple(steps.values()))
    ir = ReleaseIR(
        engine=reg.engine.engine,
        release=release,
        steps=tuple(steps.values()),
        pipeline=pipeline,
        defines=defines,
        vars=tuple((name, x.literal(var.default)) for name, var in reg.names.vars.items()),
        env=tuple((name, x.literal(variable.default)) for name, variable in reg.names.env.items()),
        fact_needs=tuple((name, fact.needs) for name, fact in reg.names.facts.items()),
    )
    return Lowered(ir, records, bindings, places + more)


def variant(reg: EngineRegistry, name: str, release: str) -> Define | None:
    """Return the definition in force in *release*."""
    for one in reg.defines.get(name, ()):
        if one.releases is None or holds(one.releases, release):
            return one
    return None


def lower_defines(
    reg: EngineRegistry, universe: Universe, release: str, steps: tuple[StepIR, ...]
) -> tuple[tuple[DefineIR, ...], list[Place]]:
    """Return the definitions that the steps of *release* use, sorted by name."""
    done: dict[str, DefineIR] = {}
    places: list[Place] = []
    nodes = [node for step in steps for stmt in statements(step.body) for node in expressions(stmt)]
    waiting = list(dict.fromkeys(name for node in nodes for name in _defined(node)))
    while waiting:
        name = waiting.pop()
        if name not in done:
            done[name] = lower_define(reg, universe, name, release, places)
            waiting += _used(done[name])
    places += use_places({name: list(_used(define)) for name, define in done.items()})
    return tuple(done[name] for name in sorted(done)), places


def _used(define: DefineIR) -> Iterator[str]:
    for row in define.rows:
        for node in (row.when, row.value):
            if node is not None:
                yield from _defined(node)


def _defined(node: x.Expr) -> Iterator[str]:
    return (part.name for part in x.walk(node) if isinstance(part, x.Defined))


def lower_define(reg: EngineRegistry, universe: Universe, name: str, release: str, places: list[Place]) -> DefineIR:
    """Return one definition as it is in *release*; *places* collects what is wrong."""
    define = variant(reg, name, release)
    if define is None:
        places.append(Place(None, f"define.{name}", Flaw(f"`{name}` is not defined in {release}")))
        return DefineIR(name, universe.defines[name], (Row(None, x.Const(None)),))
    scope = Scope(universe, frozenset(define.params))
    position = reg.defines[name].index(define)
    path = f"define.{name}" if len(reg.defines[name]) == 1 else f"define.{name}[{position}]"
    if define.expr is not None:
        text = define.expr.removeprefix("=")
        return DefineIR(name, define.params, (Row(None, _parsed(text, scope, f"{path}.expr", places)),))
    rows = tuple(_row(case, scope, f"{path}.cases[{n}]", places) for n, case in enumerate(define.cases or ()))
    if not rows or rows[-1].when is not None:
        places.append(Place(None, f"{path}.cases", Flaw("the last row must be an `else`")))
        rows = (*rows, Row(None, x.Const(None)))
    return DefineIR(name, define.params, rows)


def _parsed(text: str, scope: Scope, path: str, places: list[Place]) -> x.Expr:
    node, flaws = parse(text, scope)
    places += [Place(None, path, flaw) for flaw in flaws]
    return node


def _row(case: Case, scope: Scope, path: str, places: list[Place]) -> Row:
    value = case.otherwise if case.when is None else case.value
    key = "else" if case.when is None else "value"
    if isinstance(value, str) and value.startswith("="):
        node = _parsed(value[1:], scope, f"{path}.{key}", places)
    else:
        node = x.literal(value)
    if case.when is None:
        return Row(None, node)
    if isinstance(case.when, bool):
        return Row(x.Const(case.when), node)
    return Row(_parsed(case.when, scope, f"{path}.when", places), node)
