"""Decision points: every place outside the models that an architecture, model type or config class decides.

Resolves the sites of files: what a test compares with may stand in a local name, another module or a class attribute.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from archcap.scanner.index import Import
from archcap.scanner.modules import Modules, SourceFile, Symbol
from archcap.scanner.sites import Site
from archcap.scanner.static import Evaluator, Items, Ref, Static, Table, Unresolved

Key = Literal["architecture", "model_type", "config_class", "model_path"]

TESTS = frozenset({"eq", "in", "has", "starts", "ends", "substring", "lookup", "set", "case"})
"""Forms that compare a subject with names."""

_ARCHITECTURE = re.compile(r"(?<![A-Za-z])arch(?!ive)", re.IGNORECASE)
_MODEL_TYPE = re.compile(r"model_?type", re.IGNORECASE)
_MODEL_PATH = re.compile(r"model_path|model_name|name_or_path|\bpath\b|\bname\b")
_CLASS_NAME = re.compile(r"[A-Z][A-Za-z0-9_]*(?:For[A-Z]|[A-Z0-9_][A-Za-z0-9_]*Model)[A-Za-z0-9_]*")
"""A name that can be an architecture's though no entry class bears it."""


_IMPORT = re.compile(rb"from[ ]+([A-Za-z0-9_.]+)[ ]+import[ ]+(\([^)]*\)|[^\n(]*)")


@dataclass(frozen=True, slots=True)
class Point:
    """A place keyed by names.

    Attributes:
        key: what the names are.
        form: as in `Site`.
        file, line, owner: where it stands.
        subject: text of what is compared, assigned or called.
        names: all of them, those of the collections it refers to included.
        own: only those that stand there.
        uses: dotted names of the module-level collections it refers to.
    """

    key: Key
    form: str
    file: str
    line: int
    owner: str
    subject: str
    names: tuple[str, ...]
    own: tuple[str, ...]
    uses: tuple[str, ...]
    negated: bool = False


class PointScan:
    """Finds the points of one source."""

    def __init__(
        self, modules: Modules, evaluator: Evaluator, architectures: frozenset[str], configs_package: str = ""
    ) -> None:
        self.modules = modules
        self.configs_package = configs_package
        self.evaluator = evaluator
        self.architectures = architectures
        self._imported_configs: dict[str, frozenset[str]] = {}
        self._files: dict[str, list[Point]] = {}
        self._collections: dict[tuple[str, str], tuple[tuple[str, ...], str] | None] = {}

    def of_file(self, file: SourceFile) -> list[Point]:
        """Return the points of one file, in the order of their lines."""
        if file.path not in self._files:
            self._files[file.path] = self._found(file)
        return self._files[file.path]

    def _found(self, file: SourceFile) -> list[Point]:
        sites = file.sites
        local = {(s.owner, s.subject): s for s in sites if s.form in ("collection", "table", "import")}
        found = (self._point(file, site, local) for site in sites if site.form != "import")
        return [point for point in found if point is not None]

    def all(self, left_out: str) -> list[Point]:
        """Return the points of every searched file but those in the folder *left_out*."""
        files = [file for file in self.modules.searched if not file.path.startswith(left_out)]
        return [point for file in files for point in self.of_file(file)]

    def of_function(self, file: SourceFile, owner: str) -> Iterator[Point]:
        """Yield the points of one function or method."""
        return (point for point in self.of_file(file) if point.owner == owner)

    def _point(self, file: SourceFile, site: Site, local: dict[tuple[str, str], Site]) -> Point | None:
        names = list(site.names)
        uses: list[str] = []
        for ref in site.refs:
            held = self._reference(file, site, ref, local, 0)
            if held is not None:
                names.extend(held[0])
                if held[1]:
                    uses.append(held[1])
        key = self._key(file, site, names, uses)
        if key is None:
            return None
        every = tuple(dict.fromkeys(names))
        return Point(
            key, site.form, file.path, site.line, site.owner, site.subject, every, site.names, tuple(uses), site.negated
        )

    def _reference(
        self, file: SourceFile, site: Site, ref: str, local: dict[tuple[str, str], Site], depth: int
    ) -> tuple[tuple[str, ...], str] | None:
        """Return the names a reference stands for, and the module-level collection it is; "" for a local one."""
        at_home = local.get((site.owner, ref)) if site.owner and not site.owner.endswith(".") else None
        if at_home is not None and at_home.form == "import":
            return self._imported(file, at_home)
        if at_home is not None and at_home is not site and depth < 3:
            names = list(at_home.names)
            for one in at_home.refs:
                held = self._reference(file, at_home, one, local, depth + 1)
                names.extend(held[0] if held is not None else ())
            return tuple(names), ""
        return self._collection(file, site.owner, ref)

    def _imported(self, file: SourceFile, site: Site) -> tuple[tuple[str, ...], str] | None:
        module, name = site.refs
        level = len(module) - len(module.lstrip("."))
        made = Import(module.lstrip("."), name, level, site.line)
        symbol = self.modules.target(file.module, made)
        return None if symbol is None else self._symbol(symbol)

    def _collection(self, file: SourceFile, owner: str, ref: str) -> tuple[tuple[str, ...], str] | None:
        key = (file.module, f"{owner.partition('.')[0]}|{ref}" if ref.startswith(("self.", "cls.")) else ref)
        if key not in self._collections:
            self._collections[key] = self._named(file, owner, ref)
        return self._collections[key]

    def _named(self, file: SourceFile, owner: str, ref: str) -> tuple[tuple[str, ...], str] | None:
        head, _, rest = ref.partition(".")
        if head in ("self", "cls") and rest and "." in owner:
            holder = Symbol("class", file.module, owner.partition(".")[0])
            return self._attribute(holder, rest)
        symbol = self.modules.resolve(file.module, ref)
        if symbol is None and "." in ref:
            outer = self.modules.resolve(file.module, ref.rpartition(".")[0])
            return self._attribute(outer, ref.rpartition(".")[2]) if outer is not None else None
        return None if symbol is None else self._symbol(symbol)

    def _symbol(self, symbol: Symbol) -> tuple[tuple[str, ...], str] | None:
        if symbol.kind == "class":
            return ((symbol.name,), "") if symbol.name in self.architectures else None
        if symbol.kind != "value":
            return None
        try:
            return tuple(collection_names(self.evaluator.named(symbol))), str(symbol)
        except Unresolved:
            return (), str(symbol)

    def _attribute(self, holder: Symbol, name: str) -> tuple[tuple[str, ...], str] | None:
        if holder.kind != "class" or holder.name not in self.modules.files[holder.module].index.classes:
            return None
        try:
            return tuple(collection_names(self.evaluator.class_attribute(holder, name))), f"{holder}.{name}"
        except Unresolved:
            return None

    def _key(self, file: SourceFile, site: Site, names: Sequence[str], uses: Sequence[str]) -> Key | None:
        if site.form == "isinstance":
            return "config_class" if any(self._is_config(file, name) for name in names) else None
        if not self.architectures.isdisjoint(names):
            return "architecture"
        told = (site.subject, *site.refs)
        if any(_MODEL_TYPE.search(text) for text in told):
            return "model_type" if site.form in TESTS or site.form in ("table", "collection") else None
        if any(_ARCHITECTURE.search(text) for text in told):
            return "architecture" if self._names_architectures(site, names, uses) else None
        if site.form in ("regex", "substring") and _MODEL_PATH.search(site.subject):
            return "model_path"
        return None

    def _is_config(self, file: SourceFile, name: str) -> bool:
        """Return whether a class is a checkpoint's configuration: the engine's, or one of transformers'."""
        symbol = self.modules.resolve(file.module, name)
        if symbol is None:
            return name in self._config_names(file)
        if symbol.kind == "external":
            return symbol.module.startswith("transformers") and not name.lower().startswith("pretrained")
        return symbol.kind == "class" and symbol.module.startswith(self.configs_package + ".")

    def _config_names(self, file: SourceFile) -> frozenset[str]:
        """Return the configuration classes that functions of a file import."""
        if file.path not in self._imported_configs:
            names: set[str] = set()
            for match in _IMPORT.finditer(file.content):
                module = match.group(1).decode()
                if module.startswith(("transformers", f"{self.modules.package}.{self.configs_package}.")):
                    names.update(re.findall(r"[A-Za-z0-9_]+Config\b", match.group(2).decode()))
            self._imported_configs[file.path] = frozenset(names)
        return self._imported_configs[file.path]

    def _names_architectures(self, site: Site, names: Sequence[str], uses: Sequence[str]) -> bool:
        """Return whether a place whose words say `arch` is keyed by architectures of models."""
        if site.form in ("substring", "starts", "ends"):
            return True
        if any(_CLASS_NAME.fullmatch(name) for name in names):
            return True
        if site.form == "has":
            return any(name in known for name in names for known in self.architectures)
        return bool(uses) and not names and site.form in TESTS and bool(_ARCHITECTURE.search(site.subject))


def collection_names(value: Static) -> list[str]:
    """Return the names a collection holds, in order; a table's keys. A class counts by its name."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Items):
        return [name for one in value.values for name in collection_names(one)]
    if isinstance(value, Table):
        return [key for key, _ in value.pairs if isinstance(key, str)]
    return [value.symbol.name] if isinstance(value, Ref) and value.symbol.kind == "class" else []
