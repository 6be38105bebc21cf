"""Every release that is mentioned is one of the engine's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from archcap.load.parts import EngineNames, EngineParts, Found, Releases, found, interval_groups, statements
from archcap.load.strict_yaml import DataPath
from archcap.load.words import Wording
from archcap.model.releases import Interval, parse_range
from archcap.model.rules import Source


def check_bounds(engine: EngineParts, names: EngineNames) -> Iterator[Found]:
    """Yield every release in an interval, a range or a source that the engine does not have."""
    if names.releases is None:
        return
    checker = _Bounds(names.releases)
    for group in interval_groups(engine):
        yield from found(group.document, checker.intervals(group.path, group.intervals))
    for family in engine.families:
        for name, architecture in family.record.architectures.items():
            for index, accepted in enumerate(architecture.accepted):
                path: DataPath = ("architectures", name, "accepted", index)
                yield from found(family.document, checker.text(path, accepted.releases))
    for lists in engine.lists:
        for name, entry in lists.record.lists.items():
            yield from found(lists.document, checker.source(("lists", name), entry.source))
    yield from _rule_bounds(engine, checker)
    if engine.known_issues is not None:
        for name, issue in engine.known_issues.record.known_issues.items():
            at: DataPath = ("known_issues", name)
            yield from found(engine.known_issues.document, checker.text(at, issue.releases))


def _rule_bounds(engine: EngineParts, checker: _Bounds) -> Iterator[Found]:
    for part in engine.rules:
        for name, step in part.record.steps.items():
            path: DataPath = ("steps", name)
            yield from found(part.document, checker.text(path, step.releases))
            yield from found(part.document, checker.source(path, step.source))
            for below, statement in statements((*path, "do"), step.do):
                yield from found(part.document, checker.text(below, statement.releases))
                yield from found(part.document, checker.source(below, statement.source))
        for name, define in part.record.define.items():
            for index, case in enumerate(define if isinstance(define, tuple) else ()):
                yield from found(part.document, checker.text(("define", name, index), case.releases))
    if engine.pipeline is not None:
        for index, entry in enumerate(engine.pipeline.record.pipeline):
            yield from found(engine.pipeline.document, checker.text(("pipeline", index), entry.releases))


class _Bounds:
    """Checks that releases are known."""

    def __init__(self, releases: Releases) -> None:
        self._releases = releases

    def intervals(self, path: DataPath, intervals: Iterable[Interval]) -> Iterator[Wording]:
        for index, interval in enumerate(intervals):
            for bound in ("added", "removed"):
                release = interval.added if bound == "added" else interval.removed
                if self._releases.unknown(release):
                    yield self._releases.word((*path, index, bound), str(release))

    def text(self, path: DataPath, text: str | None) -> Iterator[Wording]:
        """Check a range such as `>=0.5.16,<0.5.19` under the key `releases` of *path*."""
        if text is None:
            return
        interval = _range(text)
        if isinstance(interval, str):
            yield Wording((*path, "releases"), interval)
            return
        for release in (interval.added, interval.removed):
            if self._releases.unknown(release):
                yield self._releases.word((*path, "releases"), str(release))

    def source(self, path: DataPath, source: Source | None) -> Iterator[Wording]:
        for release in source if isinstance(source, dict) else ():
            if self._releases.unknown(release):
                yield self._releases.word((*path, "source", release), release)


@lru_cache(maxsize=1024)
def _range(text: str) -> Interval | str:
    try:
        return parse_range(text)
    except ValueError as error:
        return _value_error_text(error)


def _value_error_text(error: ValueError) -> str:
    details = getattr(error, "errors", None)
    return str(details()[0]["ctx"]["error"]) if callable(details) else str(error)
