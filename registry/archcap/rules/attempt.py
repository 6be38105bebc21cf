"""Runs the generated code of a step on an interpreted state, as far as it meets nothing unknown. Knows no statement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from archcap.rules.functions import RAISES
from archcap.rules.run import KIND, NAME, Inputs, Kind, NeedsInterpreter
from archcap.rules.runtime import STOP_PIPELINE, Assumed, Context, Known, Layout, Refusal
from archcap.rules.state import WRITES, Notes, State

Compiled = Callable[[Context], int | None]
"""The generated function of a step."""


class KnownSet(set[str]):
    """Names of which some may or may not be in it."""

    unsure: frozenset[str] = frozenset()

    def __contains__(self, name: object) -> bool:
        if name in self.unsure:
            raise NeedsInterpreter(name)
        return super().__contains__(name)


class ByNumber:
    """Settings by their numbers, of which some may be unknown."""

    __slots__ = ("names", "values")

    def __init__(self, names: tuple[str, ...], values: dict[str, Any]) -> None:
        self.names, self.values = names, values

    def __getitem__(self, number: int) -> Any:
        return self.values[self.names[number]]

    def __setitem__(self, number: int, value: Any) -> None:
        self.values[self.names[number]] = value

    def copy(self) -> ByNumber:
        """Return a copy to write to, for a step that an isolated one calls."""
        return ByNumber(self.names, type(self.values)(self.values))


class Attempt:
    """Tries the steps of one run."""

    def __init__(self, inputs: Inputs, notes: Notes, layout: Layout) -> None:
        self.notes, self.names = notes, layout.settings
        self.base = Context(inputs, {}, {}, [], inputs.functions, layout)
        self.base.A = Assumed(inputs.assume, notes)

    def run(self, step: Compiled, state: State) -> Literal["next", "pipeline", "stage"] | None:
        """Run a step on *state*, which takes its changes; return None, nothing changed, where it cannot be.

        That is where something unknown is read, or the launch is refused: the interpreter words what that means.
        """
        context = self._context(state)
        try:
            stop = step(context)
        except NeedsInterpreter:
            self.notes.met_unknown = True
            return None
        except (Refusal, *RAISES):
            return None
        self._take(context, state)
        if not stop:
            return "next"
        return "pipeline" if stop == STOP_PIPELINE else "stage"

    def _context(self, state: State) -> Context:
        context = self.base
        context.trace = []
        context.T = context.trace.append
        context.S, context.V = ByNumber(self.names, state.settings.readable()), state.vars.readable()
        context.F, context.E = Known(state.facts.known), state.env.readable()
        names: KnownSet | set[str] = {name for name, there in state.env_set.items() if there is True}
        if len(names) < len(state.env_set):
            names = KnownSet(names)
            names.unsure = frozenset(state.env_set) - names
        context.N, context.W = names, dict(state.env_written)
        return context

    def _take(self, context: Context, state: State) -> None:
        written: dict[Kind, set[str]] = {kind: set() for kind in WRITES}
        for event in context.trace:
            if event[KIND] in WRITES:
                written[event[KIND]].add(event[NAME].split(".", 1)[0])
        state.settings.take(context.S.values, written[Kind.SET])
        state.vars.take(context.V, written[Kind.VAR])
        state.facts.take(context.F, written[Kind.FACT])
        state.env.take(context.E, written[Kind.ENV])
        state.env_set.update(dict.fromkeys(written[Kind.ENV], True))
        state.env_written = context.W
        state.journal.extend(context.trace)
