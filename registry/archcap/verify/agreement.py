"""Counts how far two ways agree over many launches, and groups what differs, each group with launches that show it.

Knows no wording and no layout.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from archcap.model.base import Json
from archcap.verify.compare import Compared, Comparison, as_json
from archcap.verify.launches import Launch

Kind = Literal["missed", "invented", "elsewhere", "setting", "unanswered"]
"""The engine refuses and we do not; we do and it does not; both do, by different functions; a setting differs; we have
no answer."""
_ORDER: tuple[Kind, ...] = ("unanswered", "missed", "invented", "elsewhere", "setting")
FEW = 20
"""A setting seen less often is not called the worst one."""


def percent(part: int, whole: int) -> float:
    """Return *part* of *whole* in percent; all of nothing is 100."""
    return 100.0 * part / whole if whole else 100.0


@dataclass(frozen=True, slots=True)
class Share:
    """How many of how many agree."""

    right: int
    seen: int

    @property
    def percent(self) -> float:
        """In percent; 100 when nothing was seen."""
        return percent(self.right, self.seen)


@dataclass(frozen=True, slots=True)
class SettingShare:
    """How a setting fares over the launches in which either side changed it.

    Attributes:
        varies: whether the engine gives it more than one value over them.
    """

    name: str
    share: Share
    varies: bool

    @property
    def counts(self) -> bool:
        """Whether it can be the worst one: its value varies, and it was seen often enough to say."""
        return self.varies and self.share.seen >= FEW


@dataclass(frozen=True, slots=True)
class Example:
    """One launch that shows a difference.

    Attributes:
        wanted: the engine's value, or where it raised; None when it did not.
        got: ours.
    """

    launch: Launch
    wanted: Json
    got: Json


@dataclass(slots=True)
class Difference:
    """What differs in the same way: one setting or verdict, decided by one step, for one architecture after another.

    Attributes:
        setting: the setting, None where verdicts or sources differ.
        step: the engine's function that decided; where it did nothing, our statement.
        ours: our statements that had a part in it, with how often.
        architectures: launches by architecture.
        examples: the first launch of each architecture.
    """

    kind: Kind
    setting: str | None
    step: str
    ours: Counter[str] = field(default_factory=Counter)
    architectures: Counter[str] = field(default_factory=Counter)
    examples: dict[str, Example] = field(default_factory=dict)

    @property
    def launches(self) -> int:
        """How many launches differ so."""
        return self.architectures.total()

    def add(self, example: Example, ours: str | None) -> None:
        """Count one launch."""
        architecture = example.launch.subject.architecture
        self.architectures[architecture] += 1
        self.examples.setdefault(architecture, example)
        if ours is not None:
            self.ours[ours] += 1


class Agreement:
    """The figures over the launches compared so far."""

    def __init__(self) -> None:
        self.launches = 0
        self.disagreeing = 0
        self._verdicts = 0
        self._refused = 0
        self._caught = 0
        self._named = 0
        self._accepted = 0
        self._whole = 0
        self._seen: Counter[str] = Counter()
        self._right: Counter[str] = Counter()
        self._values: defaultdict[str, set[str]] = defaultdict(set)
        self._differences: dict[tuple[Kind, str | None, str], Difference] = {}

    @classmethod
    def of(cls, comparisons: Iterable[Comparison]) -> Agreement:
        """Return the figures over *comparisons*."""
        made = cls()
        for comparison in comparisons:
            made.add(comparison)
        return made

    def add(self, comparison: Comparison) -> None:
        """Count one launch."""
        self.launches += 1
        self.disagreeing += not comparison.agrees
        self._verdicts += comparison.verdict
        if comparison.refused:
            self._refused += 1
            self._caught += comparison.blocker is not None
            self._named += comparison.source
        elif comparison.compared:
            self._accepted += 1
            self._whole += all(one.agrees for one in comparison.settings)
            for one in comparison.settings:
                self._count(one)
        self._group(comparison)

    def _count(self, one: Compared) -> None:
        self._seen[one.name] += 1
        self._right[one.name] += one.agrees
        self._values[one.name].add(as_json(one.wanted))

    def _group(self, comparison: Comparison) -> None:
        blocker = comparison.blocker
        rule, source = (blocker.rule, blocker.source) if blocker else (None, None)
        where = comparison.answer.error.where if comparison.answer.error else None
        if comparison.unanswered is not None:
            self._differ("unanswered", None, comparison.unanswered, Example(comparison.launch, where, None), None)
        elif comparison.refused and blocker is None:
            self._differ("missed", None, where or "?", Example(comparison.launch, where, None), None)
        elif not comparison.verdict:
            self._differ("invented", None, rule or "?", Example(comparison.launch, None, source), rule)
        elif comparison.refused and not comparison.source:
            self._differ("elsewhere", None, where or "?", Example(comparison.launch, where, source), rule)
        for one in comparison.settings if comparison.unanswered is None else ():
            if not one.agrees:
                step = one.writer or (f"our {one.rule}" if one.rule else "no step known")
                self._differ("setting", one.name, step, Example(comparison.launch, one.wanted, one.got), one.rule)

    def _differ(self, kind: Kind, setting: str | None, step: str, example: Example, ours: str | None) -> None:
        key = (kind, setting, step)
        self._differences.setdefault(key, Difference(kind, setting, step)).add(example, ours)

    @property
    def verdict(self) -> Share:
        """Launches whose verdicts agree."""
        return Share(self._verdicts, self.launches)

    @property
    def recall(self) -> Share:
        """Of the launches the engine refuses, those we refuse."""
        return Share(self._caught, self._refused)

    @property
    def source(self) -> Share:
        """Of the launches the engine refuses, those that we refuse for the function that raised."""
        return Share(self._named, self._refused)

    @property
    def accepted(self) -> Share:
        """Of the launches both accept, those in which every setting agrees."""
        return Share(self._whole, self._accepted)

    @property
    def settings(self) -> tuple[SettingShare, ...]:
        """Every setting that either side changed, the worst first."""
        shares = (
            SettingShare(name, Share(self._right[name], seen), len(self._values[name]) > 1)
            for name, seen in self._seen.items()
        )
        return tuple(sorted(shares, key=lambda one: (one.share.percent, one.name, one.share.seen)))

    @property
    def worst(self) -> SettingShare | None:
        """The worst setting among those whose value varies, None when there is none."""
        return next((one for one in self.settings if one.counts), None)

    @property
    def differences(self) -> tuple[Difference, ...]:
        """What differs: verdicts first, then settings, each the most frequent first."""

        def order(one: Difference) -> tuple[int, int, str, str]:
            return _ORDER.index(one.kind), -one.launches, one.setting or "", one.step

        return tuple(sorted(self._differences.values(), key=order))
