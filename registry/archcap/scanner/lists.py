"""Every collection of architecture names in an engine's code: named ones, and those written into a test.

A list is keyed by where it stands. Whether a name is an architecture is known from the entry classes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from archcap.scanner.config import ScanConfig
from archcap.scanner.lines import lines_of
from archcap.scanner.modules import Modules, SourceFile, Symbol
from archcap.scanner.points import TESTS, Point, PointScan, collection_names
from archcap.scanner.sites import Site
from archcap.scanner.static import Evaluator, Static, Unresolved

_NAME = re.compile(r"[A-Za-z0-9_.-]+")


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
    modules: Modules, evaluator: Evaluator, points: PointScan, config: ScanConfig, words: frozenset[str] = frozenset()
) -> dict[str, ScannedList]:
    """Return the lists of a source by id: named collections, tests in code, registered overrides.

    Args:
        modules: the source.
        evaluator: of the same source.
        points: finds the tests.
        config: the engine's scan settings.
        words: values of settings, which are never model types.
    """
    return _ListScan(modules, evaluator, points, config, words).run()


class _ListScan:
    def __init__(
        self, modules: Modules, evaluator: Evaluator, points: PointScan, config: ScanConfig, words: frozenset[str]
    ) -> None:
        self.modules = modules
        self.evaluator = evaluator
        self.points = points
        self.config = config
        self.words = words | {"", "auto", "none", "null"}
        self.known = points.architectures
        self.out: dict[str, ScannedList] = {}

    def run(self) -> dict[str, ScannedList]:
        for file in self.modules.searched:
            if file.sites and not file.path.startswith(self.config.models_folder):
                self._named(file)
                self._overrides(file)
                self._tests(file)
        return self.out

    # named collections

    def _named(self, file: SourceFile) -> None:
        """Keep the collections of module and class bodies that hold an architecture's name."""
        for site in file.sites:
            if site.form not in ("collection", "table", "assign") or not self._outside(site):
                continue
            if not self.known.isdisjoint(site.names) or site.refs:
                if site.owner:
                    self._class_collection(Symbol("class", file.module, site.owner[:-1]), site.subject, file)
                else:
                    self._collection(Symbol("value", file.module, site.subject), file)

    def _outside(self, site: Site) -> bool:
        return site.subject.isidentifier() and (not site.owner or site.owner.endswith("."))

    def _collection(self, symbol: Symbol, file: SourceFile) -> None:
        if symbol.name not in file.index.values:
            return
        try:
            value = self.evaluator.named(symbol)
        except Unresolved:
            return
        self._keep(f"{symbol}", value, file, file.index.values[symbol.name][0].span[0])

    def _class_collection(self, owner: Symbol, name: str, file: SourceFile) -> None:
        if owner.name not in file.index.classes:
            return
        try:
            value = self.evaluator.class_attribute(owner, name)
        except Unresolved:
            return
        self._keep(f"{owner}.{name}", value, file, file.index.classes[owner.name][0].members[name][0].line)

    def _keep(self, id_: str, value: Static, file: SourceFile, line: int) -> None:
        names = collection_names(value)
        if names and not self.known.isdisjoint(names):
            self.out[id_] = ScannedList(id_, "architecture", file.path, line, lines_of(names, file, line), id_)

    # decorators that register a function for architectures

    def _overrides(self, file: SourceFile) -> None:
        """Keep the functions that a decorator registers for architectures."""
        for point in self.points.of_file(file):
            if point.form != "decorator" or point.subject.rpartition(".")[2] not in self.config.overrides:
                continue
            id_ = f"model_override:{point.owner.lstrip('_')}"
            names = dict.fromkeys(point.names, point.line)
            before = self.out.get(id_)
            if before is not None:
                names = {**before.names, **names}
            self.out[id_] = ScannedList(id_, "architecture", file.path, point.line, names, point.owner)

    # tests in code

    def _tests(self, file: SourceFile) -> None:
        numbers: dict[str, int] = {}
        for point in self.points.of_file(file):
            if point.form not in TESTS or point.uses or point.key not in ("architecture", "model_type"):
                continue
            place = f"{file.path}:{point.owner or 'module'}"
            names = {n: point.line for n in point.names if self._plausible(n, point)}
            if names:
                numbers[place] = numbers.get(place, 0) + 1
                id_ = f"{place}#{numbers[place]}"
                self.out[id_] = ScannedList(
                    id_, point.key, file.path, point.line, names, place, point.subject, point.form, named=False
                )

    def _plausible(self, name: str, point: Point) -> bool:
        if point.form in ("starts", "ends", "substring"):
            return False
        return bool(_NAME.fullmatch(name)) and not (point.key == "model_type" and name in self.words)
