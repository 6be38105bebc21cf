"""Every collection of architecture names in an engine's code: named ones, and those written into a test.

A list is keyed by where it stands. Whether a name is an architecture is known from the entry classes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from archcap.scanner.comparisons import Comparison, comparisons
from archcap.scanner.config import ScanConfig
from archcap.scanner.index import Class, Function
from archcap.scanner.modules import Modules, SourceFile, Symbol
from archcap.scanner.static import Evaluator, Items, Ref, Static, Table, Unresolved

_WORD = re.compile(rb"[A-Z][A-Za-z0-9_]+")
_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_SUBJECT_KINDS = (
    ("model_type", re.compile(r"model_type")),
    ("architecture", re.compile(r"arch", re.IGNORECASE)),
)


@dataclass(frozen=True, slots=True)
class ScannedList:
    """A collection of names in one release: names with the line each stands in (or the collection does)."""

    id: str
    kind: str
    file: str
    line: int
    names: dict[str, int]
    place: str
    """Qualified name of the collection, or of the function that holds the test."""
    subject: str | None = None
    form: str | None = None
    named: bool = True


def scan_lists(
    modules: Modules,
    evaluator: Evaluator,
    entries: Mapping[str, object],
    config: ScanConfig,
    words: frozenset[str] = frozenset(),
) -> dict[str, ScannedList]:
    """Return the lists of a source by id: named collections, tests in code, registered overrides.

    Args:
        modules: the source.
        evaluator: of the same source.
        entries: the architectures, by name.
        config: the engine's scan settings.
        words: values of settings, which are never model types.
    """
    return _ListScan(modules, evaluator, frozenset(entries), config, words).run()


class _ListScan:
    def __init__(
        self, modules: Modules, evaluator: Evaluator, known: frozenset[str], config: ScanConfig, words: frozenset[str]
    ) -> None:
        self.modules = modules
        self.evaluator = evaluator
        self.known = known
        self.config = config
        self.words = words | {"", "auto", "none", "null"}
        self.out: dict[str, ScannedList] = {}
        self.names = frozenset(name.encode() for name in known)

    def run(self) -> dict[str, ScannedList]:
        prefix = self.config.models_package.replace(".", "/") + "/"
        for file in self.modules.files.values():
            if file.path.startswith(prefix) or not self._mentions(file.content):
                continue
            self._named(file)
            self._overrides(file)
            self._tests(file)
        return self.out

    def _mentions(self, content: bytes) -> bool:
        """Return whether a text names an architecture, or the places where a configuration says what it is."""
        if b"model_type" in content or b"architectures" in content:
            return True
        return not self.names.isdisjoint(_WORD.findall(content))

    # named collections

    def _named(self, file: SourceFile) -> None:
        for name, values in file.index.values.items():
            text = "".join(file.text(v.span) for v in values)
            if self._mentions(text.encode()):
                self._collection(Symbol("value", file.module, name), file, values[0].span[0])
        for owner, made in file.index.classes.items():
            for name, members in made[0].members.items():
                span = members[0].span
                if members[0].method is None and span is not None and self._mentions(file.text(span).encode()):
                    self._class_collection(Symbol("class", file.module, owner), name, file, members[0].line)

    def _collection(self, symbol: Symbol, file: SourceFile, line: int) -> None:
        try:
            value = self.evaluator.named(symbol)
        except Unresolved:
            value = None
        self._keep(f"{symbol}", value, file, line)

    def _class_collection(self, owner: Symbol, name: str, file: SourceFile, line: int) -> None:
        try:
            value = self.evaluator.class_attribute(owner, name)
        except Unresolved:
            return
        self._keep(f"{owner}.{name}", value, file, line)

    def _keep(self, id_: str, value: Static, file: SourceFile, line: int) -> None:
        names = collection_names(value)
        if not names or not self.known.intersection(names):
            return
        lines = _lines_of(names, file, line)
        self.out[id_] = ScannedList(id_, "architecture", file.path, line, lines, id_)

    # decorators that register a function for architectures

    def _overrides(self, file: SourceFile) -> None:
        for name, functions in file.index.functions.items():
            found: dict[str, int] = {}
            for decorator in functions[-1].decorators:
                callee, _, rest = decorator.partition("(")
                if callee.rpartition(".")[2] in self.config.overrides and rest:
                    call = ast.parse(decorator, mode="eval").body
                    for argument in call.args if isinstance(call, ast.Call) else ():
                        found.update(self._argument(argument, file, functions[-1].span[0]))
            if found:
                id_ = f"model_override:{name.lstrip('_')}"
                self.out[id_] = ScannedList(id_, "architecture", file.path, functions[-1].span[0], found, name)

    def _argument(self, node: ast.expr, file: SourceFile, line: int) -> dict[str, int]:
        inner = node.value if isinstance(node, ast.Starred) else node
        try:
            value = self.evaluator.evaluate(inner, file.module)
        except Unresolved:
            return {}
        return dict.fromkeys(collection_names(value), line)

    # tests in code

    def _tests(self, file: SourceFile) -> None:
        for place, function in functions_of(file):
            text = file.text(function.span)
            if not self._mentions(text.encode()):
                continue
            number = 0
            for test in comparisons(file.statement(function.span), file.module, self.evaluator):
                kind = self._kind(test)
                if kind is None or test.collection is not None:
                    continue
                number += 1
                id_ = f"{file.path}:{place}#{number}"
                names = {n: test.line for n in test.names if self._plausible(n, kind)}
                if names:
                    self.out[id_] = ScannedList(
                        id_, kind, file.path, test.line, names, f"{file.path}:{place}", test.subject, test.form, False
                    )

    def _plausible(self, name: str, kind: str) -> bool:
        return bool(_NAME.fullmatch(name)) and not (kind == "model_type" and name in self.words)

    def _kind(self, test: Comparison) -> str | None:
        if self.known.intersection(test.names):
            return "architecture"
        for kind, pattern in _SUBJECT_KINDS:
            if pattern.search(test.subject):
                return kind if kind == "model_type" or any(n[:1].isupper() for n in test.names) else None
        return None


def collection_names(value: Static) -> list[str]:
    """Return the names a collection holds, in order; a table's keys, and its values where those are names."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Items):
        return [n for v in value.values for n in ([v] if isinstance(v, str) else _ref(v))]
    if isinstance(value, Table):
        return [k for k, _ in value.pairs if isinstance(k, str)]
    return []


def _ref(value: Static) -> list[str]:
    if isinstance(value, Ref):
        return [value.symbol.name]
    return collection_names(value) if isinstance(value, Items) else []


def _lines_of(names: list[str], file: SourceFile, first: int) -> dict[str, int]:
    """Return the line each name stands in, searched from the collection's first line on."""
    found: dict[str, int] = {}
    lines = file.content.splitlines()
    for name in names:
        quoted = (f'"{name}"'.encode(), f"'{name}'".encode())
        at = next((i for i in range(first - 1, len(lines)) if any(q in lines[i] for q in quoted)), first - 1)
        found[name] = at + 1
    return found


def functions_of(file: SourceFile) -> Iterator[tuple[str, Function]]:
    """Yield every function and method of a file with its qualified name."""
    for name, functions in file.index.functions.items():
        yield from ((name, f) for f in functions)
    for owner, made in file.index.classes.items():
        for one in made:
            yield from _methods(owner, one)


def _methods(owner: str, made: Class) -> Iterator[tuple[str, Function]]:
    for name, function in made.methods.items():
        yield f"{owner}.{name}", function


__all__ = ["ScannedList", "collection_names", "functions_of", "replace", "scan_lists"]
