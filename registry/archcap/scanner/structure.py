"""How model classes are built: entry classes, what each wraps, and the body that holds the decoder layers.

Follows constructors, class attributes and parameters through inheritance; what it cannot follow it leaves out.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from archcap.scanner.index import Member, dotted, statements_of
from archcap.scanner.modules import Modules, Symbol
from archcap.scanner.static import Evaluator, Items, Ref, Static, Table, Unresolved

LAYERS = ("layers", "h", "blocks", "decoder_layers", "layer", "stages")
"""Attributes in which a body holds its layers, the usual one first."""

HELD = (
    "language_model",
    "model",
    "llm",
    "lm",
    "thinker",
    "text_model",
    "transformer",
    "backbone",
    "decoder",
    "gpt_neox",
    "bert",
    "roberta",
    "encoder",
    "minicpmv",
    "mtp",
    "model_mtp",
    "body",
    "draft_model",
    "nextn",
)
"""Attributes in which an entry class holds the model it runs, the outer ones first; others are tried after them."""

_APART = ("vis", "audio", "tower", "image", "speech", "head", "norm", "embed", "project", "pooler", "sampler", "attn")
"""Parts of attribute names that are never the decoder."""


class Entry(NamedTuple):
    """An entry class under the name config.json uses."""

    name: str
    symbol: Symbol
    module: str
    """Module that lists it in `EntryClass`, which may import it from elsewhere."""
    line: int


@dataclass
class Entries:
    """All entry classes of a release, by name, and what could not be read."""

    found: dict[str, Entry] = field(default_factory=dict)
    unresolved: list[tuple[str, int, str]] = field(default_factory=list)


def entries(modules: Modules, evaluator: Evaluator, package: str, name: str = "EntryClass") -> Entries:
    """Return the entry classes that the modules directly in *package* list.

    Args:
        modules: the source.
        evaluator: of the same source.
        package: module path of the models' package, as in `srt.models`.
        name: the list's name.
    """
    out = Entries()
    for module, file in modules.files.items():
        if module.rpartition(".")[0] != package or file.is_package:
            continue
        symbol = modules.resolve(module, name)
        if symbol is None:
            continue
        line = file.index.values[name][0].span[0] if name in file.index.values else 1
        try:
            value = evaluator.named(symbol)
        except Unresolved as error:
            out.unresolved.append((file.path, error.line or line, f"{name}: {error.reason}"))
            continue
        for one in value.values if isinstance(value, Items) else (value,):
            _entry(out, one, module, file.path, line, modules)
    return out


def _entry(out: Entries, value: Static, module: str, path: str, line: int, modules: Modules) -> None:
    if not isinstance(value, Ref) or value.symbol.kind != "class":
        out.unresolved.append((path, line, f"{value!r} is no class"))
        return
    symbol = value.symbol
    at = modules.classes(symbol)[0].span[0] if symbol.module == module else line
    out.found[symbol.name] = Entry(symbol.name, symbol, module, at)


class Structure:
    """Answers what a class holds, for the classes of one source."""

    def __init__(self, modules: Modules, evaluator: Evaluator) -> None:
        self.modules = modules
        self.evaluator = evaluator
        self._bodies: dict[Symbol, Symbol | None] = {}
        self._entry_bodies: dict[Symbol, Symbol | None] = {}
        self._delegates: dict[Symbol, list[Symbol]] = {}
        self._inits: dict[Symbol, ast.FunctionDef | None] = {}

    def body(self, symbol: Symbol) -> Symbol | None:
        """Return the class that assigns the layers of *symbol*, itself or what it holds; None when none is found."""
        if symbol not in self._bodies:
            self._bodies[symbol] = None
            self._bodies[symbol] = self._stack(symbol) or self._held_body(symbol)
        return self._bodies[symbol]

    def _stack(self, symbol: Symbol) -> Symbol | None:
        """Return the class whose stack of layers *symbol* inherits: the farthest ancestor in its own file.

        A subclass in another file brings layers of another kind and counts as a body of its own.
        """
        assigns = self._own_layers(symbol)
        if assigns is None:
            return None
        found = symbol
        for one in self.modules.lineage(symbol):
            if one.module == symbol.module and assigns in self.modules.lineage(one):
                found = one
            if one == assigns:
                break
        return found

    def _own_layers(self, symbol: Symbol) -> Symbol | None:
        for attribute in LAYERS[:1]:
            for owner, member in self.modules.members(symbol, attribute):
                if member.method is not None:
                    return owner
        for attribute in LAYERS[1:]:
            for owner, member in self.modules.members(symbol, attribute):
                if member.method is not None and any(c.rpartition(".")[2] in _MAKERS for c in member.callees):
                    return owner
        return None

    def _held_body(self, symbol: Symbol) -> Symbol | None:
        for _, held in self.held(symbol):
            found = self.body(held)
            if found is not None:
                return found
        return None

    def body_of_entry(self, symbol: Symbol) -> Symbol | None:
        """Return the body of an entry class; a draft without a stack of layers has the module it runs for one."""
        if symbol not in self._entry_bodies:
            found = self.body(symbol)
            if found is None:
                found = next((held for name, held in self.held(symbol) if name in HELD), None)
            self._entry_bodies[symbol] = found
        return self._entry_bodies[symbol]

    def wraps(self, symbol: Symbol, names: Mapping[str, object]) -> Symbol | None:
        """Return the model class that *symbol* delegates to: one that has a body of its own, or is named like an entry.

        A decoder stack is no wrapped model, unless it bears an architecture's name. Subclasses that inherit their
        layers count as the class they inherit them from.
        """
        for _, held in self.held(symbol):
            body = self.body(held)
            if body is None:
                continue
            if body not in self.modules.lineage(held):
                return held
            return body if body.name in names and _TASK.search(body.name) else None
        return None

    def held(self, symbol: Symbol) -> Iterator[tuple[str, Symbol]]:
        """Yield attribute and class of every model *symbol* holds, the likeliest decoder first."""
        names = dict.fromkeys(self.modules.member_names(symbol))
        ordered = [n for n in HELD if n in names]
        ordered += [n for n in names if n not in ordered and not any(part in n for part in _APART)]
        for name in ordered:
            for held in self._made(symbol, name):
                yield name, held

    def delegates(self, symbol: Symbol) -> list[Symbol]:
        """Return the classes that `__getattr__` of *symbol* passes unknown names to, by `getattr(self.x, name)`."""
        if symbol not in self._delegates:
            self._delegates[symbol] = self._passed_on(symbol)
        return self._delegates[symbol]

    def lenders(self, symbol: Symbol, method: str, asked: frozenset[Symbol] = frozenset()) -> list[Symbol]:
        """Return the classes of which an instance of *symbol* takes *method*, by `self.method = self.x.method`.

        One that takes it from a part of its own is followed to the end; those in *asked* are left out.
        """
        assigned = (member for _, member in self.modules.members(symbol, method) if member.method is not None)
        takes = (re.fullmatch(rf"self\.(\w+)\.{method}", callee) for member in assigned for callee in member.callees)
        taken = next((one for one in takes if one), None)
        asked |= {symbol}
        held = [one for one in self._made(symbol, taken[1], follow=True) if one not in asked] if taken else []
        return [lender for one in held for lender in self.lenders(one, method, asked) or [one]]

    def _passed_on(self, symbol: Symbol) -> list[Symbol]:
        found = self.modules.method(symbol, "__getattr__")
        if found is None:
            return []
        names: dict[str, None] = {}
        for one in ast.walk(self.modules.file(found[0]).statement(found[1].span)):
            if isinstance(one, ast.Call) and dotted(one.func) == "getattr" and one.args:
                target = dotted(one.args[0]) or ""
                if target.startswith("self."):
                    names[target.removeprefix("self.")] = None
        return [held for name in names for held in self._made(symbol, name, follow=True)]

    def _made(self, symbol: Symbol, attribute: str, follow: bool = False) -> Iterator[Symbol]:
        """Yield the classes that `self.attribute` may hold, as constructed by the nearest class that assigns it.

        A plain name is followed to what it is bound to where the attribute usually holds a model, or when asked to.
        """
        nearest: Symbol | None = None
        for owner, member in self.modules.members(symbol, attribute):
            if member.method is None:
                continue
            if nearest is not None and owner != nearest:
                return
            nearest = owner
            for callee in member.callees:
                if follow or callee.endswith("()") or attribute in HELD:
                    yield from self._constructed(symbol, owner, member, callee)

    def _constructed(self, symbol: Symbol, owner: Symbol, member: Member, callee: str) -> Iterator[Symbol]:
        name = callee.removesuffix("()")
        if name == callee and ("." in name or member.method is None):
            return
        if name.startswith("self."):
            yield from self._through_self(symbol, owner, name.removeprefix("self."))
            return
        found = self.modules.resolve(owner.module, name)
        if found is not None and found.kind == "class":
            yield found
        elif found is None and member.method is not None and name not in _BUILTIN:
            yield from self._through_local(symbol, owner, member.method, name)

    def _through_self(self, symbol: Symbol, owner: Symbol, name: str) -> Iterator[Symbol]:
        """Follow `self.name(...)`: a class attribute that holds a class, or a method that returns a new model."""
        for one, member in self.modules.members(symbol, name):
            if member.method is None:
                for callee in member.callees:
                    found = self.modules.resolve(one.module, callee.removesuffix("()"))
                    if found is not None and found.kind == "class":
                        yield found
                return
        method = self.modules.method(symbol, name)
        if method is None:
            return
        function = self.modules.file(method[0]).statement(method[1].span)
        assert isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for statement in statements_of(function.body):
            value = statement.value if isinstance(statement, ast.Return) else None
            if isinstance(value, ast.Call):
                callee_name = dotted(value.func)
                found = self.modules.resolve(method[0].module, callee_name) if callee_name else None
                if found is not None and found.kind == "class":
                    yield found

    def _through_local(self, symbol: Symbol, owner: Symbol, method: str, name: str) -> Iterator[Symbol]:
        """Follow a parameter or local name of the constructor to the classes it may be."""
        if method == "__init__":
            given = self._arguments(symbol, owner).get(name)
            if given is not None:
                yield from self._classes_of(given[1], given[0])
                return
        found = self.modules.method(owner, method)
        if found is None:
            return
        function = self.modules.file(found[0]).statement(found[1].span)
        assert isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        assigned = [s for s in statements_of(function.body) if isinstance(s, ast.Assign)]
        for statement in statements_of(function.body):
            if isinstance(statement, ast.Assign) and any(dotted(t) == name for t in statement.targets):
                yield from self._local_value(statement.value, found[0].module, assigned)
            elif isinstance(statement, ast.ImportFrom):
                imported = self.modules.imported(found[0].module, statement, name)
                if imported is not None and imported.kind == "class":
                    yield imported

    def _local_value(self, node: ast.expr, module: str, assigned: list[ast.Assign]) -> Iterator[Symbol]:
        """Follow a local's value: a class, an instance of one, or an instance of what another local holds."""
        yield from self._classes_of(node, module)
        maker = dotted(node.func) if isinstance(node, ast.Call) else None
        if maker is None or "." in maker:
            return
        found = self.modules.resolve(module, maker)
        if found is not None:
            if found.kind == "class":
                yield found
            return
        for statement in assigned:
            if any(dotted(t) == maker for t in statement.targets):
                yield from self._classes_of(statement.value, module)

    def _classes_of(self, node: ast.expr, module: str) -> Iterator[Symbol]:
        if isinstance(node, ast.IfExp):
            yield from self._classes_of(node.body, module)
            yield from self._classes_of(node.orelse, module)
            return
        if isinstance(node, ast.Subscript | ast.Call):
            yield from self._from_table(node, module)
            return
        name = dotted(node)
        found = self.modules.resolve(module, name) if name else None
        if found is not None and found.kind == "class":
            yield found

    def _from_table(self, node: ast.Subscript | ast.Call, module: str) -> Iterator[Symbol]:
        """Follow `TABLE[key]` and `TABLE.get(key)` to every class the table holds."""
        source = node.value if isinstance(node, ast.Subscript) else node.func
        if isinstance(node, ast.Call):
            if not isinstance(source, ast.Attribute) or source.attr != "get":
                return
            source = source.value
        try:
            value = self.evaluator.evaluate(source, module)
        except (Unresolved, AttributeError):
            return
        if isinstance(value, Table):
            for _, held in value.pairs:
                if isinstance(held, Ref) and held.symbol.kind == "class":
                    yield held.symbol

    def _arguments(self, symbol: Symbol, owner: Symbol) -> dict[str, tuple[str, ast.expr]]:
        """Return the arguments with which *symbol*'s construction reaches the `__init__` of *owner*, defaults included.

        Values are expressions with the module they stand in.
        """
        known: dict[str, tuple[str, ast.expr]] = {}
        call: ast.Call | None = None
        for one in self.modules.lineage(symbol):
            function = self._init(one)
            if function is None:
                continue
            known = self._bound(function, one.module, call, known)
            if one == owner:
                return known
            call = _super_call(function)
        return {}

    def _bound(
        self, function: ast.FunctionDef, module: str, call: ast.Call | None, outer: dict[str, tuple[str, ast.expr]]
    ) -> dict[str, tuple[str, ast.expr]]:
        known = {name: (module, node) for name, node in _defaults(function)}
        if call is None:
            return known
        positional = [a.arg for a in (*function.args.posonlyargs, *function.args.args)][1:]
        given = list(zip(positional, call.args, strict=False))
        given += [(k.arg, k.value) for k in call.keywords if k.arg]
        for name, node in given:
            if isinstance(node, ast.Name) and node.id in outer:
                known[name] = outer[node.id]
            elif isinstance(node, ast.Name | ast.Attribute):
                known[name] = (outer.get("", (module, node))[0], node)
        return known

    def _init(self, symbol: Symbol) -> ast.FunctionDef | None:
        if symbol not in self._inits:
            self._inits[symbol] = None
            for made in self.modules.classes(symbol):
                method = made.methods.get("__init__")
                if method is not None:
                    node = self.modules.file(symbol).statement(method[0].span)
                    self._inits[symbol] = node if isinstance(node, ast.FunctionDef) else None
        return self._inits[symbol]


_TASK = re.compile(r"For[A-Z]|LMHead")
"""What the name of a class that serves a task by itself holds, as against that of a stack of layers."""

_BUILTIN = frozenset(dir(builtins))

_MAKERS = frozenset({"make_layers()", "ModuleList()", "make_layers_non_pp()"})


def _defaults(function: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
    arguments = [*function.args.posonlyargs, *function.args.args]
    defaults = function.args.defaults
    yield from ((a.arg, d) for a, d in zip(arguments[len(arguments) - len(defaults) :], defaults, strict=True))
    for argument, default in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True):
        if default is not None:
            yield argument.arg, default


def _super_call(function: ast.FunctionDef) -> ast.Call | None:
    """Return the call of the next `__init__` of the lineage."""
    for statement in statements_of(function.body):
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "__init__":
            return call
    return None
