"""From the records of an engine to the rules of one release: filtered by release, unrolled, names resolved.

Collects what is wrong instead of raising; types are `types.py`'s matter, what holds over releases `check.py`'s.
"""

from __future__ import annotations

import itertools
import keyword
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import cast

from archcap.model.base import Json, JsonScalar
from archcap.model.registry import EngineRegistry
from archcap.model.releases import parse_range
from archcap.model.rules import Condition, Statement, Step
from archcap.rules import expr as x
from archcap.rules.ir import Let, Shown, StepIR, Stmt, Write, WriteKind
from archcap.rules.names import RESERVED, Universe
from archcap.rules.parse import NOTHING, Flaw, Scope, parse
from archcap.suggest import nearest_name

MAX_NESTING, MAX_UNROLLED = 10, 512
_FINDINGS = ("unsafe", "silent", "warn", "info")
_READABLE = (
    x.Setting, x.Local, x.Var, x.Fact, x.Hardware, x.Assume, x.PeerValue, x.Profile, x.Const
)  # fmt: skip
"""What a `{name}` of a message may be."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a flaw is: a step or definition, and the path below it."""

    step: str | None
    path: str
    flaw: Flaw


@lru_cache(maxsize=8192)
def holds(releases: str | None, release: str) -> bool:
    """Return whether *release* lies in the range *releases*; a range that cannot be read holds nowhere."""
    if releases is None:
        return True
    try:
        return parse_range(releases).holds(release)
    except ValueError:
        return False


@dataclass(slots=True)
class Counter:
    """Hands out statement indices."""

    next: int = 0

    def take(self) -> int:
        """Return the next index."""
        self.next += 1
        return self.next - 1


@dataclass(slots=True)
class Flow:
    """What is known of local names at one point: `sure` have a value on every way here, `seen` on some."""

    sure: set[str] = field(default_factory=set)
    seen: set[str] = field(default_factory=set)
    falls: bool = True

    def fork(self) -> Flow:
        """Return the flow at the start of a branch; `seen` is shared, as names are visible to the end of the step."""
        return Flow(set(self.sure), self.seen)


@dataclass(frozen=True, slots=True)
class _Context:
    """What a statement inherits."""

    each: Mapping[str, str | int]
    suffix: str
    depth: int = 0


class StepLowering:
    """Lowers one step for one release; `places` collects what is wrong."""

    def __init__(
        self,
        reg: EngineRegistry,
        universe: Universe,
        name: str,
        release: str,
        counter: Counter,
    ) -> None:
        self.reg, self.universe, self.name, self.release = reg, universe, name, release
        self.step: Step = reg.steps[name]
        self.isolated = self.step.isolation == "entry"
        self.counter = counter
        self.places: list[Place] = []
        self.records: dict[int, tuple[Statement, tuple[Statement, ...]]] = {}
        """Index -> the record it comes from, and the records around it (outermost first)."""
        self.bindings: dict[int, Mapping[str, str | int]] = {}
        """Index -> the each-names unrolled there."""
        self._numbers = _numbered(self.step.do)

    def lower(self) -> StepIR:
        """Return the step, without the statements other releases have."""
        body = self._block(self.step.do, "do", _Context({}, ""), Flow(), ())
        return StepIR(self.name, self.step.stage.value, self.isolated, body)

    # -- statements -----------------------------------------------------------

    def _block(
        self, records: Sequence[Statement], path: str, context: _Context, flow: Flow, around: tuple[Statement, ...]
    ) -> tuple[Stmt, ...]:
        if context.depth > MAX_NESTING:
            self._flaw(path, Flaw(f"nests deeper than {MAX_NESTING} levels; make it a step and call it"))
            return ()
        result: list[Stmt] = []
        for position, record in enumerate(records):
            for stmt in self._unrolled(record, f"{path}[{position}]", context, flow, around):
                result.append(stmt)
        return tuple(result)

    def _unrolled(
        self, record: Statement, path: str, context: _Context, flow: Flow, around: tuple[Statement, ...]
    ) -> Iterator[Stmt]:
        if not holds(record.releases, self.release):
            return
        for inner in self._bindings(record, path, context):
            yield self._statement(record, path, inner, flow, around)

    def _bindings(self, record: Statement, path: str, context: _Context) -> Iterator[_Context]:
        if record.each is None:
            yield context
            return
        for name in record.each:
            self._check_name(name, f"{path}.each", context.each, "each")
        names = list(record.each)
        rows = list(itertools.islice(itertools.product(*record.each.values()), MAX_UNROLLED + 1))
        if len(rows) > MAX_UNROLLED:
            self._flaw(f"{path}.each", Flaw(f"unrolls to more than {MAX_UNROLLED} statements"))
        for row in rows[:MAX_UNROLLED]:
            suffix = context.suffix + "".join(f":{value}" for value in row)
            yield replace(context, each={**context.each, **dict(zip(names, row, strict=True))}, suffix=suffix)

    def _statement(
        self, record: Statement, path: str, context: _Context, flow: Flow, around: tuple[Statement, ...],
        taken: bool = False,
    ) -> Stmt:  # fmt: skip
        """Return one statement; *flow* is left as after it, or, where it is *taken*, as after its effects."""
        index = self.counter.take()
        self.records[index] = (record, around)
        self.bindings[index] = context.each
        build = _Building(self, record, path, context, flow)
        when = build.condition(record.when, "when")
        guarded = flow if when is None or taken else flow.fork()
        build.flow = guarded
        lets = build.lets()
        parts = {
            "require": build.condition(record.require, "require"),
            "shown": build.shown(),
            "writes": build.writes(),
        }
        inner = replace(context, depth=context.depth + 1)
        body = self._body(record, path, inner, guarded, (*around, record))
        first = self._first(record, path, inner, guarded, (*around, record))
        if record.returns or record.stop or record.refuse is not None:
            guarded.falls = False
        if when is None:
            flow.falls = guarded.falls
        if record.refuse is None and record.require is None and record.because is not None:
            self._flaw(f"{path}.because", Flaw("`because` without `require` or `refuse`"))
        return Stmt(
            index=index,
            id=self._id(record, context),
            path=path,
            when=when,
            lets=lets,
            refuse=record.refuse is not None,
            finding=any(getattr(record, key) is not None for key in _FINDINGS),
            call=self._call(record, path),
            body=body,
            first=first,
            returns=bool(record.returns),
            stop=record.stop,
            **parts,  # type: ignore[arg-type]
        )

    def _id(self, record: Statement, context: _Context) -> str:
        if record.id is not None:
            text = fill(record.id, context.each)
            return text if text != record.id or not context.suffix else text + context.suffix
        return f"{self.name}.{self._numbers[id(record)]}{context.suffix}"

    def _body(
        self, record: Statement, path: str, context: _Context, flow: Flow, around: tuple[Statement, ...]
    ) -> tuple[Stmt, ...] | None:
        if record.do is not None:
            return self._block(record.do, f"{path}.do", context, flow, around)
        if record.otherwise is not None:
            return self._block(record.otherwise, f"{path}.else", context, flow, around)
        return None

    def _first(
        self, record: Statement, path: str, context: _Context, flow: Flow, around: tuple[Statement, ...]
    ) -> tuple[Stmt, ...] | None:
        if record.first is None:
            return None
        branches: list[Stmt] = []
        ends: list[Flow] = []
        has_else = False
        for position, branch in enumerate(record.first):
            at = f"{path}.first[{position}]"
            for inner in self._bindings(branch, at, context) if holds(branch.releases, self.release) else ():
                ends.append(flow.fork())
                branches.append(self._statement(branch, at, inner, ends[-1], around, taken=True))
                has_else = has_else or branch.otherwise is not None
        falling = [end for end in ends if end.falls]
        if has_else:
            flow.falls = bool(falling)
            flow.sure = set.intersection(*(end.sure for end in falling)) if falling else flow.sure
        return tuple(branches)

    def _call(self, record: Statement, path: str) -> str | None:
        if record.call is None:
            return None
        if record.call not in self.universe.steps:
            near = nearest_name(record.call, self.universe.steps)
            self._flaw(f"{path}.call", Flaw(f"unknown step `{record.call}`", suggestion=near))
            return None
        return record.call if holds(self.reg.steps[record.call].releases, self.release) else None

    # -- shared ---------------------------------------------------------------

    def _flaw(self, path: str, flaw: Flaw) -> None:
        self.places.append(Place(self.name, path, flaw))

    def _check_name(self, name: str, path: str, each: Mapping[str, object], kind: str) -> None:
        clash = self._clash(name, each)
        if clash is not None:
            self._flaw(path, Flaw(f"`{name}` is {clash}; call the {kind} name otherwise"))

    def _clash(self, name: str, each: Mapping[str, object]) -> str | None:
        universe = self.universe
        if name in each:
            return "an each-name around it"
        if name in universe.settings:
            return "a setting"
        if name in universe.defines:
            return "a definition"
        if name in RESERVED or name in universe.functions:
            return "a word of the language"
        return "a Python keyword" if keyword.iskeyword(name) else None


class _Building:
    """Builds the parts of one statement."""

    def __init__(self, owner: StepLowering, record: Statement, path: str, context: _Context, flow: Flow) -> None:
        self.owner, self.record, self.path, self.context, self.flow = owner, record, path, context, flow

    def flaw(self, key: str, flaw: Flaw) -> None:
        """Record something wrong at one key of the statement."""
        self.owner._flaw(f"{self.path}.{key}" if key else self.path, flaw)

    def expression(self, text: str, key: str) -> x.Expr:
        """Return the tree of *text*, its local names checked to have a value."""
        scope = Scope(self.owner.universe, frozenset(self.flow.seen), self.context.each, self.owner.isolated)
        node, flaws = parse(text, scope)
        for flaw in flaws:
            self.flaw(key, flaw)
        if self.flow.seen:
            self._check_locals(node, key, frozenset())
        return node

    def _check_locals(self, node: x.Expr, key: str, bound: frozenset[str]) -> None:
        if isinstance(node, x.Local) and node.name not in bound | self.flow.sure and node != NOTHING:
            self.flaw(key, Flaw(f"`{node.name}` may have no value here; give it one before the branch that sets it"))
        if isinstance(node, x.Loop):
            bound = bound | {node.name}
        for child in x.children(node):
            self._check_locals(child, key, bound)

    def condition(self, condition: Condition | None, key: str) -> x.Expr | None:
        """Return a guard's tree; true is none."""
        if condition is None or (condition is True and key == "when"):
            return None
        return x.Const(condition) if isinstance(condition, bool) else self.expression(condition, key)

    def value(self, value: Json, key: str) -> x.Expr:
        """Return the tree of a written value: an expression after `=`, else a literal."""
        if isinstance(value, str) and value.startswith("="):
            return self.expression(value[1:], key)
        return x.literal(_filled(value, self.context.each))

    def lets(self) -> tuple[Let, ...]:
        """Return the local names, each in force for the next."""
        result: list[Let] = []
        for name, value in (self.record.let or {}).items():
            self.owner._check_name(name, f"{self.path}.let", self.context.each, "local")
            result.append(Let(name, self.value(value, f"let.{name}")))
            self.flow.seen.add(name)
            self.flow.sure.add(name)
        return tuple(result)

    def writes(self) -> tuple[Write, ...]:
        """Return everything the statement writes, in order."""
        record = self.record
        result = [self._setting("set", key, value) for key, value in (record.set or {}).items()]
        result += [self._setting("default", key, value) for key, value in (record.default or {}).items()]
        for kind, values, known in (
            ("var", record.var, self.owner.universe.names.vars),
            ("fact", record.fact, self.owner.universe.names.facts),
        ):
            result += [self._named(cast("WriteKind", kind), key, value, known) for key, value in (values or {}).items()]
        return tuple(write for write in (*result, *self._env()) if write is not None)

    def _setting(self, kind: WriteKind, key: str, value: Json) -> Write | None:
        path = tuple(fill(key, self.context.each).split("."))
        node = self.value(value, f"{kind}.{key}")
        scope = Scope(self.owner.universe)
        target, flaws = parse(f"setting({'.'.join(path)!r})", scope)
        if flaws or not isinstance(target, x.Setting):
            for flaw in flaws:
                self.flaw(f"{kind}.{key}", flaw)
            return None
        return Write(kind, path, node, self._sentinel(path) if kind == "default" else None)

    def _sentinel(self, path: x.Path) -> JsonScalar:
        span = self.owner.reg.settings[path[0]].at(self.owner.release)
        sentinel = span.sentinel if span is not None and len(path) == 1 else None
        return sentinel if isinstance(sentinel, bool | int | float | str) else None

    def _named(self, kind: WriteKind, key: str, value: Json, known: Mapping[str, object]) -> Write | None:
        node = self.value(value, f"{kind}.{key}")
        name = fill(key, self.context.each)
        if name not in known:
            word = {"var": "variable", "fact": "fact"}.get(kind, "environment variable")
            self.flaw(f"{kind}.{key}", Flaw(f"unknown {word} `{name}`", suggestion=nearest_name(name, known)))
            return None
        return Write(kind, (name,), node)

    def _env(self) -> Iterator[Write | None]:
        env = dict(self.record.env or {})
        if_unset = env.pop("if_unset", False)
        if not isinstance(if_unset, bool):
            self.flaw("env.if_unset", Flaw("takes true or false"))
        known = self.owner.universe.names.env
        for key, value in env.items():
            yield self._named("env_if_unset" if if_unset else "env", key, value, known)

    def shown(self) -> tuple[Shown, ...]:
        """Return what fills the places of the statement's message."""
        keys = [key for key in ("because", "refuse", *_FINDINGS) if getattr(self.record, key) is not None]
        result: dict[str, Shown] = {}
        for key in keys:
            for name in self._places(str(getattr(self.record, key)), key):
                result[name] = Shown(name, self._shown(name, key))
        return tuple(result.values())

    def _places(self, text: str, key: str) -> list[str]:
        filled = fill(text, self.context.each)
        try:
            parts = list(string.Formatter().parse(filled))
        except ValueError as error:
            self.flaw(key, Flaw(f"has a stray brace: {error}", hint="write {{ or }} for a brace"))
            return []
        names = []
        for _, name, spec, conversion in parts:
            if spec or conversion:
                self.flaw(key, Flaw(f"`{{{name}}}` takes a plain name"))
            elif name is not None:
                names.append(name)
        return names

    def _shown(self, name: str, key: str) -> x.Expr:
        parts = name.split(".")
        if not all(part.isidentifier() for part in parts):
            self.flaw(key, Flaw(f"`{{{name}}}` takes a plain name, as in {{page_size}} or {{fact.mla}}"))
            return x.Const(None)
        node = self.expression(name, key)
        if not isinstance(node, _READABLE):
            expected = "a setting, fact, var, hw, assume, peer or local name"
            self.flaw(key, Flaw(f"`{{{name}}}` is no readable name", expected))
        return node


def _numbered(records: Sequence[Statement]) -> dict[int, int]:
    """Return the position of every statement of a step in textual order, from 1, whatever its releases."""
    numbers: dict[int, int] = {}

    def visit(block: Sequence[Statement]) -> None:
        for record in block:
            numbers[id(record)] = len(numbers) + 1
            for part in (record.do, record.otherwise, record.first):
                visit(part or ())

    visit(records)
    return numbers


def fill(text: str, each: Mapping[str, str | int]) -> str:
    """Return *text* with `{name}` replaced by what the name stands for."""
    for name, value in each.items():
        text = text.replace("{" + name + "}", str(value))
    return text


def _filled(value: Json, each: Mapping[str, str | int]) -> Json:
    if not each:
        return value
    if isinstance(value, str):
        return fill(value, each)
    if isinstance(value, list):
        return [_filled(item, each) for item in value]
    if isinstance(value, dict):
        return {fill(key, each): _filled(item, each) for key, item in value.items()}
    return value


def message_of(record: Statement, each: Mapping[str, str | int]) -> str | None:
    """Return the message template of a finding or refusal; a refusal's reason follows it."""
    if record.refuse is not None and record.because is not None:
        joint = " " if record.refuse[-1] in ".!?:;" else ": "
        return fill(record.refuse + joint + record.because, each)
    texts = (getattr(record, key) for key in ("refuse", "because", *_FINDINGS))
    return next((fill(text, each) for text in texts if text is not None), None)
