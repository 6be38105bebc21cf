"""Which steps at the head of a pipeline speak of the checkpoint alone, so that launches of it may share what they find.

Takes rules as `ir.py` has them. Knows no values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from archcap.rules import expr as x
from archcap.rules.ir import DefineIR, ReleaseIR, StepIR, Stmt, expressions, statements

_OTHERS = (
    x.Own, x.Raw, x.UserSet, x.Var, x.Hardware, x.Assume, x.Env, x.EnvSet, x.HasPeer, x.PeerValue, x.Profile, x.Has,
)  # fmt: skip
"""What differs between launches of one checkpoint, and is read too often to be compared."""


@dataclass(frozen=True, slots=True)
class Leading:
    """The leading steps that only write facts, from the configuration, the lists and a few settings.

    Attributes:
        steps: their names, in order.
        settings: the settings they read.
        given: facts they read and none of them writes.
        written: the facts they write.
    """

    steps: tuple[str, ...]
    settings: tuple[str, ...]
    given: tuple[str, ...]
    written: tuple[str, ...]


def leading(ir: ReleaseIR) -> Leading:
    """Return the longest head of the pipeline that speaks of the checkpoint alone."""
    steps = {step.name: step for step in ir.steps}
    defines = {define.name: define for define in ir.defines}
    head: list[StepIR] = []
    for name in ir.pipeline:
        if not _of_the_checkpoint(steps[name], defines):
            break
        head.append(steps[name])
    nodes = [node for step in head for node in _nodes(step, defines)]
    written = {write.path[0] for step in head for stmt in statements(step.body) for write in stmt.writes}
    facts = {node.name for node in nodes if isinstance(node, x.Fact)}
    return Leading(
        steps=tuple(step.name for step in head),
        settings=tuple(sorted({node.path[0] for node in nodes if isinstance(node, x.Setting)})),
        given=tuple(sorted(facts - written)),
        written=tuple(sorted(written)),
    )


def _of_the_checkpoint(step: StepIR, defines: Mapping[str, DefineIR]) -> bool:
    plain = not step.isolated and all(map(_only_tells_facts, statements(step.body)))
    return plain and not any(map(_differs, _nodes(step, defines)))


def _only_tells_facts(stmt: Stmt) -> bool:
    acts = stmt.require is not None or stmt.refuse or stmt.finding or stmt.call is not None or stmt.stop is not None
    return not acts and all(write.kind == "fact" for write in stmt.writes)


def _differs(node: x.Expr) -> bool:
    if isinstance(node, x.InList):
        return node.draft
    return node.view.startswith("draft") if isinstance(node, x.Config) else isinstance(node, _OTHERS)


def _nodes(step: StepIR, defines: Mapping[str, DefineIR]) -> Iterator[x.Expr]:
    """Yield everything a step reads, definitions opened."""
    waiting = [node for stmt in statements(step.body) for node in expressions(stmt)]
    opened: set[str] = set()
    while waiting:
        for node in x.walk(waiting.pop()):
            yield node
            if isinstance(node, x.Defined) and node.name not in opened:
                opened.add(node.name)
                rows = defines[node.name].rows
                waiting += [part for row in rows for part in (row.when, row.value) if part is not None]
