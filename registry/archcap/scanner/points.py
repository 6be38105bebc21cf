"""Decision points: every place outside the models that an architecture, model type or config class decides.

Resolves the sites of files: what a test compares with may stand in a local name, another module or a class attribute.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from archcap.scanner.modules import Modules, SourceFile, Symbol
from archcap.scanner.sites import Site
from archcap.scanner.static import Evaluator, Items, Ref, Static, Table, Unresolved

Key = Literal["architecture", "model_type", "config_class", "model_path"]

TESTS = frozenset({"eq", "in", "has", "starts", "ends", "substring", "lookup", "set", "case"})
"""Forms that compare a subject with names."""

_ARCHITECTURE = re.compile(r"arch(?!ive)", re.IGNORECASE)
_MODEL_TYPE = re.compile(r"model_?type", re.IGNORECASE)
_MODEL_PATH = re.compile(r"model_path|model_name|name_or_path|\bpath\b|\bname\b")
_CONFIG = re.compile(r"Config$|_Config$")


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

    def __init__(self, modules: Modules, evaluator: Evaluator, architectures: frozenset[str]) -> None:
        self.modules = modules
        self.evaluator = evaluator
        self.architectures = architectures
        self._files: dict[str, list[Point]] = {}
        self._collections: dict[tuple[str, str], tuple[tuple[str, ...], str] | None] = {}

    def of_file(self, file: SourceFile) -> list[Point]:
        """Return the points of one file, in the order of their lines."""
        if file.path not in self._files:
            self._files[file.path] = self._found(file)
        return self._files[file.path]

    def _found(self, file: SourceFile) -> list[Point]:
        sites = file.sites
        local = {(s.owner, s.subject): s for s in sites if s.form in ("collection", "table")}
        found = (self._point(file, site, local) for site in sites)
        return [point for point in found if point is not None]

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
        key = self._key(site, names)
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
        if at_home is not None and at_home is not site and depth < 3:
            names = list(at_home.names)
            for one in at_home.refs:
                held = self._reference(file, at_home, one, local, depth + 1)
                names.extend(held[0] if held is not None else ())
            return tuple(names), ""
        return self._collection(file, site.owner, ref)

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
        if symbol is None:
            return None
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

    def _key(self, site: Site, names: Sequence[str]) -> Key | None:
        if site.form == "isinstance":
            return "config_class"
        if not self.architectures.isdisjoint(names):
            return "architecture"
        told = (site.subject, *site.refs)
        if any(_MODEL_TYPE.search(text) for text in told):
            return "model_type" if site.form in TESTS or site.form in ("table", "collection") else None
        if any(_ARCHITECTURE.search(text) for text in told):
            return "architecture" if names and (site.form in TESTS or _class_like(names)) else None
        if site.form in ("regex", "substring") and _MODEL_PATH.search(site.subject):
            return "model_path"
        return None


def _class_like(names: Sequence[str]) -> bool:
    return any(name[:1].isupper() and ("For" in name or "Model" in name) for name in names)


def collection_names(value: Static) -> list[str]:
    """Return the names a collection holds, in order; a table's keys. A class counts by its name."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Items):
        return [name for one in value.values for name in collection_names(one)]
    if isinstance(value, Table):
        return [key for key, _ in value.pairs if isinstance(key, str)]
    return [value.symbol.name] if isinstance(value, Ref) and value.symbol.kind == "class" else []
