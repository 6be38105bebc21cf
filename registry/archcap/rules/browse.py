"""What the rules of a release do around one name: who writes a setting and who reads it, what a step reads and writes.

Reads a compiled program only; knows no layout and no launch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from archcap.rules.run import Guard, Program, Reference, StatementInfo

_SHOWN = ("setting", "user_set", "var", "fact", "env", "assume", "hw", "has", "list", "config", "profile", "peer")
"""Kinds of names in the order they are listed; `user_set` reads a setting."""


@dataclass(frozen=True, slots=True)
class Place:
    """A statement that writes or reads something.

    Attributes:
        statement: its id.
        step: the step it stands in.
        source: `file:function` of the engine.
        when: the conditions under which it is reached, outermost first, in the rule language.
    """

    statement: str
    step: str
    source: str | None
    when: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SettingUse:
    """Who writes a setting and who reads it, in the order of the pipeline's text."""

    setting: str
    written_by: tuple[Place, ...]
    read_by: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class StepUse:
    """What a step reads and writes, by kind of name, and what it refuses.

    Attributes:
        reads: `kind name` in order of kind and name, as in `setting page_size`.
        writes: the same of what it writes.
        refuses: ids of its statements that refuse.
    """

    step: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    refuses: tuple[str, ...]


def setting_use(program: Program, setting: str) -> SettingUse:
    """Return what writes and reads *setting*, its leaves or what it is a leaf of.

    Args:
        program: the rules of a release.
        setting: a setting, or a leaf as in `cuda_graph_config.prefill.backend`.
    """
    written, read = [], []
    for statement in program.statements:
        if any(_is_setting(name) and _touches(name.key, setting) for name in statement.writes):
            written.append(_place(statement, program))
        if any(_is_setting(name) and _touches(name.key, setting) for name in _reads(statement)):
            read.append(_place(statement, program))
    return SettingUse(setting, tuple(written), tuple(read))


def step_use(program: Program, step: str) -> StepUse:
    """Return what the statements of *step* read, write and refuse; nothing where the release does not run it."""
    statements = [statement for statement in program.statements if statement.step == step]
    refusing = tuple(statement.id for statement in statements if statement.severity == "error")
    reads = (name for statement in statements for name in _reads(statement))
    writes = (name for statement in statements for name in statement.writes)
    return StepUse(step, _named(reads), _named(writes), refusing)


def _named(names: Iterable[Reference]) -> tuple[str, ...]:
    """Return names once each, by kind and name; whether the user set a setting reads the setting."""
    found = {("setting" if name.kind == "user_set" else name.kind, name.key) for name in names}
    ordered = sorted(found, key=lambda one: (_SHOWN.index(one[0]), one[1]))
    return tuple(f"{kind} {key}".rstrip() for kind, key in ordered)


def _reads(statement: StatementInfo) -> Iterator[Reference]:
    """Yield what a statement's conditions and values read."""
    yield from (name for guard in statement.guards for name in guard.reads)
    yield from statement.reads


def _is_setting(name: Reference) -> bool:
    return name.kind in ("setting", "user_set")


def _touches(one: str, other: str) -> bool:
    """Return whether two paths are the same, or one is a leaf of the other."""
    return one == other or one.startswith(other + ".") or other.startswith(one + ".")


def _place(statement: StatementInfo, program: Program) -> Place:
    return Place(statement.id, statement.step, statement.source, tuple(_when(statement.guards, program)))


def _when(guards: Iterable[Guard], program: Program) -> Iterator[str]:
    for guard in guards:
        text = program.expressions[guard.expr]
        yield text if guard.wanted else f"not ({text})"
