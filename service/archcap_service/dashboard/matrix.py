"""The matrix: architectures by family, capability groups that unfold, filters, and what changed since another release.

Knows snapshots; knows no template.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from archcap.model.base import JsonObject
from archcap.snapshot import ReleaseView, Snapshot
from archcap.snapshot.compare import diff
from archcap_service.dashboard.presence import NO, state_of
from archcap_service.dashboard.render import link
from archcap_service.dashboard.words import value_words
from archcap_service.documents import known, release_view


@dataclass(frozen=True, slots=True)
class MatrixQuery:
    """What is asked of the matrix; every part of it stands in its permalink."""

    text: str = ""
    having: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()
    family: str = ""
    opened: tuple[str, ...] = ()
    since: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: a word or a number, the class that gives it shape and shade, and how much came and went, if any."""

    text: str
    kind: str
    came: str = ""
    went: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One architecture.

    Attributes:
        has, maybe: bits of the capabilities it has always and under a condition, by their place in the vocabulary.
        aka: names of known checkpoints, for the search.
        shown: whether it fits the filters.
        is_new: whether the release that is compared with lacks it.
    """

    name: str
    role: str
    has: str
    maybe: str
    aka: str
    shown: bool
    is_new: bool
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class FamilyRows:
    """The architectures of one family."""

    family: str
    rows: tuple[Row, ...]

    @property
    def shown(self) -> bool:
        """Whether any of them fits the filters."""
        return any(row.shown for row in self.rows)


@dataclass(frozen=True, slots=True)
class Group:
    """A group of capabilities: folded it is one column of numbers, unfolded a column for each capability."""

    name: str
    title: str
    meaning: str
    capabilities: tuple[tuple[str, str], ...]
    is_open: bool
    toggle: str


@dataclass(frozen=True, slots=True)
class MatrixPage:
    """Everything the matrix shows."""

    engine: str
    release: str
    releases: tuple[tuple[str, str], ...]
    query: MatrixQuery
    groups: tuple[Group, ...]
    families: tuple[FamilyRows, ...]
    options: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    total: int
    shown: int
    fold_all: str


def matrix_of(snapshot: Snapshot, engine: str, release: str, query: MatrixQuery) -> MatrixPage:
    """Return the matrix of a release.

    Raises:
        RequestError: `unknown-engine`, `unknown-release`, or a capability, group or family nobody knows.
    """
    view, _ = release_view(snapshot, engine, release)
    _check(view, snapshot, query)
    groups = _groups(view, snapshot, query)
    shown = tuple(sorted(groups, key=lambda group: not group.is_open))  # what is unfolded comes where one looks first
    families = tuple(_families(view, snapshot, query, groups, shown))
    rows = [row for family in families for row in family.rows]
    return MatrixPage(
        engine=engine,
        release=view.release,
        releases=tuple((one, matrix_link(engine, one, query)) for one in snapshot.releases(engine)),
        query=query,
        groups=shown,
        families=families,
        options=tuple((group.title, group.capabilities) for group in groups),
        total=len(rows),
        shown=sum(row.shown for row in rows),
        fold_all=matrix_link(engine, view.release, replace(query, opened=())),
    )


def matrix_link(engine: str, release: str, query: MatrixQuery) -> str:
    """Return the permalink of a matrix."""
    return link(
        "matrix", engine, release, q=query.text or None, with_=",".join(query.having) or None,
        without=",".join(query.lacking) or None, family=query.family or None, open=",".join(query.opened) or None,
        since=query.since or None,
    )  # fmt: skip


def _check(view: ReleaseView, snapshot: Snapshot, query: MatrixQuery) -> None:
    for name in (*query.having, *query.lacking):
        known("capability", name, view.capabilities)
    for name in query.opened:
        known("group", name, snapshot.vocabulary.groups)
    if query.family:
        known("family", query.family, {view.family_of(name) for name in view.all_architectures})


def _groups(view: ReleaseView, snapshot: Snapshot, query: MatrixQuery) -> tuple[Group, ...]:
    by_group: dict[str, list[tuple[str, str]]] = {}
    for name in sorted(view.capabilities):
        found = view.capabilities[name]
        by_group.setdefault(found.group, []).append((name, found.title))
    made = []
    for name, group in snapshot.vocabulary.groups.items():
        is_open = name in query.opened
        opened = tuple(one for one in query.opened if one != name) if is_open else (*query.opened, name)
        toggle = matrix_link(view.engine.engine, view.release, replace(query, opened=opened))
        capabilities = tuple(by_group.get(name, ()))
        made.append(Group(name, group.title, group.meaning, capabilities, is_open, toggle))
    return tuple(group for group in made if group.capabilities)


def _families(
    view: ReleaseView, snapshot: Snapshot, query: MatrixQuery, groups: Sequence[Group], shown: Sequence[Group]
) -> Iterator[FamilyRows]:
    order = [name for group in groups for name, _ in group.capabilities]
    makers = _Rows(view, snapshot, query, order, shown)
    by_family: dict[str, list[str]] = {}
    for name in view.architectures:
        by_family.setdefault(view.family_of(name), []).append(name)
    for family, names in sorted(by_family.items()):
        yield FamilyRows(family, tuple(makers.row(name, family) for name in sorted(names)))


class _Rows:
    """Makes rows; holds what all of them need."""

    def __init__(
        self, view: ReleaseView, snapshot: Snapshot, query: MatrixQuery, order: Sequence[str], shown: Sequence[Group]
    ) -> None:
        self._view, self._query, self._groups = view, query, shown
        self._bit = {name: 1 << at for at, name in enumerate(order)}
        self._aka: dict[str, list[str]] = {}
        for checkpoint, about in snapshot.checkpoints.items():
            self._aka.setdefault(about.architecture, []).append(checkpoint)
        self._came, self._went, self._new = _changes(snapshot, view, query.since)

    def row(self, name: str, family: str) -> Row:
        """Return the row of one architecture."""
        always, conditional = self._view.capabilities_of(name)
        maybe = {capability for capability, _ in conditional}
        aka = " ".join(self._aka.get(name, ()))
        return Row(
            name=name,
            role=self._view.architectures[name].role,
            has=self._bits(always),
            maybe=self._bits(maybe),
            aka=aka,
            shown=self._fits(f"{name} {family} {aka}", family, always, maybe),
            is_new=name in self._new,
            cells=tuple(self._cells(name, always | maybe)),
        )

    def _bits(self, names: Iterable[str]) -> str:
        bits = sum(self._bit[name] for name in names)
        return f"{bits:x}" if bits else ""

    def _fits(self, words: str, family: str, always: frozenset[str], maybe: set[str]) -> bool:
        query = self._query
        told = all(word in words.lower() for word in query.text.lower().split())
        held = always.issuperset(query.having) and not (always | maybe) & set(query.lacking)
        return told and held and query.family in ("", family)

    def _cells(self, name: str, held: frozenset[str] | set[str]) -> Iterator[Cell]:
        support: Mapping[str, list[JsonObject]] = {}
        if any(group.is_open for group in self._groups):
            support = self._view.raw_support(name)
        for group in self._groups:
            if group.is_open:
                yield from (self._cell(name, one, support.get(one, [])) for one, _ in group.capabilities)
            else:
                yield self._count(name, group, held)

    def _cell(self, name: str, capability: str, entries: list[JsonObject]) -> Cell:
        state = state_of(entries)
        came = " " * ((name, capability) in self._came)
        went = " " * ((name, capability) in self._went)
        text = {"no": "no", "conditional": "if", "partial": "part", "unvalidated": "untried"}.get(state, "yes")
        value = next((one["value"] for one in entries if one.get("value", True) not in (True, False)), None)
        if state != NO and value is not None:
            return Cell(value_words(value), "v", came, went)
        return Cell(text, {"no": "n", "yes": "y", "conditional": "i", "partial": "p"}.get(state, "u"), came, went)

    def _count(self, name: str, group: Group, held: frozenset[str] | set[str]) -> Cell:
        names = [one for one, _ in group.capabilities]
        count = sum(one in held for one in names)
        came = sum((name, one) in self._came for one in names)
        went = sum((name, one) in self._went for one in names)
        shade = 0 if count == 0 else 1 + min(3, 4 * count // (len(names) + 1))
        return Cell(str(count), f"f{shade}", str(came or ""), str(went or ""))


Pairs = frozenset[tuple[str, str]]


def _changes(snapshot: Snapshot, view: ReleaseView, since: str) -> tuple[Pairs, Pairs, frozenset[str]]:
    """Return what came and what went since another release, and the architectures it lacks."""
    if not since:
        return frozenset(), frozenset(), frozenset()
    before, _ = release_view(snapshot, view.engine.engine, since)
    found = diff(snapshot, view.engine.engine, before.release, view.release)
    came = frozenset((one.architecture, one.capability) for one in found.support if one.kind != "lost")
    went = frozenset((one.architecture, one.capability) for one in found.support if one.kind == "lost")
    return came, went, frozenset(found.architectures_added)
