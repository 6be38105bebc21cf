"""Holds the registry's configuration classes to the real ones: random configurations, every field compared.

Knows no engine.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from archcap.model.base import Json, JsonObject
from archcap.resolver.complete import ClassOf, Completed, Everything, complete
from archcap.verify.classes import Ask
from archcap.verify.sparse import Shape, counts, sparse

_SHARES = (0.05, 0.15, 0.3, 0.5)
_LEVEL = 0.6
"""How often a nested configuration is given."""


@dataclass(slots=True)
class Tally:
    """How the fields of one class, and of the levels below it, compare.

    Attributes:
        configs: configurations the class took.
        equal: fields with the class's value.
        wrong: fields with another one, by name.
        unknown: fields that nobody claims to know, by name.
        examples: of each wrong field, both values.
    """

    configs: int = 0
    equal: int = 0
    wrong: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)

    def add(self, other: Tally) -> None:
        """Add another class's."""
        self.configs += other.configs
        self.equal += other.equal
        self.wrong += other.wrong
        self.unknown += other.unknown

    @property
    def share(self) -> float:
        """The share of fields claimed to be known that are right."""
        known = self.equal + self.wrong.total()
        return self.equal / known if known else 1.0


def check(kind: str, ask: Ask, class_of: ClassOf, count: int, seed: str) -> Tally:
    """Return how *count* random configurations of one class compare.

    Args:
        kind: its `model_type`.
        ask: the real class.
        class_of: the registry's.
        count: configurations that the class takes.
        seed: of their randomness.
    """
    tally = Tally()
    base = bare(ask)
    if base is None:
        return tally
    chance = random.Random(f"{seed} {kind}")
    for _ in range(6):
        wanted = count - tally.configs
        if wanted <= 0:
            break
        asked = [whole(base, chance) for _ in range(wanted)]
        for given, fields in zip(asked, ask(asked), strict=True):
            if fields is not None:
                tally.configs += 1
                _compare(tally, complete({**given, "model_type": kind}, class_of), given, fields)
    return tally


def bare(ask: Ask) -> JsonObject | None:
    """Return what a class makes of nothing, with the levels it makes only where they are given as it makes them then.

    Args:
        ask: the class.
    """
    base = ask([{}])[0]
    names = [name for name, value in (base or {}).items() if value is None and name.endswith("_config")]
    for name, fields in zip(names, ask([{name: {}} for name in names]) if names else [], strict=True):
        level = fields.get(name) if fields else None
        if base is not None and isinstance(level, dict) and "model_type" in level:
            base[name] = level
    return base


def whole(base: JsonObject, chance: random.Random) -> JsonObject:
    """Return a random configuration of a class with random levels below it.

    Args:
        base: the configuration the class makes out of nothing.
        chance: where randomness comes from.
    """
    levels = tuple(name for name, below in base.items() if isinstance(below, dict) and "model_type" in below)
    names = tuple(name for name in sorted(base) if counts(name) and name not in levels)
    given = sparse(Shape(base, names, (), {}), chance, chance.choice(_SHARES))
    for name in levels:
        below = base[name]
        if isinstance(below, dict) and chance.random() < _LEVEL:
            given[name] = whole(below, chance)
    return given


def _compare(tally: Tally, done: Completed, given: JsonObject, theirs: JsonObject) -> None:
    for path, mine, real in compared(done, theirs):
        if mine == real:
            tally.equal += 1
        else:
            tally.wrong[path] += 1
            tally.examples.setdefault(path, f"{str(given)[:300]}: {real!r:.100}, ours {mine!r:.100}")
    unknown = [path for path, _, _ in _fields(done.config, theirs) if _unknown(done, path)]
    tally.unknown.update(unknown)


def compared(done: Completed, theirs: JsonObject) -> Iterator[tuple[str, Json, Json]]:
    """Yield every field that we claim to know and that counts, with its path, our value and the class's."""
    return (one for one in _fields(done.config, theirs) if not _unknown(done, one[0]))


def _unknown(done: Completed, path: str) -> bool:
    return path in done.unknown or isinstance(done.unknown, Everything)


def _fields(ours: Mapping[str, Json], theirs: Mapping[str, Json], path: str = "") -> Iterator[tuple[str, Json, Json]]:
    """Yield every field that counts of both sides, with its path."""
    for name in sorted({*ours, *theirs}):
        mine, real = ours.get(name), theirs.get(name)
        if isinstance(mine, dict) and isinstance(real, dict) and "model_type" in real:
            yield from _fields(mine, real, f"{path}{name}.")
        elif counts(name):
            yield f"{path}{name}", mine, real


def lines(kind: str, tally: Tally) -> Sequence[str]:
    """Return what is worth saying of one class: fields that are wrong, with an example, and those nobody knows."""
    said = [f"{kind}: {name} wrong {many}x, as in {tally.examples[name]}" for name, many in tally.wrong.items()]
    return [*said, *([f"{kind}: unknown {', '.join(sorted(tally.unknown))}"] if tally.unknown else [])]
