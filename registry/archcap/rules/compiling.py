"""From rules to a `Program`, or to the text of a module that holds one.

With `past.py`, the only place that runs text generated in this process. Knows no engine by name.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from archcap.errors import ArchcapError, DataError
from archcap.model.registry import EngineRegistry
from archcap.model.vocabulary import Vocabulary
from archcap.rules.codegen import Generated, generate
from archcap.rules.coding import encode
from archcap.rules.conditions import Condition
from archcap.rules.describe import Description, describe
from archcap.rules.fast import Fast
from archcap.rules.ir import Definitions, ReleaseIR
from archcap.rules.names import universe_of
from archcap.rules.problems import problem_of
from archcap.rules.program import FORMAT, Late, assembled
from archcap.rules.records import RULES, STATEMENTS
from archcap.rules.release import Lowered, lower_release
from archcap.rules.run import Function, Program


def compile_release(
    reg: EngineRegistry, vocabulary: Vocabulary, release: str, functions: Mapping[str, Function]
) -> Program:
    """Return the rules of *release*, ready to run.

    Args:
        reg: the engine.
        vocabulary: the capabilities rules may ask for.
        release: one of the engine's releases.
        functions: the engine's pure functions by name.
    Raises:
        DataError: a statement cannot be understood; all problems at once.
    """
    lowered = _understood(reg, vocabulary, release, functions)
    generated = generate(lowered.ir)
    file = f"<rules of {release}>"
    namespace: dict[str, Any] = {"__name__": "archcap_rules"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        code = compile(generated.text, file, "exec")
    exec(code, namespace)
    fixed = describe(reg, lowered)
    late = Late(lambda: Described(lowered.ir, fixed.conditions), namespace, functions)
    fast = Fast(namespace, file, generated.lines, functions, late.layout, late.head)
    return assembled(release, _digest(generated), tuple(fixed.infos), _texts(fixed), fixed.writers, fast, late)


@dataclass(frozen=True, slots=True)
class Described:
    """Rules as they were just lowered."""

    ir: ReleaseIR
    conditions: Sequence[Condition]

    @property
    def definitions(self) -> Definitions:
        """What expressions of them refer to."""
        return Definitions.of(self.ir)

    def condition(self, index: int) -> Condition:
        """Return one of `Program.expressions`."""
        return self.conditions[index]


def source_of_release(reg: EngineRegistry, vocabulary: Vocabulary, release: str, functions: Iterable[str]) -> str:
    """Return the text of a module that `load_program` turns into the program of *release*; same rules, same text.

    Args:
        reg: the engine.
        vocabulary: the capabilities rules may ask for.
        release: one of the engine's releases.
        functions: names of the engine's pure functions.
    Raises:
        DataError: a statement cannot be understood; all problems at once.
    """
    lowered = _understood(reg, vocabulary, release, functions)
    generated = generate(lowered.ir)
    fixed = describe(reg, lowered)
    writers = tuple((key, indices) for key, indices in fixed.writers.items())
    tail = (
        f"FORMAT = {FORMAT}",
        f"DIGEST = {_digest(generated)!r}",
        f"LINES = {generated.lines!r}",
        f"STATEMENTS = {encode((tuple(fixed.infos), _texts(fixed), writers), STATEMENTS)!r}",
        f"RULES = {encode((lowered.ir, tuple(fixed.conditions)), RULES)!r}",
    )
    return generated.text + "\n\n" + "\n".join(tail) + "\n"


def _understood(reg: EngineRegistry, vocabulary: Vocabulary, release: str, functions: Iterable[str]) -> Lowered:
    if release not in reg.engine.releases:
        raise ArchcapError("unknown-release", f"{reg.engine.engine} has no release {release!r} in the registry")
    lowered = lower_release(reg, universe_of(reg, vocabulary, functions), release)
    if lowered.places:
        raise DataError(dict.fromkeys(problem_of(reg, place) for place in lowered.places))
    return lowered


def _digest(generated: Generated) -> str:
    return "sha256:" + hashlib.sha256(generated.text.encode()).hexdigest()


def _texts(described: Description) -> tuple[str, ...]:
    return tuple(condition.text for condition in described.conditions)
