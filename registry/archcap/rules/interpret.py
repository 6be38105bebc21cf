"""The three-valued interpreter: runs a release's rules where something is unknown.

A guard that is unknown splits the run into the way that takes it and the way that does not; where they meet again,
values that are equal stay known and the others become unknown. Ways that return or stop wait for the others at the end
of the step, stage or pipeline. A refusal on a way that may not be taken is undetermined, and the run goes on as if it
were not there. Where nothing is unknown there is one way, and it does exactly what the generated code does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from archcap.rules import expr as x
from archcap.rules.codegen import may_be_collection
from archcap.rules.evaluate import (
    Eval,
    Evaluator,
    Findings,
    Result,
    State,
    guarded,
    joined,
    needs_of,
    read_path,
    unknown,
    whole,
)  # fmt: skip
from archcap.rules.functions import RAISES, raised_text
from archcap.rules.ir import ReleaseIR, StepIR, Stmt, Write
from archcap.rules.run import Event, Inputs, Kind, Run, Unknown, Value
from archcap.rules.runtime import plain, with_leaf

Outcome = Literal["next", "return", "pipeline", "stage"]
Ways = dict[Outcome, State]
"""The ways that leave a statement or block, at most one of each outcome; none when all were refused."""

_KINDS = {
    "set": Kind.SET, "default": Kind.SET, "var": Kind.VAR, "fact": Kind.FACT, "env": Kind.ENV, "env_if_unset": Kind.ENV,
}  # fmt: skip
NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Entry:
    """A trace entry with what it needs to be sure of; empty on the way that is surely taken."""

    event: Event
    needs: frozenset[str] = NOTHING


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
    """A statement with its closures."""

    stmt: Stmt
    when: Eval | None
    lets: tuple[tuple[str, Eval], ...]
    require: Eval | None
    shown: tuple[tuple[str, Eval], ...]
    writes: tuple[tuple[Write, Eval], ...]
    body: tuple[_Do, ...] | None
    first: tuple[_Do, ...] | None
    effects: bool


class Interpreter:
    """Runs the rules of one release over values that may be unknown."""

    def __init__(self, ir: ReleaseIR) -> None:
        self.ir = ir
        env = {name: _constant(node) for name, node in ir.env}
        self.evaluator = Evaluator({d.name: d for d in ir.defines}, env, dict(ir.fact_needs))
        self.vars = dict(ir.vars)
        self._steps = {step.name: step for step in ir.steps}
        self._bodies: dict[str, tuple[_Do, ...]] = {}

    def run(self, inputs: Inputs) -> Run:
        """Return what the rules do with *inputs*."""
        return _Running(self, inputs).run()

    def start(self, inputs: Inputs) -> State:
        """Return the state before the first step."""
        state = State(inputs, Findings())
        state.vars = {name: _constant(node) for name, node in self.vars.items()}
        state.env = {**self.evaluator.env, **inputs.env}
        return state

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
        )

    def _value(self, node: x.Expr) -> Eval:
        run = self.evaluator.value(node)
        if not may_be_collection(node):
            return run

        def plained(state: State) -> Result:
            result = run(state)
            return result if type(result) is Unknown else plain(result)

        return plained


def _constant(node: x.Expr) -> Value:
    """Return the value of a literal."""
    if isinstance(node, x.Const):
        return node.value
    if isinstance(node, x.DictDisplay):
        return {str(_constant(key)): _constant(value) for key, value in zip(node.keys, node.values, strict=True)}
    assert isinstance(node, x.Display)
    return [_constant(item) for item in node.items]


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
        self.inputs = inputs
        self.state = owner.start(inputs)
        self.notes = self.state.notes
        self.collected = _Collected()

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
        undetermined = [(index, frozenset(needs)) for index, needs in sorted(self.collected.undetermined.items())]
        return Run(
            settings={name: whole(value) for name, value in state.settings.items()},
            vars=state.vars,
            facts=state.facts,
            env=state.env_written,
            trace=[entry.event for entry in state.journal],
            refused=refused,
            raised=raised,
            undetermined=undetermined,
            assumptions_read=list(self.notes.assumed),
            exact=not self.notes.met_unknown,
        )

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
        states = [*live.values(), *([] if ended is None else [ended])]
        if not states:
            return None
        final = states[0]
        for other in states[1:]:
            final = self._join(final, other, NOTHING)
        return final

    def _step(self, step: StepIR, state: State) -> Ways:
        """Run one step; its returns and its end meet."""
        base = state.needs
        outer = state.locals
        state.locals = {}
        outer_own = (state.own_settings, state.own_vars, state.pending)
        if step.isolated:
            state.own_settings, state.own_vars, state.pending = state.settings.copy(), state.vars.copy(), []
        else:
            state.own_settings, state.own_vars, state.pending = None, None, []
        ways = self._block(self.owner.body(step.name), state)
        if step.isolated:
            for way in ways.values():
                self._commit(way)
        merged: Ways = {}
        for outcome, way in ways.items():
            way.locals = dict(outer)
            way.own_settings, way.own_vars, way.pending = outer_own
            self._add(merged, "next" if outcome == "return" else outcome, way, base)
        return self._settled(merged, base)

    def _commit(self, state: State) -> None:
        state.settings, state.vars = state.own_settings or {}, state.own_vars or {}
        state.journal.extend(state.pending)

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

    def _add(self, ways: Ways, outcome: Outcome, state: State, base: frozenset[str]) -> None:
        ways[outcome] = self._join(ways[outcome], state, base) if outcome in ways else state

    def _settled(self, ways: Ways, base: frozenset[str]) -> Ways:
        """Drop what told ways apart where only one is left: the others met it or were refused."""
        if len(ways) == 1:
            next(iter(ways.values())).needs = base
        return ways

    def _join(self, first: State, second: State, base: frozenset[str]) -> State:
        """Return the state where two ways meet; *first* is reused."""
        needs = (first.needs | second.needs) - base or first.needs | second.needs
        for name in _JOINED:
            mine, theirs = getattr(first, name), getattr(second, name)
            if mine is not theirs and mine is not None:
                setattr(first, name, self._join_values(name, mine, theirs, needs))
        first.journal = self._join_journals(first.journal, second.journal, needs, first)
        first.pending = self._join_journals(first.pending, second.pending, needs, first)
        first.needs = first.needs | second.needs
        return first

    def _join_values(
        self, name: str, mine: dict[str, Result], theirs: dict[str, Result], needs: frozenset[str]
    ) -> dict[str, Result]:
        result: dict[str, Result] = {}
        for key, value in mine.items():
            if key in theirs:
                other = theirs[key]
                result[key] = value if value is other else joined(value, other, needs)
            elif name != "locals":
                result[key] = self._one_sided(name, key, value, needs)
        for key, value in theirs.items():
            if key not in mine and name != "locals":
                result[key] = self._one_sided(name, key, value, needs)
        return result

    def _one_sided(self, name: str, key: str, value: Result, needs: frozenset[str]) -> Result:
        """Return a value that only one way has: the other way does not know it, or has it unset."""
        if name == "facts":
            fact_needs = self.owner.evaluator.fact_needs.get(key) or (f"fact.{key}",)
            return unknown(needs, fact_needs, needs_of(value))
        return unknown(needs, needs_of(value))

    def _join_journals(
        self, mine: list[Entry], theirs: list[Entry], needs: frozenset[str], state: State
    ) -> list[Entry]:
        if mine is theirs:
            return mine
        shared = 0
        for one, other in zip(mine, theirs, strict=False):
            if one is not other:
                break
            shared += 1
        if shared == len(mine) == len(theirs):
            return mine
        later = [*mine[shared:], *theirs[shared:]]
        return [*mine[:shared], *(_unsure(entry, needs) for entry in later if entry.event.kind in _WRITES)]

    # -- statements -----------------------------------------------------------------

    def _statement(self, do: _Do, state: State) -> Ways:
        if do.when is None:
            return self._effects(do, state)
        holds = self._evaluate(do, do.when, state)
        if holds is _RAISED:
            return {}
        if type(holds) is Unknown:
            return self._split(do, state, holds.needs)
        return self._effects(do, state) if holds else {"next": state}

    def _split(self, do: _Do, state: State, needs: frozenset[str]) -> Ways:
        """Go both ways: with the statement and without it."""
        base = state.needs
        taken = state.fork()
        taken.needs = state.needs = base | needs
        ways = self._effects(do, taken)
        self._add(ways, "next", state, base)
        return self._settled(ways, base)

    def _effects(self, do: _Do, state: State) -> Ways:
        base = state.needs
        if do.effects and state.needs:
            self._undetermined(do.stmt.index, state.needs)
        for name, value in do.lets:
            result = self._evaluate(do, value, state)
            if result is _RAISED:
                return {}
            state.locals[name] = result
        if not self._passes(do, state):
            return {}
        if do.stmt.finding:
            self._finding(do, state)
        if do.writes and not self._writes(do, state):
            return {}
        return self._flow(do, state, base)

    def _flow(self, do: _Do, state: State, base: frozenset[str]) -> Ways:
        """Run what stands below the statement, then leave if it says so."""
        ways: Ways = {"next": state}
        for part in (self._call, self._below, self._branches):
            current = ways.pop("next", None)
            if current is None:
                break
            for outcome, way in part(do, current).items():
                self._add(ways, outcome, way, base)
        if "next" in ways and (do.stmt.returns or do.stmt.stop):
            leaving = ways.pop("next")
            kind = Kind.STOP if do.stmt.stop else Kind.RETURN
            leaving.journal.append(Entry(Event(kind, do.stmt.index, do.stmt.stop or "", None)))
            self._add(ways, do.stmt.stop or "return", leaving, base)
        return self._settled(ways, base)

    def _call(self, do: _Do, state: State) -> Ways:
        if do.stmt.call is None:
            return {"next": state}
        step = self.owner.step(do.stmt.call)
        if state.own_settings is None:
            return self._step(step, state)
        return self._call_within(step, state)

    def _call_within(self, step: StepIR, state: State) -> Ways:
        """Run a step that an isolated one calls: it reads the entry and its own writes, which join the pending ones."""
        kept, refused_before = state.fork(), len(self.collected.refusals)
        state.journal = []
        try:
            ways = self._step(step, state)
        except Halt as halt:
            _abandon(halt.state, kept)
            raise
        for _, _, refused in self.collected.refusals[refused_before:]:
            _abandon(refused, kept)
        for way in ways.values():
            inner = way.journal
            way.settings, way.vars = kept.settings, kept.vars
            way.own_settings, way.own_vars = dict(kept.own_settings or {}), dict(kept.own_vars or {})
            way.pending, way.journal = kept.pending.copy(), kept.journal.copy()
            for entry in inner:
                self._rejoin(way, entry)
        return ways

    def _rejoin(self, state: State, entry: Entry) -> None:
        event = entry.event
        if event.kind not in (Kind.SET, Kind.VAR):
            state.journal.append(entry)
            return
        path: x.Path = (event.name,)
        place = state.own_vars
        if event.kind is Kind.SET:
            place, path = state.own_settings, tuple(event.name.split("."))
        assert place is not None
        value: Result = event.value
        if entry.needs:
            value = joined(read_path(place, path, state), value, entry.needs)
        self._store(place, path, value)
        state.pending.append(entry)

    def _below(self, do: _Do, state: State) -> Ways:
        return {"next": state} if do.body is None else self._block(do.body, state)

    def _branches(self, do: _Do, state: State) -> Ways:
        return {"next": state} if do.first is None else self._branch(do.first, 0, state)

    def _branch(self, branches: tuple[_Do, ...], position: int, state: State) -> Ways:
        """Run the first branch that holds, from *position* on."""
        while position < len(branches):
            do = branches[position]
            if do.when is None:
                return self._effects(do, state)
            holds = self._evaluate(do, do.when, state)
            if holds is _RAISED:
                return {}
            if type(holds) is Unknown:
                return self._split_branch(branches, position, state, holds.needs)
            if holds:
                return self._effects(do, state)
            position += 1
        return {"next": state}

    def _split_branch(
        self, branches: tuple[_Do, ...], position: int, state: State, needs: frozenset[str]
    ) -> Ways:
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

    def _refuse(self, do: _Do, state: State, raised: str | None, needs: frozenset[str] = NOTHING) -> None:
        """Refuse on this way: for sure when nothing is open, else undetermined."""
        shown = {} if raised is not None else {name: self._place(run, state) for name, run in do.shown}
        open_ = state.needs | needs
        event = Event(Kind.REFUSED, do.stmt.index, "", shown)
        if not open_:
            state.journal.append(Entry(event))
            raise Halt(do.stmt.index, raised, state)
        self._undetermined(do.stmt.index, open_)
        if not needs:
            state.journal.append(Entry(event))
            self.collected.refusals.append((do.stmt.index, raised, state))

    def _place(self, run: Eval, state: State) -> Value:
        return guarded(run, state, NOTHING)  # type: ignore[no-any-return]

    def _passes(self, do: _Do, state: State) -> bool:
        """Return whether the way goes on after `require` and `refuse`."""
        if do.require is not None:
            holds = self._evaluate(do, do.require, state)
            if holds is _RAISED:
                return False
            if type(holds) is Unknown:
                self._refuse(do, state, None, holds.needs)
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
            state.journal.append(Entry(Event(Kind.FINDING, do.stmt.index, "", shown)))

    # -- writes --------------------------------------------------------------------------

    def _writes(self, do: _Do, state: State) -> bool:
        """Read all values, then write them; return False when reading raised."""
        values: list[Result] = []
        for _, run in do.writes:
            values.append(self._evaluate(do, run, state))
            if values[-1] is _RAISED:
                return False
            if needs_of(values[-1]):
                self._undetermined(do.stmt.index, needs_of(values[-1]))
        try:
            for (write, _), value in zip(do.writes, values, strict=True):
                self._write(do.stmt, write, value, state)
        except RAISES as error:
            self._refuse(do, state, raised_text(error))
            return False
        return True

    def _write(self, stmt: Stmt, write: Write, value: Result, state: State) -> None:
        needs = NOTHING
        if write.kind == "default":
            open_ = self._is_open(write, state)
            if open_ is False:
                return
            needs = needs_of(open_)
        elif write.kind == "env_if_unset":
            there = state.env_set.get(write.path[0], False)
            if there is True:
                return
            needs = needs_of(there)
        if needs:
            self._undetermined(stmt.index, needs)
        self._put(stmt, write, value, state, needs)

    def _is_open(self, write: Write, state: State) -> Result:
        """Return whether a `default` may write: over None or the sentinel."""
        present = read_path(state.settings, write.path, state)
        if type(present) is Unknown:
            return present
        return present is None or (write.sentinel is not None and present == write.sentinel)

    def _put(self, stmt: Stmt, write: Write, value: Result, state: State, needs: frozenset[str]) -> None:
        kind, name = write.kind, ".".join(write.path)
        place = self._place_of(write, state)
        if needs:
            present = read_path(place, write.path, state) if write.path[0] in place else unknown(needs)
            value = joined(present, value, needs)
        self._store(place, write.path, value)
        if kind in ("env", "env_if_unset"):
            state.env_written[name] = value
            state.env_set[name] = True if not needs else Unknown(needs)
        isolated = state.own_settings is not None and kind in ("set", "default", "var")
        sink = state.pending if isolated else state.journal
        sink.append(Entry(Event(_KINDS[kind], stmt.index, name, value), needs))

    def _place_of(self, write: Write, state: State) -> dict[str, Result]:
        if write.kind == "fact":
            return state.facts
        if write.kind in ("env", "env_if_unset"):
            return state.env
        if write.kind == "var":
            return state.vars if state.own_vars is None else state.own_vars
        return state.settings if state.own_settings is None else state.own_settings

    def _store(self, place: dict[str, Result], path: x.Path, value: Result) -> None:
        root = path[0]
        if len(path) == 1:
            place[root] = value
        elif type(place[root]) is not Unknown:
            place[root] = _with_leaf(place[root], path[1:], value)


_JOINED = ("settings", "vars", "facts", "env", "env_set", "env_written", "own_settings", "own_vars", "locals")
_WRITES = frozenset({Kind.SET, Kind.VAR, Kind.FACT, Kind.ENV})


class _Raised:
    """Stands for a value whose computation was refused."""


_RAISED = _Raised()


def _abandon(state: State, entry: State) -> None:
    """Drop what was pending when a step called by an isolated one was refused."""
    state.settings, state.vars = entry.settings, entry.vars
    state.journal = [*entry.journal, *(one for one in state.journal if one.event.kind not in (Kind.SET, Kind.VAR))]


def _unsure(entry: Entry, needs: frozenset[str]) -> Entry:
    value: Result = entry.event.value
    event = entry.event._replace(value=unknown(needs, needs_of(value)))  # type: ignore[arg-type]
    return Entry(event, entry.needs | needs)


def _with_leaf(value: Result, path: x.Path, leaf: Result) -> Result:
    """Return *value* with one leaf replaced; below an unknown nothing can be told apart."""
    inner = value
    for key in path[:-1]:
        inner = inner.get(key) if type(inner) is dict else inner
        if type(inner) is Unknown:
            return value
    return with_leaf(value, path, leaf)
