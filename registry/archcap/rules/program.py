"""From rules to a `Program`: compiled in process, or loaded from a module generated before.

The only place that runs generated text. Knows no engine by name.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any

from archcap.errors import ArchcapError, DataError, Problem
from archcap.model.registry import EngineRegistry
from archcap.model.vocabulary import Vocabulary
from archcap.rules.codegen import Generated, generate
from archcap.rules.describe import Description, describe
from archcap.rules.functions import RAISES, raised_text
from archcap.rules.interpret import Interpreter
from archcap.rules.judge import Judge
from archcap.rules.names import universe_of
from archcap.rules.release import Lowered, lower_release
from archcap.rules.run import ConfigView, Event, Function, Inputs, Kind, Program, Run, Value
from archcap.rules.runtime import STOP_PIPELINE, Context, Refusal


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
    lowered = lowered_release(reg, vocabulary, release, functions)
    generated = generate(lowered.ir)
    namespace: dict[str, Any] = {"__name__": f"archcap.rules.compiled_{release}"}
    code = compile(generated.text, f"<rules of {release}>", "exec")
    exec(code, namespace)
    return assembled(lowered, describe(reg, lowered), generated, namespace, functions)


def lowered_release(
    reg: EngineRegistry, vocabulary: Vocabulary, release: str, functions: Iterable[str]
) -> Lowered:
    """Return the rules of a release, which must be understood.

    Raises:
        DataError: with every problem.
    """
    lowered = lower_release(reg, universe_of(reg, vocabulary, functions), release)
    if lowered.places:
        raise DataError(problem_at(reg, place.step, place.path, place.flaw.message) for place in lowered.places)
    return lowered


def problem_at(reg: EngineRegistry, step: str | None, path: str, message: str) -> Problem:
    """Return a problem of a step, or of a definition."""
    file = reg.step_files.get(step, "") if step is not None else ""
    return Problem(file, None, path if step is None else f"steps.{step}.{path}", message)


def assembled(
    lowered: Lowered, described: Description, generated: Generated, namespace: dict[str, Any],
    functions: Mapping[str, Function],
) -> Program:  # fmt: skip
    """Return the program of a module that has run."""
    interpreter = Interpreter(lowered.ir)
    judge = Judge(interpreter, described.conditions)
    digest = "sha256:" + hashlib.sha256(generated.text.encode()).hexdigest()
    return Program(
        release=lowered.ir.release,
        digest=digest,
        statements=tuple(described.infos),
        expressions=tuple(condition.text for condition in described.conditions),
        writers=described.writers,
        fast=Fast(namespace, generated, interpreter, functions).run,
        interpret=lambda inputs: interpreter.run(with_functions(inputs, functions)),
        evaluate=judge.evaluate,
        reasons=judge.reasons,
    )


def with_functions(inputs: Inputs, functions: Mapping[str, Function]) -> Inputs:
    """Give *inputs* the engine's functions unless they bring their own."""
    return inputs if inputs.functions else replace(inputs, functions=functions)


class Fast:
    """Runs a generated module."""

    def __init__(
        self, namespace: Mapping[str, Any], generated: Generated, interpreter: Interpreter,
        functions: Mapping[str, Function],
    ) -> None:  # fmt: skip
        self.pipeline: tuple[tuple[Callable[[Context], int | None], str], ...] = namespace["PIPELINE"]
        self.functions = functions
        self.needed = frozenset(generated.functions)
        self.file = f"<rules of {interpreter.ir.release}>"
        self._starts = [line for line, _ in generated.lines]
        self._owners = [statement for _, statement in generated.lines]
        start = interpreter.start
        self.vars = start(no_inputs()).vars
        self.env = dict(interpreter.evaluator.env)
        self.module = next((s.__code__.co_filename for s, _ in self.pipeline), self.file)

    def run(self, inputs: Inputs) -> Run:
        """Run the rules.

        Raises:
            NeedsInterpreter: something unknown was read.
        """
        read: list[str] = []
        functions = inputs.functions or self.functions
        if self.needed and not self.needed <= functions.keys():
            missing = ", ".join(sorted(self.needed - functions.keys()))
            raise ArchcapError("missing-function", f"the rules call functions that the engine does not provide: {missing}")
        context = Context(inputs, self.vars, self.env, read, functions)
        refused: int | None = None
        raised: str | None = None
        try:
            self._drive(context)
        except Refusal as refusal:
            refused = refusal.statement
            context.T(Event(Kind.REFUSED, refused, "", refusal.shown))
        except RAISES as error:
            refused = self._statement_of(error.__traceback__)
            if refused is None:
                raise
            raised = raised_text(error)
            context.T(Event(Kind.REFUSED, refused, "", {}))
        return Run(context.S, context.V, dict(context.F), context.W, context.trace, refused, raised, [], read)

    def _drive(self, context: Context) -> None:
        skipped: set[str] = set()
        for step, stage in self.pipeline:
            if stage in skipped:
                continue
            stop = step(context)
            if stop:
                if stop == STOP_PIPELINE:
                    return
                skipped.add(stage)

    def _statement_of(self, traceback: TracebackType | None) -> int | None:
        """Return the statement whose line raised: the innermost frame of a step."""
        found: int | None = None
        while traceback is not None:
            if traceback.tb_frame.f_code.co_filename == self.module:
                position = bisect_right(self._starts, traceback.tb_lineno) - 1
                if position >= 0 and self._owners[position] >= 0:
                    found = self._owners[position]
            traceback = traceback.tb_next
        return found


def no_inputs() -> Inputs:
    """Return the inputs of a launch nothing is known of."""
    nothing = ConfigView("config", None)
    return Inputs(
        raw={}, user=frozenset(), hw={}, assume={}, env={}, env_set=frozenset(), hf=nothing, text=nothing,
        draft_hf=nothing, draft_text=nothing, architecture=None, profile=None, capabilities=frozenset(), lists={},
    )  # fmt: skip


__all__ = ["Fast", "Value", "assembled", "compile_release", "lowered_release", "with_functions"]
