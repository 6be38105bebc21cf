"""What SGLang 0.5.23's argument resolution does, effect by effect, and which of it the rules say.

An effect is a place in the engine's source that refuses, sets or remembers something, or sets an environment variable.
The list was read off the source once and is committed; what is stated is computed from the rules. Knows no launch.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from archcap.rules.run import Program, StatementInfo

HERE = Path(__file__).parent
RELEASE = "0.5.23"
ANY = "*"
"""Name of what a function sets by names it computes."""


@dataclass(frozen=True, slots=True)
class Effect:
    """One effect: where, of which kind (refuse, set, remember, env), on what, and the settings its condition reads."""

    file: str
    line: int
    function: str
    kind: str
    name: str
    needs: frozenset[str]


@dataclass(frozen=True, slots=True)
class Unstated:
    """Effects of one function that no statement says, and why; `names` are what they set, none for refusals."""

    function: str
    names: tuple[str, ...]
    why: str

    def covers(self, effect: Effect) -> bool:
        """Return whether an effect is among these."""
        named = effect.name in self.names if effect.kind != "refuse" else not self.names
        return effect.function == self.function and named


@cache
def effects() -> tuple[Effect, ...]:
    """Return every effect, by file and line."""
    with gzip.open(HERE / f"effects-{RELEASE}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return tuple(Effect(*row[:5], frozenset(row[5])) for row in rows)


@cache
def unstated() -> tuple[Unstated, ...]:
    """Return what is left out on purpose."""
    found = yaml.safe_load((HERE / "unstated.yaml").read_text(encoding="utf-8"))
    return tuple(Unstated(row["function"], tuple(row.get("names", ())), row["why"]) for row in found)


def stated(program: Program) -> dict[Effect, bool]:
    """Return for every effect whether a statement of its function says it.

    A refusal is said by a refusing statement that reads every setting its condition reads; a write by a statement that
    writes it.
    """
    acting = _by_function(program.statements)
    return {effect: _says(effect, acting.get(_plain(effect.function), ()), program) for effect in effects()}


def _by_function(statements: Iterable[StatementInfo]) -> Mapping[str, list[StatementInfo]]:
    """Group statements by the functions they stand for: their source's, and their step's."""
    found: dict[str, list[StatementInfo]] = defaultdict(list)
    for statement in statements:
        names = {statement.step, (statement.source or statement.step).rpartition(":")[2]}
        for name in {_plain(name) for name in names}:
            found[name].append(statement)
    return found


def _says(effect: Effect, acting: Iterable[StatementInfo], program: Program) -> bool:
    if effect.kind == "refuse":
        return any(effect.needs <= _read(s, program) for s in acting if s.severity == "error")
    kind = "env" if effect.kind == "env" else "setting"
    written = {write.key.partition(".")[0] for s in acting for write in s.writes if write.kind == kind}
    return bool(written) if effect.name == ANY else effect.name.partition(".")[0] in written


def _read(statement: StatementInfo, program: Program) -> set[str]:
    """Return the settings a statement depends on: by its guards, and by the returns it got past."""
    passed = [program.statements[index] for index in statement.returns_before]
    guards = [guard for one in (statement, *passed) for guard in one.guards]
    reads = [read for guard in guards for read in guard.reads] + list(statement.reads)
    return {read.key.partition(".")[0] for read in reads if read.kind in ("setting", "user_set")}


def _plain(name: str) -> str:
    return name.lstrip("_")
