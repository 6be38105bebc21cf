"""What is fixed about every statement of a release: conditions, reads, writes, source, severity.

Works on the rules as lowered; what a local name or a definition reads counts as read by whoever uses it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from archcap.model.known_issues import KNOWN_ISSUES
from archcap.model.registry import EngineRegistry
from archcap.model.releases import version
from archcap.model.rules import Source, Statement, Step
from archcap.rules import expr as x
from archcap.rules.conditions import Condition
from archcap.rules.ir import DefineIR, StageName, StepIR, Stmt, Write
from archcap.rules.lower import fill, message_of
from archcap.rules.release import Lowered
from archcap.rules.run import OF_DRAFT, Guard, NameKind, Reference, StatementInfo
from archcap.rules.show import show

MAX_CLOSED = 400
_SEVERITIES = {"unsafe": "unsafe", "silent": "silent", "warn": "warning", "info": "info"}
_WRITTEN: dict[str, NameKind] = {
    "set": "setting", "default": "setting", "var": "var", "fact": "fact", "env": "env", "env_if_unset": "env",
}  # fmt: skip


@dataclass(slots=True)
class Description:
    """The fixed part of a program."""

    infos: list[StatementInfo] = field(default_factory=list)
    conditions: list[Condition] = field(default_factory=list)
    writers: dict[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(slots=True)
class _Local:
    """What a local name stands for at one point."""

    closed: x.Expr | None
    reads: tuple[Reference, ...]


def describe(reg: EngineRegistry, lowered: Lowered) -> Description:
    """Return what is fixed about every statement of the release."""
    result = Description()
    shared = _Shared(reg, lowered, {define.name: define for define in lowered.ir.defines}, result)
    for step in lowered.ir.steps:
        _StepDescriber(shared, step).run()
    result.infos.sort(key=lambda info: info.index)
    result.writers = _writers(result.infos, reg)
    return result


def _writers(infos: Iterable[StatementInfo], reg: EngineRegistry) -> dict[str, tuple[int, ...]]:
    writers: dict[str, dict[int, None]] = {}
    for info in infos:
        for write in info.writes:
            parts = (write.key if write.kind == "setting" else f"{write.kind}.{write.key}").split(".")
            lengths = range(1, len(parts) + 1) if write.kind == "setting" else (len(parts),)
            for length in lengths:
                writers.setdefault(".".join(parts[:length]), {})[info.index] = None
    wholes = {(write.key, info.index) for info in infos for write in info.writes if write.kind == "setting"}
    leaves = {key for key in writers if "." in key and not key.startswith(("var.", "fact.", "env."))}
    leaves |= {f"{name}.{leaf}" for name, setting in reg.settings.items() for s in setting.spans for leaf in s.fields}
    for key, index in wholes:
        for leaf in leaves:
            if leaf.startswith(key + "."):
                writers.setdefault(leaf, {})[index] = None
    return {key: tuple(sorted(indices)) for key, indices in sorted(writers.items())}


class _Shared:
    """What all steps share: definitions, the table of conditions."""

    def __init__(
        self, reg: EngineRegistry, lowered: Lowered, defines: dict[str, DefineIR], result: Description
    ) -> None:
        self.reg, self.lowered, self.defines, self.result = reg, lowered, defines, result
        self._known: dict[x.Expr | tuple[x.Expr, x.Expr | None], int] = {}
        self._define_reads: dict[str, tuple[Reference, ...]] = {}

    def condition(self, node: x.Expr, closed: x.Expr | None) -> int:
        """Return the index of a condition, the same for equal ones."""
        key = node if closed is node else (node, closed)
        index = self._known.get(key)
        if index is None:
            index = self._known[key] = len(self.result.conditions)
            self.result.conditions.append(Condition(show(node), node, closed))
        return index

    def define_reads(self, name: str) -> tuple[Reference, ...]:
        """Return what a definition reads."""
        if name not in self._define_reads:
            self._define_reads[name] = ()
            define = self.defines.get(name)
            nodes = [node for row in define.rows for node in (row.when, row.value) if node] if define else []
            found: dict[Reference, None] = {}
            for node in nodes:
                found.update(dict.fromkeys(self.references(node, {})))
            self._define_reads[name] = tuple(found)
        return self._define_reads[name]

    def references(self, node: x.Expr, locals_: dict[str, _Local]) -> Iterator[Reference]:
        """Yield what *node* reads, local names and definitions expanded."""
        for part in x.walk(node):
            if isinstance(part, x.Local):
                yield from locals_[part.name].reads if part.name in locals_ else ()
            elif isinstance(part, x.Defined):
                yield from self.define_reads(part.name)
            else:
                reference = reference_of(part)
                if reference is not None:
                    yield reference


def reference_of(node: x.Expr) -> Reference | None:
    """Return what a leaf of an expression reads, None when it reads nothing outside."""
    maker = _REFERENCES.get(type(node))
    return None if maker is None else maker(node)


def _own_reference(node: x.Own) -> Reference:
    if node.path[0] == "var":
        return Reference("var", node.path[1])
    return Reference("setting", ".".join(node.path))


_REFERENCES: dict[type[x.Expr], Callable[[Any], Reference]] = {
    x.Setting: lambda n: Reference("setting", ".".join(n.path)),
    x.Own: _own_reference,
    x.Raw: lambda n: Reference("user_set", ".".join(n.path)),
    x.UserSet: lambda n: Reference("user_set", n.name),
    x.Var: lambda n: Reference("var", n.name),
    x.Fact: lambda n: Reference("fact", n.name),
    x.Hardware: lambda n: Reference("hw", n.name),
    x.Assume: lambda n: Reference("assume", n.name),
    x.Env: lambda n: Reference("env", n.name),
    x.EnvSet: lambda n: Reference("env", n.name),
    x.HasPeer: lambda n: Reference("peer", ""),
    x.PeerValue: lambda n: Reference("peer", ".".join(n.path if n.kind == "setting" else (n.kind, *n.path))),
    x.Profile: lambda n: Reference("profile", "profile"),
    x.Has: lambda n: Reference("has", (OF_DRAFT if n.draft else "") + n.capability),
    x.InList: lambda n: Reference("list", (OF_DRAFT if n.draft else "") + n.list),
    x.Config: lambda n: Reference("config", f"{n.view}:{'.'.join(n.path)}"),
}


class _StepDescriber:
    """Walks one step with the conditions around each statement."""

    def __init__(self, shared: _Shared, step: StepIR) -> None:
        self.shared, self.ir = shared, step
        self.step: Step = shared.reg.steps[step.name]
        self.locals: dict[str, _Local] = {}
        self.leaving: list[int] = []
        """Statements met so far that may leave the step."""

    def run(self) -> None:
        """Describe every statement of the step."""
        self.block(self.ir.body, (), frozenset())

    def block(self, body: tuple[Stmt, ...], guards: tuple[Guard, ...], apart: frozenset[int]) -> None:
        """Describe statements that stand below *guards*; *apart* are those of other branches."""
        for stmt in body:
            self.statement(stmt, guards, apart, stmt.when)

    def statement(self, stmt: Stmt, guards: tuple[Guard, ...], apart: frozenset[int], test: x.Expr | None) -> None:
        """Describe one statement and what is below it; *test* is what it takes to run it."""
        if stmt.when is not None:
            guards = (*guards, self.guard(stmt.when, True))
        returns_before = tuple(index for index in self.leaving if index not in apart)
        outer = dict(self.locals)
        for let in stmt.lets:
            self.bind(let.name, let.value, guards)
        own = guards
        if stmt.require is not None:
            own = (*guards, self.guard(stmt.require, False))
            guards = (*guards, self.guard(stmt.require, True))
        self.shared.result.infos.append(self.info(stmt, own, returns_before))
        self.block(stmt.body or (), guards, apart)
        self.branches(stmt.first or (), guards, apart)
        if test is not None:
            self.join(outer, test)
        if stmt.returns or stmt.stop:
            self.leaving.append(stmt.index)

    def branches(self, first: tuple[Stmt, ...], guards: tuple[Guard, ...], apart: frozenset[int]) -> None:
        """Describe the branches of a `first`: each has the earlier ones' conditions negated."""
        missed: list[x.Expr] = []
        for branch in first:
            before = len(self.leaving)
            tests = (*missed, *([] if branch.when is None else [branch.when]))
            self.statement(branch, guards, apart, x.Bool("and", tests) if tests else None)
            apart = apart | frozenset(self.leaving[before:])
            if branch.when is not None:
                guards = (*guards, self.guard(branch.when, False))
                missed.append(x.Unary("not", branch.when))

    def guard(self, node: x.Expr, wanted: bool) -> Guard:
        """Return a guard with everything it reads."""
        reads = tuple(dict.fromkeys(self.shared.references(node, self.locals)))
        return Guard(self.shared.condition(node, self.closed(node)), wanted, reads)

    def closed(self, node: x.Expr) -> x.Expr | None:
        """Return *node* without local names, None where that is too large or they have none."""
        if not self.locals:
            return node
        names = {part.name for part in x.walk(node) if isinstance(part, x.Local)}
        values: dict[str, x.Expr] = {}
        for name in names & self.locals.keys():
            closed = self.locals[name].closed
            if closed is None:
                return None
            values[name] = closed
        result = x.replace_locals(node, values) if values else node
        return result if x.size(result) <= MAX_CLOSED else None

    def bind(self, name: str, value: x.Expr, guards: tuple[Guard, ...]) -> None:
        """Give a local name its value; what guards it counts as read by it."""
        reads = [*self.shared.references(value, self.locals), *(read for guard in guards for read in guard.reads)]
        self.locals[name] = _Local(self.closed(value), tuple(dict.fromkeys(reads)))

    def join(self, outer: dict[str, _Local], when: x.Expr) -> None:
        """Leave a branch: a name set in it has that value only if *when* holds."""
        test = self.closed(when)
        for name, local in self.locals.items():
            before = outer.get(name)
            if local is before:
                continue
            closed: x.Expr | None = None
            if before is not None and test is not None and local.closed is not None and before.closed is not None:
                closed = x.IfElse(test, local.closed, before.closed)
                closed = closed if x.size(closed) <= MAX_CLOSED else None
            reads = (*local.reads, *(before.reads if before else ()))
            closed = local.closed if before is None else closed
            self.locals[name] = _Local(closed, tuple(dict.fromkeys(reads)))

    # -- the record -----------------------------------------------------------------

    def info(self, stmt: Stmt, guards: tuple[Guard, ...], returns_before: tuple[int, ...]) -> StatementInfo:
        """Return the statement's record."""
        record, around = self.shared.lowered.records[stmt.index]
        chain = (*around, record)
        values = [let.value for let in stmt.lets] + [write.value for write in stmt.writes]
        reads = dict.fromkeys(read for value in values for read in self.shared.references(value, self.locals))
        issue = self.shared.reg.known_issues.get(stmt.id) if self.ir.name == KNOWN_ISSUES else None
        return StatementInfo(
            index=stmt.index,
            id=stmt.id,
            step=self.ir.name,
            stage=self.stage(chain),
            severity=_severity(record),  # type: ignore[arg-type]
            text=message_of(record, self.shared.lowered.bindings[stmt.index]),
            source=self.source(chain, self.shared.lowered.bindings[stmt.index]),
            evidence=next((one.evidence for one in reversed(chain) if one.evidence), "source"),
            guards=guards,
            reads=tuple(reads),
            writes=tuple(_written(write) for write in stmt.writes),
            returns_before=returns_before,
            values=tuple(self.written_value(write.value) for write in stmt.writes),
            alias=record.alias,
            logged=record.logged,
            workaround=issue.workaround if issue else None,
            reference=issue.source if issue else None,
        )

    def written_value(self, node: x.Expr) -> int:
        """Return the index of a written value, -1 for a literal."""
        return -1 if isinstance(node, x.Const) else self.shared.condition(node, self.closed(node))

    def stage(self, chain: tuple[Statement, ...]) -> StageName:
        """Return the innermost stage."""
        stage = next((one.stage for one in reversed(chain) if one.stage is not None), self.step.stage)
        return stage.value

    def source(self, chain: tuple[Statement, ...], each: Mapping[str, str | int]) -> str | None:
        """Return the innermost source that holds in the release, with the names unrolled there filled in."""
        sources = [one.source for one in reversed(chain) if one.source is not None]
        sources += [self.step.source] if self.step.source is not None else []
        found = (source_at(source, self.shared.lowered.ir.release) for source in sources)
        return next((fill(source, each) for source in found if source is not None), None)


def source_at(source: Source, release: str) -> str | None:
    """Return the place a source names in *release*: of several the one with the latest release not after it."""
    if isinstance(source, str):
        return source
    held = [key for key in source if version(key) <= version(release)]
    return source[max(held, key=version)] if held else None


def _severity(record: Statement) -> str | None:
    if record.require is not None or record.refuse is not None:
        return "error"
    return next((word for key, word in _SEVERITIES.items() if getattr(record, key) is not None), None)


def _written(write: Write) -> Reference:
    return Reference(_WRITTEN[write.kind], ".".join(write.path))
