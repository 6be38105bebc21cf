"""Runs a generated module: drives the pipeline and gives an exception to the statement it came from."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

from archcap.errors import ArchcapError
from archcap.rules.functions import RAISES, raised_text
from archcap.rules.run import Function, Inputs, Kind, Run
from archcap.rules.runtime import ABSENT, STOP_PIPELINE, Context, Layout, Refusal, Settled, Told

KEPT = 64
"""Checkpoints whose facts are kept, for each release."""


def layout_of(namespace: Mapping[str, Any]) -> Layout:
    """Return where the code of a generated module finds what it reads by number."""
    return Layout(namespace["SETTINGS"], namespace["LISTS"])


class Fast:
    """The fast path of one release."""

    def __init__(
        self, namespace: Mapping[str, Any], file: str, lines: Sequence[tuple[int, int]],
        functions: Mapping[str, Function],
    ) -> None:  # fmt: skip
        self.pipeline: tuple[tuple[Callable[[Context], int | None], str], ...] = namespace["PIPELINE"]
        self.vars, self.env = namespace["DEFAULT_VARS"], namespace["DEFAULT_ENV"]
        self.needed = frozenset(namespace["FUNCTIONS"])
        self.file, self.functions, self.layout = file, functions, layout_of(namespace)
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
        try:
            self._head(context, inputs)
            self._drive(context)
        except Refusal as refusal:
            refused = refusal.statement
            context.T((Kind.REFUSED, refused, "", refusal.shown))
        except RAISES as error:
            refused, raised = self._raised(error), raised_text(error)
            context.T((Kind.REFUSED, refused, "", {}))
        settings = Settled(context.S, self.layout.at, inputs.raw)
        return Run(settings, context.V, dict(context.F), context.W, context.trace, refused, raised, [], read)

    def _context(self, inputs: Inputs, read: list[str], functions: Mapping[str, Function]) -> Context:
        try:
            return Context(inputs, self.vars, self.env, read, functions, self.layout)
        except KeyError:
            self._incomplete("settings", frozenset(self.layout.settings) - inputs.raw.keys())
            raise

    def _head(self, context: Context, inputs: Inputs) -> None:
        """Tell the facts of the checkpoint, or repeat what an earlier launch of it was told.

        The rules' own configuration is compared as an object: who completes it keeps the last ones.
        """
        if self._lead is None:
            return
        if not inputs.facts.keys().isdisjoint(self._told):
            self._lead(context)  # whoever runs the rules knows better
            return
        configs = (inputs.hf.data, inputs.hf.unknown, inputs.text.data, inputs.text.unknown)
        settings, given = self._asked
        read = [context.S[number] for number in settings] + [context.F.get(name, ABSENT) for name in given]
        key = (inputs.architecture, *map(id, configs), *map(repr, read))
        kept = context.LS.told
        told = kept.get(key)
        if told is not None and told.functions is context.fn:
            context.F.update(told.facts)
            context.trace += told.events
            return
        self._lead(context)
        if len(kept) >= KEPT:
            kept.clear()
        facts = {name: context.F[name] for name in self._told if name in context.F}
        kept[key] = Told(configs, context.fn, facts, tuple(context.trace))

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
