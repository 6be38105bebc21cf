"""What holds in which release, as runs that the pages draw as a rail. Knows snapshots; knows no page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from archcap.model.base import JsonObject
from archcap.snapshot import Snapshot
from archcap.snapshot.support import conditions_of
from archcap_service.holders import holders

ABSENT, NO = "absent", "no"


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of releases in which the same holds.

    Attributes:
        start: position of its first release.
        length: how many releases.
        state: `yes`, `conditional`, `partial`, `unvalidated`, `no`, or `absent` where there is no such architecture.
        first, last: the releases at its ends.
    """

    start: int
    length: int
    state: str
    first: str
    last: str


@dataclass(frozen=True, slots=True)
class Rail:
    """The runs over all releases of an engine.

    Attributes:
        runs: oldest first.
        size: how many releases there are.
    """

    runs: tuple[Run, ...]
    size: int

    @property
    def held(self) -> tuple[Run, ...]:
        """The runs in which it holds in some way."""
        return tuple(run for run in self.runs if run.state not in (ABSENT, NO))

    @property
    def words(self) -> str:
        """The rail in words, as in `yes from 0.5.17 to 0.5.18, if from 0.5.19`."""
        return ", ".join(f"{run.state} {self.span(run)}" for run in self.held) or "in no release"

    def span(self, run: Run) -> str:
        """Return when a run lasts."""
        start = f"in {run.first} or earlier" if run.start == 0 else f"from {run.first}"
        if run.start + run.length == self.size:
            return start
        return f"{start} to {run.last}" if run.length > 1 or run.start == 0 else f"in {run.first} only"

    def since(self, at: int) -> str | None:
        """Return the first release of the unbroken stretch that holds at position *at*; None when nothing does."""
        position = at
        states = [run.state for run in self.runs for _ in range(run.length)]
        if states[position] in (ABSENT, NO):
            return None
        while position > 0 and states[position - 1] not in (ABSENT, NO):
            position -= 1
        first = next(run for run in self.runs if run.start <= position < run.start + run.length)
        return ("≤" if position == 0 else "") + first.first


def rail(states: Sequence[str], releases: Sequence[str]) -> Rail:
    """Return what holds in each release as runs."""
    runs, start = [], 0
    for state, same in groupby(states):
        length = len(list(same))
        runs.append(Run(start, length, state, releases[start], releases[start + length - 1]))
        start += length
    return Rail(tuple(runs), len(releases))


def state_of(entries: Sequence[JsonObject]) -> str:
    """Return in one word what support entries of one release amount to."""
    when = conditions_of(entries)
    if when is None:
        return "unvalidated" if any(one.get("state") == "unvalidated" for one in entries) else NO
    if when:
        return "conditional"
    return "partial" if any(one.get("state") == "partial" for one in entries) else "yes"


def architecture_rails(snapshot: Snapshot, engine: str, name: str) -> tuple[Rail, dict[str, Rail]]:
    """Return in which releases an architecture exists, and in which it has each capability it ever has."""
    releases = snapshot.releases(engine)
    views = [snapshot.release(engine, release) for release in releases]
    exists = [name in view.architectures for view in views]
    held = [view.raw_support(name) if there else {} for view, there in zip(views, exists, strict=True)]
    ever = sorted({capability for one in held for capability in one})

    def states(capability: str) -> Iterable[str]:
        for there, support in zip(exists, held, strict=True):
            yield state_of(support.get(capability, ())) if there else ABSENT

    own = rail(["yes" if there else ABSENT for there in exists], releases)
    return own, {capability: rail(list(states(capability)), releases) for capability in ever}


def capability_rails(snapshot: Snapshot, engine: str, capability: str) -> dict[str, Rail]:
    """Return in which releases each architecture that ever has *capability* has it."""
    releases = snapshot.releases(engine)
    found: dict[str, list[str]] = {}
    for at, release in enumerate(releases):
        view = snapshot.release(engine, release)
        always, sometimes = holders(snapshot, view, capability)
        for state, names in (("yes", always), ("conditional", [name for name, _ in sometimes])):
            for name in names:
                found.setdefault(name, [NO] * len(releases))[at] = state
    for name, states in found.items():
        for at, release in enumerate(releases):
            if name not in snapshot.release(engine, release).architectures:
                states[at] = ABSENT
    return {name: rail(states, releases) for name, states in sorted(found.items())}
