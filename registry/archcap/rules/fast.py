"""Runs a generated module: drives the pipeline and gives an exception to the statement it came from."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

from archcap.errors import ArchcapError
from archcap.rules.functions import RAISES, raised_text
from archcap.rules.run import Function, Inputs, Kind, Run
from archcap.rules.runtime import STOP_PIPELINE, Context, ListsOf, Refusal


class Fast:
    """The fast path of one release."""

    def __init__(
        self, namespace: Mapping[str, Any], file: str, lines: Sequence[tuple[int, int]],
        functions: Mapping[str, Function],
    ) -> None:  # fmt: skip
        self.pipeline: tuple[tuple[Callable[[Context], int | None], str], ...] = namespace["PIPELINE"]
        self.vars, self.env, self.settings = (namespace[key] for key in ("DEFAULT_VARS", "DEFAULT_ENV", "SETTINGS"))
        self.needed = frozenset(namespace["FUNCTIONS"])
        self.file, self.functions, self.lists = file, functions, ListsOf()
        self._starts = [line for line, _ in lines]
        self._owners = [statement for _, statement in lines]

    def run(self, inputs: Inputs) -> Run:
        """Run the rules.

        Raises:
            NeedsInterpreter: something unknown was read.
            ArchcapError: the caller left out a setting or an engine function.
        """
        read: list[str] = []
        functions = inputs.functions or self.functions
        if not self.needed <= functions.keys():
            self._incomplete("functions", self.needed - functions.keys())
        context = Context(inputs, self.vars, self.env, read, functions, self.lists(inputs.lists))
        refused: int | None = None
        raised: str | None = None
        try:
            self._drive(context)
        except Refusal as refusal:
            refused = refusal.statement
            context.T((Kind.REFUSED, refused, "", refusal.shown))
        except RAISES as error:
            refused, raised = self._raised(error, inputs), raised_text(error)
            context.T((Kind.REFUSED, refused, "", {}))
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

    def _raised(self, error: Exception, inputs: Inputs) -> int:
        """Return the statement that raised; a setting the caller left out is no exception of the engine."""
        if isinstance(error, KeyError):
            missing = self.settings - inputs.raw.keys()
            if missing:
                self._incomplete("settings", missing)
        statement = self._statement_of(error.__traceback__)
        if statement is None:
            raise error
        return statement

    def _incomplete(self, what: str, names: frozenset[str]) -> None:
        listed = ", ".join(sorted(names)[:8])
        raise ArchcapError("incomplete-inputs", f"the rules read {what} that were not given: {listed}")

    def _statement_of(self, traceback: TracebackType | None) -> int | None:
        """Return the statement whose line raised: that of the innermost step."""
        found: int | None = None
        while traceback is not None:
            if traceback.tb_frame.f_code.co_filename == self.file:
                position = bisect_right(self._starts, traceback.tb_lineno) - 1
                if position >= 0 and self._owners[position] >= 0:
                    found = self._owners[position]
            traceback = traceback.tb_next
        return found
