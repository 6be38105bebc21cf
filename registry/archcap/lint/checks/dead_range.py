"""A statement's range of releases that none of those it stands in reaches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from archcap.lint.check import Check, Flaw, StatementSubject
from archcap.load.parts import Releases
from archcap.model.releases import parse_range


def _alive(releases: Releases, ranges: Iterable[str | None]) -> set[str]:
    """Return the releases that lie in every one of *ranges*; a range that cannot be read is no limit."""
    alive = set(releases.names)
    for text in ranges:
        try:
            interval = parse_range(text) if text is not None else None
        except ValueError:
            continue
        if interval is not None:
            alive = {release for release in alive if interval.holds(release)}
    return alive


def _find(subject: StatementSubject) -> Iterator[Flaw]:
    releases = subject.context.releases
    if releases is None or not subject.record.releases:
        return
    around = [subject.step.releases, *(statement.releases for statement in subject.around)]
    if _alive(releases, around) and not _alive(releases, [*around, subject.record.releases]):
        yield Flaw(("releases",), "no release of the step lies in this range")


CHECK = Check(id="dead-range", severity="error", tip="remove the statement or correct the range", find=_find)
