"""The three-valued interpreter: runs a release's rules where something is unknown.

A guard that is unknown splits the run into the way that takes it and the way that does not; where they meet again,
values that are equal stay known and the others become unknown. Ways that return or stop wait for the others at the end
of the step, stage or pipeline. A refusal on a way that may not be taken is undetermined, and the run goes on as if it
were not there. Where nothing is unknown there is one way, and it does exactly what the generated code does; a step that
meets nothing unknown is therefore left to the generated code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from archcap.rules import expr as x
from archcap.rules.attempt import Attempt, Compiled
from archcap.rules.evaluate import Evaluator, guarded, literal
from archcap.rules.functions import RAISES, raised_text
from archcap.rules.ir import Definitions, ReleaseIR, StepIR, Stmt, Write
from archcap.rules.leading import leading
from archcap.rules.plainness import Plainness
from archcap.rules.reads import Eval, read_path
from archcap.rules.run import Inputs, Kind, NeedsInterpreter, Run, Unknown, Value, name_of_return
from archcap.rules.runtime import Layout, Told, plain
from archcap.rules.state import (
    NOTHING,
    Result,
    State,
    Unsure,
    joined,
    needs_of,
    sure,
    unknown,
    unsure,
)  # fmt: skip
from archcap.rules.writes import abandon, commit, place_of, put_env, rejoin, store

Outcome = Literal["next", "return", "pipeline", "stage"]
Ways = dict[Outcome, State]
"""The ways that leave a statement or block, at most one of each outcome; none when all were refused."""

_KINDS = {
    "set": Kind.SET, "default": Kind.SET, "var": Kind.VAR, "fact": Kind.FACT, "env": Kind.ENV, "env_if_unset": Kind.ENV,
}  # fmt: skip


class Halt(Exception):
    """The launch is surely refused; *state* is how far it got."""

    def __init__(self, statement: int, raised: str | None, state: State) -> None:
        super().__init__(statement)
        self.statement, self.raised, self.state = statement, raised, state


@dataclass(slots=True)
class _Collected:
    """What the run notes besides the state."""

    undetermined: dict[int, set[str]] = field(default_factory=dict)
    refusals: list[tuple[int, str | None, State]] = field(default_factory=list)
    """Refusals on ways that may not be taken, each with how far its way got."""


@dataclass(frozen=True, slots=True)
class _Do:
    """A statement with its closures; a `plain` one neither leads anywhere nor can be refused while it writes."""

    stmt: Stmt
    when: Eval | None
    lets: tuple[tuple[str, Eval], ...]
    require: Eval | None
    shown: tuple[tuple[str, Eval], ...]
    writes: tuple[tuple[Write, Eval], ...]
    body: tuple[_Do, ...] | None
    first: tuple[_Do, ...] | None
    effects: bool
    plain: bool


class Interpreter:
    """Runs the rules of one release over values that may be unknown.

    Args:
        ir: the rules.
        steps: the generated functions of its steps, for those that meet nothing unknown; none to interpret all.
        layout: where those find what they read by number.
    """

    def __init__(
        self, ir: ReleaseIR, steps: Mapping[str, Compiled] | None = None, layout: Layout | None = None
    ) -> None:  # fmt: skip
        self.ir, self.compiled, self.layout = ir, steps or {}, layout
        self.evaluator = Evaluator(Definitions.of(ir))
        self.plainness = Plainness(ir.defines)
        self.vars = {name: literal(node) for name, node in ir.vars}
        self._steps = {step.name: step for step in ir.steps}
        self._bodies: dict[str, tuple[_Do, ...]] = {}

    def run(self, inputs: Inputs) -> Run:
        """Return what the rules do with *inputs*."""
        return _Running(self, inputs).run()

    def head(self, inputs: Inputs) -> Told:
        """Return what the leading steps tell of a checkpoint of which something is unknown.

        Raises:
            NeedsInterpreter: it cannot be told apart from the rest of the run.
        """
        return _Running(self, inputs).head(leading(self.ir).steps)

    def start(self, inputs: Inputs) -> State:
        """Return the state before the first step."""
        return State(inputs, self.vars, self.evaluator.env)

    def step(self, name: str) -> StepIR:
        """Return a step."""
        return self._steps[name]

    def body(self, name: str) -> tuple[_Do, ...]:
        """Return a step's statements with their closures, made once."""
        if name not in self._bodies:
            self._bodies[name] = tuple(self._do(stmt) for stmt in self._steps[name].body)
        return self._bodies[name]

    def _do(self, stmt: Stmt) -> _Do:
        ev = self.evaluator
        leads = stmt.body is not None or stmt.first is not None or stmt.call or stmt.returns or stmt.stop
        return _Do(
            stmt=stmt,
            when=None if stmt.when is None else ev.truth(stmt.when),
            lets=tuple((let.name, ev.value(let.value)) for let in stmt.lets),
            require=None if stmt.require is None else ev.truth(stmt.require),
            shown=tuple((shown.name, _shown(ev, shown.value)) for shown in stmt.shown),
            writes=tuple((write, self._value(write.value)) for write in stmt.writes),
            body=None if stmt.body is None else tuple(self._do(one) for one in stmt.body),
            first=None if stmt.first is None else tuple(self._do(one) for one in stmt.first),
            effects=bool(stmt.writes or stmt.finding or stmt.refuse or stmt.require is not None),
            plain=not (leads or stmt.refuse or any(len(write.path) > 1 for write in stmt.writes)),
        )

    def _value(self, node: x.Expr) -> Eval:
        run = self.evaluator.value(node)
        if not self.plainness.may_collect(node):
            return run

        def plained(state: State) -> Result:
            result = run(state)
            return result if type(result) is Unknown else plain(result)

        return plained


def _shown(ev: Evaluator, node: x.Expr) -> Eval:
    if not (isinstance(node, x.Setting) and len(node.path) > 1):
        return ev.value(node)
    path = node.path

    def run(state: State) -> Result:
        try:
            return read_path(state.settings, path, state)
        except AttributeError:
            return None

    return run


class _Running:
    """One run."""

    def __init__(self, owner: Interpreter, inputs: Inputs) -> None:
        self.owner = owner
        self.state = owner.start(inputs)
        self.notes = self.state.notes
        self.collected = _Collected()
        self.attempt = None if owner.layout is None else Attempt(inputs, self.notes, owner.layout)

    def run(self) -> Run:
        """Run the pipeline."""
        try:
            final = self._pipeline()
        except Halt as halt:
            return self._result(halt.state, halt.statement, halt.raised)
        if final is not None:
            return self._result(final, None, None)
        statement, raised, state = self.collected.refusals[0]
        return self._result(state, statement, raised)

    def _result(self, state: State, refused: int | None, raised: str | None) -> Run:
        return Run(
            settings=state.settings.values(),
            vars=state.vars.values(),
            facts=state.facts.values(),
            env=state.env_written,
            trace=[sure(event) if isinstance(event, Unsure) else event for event in state.journal],
            refused=refused,
            raised=raised,
            undetermined=[(index, frozenset(needs)) for index, needs in sorted(self.collected.undetermined.items())],
            assumptions_read=list(self.notes.assumed),
            exact=not self.notes.met_unknown,
        )

    def head(self, steps: Sequence[str]) -> Told:
        """Run the leading steps alone, which only tell facts.

        Raises:
            NeedsInterpreter: what they tell cannot be parted from the rest of the run.
        """
        state = self.state
        try:
            for name in steps:
                state = self._step(self.owner.step(name), state)["next"]
        except (Halt, KeyError) as error:
            raise NeedsInterpreter(name) from error
        if self.collected.refusals:
            raise NeedsInterpreter(name)
        done = self._result(state, None, None)
        known = {name: value for name, value in state.facts.known.items() if name not in state.inputs.facts}
        unknown = {name: value for name, value in done.facts.items() if isinstance(value, Unknown)}
        return Told(known, unknown, tuple(done.trace), tuple(done.undetermined), done.exact)

    # -- pipeline --------------------------------------------------------------

    def _pipeline(self) -> State | None:
        """Run every step; ways that ended a stage wait for the first step of another."""
        steps = [self.owner.step(name) for name in self.owner.ir.pipeline]
        live: dict[frozenset[str], State] = {NOTHING: self.state}
        ended: State | None = None
        for position, step in enumerate(steps):
            moved: dict[frozenset[str], State] = {}
            later = {one.stage for one in steps[position + 1 :]}
            for skipped, state in live.items():
                ways: Ways = {"next": state} if step.stage in skipped else self._step(step, state)
                for outcome, way in ways.items():
                    if outcome == "pipeline":
                        ended = way if ended is None else self._join(ended, way, NOTHING)
                        continue
                    skips = skipped | {step.stage} if outcome == "stage" else skipped
                    key = frozenset(skips & later)
                    moved[key] = self._join(moved[key], way, NOTHING) if key in moved else way
            live = moved
            if len(live) == 1 and ended is None:
                next(iter(live.values())).needs = NOTHING
        return self._met([*live.values(), *([] if ended is None else [ended])])

    def _met(self, states: list[State]) -> State | None:
        final = states[0] if states else None
        for other in states[1:]:
            assert final is not None
            final = self._join(final, other, NOTHING)
        return final

    def _step(self, step: StepIR, state: State) -> Ways:
        """Run one step, as generated where it meets nothing unknown."""
        if self.attempt is not None and not state.needs and state.own_settings is None:
            outcome = self.attempt.run(self.owner.compiled[step.name], state)
            if outcome is not None:
                return {outcome: state}
        return self._interpreted(step, state)

    def _interpreted(self, step: StepIR, state: State) -> Ways:
        """Run one step; its returns and its end meet."""
        base, outer = state.needs, state.locals
        outer_own = (state.own_settings, state.own_vars, state.pending)
        state.locals, state.pending = {}, []
        state.own_settings = state.settings.copy() if step.isolated else None
        state.own_vars = state.vars.copy() if step.isolated else None
        ways = self._block(self.owner.body(step.name), state)
        merged: Ways = {}
        for outcome, way in ways.items():
            if step.isolated:
                commit(way)
            way.locals = dict(outer)
            way.own_settings, way.own_vars, way.pending = outer_own
            self._add(merged, "next" if outcome == "return" else outcome, way, base)
        return self._settled(merged, base)

    # -- ways ---------------------------------------------------------------------

    def _block(self, body: tuple[_Do, ...], state: State) -> Ways:
        base = state.needs
        ways: Ways = {}
        current: State | None = state
        for do in body:
            if current is None:
                break
            results = self._statement(do, current)
            current = results.pop("next", None)
            for outcome, way in results.items():
                self._add(ways, outcome, way, base)
        if current is not None:
            self._add(ways, "next", current, base)
        return self._settled(ways, base)

    def _join(self, first: State, second: State, base: frozenset[str]) -> State:
        return first.join(second, base, self.owner.evaluator.fact_needs)

    def _add(self, ways: Ways, outcome: Outcome, state: State, base: frozenset[str]) -> None:
        ways[outcome] = self._join(ways[outcome], state, base) if outcome in ways else state

    def _settled(self, ways: Ways, base: frozenset[str]) -> Ways:
        """Drop what told ways apart where only one is left: the others met it or were refused."""
        if len(ways) == 1:
            next(iter(ways.values())).needs = base
        return ways

    # -- statements -----------------------------------------------------------------

    def _statement(self, do: _Do, state: State) -> Ways:
        if do.when is None:
            return self._effects(do, state)
        holds = self._evaluate(do, do.when, state)
        if holds is _RAISED:
            return {}
        if type(holds) is Unknown:
            return self._maybe(do, state, holds.needs) if do.plain else self._split(do, state, holds.needs)
        return self._effects(do, state) if holds else {"next": state}

    def _split(self, do: _Do, state: State, needs: frozenset[str]) -> Ways:
        """Go both ways: with the statement and without it."""
        base = state.needs
        taken = state.fork()
        taken.needs = state.needs = base | needs
        ways = self._effects(do, taken)
        self._add(ways, "next", state, base)
        return self._settled(ways, base)

    def _maybe(self, do: _Do, state: State, needs: frozenset[str]) -> Ways:
        """Run a plain statement that may not be taken: as if both ways had met again, without going them."""
        base, locals_ = state.needs, state.locals
        state.needs, state.locals = base | needs, dict(locals_)
        if do.effects:
            self._undetermined(do.stmt.index, state.needs)
        values = self._maybe_values(do, state)
        if values is not None:
            for name, value in state.locals.items():
                if name in locals_:
                    locals_[name] = joined(locals_[name], value, state.needs - base or state.needs)
            for (write, _), value in zip(do.writes, values, strict=True):
                self._write(do.stmt, write, value, state, state.needs - base or state.needs)
        state.needs, state.locals = base, locals_
        return {"next": state}

    def _maybe_values(self, do: _Do, state: State) -> list[Result] | None:
        """Return the values a statement would write, None when its way is refused before."""
        if not self._lets(do, state):
            return None
        if do.require is not None and not self._passes(do, state.fork()):
            return None
        return self._values(do, state)

    def _effects(self, do: _Do, state: State) -> Ways:
        base = state.needs
        if do.effects and state.needs:
            self._undetermined(do.stmt.index, state.needs)
        if not self._lets(do, state) or not self._passes(do, state):
            return {}
        if do.stmt.finding:
            self._finding(do, state)
        if do.writes and not self._writes(do, state):
            return {}
        return self._flow(do, state, base)

    def _flow(self, do: _Do, state: State, base: frozenset[str]) -> Ways:
        """Run what stands below the statement, then leave if it says so."""
        ways: Ways = {"next": state}
        for part in self._parts(do):
            current = ways.pop("next", None)
            if current is None:
                break
            for outcome, way in part(do, current).items():
                self._add(ways, outcome, way, base)
        if "next" in ways and (do.stmt.returns or do.stmt.stop):
            leaving = ways.pop("next")
            kind = Kind.STOP if do.stmt.stop else Kind.RETURN
            name = do.stmt.stop or name_of_return(do.stmt.index)
            leaving.journal.append((kind, do.stmt.index, name, None))
            self._add(ways, do.stmt.stop or "return", leaving, base)
        return self._settled(ways, base)

    def _parts(self, do: _Do) -> list[Callable[[_Do, State], Ways]]:
        parts: list[Callable[[_Do, State], Ways]] = []
        if do.stmt.call is not None:
            parts.append(self._call)
        if do.body is not None:
            parts.append(self._below)
        if do.first is not None:
            parts.append(self._branches)
        return parts

    def _call(self, do: _Do, state: State) -> Ways:
        step = self.owner.step(do.stmt.call or "")
        return self._step(step, state) if state.own_settings is None else self._call_within(step, state)

    def _call_within(self, step: StepIR, state: State) -> Ways:
        """Run a step that an isolated one calls: it reads the entry and its own writes, which join the pending ones."""
        kept, refused_before = state.fork(), len(self.collected.refusals)
        state.journal = []
        try:
            ways = self._interpreted(step, state)
        except Halt as halt:
            abandon(halt.state, kept)
            raise
        for _, _, refused in self.collected.refusals[refused_before:]:
            abandon(refused, kept)
        for way in ways.values():
            inner = way.journal
            way.settings, way.vars = kept.settings, kept.vars
            assert kept.own_settings is not None
            assert kept.own_vars is not None
            way.own_settings, way.own_vars = kept.own_settings.copy(), kept.own_vars.copy()
            way.pending, way.journal = kept.pending.copy(), kept.journal.copy()
            for event in inner:
                rejoin(way, event)
        return ways

    def _below(self, do: _Do, state: State) -> Ways:
        return self._block(do.body or (), state)

    def _branches(self, do: _Do, state: State) -> Ways:
        return self._branch(do.first or (), 0, state)

    def _branch(self, branches: tuple[_Do, ...], position: int, state: State) -> Ways:
        """Run the first branch that holds, from *position* on."""
        for at in range(position, len(branches)):
            do = branches[at]
            holds = True if do.when is None else self._evaluate(do, do.when, state)
            if holds is _RAISED:
                return {}
            if type(holds) is Unknown:
                return self._split_branch(branches, at, state, holds.needs)
            if holds:
                return self._effects(do, state)
        return {"next": state}

    def _split_branch(self, branches: tuple[_Do, ...], position: int, state: State, needs: frozenset[str]) -> Ways:
        base = state.needs
        taken = state.fork()
        taken.needs = state.needs = base | needs
        ways = self._effects(branches[position], taken)
        for outcome, way in self._branch(branches, position + 1, state).items():
            self._add(ways, outcome, way, base)
        return self._settled(ways, base)

    # -- evaluation -------------------------------------------------------------------

    def _evaluate(self, do: _Do, run: Eval, state: State) -> Result:
        """Return a value, or `_RAISED` where the engine's own code would stop here."""
        hazards = self.notes.hazards
        try:
            result = run(state)
        except RAISES as error:
            hazards.clear()
            self._refuse(do, state, raised_text(error))
            return _RAISED
        if hazards:
            self._undetermined(do.stmt.index, hazards)
            hazards.clear()
        return result

    def _undetermined(self, statement: int, needs: set[str] | frozenset[str]) -> None:
        self.collected.undetermined.setdefault(statement, set()).update(needs)

    def _refuse(self, do: _Do, state: State, raised: str | None) -> None:
        """Refuse on this way: for sure when nothing is open, else undetermined."""
        shown = {} if raised is not None else {name: self._place(run, state) for name, run in do.shown}
        refusing = state.fork() if state.needs else state
        refusing.journal.append((Kind.REFUSED, do.stmt.index, "", shown))
        if not state.needs:
            raise Halt(do.stmt.index, raised, state)
        self._undetermined(do.stmt.index, state.needs)
        self.collected.refusals.append((do.stmt.index, raised, refusing))

    def _place(self, run: Eval, state: State) -> Value:
        return guarded(run, state, NOTHING)  # type: ignore[no-any-return]

    def _lets(self, do: _Do, state: State) -> bool:
        """Give local names their values; return False when one raised."""
        for name, run in do.lets:
            value = self._evaluate(do, run, state)
            if value is _RAISED:
                return False
            state.locals[name] = value
        return True

    def _passes(self, do: _Do, state: State) -> bool:
        """Return whether the way goes on after `require` and `refuse`."""
        if do.require is not None:
            holds = self._evaluate(do, do.require, state)
            if holds is _RAISED:
                return False
            if type(holds) is Unknown:
                self._undetermined(do.stmt.index, state.needs | holds.needs)
            elif not holds:
                self._refuse(do, state, None)
                return False
        if do.stmt.refuse:
            self._refuse(do, state, None)
            return False
        return True

    def _finding(self, do: _Do, state: State) -> None:
        shown = {name: self._place(run, state) for name, run in do.shown}
        if not state.needs:
            state.journal.append((Kind.FINDING, do.stmt.index, "", shown))

    # -- writes --------------------------------------------------------------------------

    def _values(self, do: _Do, state: State) -> list[Result] | None:
        """Return the values a statement writes, None when one raised."""
        values: list[Result] = []
        for _, run in do.writes:
            values.append(self._evaluate(do, run, state))
            if values[-1] is _RAISED:
                return None
            if needs_of(values[-1]):
                self._undetermined(do.stmt.index, needs_of(values[-1]))
        return values

    def _writes(self, do: _Do, state: State) -> bool:
        """Read all values, then write them; return False when that raised."""
        values = self._values(do, state)
        if values is None:
            return False
        try:
            for (write, _), value in zip(do.writes, values, strict=True):
                self._write(do.stmt, write, value, state, NOTHING)
        except RAISES as error:
            self._refuse(do, state, raised_text(error))
            return False
        return True

    def _write(self, stmt: Stmt, write: Write, value: Result, state: State, needs: frozenset[str]) -> None:
        """Write one value; with *needs* it may not be written."""
        open_: Result = True
        if write.kind == "default":
            open_ = self._is_open(write, state)
        elif write.kind == "env_if_unset":
            there = state.env_set.get(write.path[0], False)
            open_ = there if type(there) is Unknown else not there
        if open_ is False:
            return
        if type(open_) is Unknown:
            self._undetermined(stmt.index, open_.needs)
            needs = needs | open_.needs
        self._put(stmt, write, value, state, needs)

    def _is_open(self, write: Write, state: State) -> Result:
        """Return whether a `default` may write: over None or the sentinel."""
        present = read_path(state.settings, write.path, state)
        if type(present) is Unknown:
            return present
        return present is None or (write.sentinel is not None and present == write.sentinel)

    def _put(self, stmt: Stmt, write: Write, value: Result, state: State, needs: frozenset[str]) -> None:
        kind, name = write.kind, ".".join(write.path)
        place = place_of(write, state)
        if kind in ("env", "env_if_unset"):
            put_env(state, name, value, needs)
        event = (_KINDS[kind], stmt.index, name, value)
        if needs:
            event = unsure(event, needs)
            present = read_path(place, write.path, state) if place.holds(write.path[0]) else unknown(needs)
            value = joined(present, value, needs)
        if not store(place, write.path, value):
            self._undetermined(stmt.index, needs_of(place.read(write.path[0])))
        isolated = state.own_settings is not None and kind in ("set", "default", "var")
        (state.pending if isolated else state.journal).append(event)


class _Raised:
    """Stands for a value whose computation was refused."""


_RAISED = _Raised()
