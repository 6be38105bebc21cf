"""All indexed files of one source and how names lead from one to another: imports, re-exports, stars, subclasses.

Knows Python's scoping, and nothing of engines or of what the names mean.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from archcap.scanner.cache import Indexer, digest
from archcap.scanner.index import Class, FileIndex, Function, Import, Member, Span, Value
from archcap.scanner.sites import Site

_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")


class Symbol(NamedTuple):
    """What a name stands for. `module` is below the package; for `external` it is the whole import path."""

    kind: Literal["class", "function", "value", "module", "external"]
    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}" if self.name else self.module


@dataclass(slots=True)
class SourceFile:
    """One file of the source; its content, index and sites are made when they are first asked for."""

    module: str
    path: str
    is_package: bool
    read: Callable[[str], bytes] = field(repr=False)
    indexer: Indexer = field(repr=False)
    _content: bytes | None = field(default=None, repr=False)
    _hash: bytes | None = field(default=None, repr=False)
    _index: FileIndex | None = field(default=None, repr=False)
    _deep: bool = field(default=False, repr=False)
    _sites: list[Site] | None = field(default=None, repr=False)
    _lines: list[bytes] | None = field(default=None, repr=False)
    _parsed: dict[Span, ast.stmt] = field(default_factory=dict, repr=False)

    @property
    def content(self) -> bytes:
        """Its bytes; those of a file that cannot be read are none.

        Raises:
            OSError: the first time, when it cannot be read.
        """
        if self._content is None:
            self._content = b""
            self._content = self.read(self.path)
        return self._content

    @property
    def was_read(self) -> bool:
        """Whether anybody asked for its content."""
        return self._content is not None

    @property
    def hash(self) -> bytes:
        """Hash of its content."""
        if self._hash is None:
            self._hash = digest(self.content)
        return self._hash

    @property
    def index(self) -> FileIndex:
        """What it holds."""
        if self._index is None:
            self._index = self.indexer.index(self.hash, self.content)
        return self._index

    @property
    def deep(self) -> FileIndex:
        """What it holds, with all that its functions do."""
        if not self._deep:
            self._deep = True
            if self._index is None or not self.indexer.is_deep(self.hash):
                self._index = self.indexer.index(self.hash, self.content, deep=True)
        return self.index

    @property
    def sites(self) -> list[Site]:
        """Places in it that are keyed by names."""
        if self._sites is None:
            self._sites = self.indexer.sites(self.hash)
        return self._sites

    @property
    def lines(self) -> list[bytes]:
        """Its lines as the parser counts them."""
        if self._lines is None:
            self._lines = _LINE.findall(self.content)
        return self._lines

    def text(self, span: Span) -> str:
        """Return the source text of *span*."""
        lines = self.lines
        first, start, last, end = span
        if first == last:
            return lines[first - 1][start:end].decode("utf-8", "replace")
        parts = [lines[first - 1][start:], *lines[first : last - 1], lines[last - 1][:end]]
        return b"".join(parts).decode("utf-8", "replace")

    def expression(self, span: Span) -> ast.expr:
        """Parse the expression at *span*; its line numbers are those of the file."""
        return ast.parse("\n" * (span[0] - 1) + f"({self.text(span)}\n)", mode="eval").body

    def statement(self, span: Span) -> ast.stmt:
        """Parse the statement at *span*, once; its line numbers are those of the file."""
        if span not in self._parsed:
            first, start, *_ = span
            text = " " * start + self.text(span)
            if start:
                block = ast.parse("\n" * (first - 2) + f"if 1:\n{text}\n").body[0]
                assert isinstance(block, ast.If)
                self._parsed[span] = block.body[0]
            else:
                self._parsed[span] = ast.parse("\n" * (first - 1) + text).body[0]
        return self._parsed[span]


Surface: TypeAlias = "tuple[dict[str, tuple[Symbol, Function]], dict[str, list[tuple[Symbol, Member]]]]"
"""Methods and attributes of a class with its lineage, by name."""


class Modules:
    """The files of one source, by module name below the package.

    Attributes:
        files: every file that an import can lead to.
        searched: the ones that are searched for facts.
    """

    def __init__(
        self,
        package: str,
        files: Mapping[str, SourceFile],
        searched: Sequence[SourceFile],
    ) -> None:
        self.package = package
        self.files = files
        self.searched = tuple(searched)
        self._resolved: dict[tuple[str, str], Symbol | None] = {}
        self._lineage: dict[Symbol, tuple[Symbol, ...]] = {}
        self._surfaces: dict[Symbol, Surface] = {}

    def file(self, symbol: Symbol) -> SourceFile:
        """Return the file a symbol of the package stands in."""
        return self.files[symbol.module]

    def absolute(self, module: str, made: Import) -> str | None:
        """Return the full import path that *made* in *module* names, or None when it climbs out of the package."""
        if not made.level:
            return made.module
        parts = module.split(".")
        up = made.level - (1 if self.files[module].is_package else 0)
        if up > len(parts):
            return None
        kept = parts[: len(parts) - up] if up else parts
        return ".".join(p for p in (self.package, *kept, made.module) if p)

    def below(self, path: str) -> str | None:
        """Return the module name below the package for a full import path, or None for a foreign one."""
        if path == self.package:
            return ""
        prefix = self.package + "."
        return path[len(prefix) :] if path.startswith(prefix) else None

    def resolve(self, module: str, name: str) -> Symbol | None:
        """Return what bare or dotted *name* stands for in *module*, following imports; None when nothing binds it."""
        key = (module, name)
        if key not in self._resolved:
            self._resolved[key] = None
            self._resolved[key] = self._resolve(module, name)
        return self._resolved[key]

    def _resolve(self, module: str, name: str) -> Symbol | None:
        head, _, rest = name.partition(".")
        symbol = self._bare(module, head)
        while rest and symbol is not None:
            head, _, rest = rest.partition(".")
            symbol = self._member_of(symbol, head)
        return symbol

    def _member_of(self, symbol: Symbol, name: str) -> Symbol | None:
        if symbol.kind == "external":
            return Symbol("external", symbol.module, f"{symbol.name}.{name}" if symbol.name else name)
        if symbol.kind != "module":
            return None
        sub = f"{symbol.module}.{name}" if symbol.module else name
        if sub in self.files:
            return Symbol("module", sub, "")
        return self.resolve(symbol.module, name) if symbol.module in self.files else None

    def _bare(self, module: str, name: str) -> Symbol | None:
        file = self.files.get(module)
        if file is None:
            return None
        index = file.index
        if name in index.classes:
            return Symbol("class", module, name)
        if name in index.functions:
            return Symbol("function", module, name)
        made = index.imports.get(name)
        if made:
            found = self._imported(module, _preferred(made))
            if found is not None:
                return found
        if name in index.values:
            return Symbol("value", module, name)
        for star in index.stars:
            found = self._star(module, star, name)
            if found is not None:
                return found
        return None

    def _imported(self, module: str, made: Import) -> Symbol | None:
        path = self.absolute(module, made)
        if path is None:
            return None
        target = self.below(path)
        if target is None:
            return Symbol("external", path, made.name or "")
        if made.name is None:
            return Symbol("module", target, "")
        sub = f"{target}.{made.name}" if target else made.name
        if target in self.files:
            found = self.resolve(target, made.name)
            if found is not None:
                return found
        if sub in self.files:
            return Symbol("module", sub, "")
        return None

    def target(self, module: str, made: Import) -> Symbol | None:
        """Return what an import statement in *module* binds."""
        return self._imported(module, made)

    def imported(self, module: str, node: ast.ImportFrom, name: str) -> Symbol | None:
        """Return what *name* stands for after the import statement *node* inside a function of *module*."""
        for alias in node.names:
            if (alias.asname or alias.name) == name:
                return self._imported(module, Import(node.module or "", alias.name, node.level, node.lineno))
        return None

    def _star(self, module: str, star: Import, name: str) -> Symbol | None:
        path = self.absolute(module, star)
        target = None if path is None else self.below(path)
        if target is None or target not in self.files or name.startswith("_"):
            return None
        return self.resolve(target, name)

    def classes(self, symbol: Symbol) -> list[Class]:
        """Return the class statements of *symbol*: several when platforms define it differently."""
        if symbol.kind != "class":
            return []
        return self.files[symbol.module].deep.classes[symbol.name]

    def lineage(self, symbol: Symbol) -> tuple[Symbol, ...]:
        """Return *symbol* and its bases in method resolution order: left to right, last of duplicates kept.

        External and unknown bases appear as `external` symbols, so that a caller can see where knowledge ends.
        """
        if symbol not in self._lineage:
            self._lineage[symbol] = (symbol,)
            self._lineage[symbol] = tuple(self._linearise(symbol))
        return self._lineage[symbol]

    def _linearise(self, symbol: Symbol) -> list[Symbol]:
        order = [symbol]
        for made in self.classes(symbol):
            for base in made.bases:
                target = self.base(symbol.module, base)
                if target is not None:
                    order.extend(self.lineage(target))
        seen: set[Symbol] = set()
        kept: list[Symbol] = []
        for one in reversed(order):
            if one not in seen:
                seen.add(one)
                kept.append(one)
        kept.reverse()
        if kept[0] != symbol:
            kept.remove(symbol)
            kept.insert(0, symbol)
        return kept

    def base(self, module: str, text: str) -> Symbol | None:
        """Return the class a base expression names; `Generic[T]` counts as `Generic`."""
        name = text.partition("[")[0]
        found = self.resolve(module, name)
        if found is None:
            return Symbol("external", "?", name)
        if found.kind == "value":
            return self.alias(found) or found
        return found

    def alias(self, symbol: Symbol) -> Symbol | None:
        """Return the class or function a plain `A = B` stands for."""
        file = self.file(symbol)
        values = file.index.values[symbol.name]
        text = file.text(values[-1].span).strip()
        if not text.replace(".", "").replace("_", "").isalnum() or text == symbol.name:
            return None
        return self.resolve(symbol.module, text)

    def method(self, symbol: Symbol, name: str) -> tuple[Symbol, Function] | None:
        """Return the class in the lineage that defines method *name*, with the method."""
        return self.surface(symbol)[0].get(name)

    def members(self, symbol: Symbol, name: str) -> Sequence[tuple[Symbol, Member]]:
        """Return the assignments to attribute *name*, nearest class of the lineage first."""
        return self.surface(symbol)[1].get(name, ())

    def member_names(self, symbol: Symbol) -> Iterator[str]:
        """Yield the names of all attributes assigned in the lineage, nearest class first."""
        yield from self.surface(symbol)[1]

    def surface(self, symbol: Symbol) -> Surface:
        """Return all methods and attributes of a class with its lineage."""
        if symbol not in self._surfaces:
            methods: dict[str, tuple[Symbol, Function]] = {}
            members: dict[str, list[tuple[Symbol, Member]]] = {}
            for one in self.lineage(symbol):
                for made in self.classes(one):
                    for name, functions in made.methods.items():
                        methods.setdefault(name, (one, functions[-1]))
                    for name, several in made.members.items():
                        members.setdefault(name, []).extend((one, member) for member in several)
                if one.kind == "class":
                    for owner, name, member in self.files[one.module].deep.patches:
                        if owner == one.name:
                            members.setdefault(name, []).append((one, member))
            self._surfaces[symbol] = (methods, members)
        return self._surfaces[symbol]


def _preferred(made: list[Import]) -> Import:
    plain = [one for one in made if not one.guards]
    if plain:
        return plain[-1]
    usual = [one for one in made if "except" not in one.guards]
    return (usual or made)[0]


def module_name(path: str) -> tuple[str, bool]:
    """Return the module name of a file path below the package, and whether it is a package's `__init__`."""
    parts = path.removesuffix(".py").split("/")
    if parts[-1] == "__init__":
        return ".".join(parts[:-1]), True
    return ".".join(parts), False


__all__ = ["Modules", "SourceFile", "Symbol", "Value", "module_name"]
