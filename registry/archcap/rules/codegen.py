"""One readable Python module per release: a function per step and definition, in the order of the pipeline.

Takes the rules as `ir.py` has them and yields text with, per line, the statement it belongs to. Knows no values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from archcap.rules import expr as x
from archcap.rules.emit import Emitter, Numbers, short_defines
from archcap.rules.ir import DefineIR, ReleaseIR, StepIR, Stmt, Write, expressions, statements
from archcap.rules.leading import Leading, leading
from archcap.rules.plainness import Plainness
from archcap.rules.run import name_of_return

STANDS = 6
"""Statements of a step up to which it stands in the function that drives it."""
GUARDS = 3
"""Guards of a step up to which they are asked before it is called."""
_INDENT = "    "
_KINDS = {"set": "SET", "default": "SET", "var": "VAR", "fact": "FACT", "env": "ENV", "env_if_unset": "ENV"}
_ORDER = (
    "S", "R", "U", "V", "F", "H", "A", "E", "N", "W", "K", "M", "DM", "C", "DC", "LS", "HF", "TX", "DH", "DT", "P",
    "fn", "T",
)  # fmt: skip


@dataclass(slots=True)
class Generated:
    """A module's text.

    Attributes:
        text: the module.
        lines: (first line, statement) in line order; a line belongs to the last entry at or before it.
    """

    text: str
    lines: list[tuple[int, int]] = field(default_factory=list)


def generate(ir: ReleaseIR) -> Generated:
    """Return the module of a release."""
    stopping = stopping_steps(ir)
    writer = _Module(ir)
    for define in ir.defines:
        writer.define(define)
    for step in ir.steps:
        _StepWriter(writer, step, stopping).write()
    head = leading(ir)
    return writer.finish(head, _drivers(writer, stopping, len(head.steps)))


def stopping_steps(ir: ReleaseIR) -> frozenset[str]:
    """Return the steps that may end their stage or the pipeline, also by a step they call."""
    bodies = {step.name: list(statements(step.body)) for step in ir.steps}
    stopping = {name for name, body in bodies.items() if any(stmt.stop for stmt in body)}
    grown = True
    while grown:
        more = {name for name, body in bodies.items() if any(stmt.call in stopping for stmt in body)} - stopping
        grown, stopping = bool(more), stopping | more
    return frozenset(stopping)


class _Module:
    """Collects lines, constants and the map from lines to statements."""

    def __init__(self, ir: ReleaseIR) -> None:
        self.ir = ir
        self.short, self.numbers = short_defines(ir.defines), Numbers(settings_used(ir))
        self.plainness = Plainness(ir.defines)
        self.body: list[str] = []
        self.marks: list[tuple[int, int]] = []
        self.constants: list[str] = []

    def constant(self, text: str) -> str:
        """Return the name of a trace entry that is the same in every run."""
        name = f"E{len(self.constants)}"
        self.constants.append(f"{name} = {text}")
        return name

    def define(self, define: DefineIR) -> None:
        """Add the function of a definition."""
        if define.name in self.short and not define.params:
            return
        emitter = Emitter(self.short, self.numbers)
        lines: list[str] = []
        for row in define.rows:
            if row.when is None:
                lines.append(f"return {emitter.text(row.value)}")
            else:
                lines += [f"if {emitter.text(row.when)}:", f"{_INDENT}return {emitter.text(row.value)}"]
        params = ", ".join(["X", *(f"let_{name}" for name in define.params)])
        self.function(f"define_{define.name}({params})", None, emitter, [(line, None) for line in lines])

    def function(
        self, head: str, comment: str | None, emitter: Emitter, lines: list[tuple[str, int | None]], opening: str = ""
    ) -> None:
        """Add a function that reads what it uses of the context, then runs *lines*."""
        self.body += ["", "", f"def {head}:"]
        if comment:
            self.body.append(f"{_INDENT}# {comment}")
        used = [name for name in _ORDER if name in emitter.used]
        if emitter.read:
            self.body.append(_INDENT + "# " + ", ".join(f"S[{number}] {name}" for number, name in sorted(emitter.read)))
        if used:
            self.body.append(_INDENT + "; ".join(f"{name} = X.{name}" for name in used))
        if opening:
            self.body.append(_INDENT + opening)
        self.marks.append((len(self.body), -1))
        for line, statement in lines:
            if statement is not None:
                self.marks.append((len(self.body), statement))
            self.body.append(_INDENT + line)

    def finish(self, head_of: Leading, pipeline: list[tuple[str, str]]) -> Generated:
        """Return the whole module; *pipeline* has functions with their stages, the first that of the leading steps."""
        ir = self.ir
        head = [
            f'"""Rules of {_comment(f"{ir.engine} {ir.release}")}, generated: do not edit."""',
            "",
            "from archcap.rules.functions import BUILTINS",
            "from archcap.rules.runtime import *",
            "",
            "globals().update(BUILTINS)",
            f"ENGINE, RELEASE = {ir.engine!r}, {ir.release!r}",
            f"FUNCTIONS = {engine_functions(ir)!r}",
            "# S[n] is the setting SETTINGS[n], M[n] whether LISTS[n] holds the architecture, DM[n] the draft's",
            f"SETTINGS = {tuple(self.numbers.settings)!r}",
            f"LISTS = {tuple(self.numbers.lists)!r}",
            f"DEFAULT_VARS = {_literals(ir.vars)}",
            f"DEFAULT_ENV = {_literals(ir.env)}",
            "",
            *self.constants,
        ]
        read = tuple(self.numbers.settings[name] for name in head_of.settings)
        lead = pipeline.pop(0)[0] if head_of.steps else None
        tail = ["", "", f"LEADING = ({lead}, {read!r}, {head_of.given!r}, {head_of.written!r})", "PIPELINE = ("]
        tail += [f"{_INDENT}({function}, {stage!r})," for function, stage in pipeline]
        tail += [")", "PIPELINE_FILE = (lambda: 0).__code__.co_filename"]
        lines = [(len(head) + offset + 1, statement) for offset, statement in self.marks]
        return Generated("\n".join([*head, *self.body, *tail]) + "\n", lines)


def engine_functions(ir: ReleaseIR) -> tuple[str, ...]:
    """Return the engine functions the rules call, sorted."""
    return tuple(sorted({node.name for node in _nodes(ir) if isinstance(node, x.Call) and node.engine}))


def settings_used(ir: ReleaseIR) -> tuple[str, ...]:
    """Return the settings the rules read or write, sorted."""
    used = {node.path[0] for node in _nodes(ir) if isinstance(node, x.Setting | x.Raw | x.Own)} - {"var"}
    for step in ir.steps:
        for stmt in statements(step.body):
            used |= {write.path[0] for write in stmt.writes if write.kind in ("set", "default")}
    return tuple(sorted(used))


def _nodes(ir: ReleaseIR) -> Iterator[x.Expr]:
    for step in ir.steps:
        for stmt in statements(step.body):
            for node in expressions(stmt):
                yield from x.walk(node)
    for define in ir.defines:
        for row in define.rows:
            for part in (row.when, row.value):
                if part is not None:
                    yield from x.walk(part)


def _literals(values: tuple[tuple[str, x.Expr], ...]) -> str:
    return "{" + ", ".join(f"{name!r}: {Emitter().text(node)}" for name, node in values) + "}"


class _StepWriter:
    """Writes one step's function."""

    def __init__(self, module: _Module, step: StepIR, stopping: frozenset[str], emitter: Emitter | None = None) -> None:
        self.module, self.step, self.stopping = module, step, stopping
        self.emitter = emitter or Emitter(module.short, module.numbers)
        self.lines: list[tuple[str, int | None]] = []
        self.plain = module.plainness.locals_of(step.body)
        self.temporaries = 0
        self.pending = step.isolated and any(
            stmt.call or any(write.kind in ("set", "default", "var") for write in stmt.writes)
            for stmt in statements(step.body)
        )

    def write(self) -> None:
        """Add the function to the module."""
        self.block(self.step.body, 0)
        if self.pending:
            self.line(0, "commit(X, O, OV, Q)", None)
        elif not self.lines:
            self.line(0, "pass", None)
        comment = f"stage {self.step.stage}" + (", isolated" if self.step.isolated else "")
        opening = "O, OV, Q = {}, {}, []" if self.pending or self._reads_own() else ""
        self.module.function(f"step_{self.step.name}(X)", comment, self.emitter, self.lines, opening)

    def _reads_own(self) -> bool:
        return any(" O else " in line or " OV else " in line for line, _ in self.lines)

    def line(self, depth: int, text: str, statement: int | None) -> None:
        """Add one line of *statement*."""
        self.lines.append((_INDENT * depth + text, statement))

    def block(self, body: tuple[Stmt, ...], depth: int) -> None:
        """Write statements one after another."""
        for stmt in body:
            self.line(depth, f"# {_comment(stmt.id)}", stmt.index)
            if stmt.when is None:
                self.effects(stmt, depth)
            else:
                self.line(depth, f"if {self.emitter.text(stmt.when)}:", stmt.index)
                self.guarded(stmt, depth + 1)

    def guarded(self, stmt: Stmt, depth: int) -> None:
        """Write the effects below an `if`, which needs at least one line."""
        before = len(self.lines)
        self.effects(stmt, depth)
        if all(line.lstrip().startswith("#") for line, _ in self.lines[before:]):
            self.line(depth, "pass", stmt.index)

    def effects(self, stmt: Stmt, depth: int) -> None:
        """Write everything a statement does once its guard holds, in the language's order."""
        for let in stmt.lets:
            self.line(depth, f"let_{let.name} = {self.emitter.text(let.value)}", stmt.index)
        self.refusal(stmt, depth)
        if stmt.finding:
            self.line(depth, "X.ends.append(len(X.trace))", stmt.index)
            self.trace(depth, stmt, f"(FINDING, {stmt.index}, '', {self.shown(stmt)})", constant=not stmt.shown)
        self.writes(stmt, depth)
        if stmt.call is not None:
            self.call(stmt, depth)
        if stmt.body is not None:
            self.block(stmt.body, depth)
        if stmt.first is not None:
            self.branches(stmt, depth)
        self.leaving(stmt, depth)

    def shown(self, stmt: Stmt) -> str:
        """Return the values that fill a message, as a dict display."""
        places = ", ".join(f"{place.name!r}: {self.place(place.value)}" for place in stmt.shown)
        return "{" + places + "}"

    def place(self, value: x.Expr) -> str:
        """Return the read that fills one place; a leaf that is not there fills it with None."""
        if isinstance(value, x.Setting) and len(value.path) > 1:
            head = self.emitter.setting(value.path[:1])
            return f"shown_leaf({head}, {', '.join(repr(part) for part in value.path[1:])})"
        return self.emitter.text(value)

    def refusal(self, stmt: Stmt, depth: int) -> None:
        """Write `require` and `refuse`."""
        shown = f", {self.shown(stmt)}" if stmt.shown and (stmt.refuse or stmt.require is not None) else ""
        if stmt.require is not None:
            test = x.Unary("not", stmt.require)
            self.line(depth, f"if {self.emitter.text(test)}:", stmt.index)
            self.line(depth + 1, f"raise Refusal({stmt.index}{shown})", stmt.index)
        if stmt.refuse:
            self.line(depth, f"raise Refusal({stmt.index}{shown})", stmt.index)

    def trace(self, depth: int, stmt: Stmt, entry: str, constant: bool) -> None:
        """Write the append of a trace entry; one that never changes is made once."""
        append = self.emitter.use("T")
        entry = self.module.constant(entry) if constant else entry
        self.line(depth, f"{append}({entry})", stmt.index)

    # -- writes ------------------------------------------------------------------

    def writes(self, stmt: Stmt, depth: int) -> None:
        """Write the values: all are read before the first is written."""
        values: list[str] = []
        again = repeated_calls([write.value for write in stmt.writes])
        for write in stmt.writes:
            self.share(stmt, write.value, again, depth)
            text = self.emitter.text(write.value)
            if self.module.plainness.may_collect(write.value, self.plain):
                text = f"plain({text})"
            if not isinstance(write.value, x.Const):
                self.temporaries += 1
                name = f"v{self.temporaries}"
                self.line(depth, f"{name} = {text}", stmt.index)
                text = name
            values.append(text)
        self.emitter.shared.clear()
        tests = [self.write_test(write) for write in stmt.writes]
        for write, value, test in zip(stmt.writes, values, tests, strict=True):
            inner = depth
            if test is not None:
                self.line(depth, f"if {test}:", stmt.index)
                inner += 1
            self.store(stmt, write, value, inner)

    def share(self, stmt: Stmt, value: x.Expr, again: frozenset[x.Expr], depth: int) -> None:
        """Give local names to calls that the statement makes more than once, just before the first that needs them."""
        for node in always_read(value):
            if node in again and node not in self.emitter.shared:
                text = self.emitter.text(node)
                self.temporaries += 1
                self.line(depth, f"v{self.temporaries} = {text}", stmt.index)
                self.emitter.shared[node] = f"v{self.temporaries}"

    def write_test(self, write: Write) -> str | None:
        """Return the test before a write that yields to a value already there."""
        if write.kind == "env_if_unset":
            return f"{write.path[0]!r} not in {self.emitter.use('N')}"
        if write.kind != "default":
            return None
        present = self.emitter.setting(write.path)
        if write.sentinel is None:
            return f"{present} is None"
        return f"{present} is None or {present} == {write.sentinel!r}"

    def store(self, stmt: Stmt, write: Write, value: str, depth: int) -> None:
        """Write one value and its trace entry."""
        name = ".".join(write.path)
        self.line(depth, self.target(write, value), stmt.index)
        entry = f"({_KINDS[write.kind]}, {stmt.index}, {name!r}, {value})"
        constant = isinstance(write.value, x.Const)
        if self.step.isolated and write.kind in ("set", "default", "var"):
            self.line(depth, f"Q.append({self.module.constant(entry) if constant else entry})", stmt.index)
        else:
            self.trace(depth, stmt, entry, constant)

    def target(self, write: Write, value: str) -> str:
        """Return the assignment of one write."""
        use, key = self.emitter.use, write.path[0]
        if write.kind == "fact":
            return f"{use('F')}[{key!r}] = {value}"
        if write.kind in ("env", "env_if_unset"):
            return f"{use('E')}[{key!r}] = {use('W')}[{key!r}] = {value}; {use('N')}.add({key!r})"
        if write.kind == "var":
            return f"{'OV' if self.step.isolated else use('V')}[{key!r}] = {value}"
        place = f"O[{key!r}]" if self.step.isolated else self.emitter.setting(write.path[:1])
        if len(write.path) == 1:
            return f"{place} = {value}"
        if self.step.isolated:
            return f"pend(X, O, {'.'.join(write.path)!r}, {value})"
        return f"{place} = with_leaf({place}, {write.path[1:]!r}, {value})"

    # -- flow ----------------------------------------------------------------------

    def call(self, stmt: Stmt, depth: int) -> None:
        """Write the call of another step, which may end the stage or the pipeline."""
        call = f"within(X, O, OV, Q, step_{stmt.call})" if self.step.isolated else f"step_{stmt.call}(X)"
        if stmt.call not in self.stopping:
            self.line(depth, call, stmt.index)
            return
        self.line(depth, f"stopped = {call}", stmt.index)
        self.line(depth, "if stopped:", stmt.index)
        if self.pending:
            self.line(depth + 1, "commit(X, O, OV, Q)", stmt.index)
        self.line(depth + 1, "return stopped", stmt.index)

    def branches(self, stmt: Stmt, depth: int) -> None:
        """Write the first branch that holds."""
        word = "if"
        for branch in stmt.first or ():
            if branch.when is None:
                if word == "if":
                    self.line(depth, f"# {_comment(branch.id)}", branch.index)
                    self.effects(branch, depth)
                else:
                    self.line(depth, f"else:  # {_comment(branch.id)}", branch.index)
                    self.guarded(branch, depth + 1)
                return
            self.line(depth, f"{word} {self.emitter.text(branch.when)}:  # {_comment(branch.id)}", branch.index)
            self.guarded(branch, depth + 1)
            word = "elif"

    def leaving(self, stmt: Stmt, depth: int) -> None:
        """Write `return` and `stop`."""
        if stmt.stop is None and not stmt.returns:
            return
        kind = "RETURN" if stmt.stop is None else "STOP"
        name = stmt.stop or name_of_return(stmt.index)
        self.trace(depth, stmt, f"(Kind.{kind}, {stmt.index}, {name!r}, None)", constant=True)
        if self.pending:
            self.line(depth, "commit(X, O, OV, Q)", stmt.index)
        code = "" if stmt.stop is None else f" STOP_{stmt.stop.upper()}"
        self.line(depth, f"return{code}", stmt.index)


def _drivers(module: _Module, stopping: frozenset[str], lead: int) -> list[tuple[str, str]]:
    """Add functions that run the steps of the pipeline one after another; return them with their stages.

    The first *lead* steps have one of their own. Then a function holds neighbours of a stage up to a step that may stop
    it. A short step stands in it, and one that does
    nothing unless a guard holds is called only then: most steps do nothing for most launches.
    """
    steps = {step.name: step for step in module.ir.steps}
    first = [steps[name] for name in module.ir.pipeline[:lead]]
    pipeline = [_driver(module, first, 0, stopping)] if first else []
    group: list[StepIR] = []
    for name in module.ir.pipeline[lead:]:
        step = steps[name]
        if group and (group[-1].stage != step.stage or group[-1].name in stopping or name in stopping):
            pipeline.append(_driver(module, group, len(pipeline), stopping))
            group = []
        group.append(step)
    if group:
        pipeline.append(_driver(module, group, len(pipeline), stopping))
    return pipeline


def _driver(module: _Module, group: list[StepIR], number: int, stopping: frozenset[str]) -> tuple[str, str]:
    stage = group[0].stage
    if len(group) == 1:
        return f"step_{group[0].name}", stage
    emitter = Emitter(module.short, module.numbers)
    lines: list[tuple[str, int | None]] = []
    for step in group:
        lines += [(f"# {_comment(step.name)}", -1), *_driven(module, step, emitter, stopping)]
    module.function(f"steps_{number}(X)", f"stage {stage}", emitter, lines)
    return f"steps_{number}", stage


def _driven(module: _Module, step: StepIR, emitter: Emitter, stopping: frozenset[str]) -> list[tuple[str, int | None]]:
    """Return the lines by which a driver runs *step*."""
    whole = list(statements(step.body))
    if not step.isolated and len(whole) <= STANDS and not any(stmt.returns or stmt.stop for stmt in whole):
        writer = _StepWriter(module, step, stopping, emitter)
        writer.block(step.body, 0)
        return writer.lines
    call = f"step_{step.name}(X)"
    guards = [(stmt.when, stmt.index) for stmt in step.body if stmt.when is not None]
    if len(guards) < len(step.body) or len(guards) > GUARDS:
        return [(call, None)]
    lines: list[tuple[str, int | None]] = []
    for at, (guard, statement) in enumerate(guards):
        lines.append((f"{'elif' if at else 'if'} {emitter.text(guard)}:", statement))
        lines.append((_INDENT + call, statement))
    return lines


def always_read(node: x.Expr) -> Iterator[x.Expr]:
    """Yield *node* and its parts that are computed whenever it is, the innermost first."""
    if isinstance(node, x.Call | x.Display | x.Binary | x.Unary | x.Index):
        for child in x.children(node):
            if not isinstance(child, x.Loop):
                yield from always_read(child)
        yield node


def repeated_calls(values: Sequence[x.Expr]) -> frozenset[x.Expr]:
    """Return the calls of engine functions, which are pure, that *values* always make, and more than once."""
    calls = Counter(node for value in values for node in always_read(value) if isinstance(node, x.Call) and node.engine)
    return frozenset(node for node, times in calls.items() if times > 1)


def _comment(text: str) -> str:
    """Return *text* as it may stand in a comment: an each-value can hold anything."""
    return "".join(char if char.isalnum() or char in " ._:@/+-" else "?" for char in text)


__all__ = ["Generated", "engine_functions", "generate", "stopping_steps"]
