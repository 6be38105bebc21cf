"""Evaluates the vocabulary's probes on one release's source: which architecture has what, and where it shows.

Holds no capability and no engine name of its own: a probe says what to look for, this module knows how to look.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from archcap.model.vocabulary import BranchProbe, CallProbe, Probe
from archcap.scanner.conditions import config_condition, local_names
from archcap.scanner.config import ScanConfig
from archcap.scanner.index import Function, dotted
from archcap.scanner.lines import lines_of
from archcap.scanner.modules import Modules, SourceFile, Symbol
from archcap.scanner.points import TESTS, Point, PointScan
from archcap.scanner.specs import Specs
from archcap.scanner.static import Evaluator, Items, Ref, Static, Table, Unresolved
from archcap.scanner.structure import Entry, Structure


class Evidence(NamedTuple):
    """Where a capability shows. `when` is the configuration it depends on; None holds always."""

    file: str
    line: int
    when: str | None = None


class Missing(NamedTuple):
    """Something a probe could not decide."""

    file: str
    line: int
    reason: str


@dataclass
class Findings:
    """What a probe found: evidence by architecture, and what it could not read."""

    found: dict[str, Evidence] = field(default_factory=dict)
    unresolved: list[Missing] = field(default_factory=list)

    def add(self, name: str, evidence: Evidence) -> None:
        """Keep the stronger of two pieces of evidence: one without a condition."""
        held = self.found.get(name)
        if held is None or (held.when is not None and evidence.when is None):
            self.found[name] = evidence


class Probes:
    """Evaluates probes for the architectures of one source."""

    def __init__(
        self,
        modules: Modules,
        evaluator: Evaluator,
        structure: Structure,
        entries: Mapping[str, Entry],
        specs: Specs,
        points: PointScan,
        config: ScanConfig,
    ) -> None:
        self.modules = modules
        self.evaluator = evaluator
        self.structure = structure
        self.entries = entries
        self.specs = specs
        self.points = points
        self._outside = [f for f in modules.searched if not f.path.startswith(config.models_folder)]
        self._words: dict[str, list[SourceFile]] = {}
        self.external = config.external
        self._external: dict[Symbol, frozenset[str]] = {}

    def evaluate(self, probe: Probe, lists: Mapping[str, Mapping[str, Evidence]] | None = None) -> Findings:
        """Return the architectures that have what *probe* looks for.

        Args:
            probe: its keys are alternatives.
            lists: the lists scanned so far, for `list`: names with their place, by id.
        """
        out = Findings()
        for key, run in _PROBES:
            if getattr(probe, key) is not None:
                run(self, probe, out)
        if probe.list is not None:
            for name, place in ((lists or {}).get(probe.list) or {}).items():
                if name in self.entries:
                    out.add(name, place)
        return out

    # classes

    def _asked(self, probe: Probe) -> Iterator[tuple[str, list[Symbol]]]:
        """Yield every architecture with the classes to ask: all of them must have the capability."""
        for name, entry in self.entries.items():
            symbol: Symbol | None = entry.symbol
            if probe.asks == "body":
                symbol = self.structure.body_of_entry(entry.symbol)
            if symbol is not None:
                yield name, [symbol]

    def _by_class(self, probe: Probe, out: Findings, look: Callable[[Symbol], Evidence | None]) -> None:
        for name, symbols in self._asked(probe):
            for symbol in symbols:
                evidence = look(symbol)
                delegates = self.structure.delegates(symbol) if evidence is None else []
                if delegates:
                    evidence = self._of_all(delegates, symbol, look, out)
                if evidence is not None:
                    out.add(name, evidence)

    def _of_all(
        self, delegates: list[Symbol], symbol: Symbol, look: Callable[[Symbol], Evidence | None], out: Findings
    ) -> Evidence | None:
        """Ask the classes that stand in for *symbol*; undecided when they disagree."""
        answers = [look(one) for one in delegates]
        held = [a for a in answers if a is not None]
        if held and len(held) < len(answers):
            out.unresolved.append(
                Missing(held[0].file, held[0].line, f"{symbol.name} delegates to several classes, and not all have it")
            )
            return None
        return held[0] if held else None

    def _method(self, probe: Probe, out: Findings) -> None:
        name = probe.method
        assert name is not None
        self._by_class(probe, out, lambda symbol: self._has(symbol, name))

    def _attribute(self, probe: Probe, out: Findings) -> None:
        name = probe.attribute
        assert name is not None
        self._by_class(probe, out, lambda symbol: self._has(symbol, name))

    def _has(self, symbol: Symbol, name: str) -> Evidence | None:
        methods, members = self.modules.surface(symbol)
        if name in methods:
            owner, method = methods[name]
            return Evidence(self.modules.file(owner).path, method.span[0])
        if name in members:
            owner, member = members[name][0]
            return Evidence(self.modules.file(owner).path, member.line)
        if name in self._given(symbol):
            return Evidence(self.modules.file(symbol).path, self.modules.classes(symbol)[0].span[0])
        return None

    def _given(self, symbol: Symbol) -> frozenset[str]:
        """Return what classes from outside give to *symbol*."""
        if symbol not in self._external:
            bases = (str(one) for one in self.modules.lineage(symbol) if one.kind != "class")
            self._external[symbol] = frozenset(name for base in bases for name in self.external.get(base, ()))
        return self._external[symbol]

    def unknown_bases(self) -> list[Missing]:
        """Return the entry classes and bodies made of classes from outside that nothing is said of."""
        found: dict[Symbol, Missing] = {}
        for entry in self.entries.values():
            for symbol in (entry.symbol, self.structure.body_of_entry(entry.symbol)):
                for base in self.modules.lineage(symbol) if symbol is not None else ():
                    if base.kind != "class" and str(base) not in self.external and symbol is not None:
                        line = self.modules.classes(symbol)[0].span[0]
                        reason = f"{symbol.name} is made of {base}, which is outside the source"
                        found[symbol] = Missing(self.modules.file(symbol).path, line, reason)
        return list(found.values())

    def _parameter(self, probe: Probe, out: Findings) -> None:
        assert probe.parameter is not None
        method, _, name = probe.parameter.rpartition(".")

        def takes(symbol: Symbol) -> Evidence | None:
            found = self.modules.method(symbol, method)
            if found is None or name not in found[1].params:
                return None
            return Evidence(self.modules.file(found[0]).path, found[1].span[0])

        def look(symbol: Symbol) -> Evidence | None:
            lenders = self.structure.lenders(symbol, method)  # what an instance holds comes before what its class has
            return self._of_all(lenders, symbol, takes, out) if lenders else takes(symbol)

        self._by_class(probe, out, look)

    def _base(self, probe: Probe, out: Findings) -> None:
        def look(symbol: Symbol) -> Evidence | None:
            for one in self.modules.lineage(symbol):
                if str(one) == probe.base or one.name == probe.base:
                    made = self.modules.classes(symbol)
                    return Evidence(self.modules.file(symbol).path, made[0].span[0])
            return None

        self._by_class(probe, out, look)

    def _call(self, probe: Probe, out: Findings) -> None:
        assert probe.call is not None
        wanted = probe.call if isinstance(probe.call, tuple) else (probe.call,)

        def look(symbol: Symbol) -> Evidence | None:
            return next((e for e in (self._call_in(symbol, w) for w in wanted) if e is not None), None)

        self._by_class(probe, out, look)

    def _call_in(self, symbol: Symbol, wanted: CallProbe) -> Evidence | None:
        for file, node in self._methods(symbol, wanted.calls):
            for one in ast.walk(node):
                if isinstance(one, ast.Call) and _last(one.func) == wanted.calls and _passes(one, wanted):
                    return Evidence(file.path, one.lineno)
        return None

    def _reads(self, probe: Probe, out: Findings) -> None:
        assert probe.reads is not None
        method, _, name = probe.reads.rpartition(".")

        def look(symbol: Symbol) -> Evidence | None:
            found = self.modules.method(symbol, method)
            if found is None:
                return None
            file = self.modules.file(found[0])
            if name not in file.text(found[1].span):
                return None
            for one in ast.walk(file.statement(found[1].span)):
                if _mentions(one, name):
                    return Evidence(file.path, getattr(one, "lineno", found[1].span[0]))
            return None

        self._by_class(probe, out, look)

    def _decorator(self, probe: Probe, out: Findings) -> None:
        wanted = (probe.decorator or "").rpartition(".")[2]

        def look(symbol: Symbol) -> Evidence | None:
            for made in self.modules.classes(symbol):
                if any(d.partition("(")[0].rpartition(".")[2] == wanted for d in made.decorators):
                    return Evidence(self.modules.file(symbol).path, made.span[0])
            return None

        self._by_class(probe, out, look)

    def _methods(self, symbol: Symbol, mentions: str) -> Iterator[tuple[SourceFile, ast.stmt]]:
        """Yield the methods of *symbol* and of the engine classes it inherits from, overridden ones left out."""
        seen: set[str] = set()
        for one in self.modules.lineage(symbol):
            for made in self.modules.classes(one):
                file = self.modules.file(one)
                for name, functions in made.methods.items():
                    if name in seen and name != "__init__":
                        continue
                    seen.add(name)
                    for function in functions:
                        if mentions in file.text(function.span):
                            yield file, file.statement(function.span)

    # collections and code

    def _set(self, probe: Probe, out: Findings) -> None:
        for path in _several(probe.set):
            symbol = self._value_at(path)
            if symbol is None:
                continue
            owner, values = symbol
            file = self.modules.files[owner]
            lines = lines_of([*values], file, min(values.values(), default=1))
            for name in values:
                if name in self.entries:
                    out.add(name, Evidence(file.path, lines[name]))

    def _value_at(self, path: str) -> tuple[str, dict[str, int]] | None:
        """Return the module of a collection and its names with their lines; None when the release has no such thing."""
        module, _, name = path.rpartition(".")
        symbol = self.modules.resolve(module, name)
        if symbol is not None and symbol.kind == "value":
            file = self.modules.file(symbol)
            return symbol.module, _strings(self.evaluator.named(symbol), file.index.values[symbol.name][0].span[0])
        outer, _, owner = module.rpartition(".")
        holder = self.modules.resolve(outer, owner) if outer else None
        if holder is None or holder.kind != "class":
            return None
        try:
            value = self.evaluator.class_attribute(holder, name)
        except Unresolved:
            return None
        line = next((m.line for _, m in self.modules.members(holder, name)), 1)
        return holder.module, _strings(value, line)

    def _named_in(self, probe: Probe, out: Findings) -> None:
        for path in _several(probe.named_in):
            found = self.function(path)
            if found is None:
                continue
            file, node = found
            for point in self.points.of_function(file, node):
                for name in self.named_by(point):
                    out.add(name, Evidence(file.path, point.line))

    def function(self, path: str) -> tuple[SourceFile, str] | None:
        """Return file and qualified name of the function at a dotted path, or None when the release has none."""
        module, _, name = path.rpartition(".")
        symbol = self.modules.resolve(module, name)
        if symbol is not None and symbol.kind == "function":
            return self.modules.file(symbol), symbol.name
        outer, _, owner = module.rpartition(".")
        holder = self.modules.resolve(outer, owner) if outer else None
        found = self.modules.method(holder, name) if holder is not None and holder.kind == "class" else None
        if found is None:
            return None
        return self.modules.file(found[0]), f"{found[0].name}.{name}"

    def named_by(self, point: Point) -> list[str]:
        """Return the architectures a point tests for."""
        if point.form not in TESTS:
            return []
        if point.form == "starts":
            return [n for n in self.entries if n.startswith(point.names)]
        if point.form == "ends":
            return [n for n in self.entries if n.endswith(point.names)]
        return [n for n in point.names if n in self.entries]

    def _or_spec(self, probe: Probe, out: Findings) -> None:
        assert probe.or_spec is not None
        for spec in self.specs.all:
            if spec.fields.get(probe.or_spec) is not True:
                continue
            for name in spec.architectures:
                if name in self.entries:
                    out.add(name, Evidence(spec.file, spec.line))

    def _registered(self, probe: Probe, out: Findings) -> None:
        wanted = probe.registered
        assert wanted is not None
        base = wanted.base.rpartition(".")[2]
        for file in self.modules.searched:
            if not _assigns(file.content, wanted.attribute.encode()):
                continue
            for name, made in file.index.classes.items():
                if wanted.attribute not in made[0].members:
                    continue
                symbol = Symbol("class", file.module, name)
                if any(str(one) == wanted.base or one.name == base for one in self.modules.lineage(symbol)):
                    self._registered_by(symbol, wanted.attribute, file, made[0].members[wanted.attribute][0].line, out)

    def _registered_by(self, symbol: Symbol, attribute: str, file: SourceFile, line: int, out: Findings) -> None:
        try:
            value = self.evaluator.class_attribute(symbol, attribute)
        except Unresolved as error:
            out.unresolved.append(Missing(file.path, line, error.reason))
            return
        for name in _strings(value, line):
            if name in self.entries:
                out.add(name, Evidence(file.path, line))

    def _branch(self, probe: Probe, out: Findings) -> None:
        assert probe.branch is not None
        for wanted in probe.branch if isinstance(probe.branch, tuple) else (probe.branch,):
            if wanted.fallback and self._present(probe):
                continue
            word = wanted.calls or wanted.assigns or ""
            for file in self._holding(word):
                for node in self._functions(file, word):
                    _Branches(self, wanted, file, node, out).block(node.body, frozenset(), None)
            if wanted.calls:
                self._handed_on(wanted, out)

    def _present(self, probe: Probe) -> bool:
        """Whether the release has any of the collections and functions the probe names."""
        if any(self._value_at(path) is not None for path in _several(probe.set)):
            return True
        return any(self.function(path) is not None for path in _several(probe.named_in))

    def _holding(self, word: str) -> list[SourceFile]:
        """Return the files outside the models that hold *word*."""
        if word not in self._words:
            text = word.encode()
            self._words[word] = [file for file in self._outside if text in file.content]
        return self._words[word]

    def _functions(self, file: SourceFile, word: str) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
        found = re.compile(re.escape(word.encode()))
        lines = [file.content.count(b"\n", 0, m.start()) + 1 for m in found.finditer(file.content)]
        for function in _all_functions(file):
            if any(function.span[0] <= line <= function.span[2] for line in lines):
                node = file.statement(function.span)
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield node

    def _handed_on(self, wanted: BranchProbe, out: Findings) -> None:
        """Look at branches that hand the architecture to a function of the engine that makes the call."""
        makers = self._makers(wanted)
        for name in sorted(makers):
            inner = BranchProbe(calls=name)
            for file in self._holding(name):
                for node in self._functions(file, name):
                    if node.name != name:
                        _Branches(self, inner, file, node, out).block(node.body, frozenset(), None)

    def _makers(self, wanted: BranchProbe) -> set[str]:
        """Return the names of module-level functions that make the call and are given the architecture."""
        assert wanted.calls is not None
        found: set[str] = set()
        for file in self._holding(wanted.calls):
            for name, functions in file.index.functions.items():
                if not any("arch" in p for p in functions[-1].params) or name == wanted.calls:
                    continue
                node = file.statement(functions[-1].span)
                if any(isinstance(one, ast.Call) and makes_call(one, wanted) for one in ast.walk(node)):
                    found.add(name)
        return found


def _all_functions(file: SourceFile) -> list[Function]:
    functions = [f for made in file.index.functions.values() for f in made]
    methods = (m for made in file.index.classes.values() for one in made for m in one.methods.values())
    return functions + [f for many in methods for f in many]


def makes_call(call: ast.Call, wanted: BranchProbe) -> bool:
    """Return whether *call* is the one the probe looks for and is not told to deny the capability."""
    if _last(call.func) != wanted.calls:
        return False
    given = {k.arg: k.value for k in call.keywords}
    return not any(_is_constant(given.get(k), v) for k, v in wanted.unless.items())


class _Branches:
    """Walks a function's branches, with the architectures each guard names."""

    def __init__(
        self,
        probes: Probes,
        wanted: BranchProbe,
        file: SourceFile,
        function: ast.FunctionDef | ast.AsyncFunctionDef,
        out: Findings,
    ) -> None:
        self.probes = probes
        self.wanted = wanted
        self.file = file
        self.local = local_names(function)
        self.points = [p for p in probes.points.of_file(file) if p.key == "architecture"]
        self.out = out

    def block(self, statements: list[ast.stmt], names: frozenset[str], when: str | None) -> None:
        for statement in statements:
            if isinstance(statement, ast.If):
                self._if(statement, names, when)
            else:
                if names:
                    self._statement(statement, names, when)
                for inner in ("body", "orelse", "finalbody"):
                    block = getattr(statement, inner, None)
                    if block and not isinstance(statement, ast.FunctionDef | ast.ClassDef):
                        self.block(block, names, when)

    def _if(self, node: ast.If, names: frozenset[str], when: str | None) -> None:
        tested = self._named(node.test)
        inner = names
        condition = when
        if tested:
            inner = (names & tested) if names else tested
            rest = self._rest(node.test)
        else:
            rest = node.test
        if inner and rest is not None:
            text = config_condition(rest, self.local)
            if text is not None:
                condition = text if when is None else f"({when}) and ({text})"
        self.block(node.body, inner, condition)
        self.block(node.orelse, names, when)

    def _named(self, test: ast.expr) -> frozenset[str]:
        """Return the architectures that a guard tests for, by the lines it spans."""
        first, last = test.lineno, test.end_lineno or test.lineno
        names: set[str] = set()
        for point in self.points:
            if first <= point.line <= last and not point.negated:
                names.update(self.probes.named_by(point))
        return frozenset(names)

    def _rest(self, test: ast.expr) -> ast.expr | None:
        """Return the part of an `and` that names no architecture."""
        if not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.And):
            return None
        rest = [v for v in test.values if not self._is_named_by(v)]
        if not rest:
            return None
        return rest[0] if len(rest) == 1 else ast.BoolOp(ast.And(), rest)

    def _is_named_by(self, part: ast.expr) -> bool:
        """Return whether one part of a guard is what names the architectures."""
        for one in ast.walk(part):
            if isinstance(one, ast.Constant) and one.value in self.probes.entries:
                return True
            if isinstance(one, ast.Name) and "arch" in one.id.lower():
                return True
        return False

    def _statement(self, statement: ast.stmt, names: frozenset[str], when: str | None) -> None:
        for one in ast.walk(statement):
            if self._matches(one):
                held = self._condition(one, when)
                for name in names:
                    self.out.add(name, Evidence(self.file.path, getattr(one, "lineno", statement.lineno), held))

    def _condition(self, node: ast.AST, when: str | None) -> str | None:
        """Return the condition under which the branch gives the capability: around it, and assigned by it."""
        if self.wanted.assigns is None or self.wanted.value is not None or not isinstance(node, ast.Assign):
            return when
        own = config_condition(node.value, self.local)
        return own if when is None or own is None else f"({when}) and ({own})"

    def _matches(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Call):
            if self.wanted.calls is not None:
                return makes_call(node, self.wanted)
            return any(k.arg == self.wanted.assigns and self._value_fits(k.value) for k in node.keywords)
        if isinstance(node, ast.Assign) and self.wanted.assigns is not None:
            return any(_last(t) == self.wanted.assigns for t in node.targets) and self._value_fits(node.value)
        return False

    def _value_fits(self, node: ast.expr) -> bool:
        if self.wanted.value is None:
            return True
        text = dotted(node) or ast.unparse(node)
        return text == self.wanted.value or text.endswith("." + self.wanted.value)


def _is_constant(node: ast.expr | None, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def _assigns(content: bytes, name: bytes) -> bool:
    """Return whether an indented line begins with an assignment to *name*, annotated or not."""
    at = content.find(name)
    while at >= 0:
        before = content[content.rfind(b"\n", 0, at) + 1 : at]
        if before.isspace() and content[at + len(name) : at + len(name) + 2].lstrip()[:1] in (b"=", b":"):
            return True
        at = content.find(name, at + 1)
    return False


def _passes(call: ast.Call, wanted: CallProbe) -> bool:
    return {k.arg for k in call.keywords}.issuperset(wanted.passes)


def _last(node: ast.expr) -> str:
    return (dotted(node) or "").rpartition(".")[2] or (node.attr if isinstance(node, ast.Attribute) else "")


def _mentions(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == name
    if isinstance(node, ast.Name):
        return node.id == name
    return isinstance(node, ast.Constant) and node.value == name


def _several(value: str | tuple[str, ...] | None) -> tuple[str, ...]:
    return () if value is None else (value,) if isinstance(value, str) else value


def _strings(value: Static, line: int) -> dict[str, int]:
    """Return the names a collection holds; classes count by their name."""
    if isinstance(value, Table):
        return {k: line for k, _ in value.pairs if isinstance(k, str)}
    values = value.values if isinstance(value, Items) else (value,)
    found: dict[str, int] = {}
    for one in values:
        if isinstance(one, str):
            found[one] = line
        elif isinstance(one, Ref):
            found[one.symbol.name] = line
    return found


_PROBES: tuple[tuple[str, Callable[[Probes, Probe, Findings], None]], ...] = (
    ("method", Probes._method),
    ("attribute", Probes._attribute),
    ("parameter", Probes._parameter),
    ("base", Probes._base),
    ("set", Probes._set),
    ("named_in", Probes._named_in),
    ("branch", Probes._branch),
    ("call", Probes._call),
    ("reads", Probes._reads),
    ("registered", Probes._registered),
    ("or_spec", Probes._or_spec),
    ("decorator", Probes._decorator),
)
