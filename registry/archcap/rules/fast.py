"""Runs a generated module: drives the pipeline and gives an exception to the statement it came from."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

from archcap.errors import ArchcapError
from archcap.rules.functions import RAISES, raised_text
from archcap.rules.run import Function, Inputs, Kind, NeedsInterpreter, Run
from archcap.rules.runtime import ABSENT, STOP_PIPELINE, Context, Layout, Refusal, Settled, Told

NOTHING_TOLD = Told({}, {}, ())
KEPT = 64
"""Checkpoints whose facts are kept, for each release."""


class Fast:
    """The fast path of one release."""

    def __init__(
        self, namespace: Mapping[str, Any], file: str, lines: Sequence[tuple[int, int]],
        functions: Mapping[str, Function], layout: Layout, interpret_head: Callable[[Inputs], Told],
    ) -> None:  # fmt: skip
        self._interpret_head = interpret_head
        self.pipeline: tuple[tuple[Callable[[Context], int | None], str], ...] = namespace["PIPELINE"]
        self.vars, self.env = namespace["DEFAULT_VARS"], namespace["DEFAULT_ENV"]
        self.needed = frozenset(namespace["FUNCTIONS"])
        self.file, self.functions, self.layout = file, functions, layout
        self._lead, *self._asked, self._told = namespace["LEADING"]
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
        context = self._context(inputs, read, functions)
        refused: int | None = None
        raised: str | None = None
        told = NOTHING_TOLD
        try:
            told = self._head(context, inputs)
            self._drive(context)
        except Refusal as refusal:
            refused = refusal.statement
            context.T((Kind.REFUSED, refused, "", refusal.shown))
        except RAISES as error:
            refused, raised = self._raised(error), raised_text(error)
            context.T((Kind.REFUSED, refused, "", {}))
        settings = Settled(context.S, self.layout.at, inputs.raw)
        facts = dict(context.F) if told.exact else {**context.F, **told.still_unknown(context.F)}
        run = Run(settings, context.V, facts, context.W, context.trace, refused, raised, [], read, told.exact)
        run.undetermined += told.undetermined
        run.ends, run.context = context.ends, context
        return run

    def _context(self, inputs: Inputs, read: list[str], functions: Mapping[str, Function]) -> Context:
        try:
            return Context(inputs, self.vars, self.env, read, functions, self.layout)
        except KeyError:
            self._incomplete("settings", frozenset(self.layout.settings) - inputs.raw.keys())
            raise

    def _head(self, context: Context, inputs: Inputs) -> Told:
        """Tell the facts of the checkpoint, or repeat what an earlier launch of it was told.

        A configuration is known again as an object: who completes it keeps the last ones.
        """
        if self._lead is None:
            return NOTHING_TOLD
        if not inputs.facts.keys().isdisjoint(self._told):
            self._lead(context)  # whoever runs the rules knows better
            return NOTHING_TOLD
        hf, text = inputs.hf, inputs.text
        told_from = (hf.data, text.data, context.fn)
        settings, given = self._asked
        read = [context.S[number] for number in settings] + [context.F.get(name, ABSENT) for name in given]
        key = (inputs.architecture, hf.unknown, text.unknown, *map(id, told_from), repr(read))
        kept = context.LS.told.get(key)
        if kept is None:
            told = self._tell(context, inputs)
            if len(context.LS.told) >= KEPT:
                context.LS.told.clear()
            context.LS.told[key] = (told, told_from)
            return told
        told = kept[0]
        context.F.update(told.facts)
        context.trace += told.events
        return told

    def _tell(self, context: Context, inputs: Inputs) -> Told:
        """Run the leading steps; where they meet something unknown, the interpreter does."""
        try:
            self._lead(context)
        except NeedsInterpreter:
            told = self._interpret_head(inputs)
            for name in self._told:
                context.F.pop(name, None)
            context.F.update(told.facts)
            context.trace[:] = told.events
            return told
        return Told({name: context.F[name] for name in self._told if name in context.F}, {}, tuple(context.trace))

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

    def _raised(self, error: Exception) -> int:
        """Return the statement that raised."""
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
