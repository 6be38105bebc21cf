"""Finds out what a configuration class changes across its levels, which neither level's class does by itself.

Whole configurations are completed with what was found out of every class and held to the real one. What differs gets a
formula that reads another level, or is written down as unknown where the cause is given. Knows no engine.
"""

from __future__ import annotations

import json
import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from archcap.model.base import Json, JsonObject
from archcap.model.config_classes import ConfigClass
from archcap.resolver.complete import ClassOf, Completed, Completion, complete
from archcap.verify.class_check import bare, compared, whole
from archcap.verify.classes import Ask
from archcap.verify.sparse import counts

_ROWS, _TURNS, _TRIES, _VARIED = 150, 6, 6, 2


class Row(NamedTuple):
    """One configuration: as given, as we complete it, and as the class does."""

    given: JsonObject
    ours: Completed
    theirs: JsonObject


def across(kind: str, known: ConfigClass, class_of: ClassOf, ask: Ask) -> ConfigClass:
    """Return what the class of *kind* does to its levels, as a part that stands beside *known*.

    Args:
        kind: its `model_type`, which also seeds what it is asked.
        known: what it does to one level.
        class_of: the classes of the levels.
        ask: the class.
    """
    base = bare(ask)
    found = ConfigClass()
    if base is None or not known.levels:
        return found
    for turn in range(_TURNS):
        parts = Completion([known, found])
        rows = _rows(f"{kind} {turn}", kind, base, _with(kind, parts, class_of), ask)
        wrong = _wrong(rows)
        if not wrong:
            break
        for path in wrong:
            found = _added(found, path, _said(path, rows, base, known.aliases))
    return found


def _with(kind: str, parts: Completion, class_of: ClassOf) -> ClassOf:
    return lambda other: parts if other == kind else class_of(other)


def _rows(seed: str, kind: str, base: JsonObject, class_of: ClassOf, ask: Ask) -> list[Row]:
    chance = random.Random(f"across {seed}")
    rows: list[Row] = []
    for _ in range(_TRIES):
        asked = [whole(base, chance) for _ in range(_ROWS - len(rows))]
        for given, theirs in zip(asked, ask(asked), strict=True):
            if theirs is not None:
                rows.append(Row(given, complete({**given, "model_type": kind}, class_of), theirs))
        if len(rows) >= _ROWS:
            break
    return rows


def _wrong(rows: Iterable[Row]) -> list[str]:
    """Return the paths of the fields that are not as the class has them, each once."""
    found: dict[str, None] = {}
    for row in rows:
        found |= dict.fromkeys(path for path, mine, real in compared(row.ours, row.theirs) if mine != real)
    return list(found)


# -- one field -----------------------------------------------------------------------------------


def _said(path: str, rows: Sequence[Row], base: JsonObject, aliases: Collection[str]) -> tuple[str, str, str]:
    """Return what to say of a field that differs: the part, the name it is said of, and a formula or the path."""
    bad = [row for row in rows if _differs(row, path)]
    absent = [row for row in rows if _at(row.given, path) is None]
    others = list(_others(path, base))
    if all(_at(row.given, path) is None for row in bad):
        if text := _formula(path, absent, others):
            return "derived", path, text
    elif text := _formula(path, rows, others):
        return "fixed", path, text
    causes = (one for one in _causes(path, rows) if one not in aliases)
    cause = next((one for one in causes if all(_at(row.given, one) is not None for row in bad)), None)
    return ("spoils", cause, path) if cause is not None else ("fixed", path, "opaque()")


def _differs(row: Row, path: str) -> bool:
    return any(one == path and mine != real for one, mine, real in compared(row.ours, row.theirs))


def _at(config: Mapping[str, Json], path: str) -> Json:
    name, dot, rest = path.partition(".")
    held = config.get(name)
    return held if not dot else _at(held, rest) if isinstance(held, dict) else None


def _formula(path: str, rows: Sequence[Row], others: Iterable[str]) -> str | None:
    """Return the field of another level that it always equals."""
    if len({json.dumps(_at(row.theirs, path)) for row in rows}) < _VARIED:
        return None  # it would equal much by chance
    fits = (one for one in others if all(_at(row.theirs, one) == _at(row.theirs, path) for row in rows))
    return next((f"same({one})" for one in fits), None)


def _others(path: str, base: JsonObject) -> Iterator[str]:
    """Yield the fields that it may be a copy of, those of its own name first."""
    name = path.rpartition(".")[2]
    level = path.rpartition(".")[0]
    held = [one for one in _paths(base) if one.rpartition(".")[0] != level]
    yield from sorted(held, key=lambda one: one.rpartition(".")[2] != name)


def _paths(config: Mapping[str, Json], lead: str = "") -> Iterator[str]:
    for name, value in config.items():
        if isinstance(value, dict) and "model_type" in value:
            yield from _paths(value, f"{lead}{name}.")
        elif counts(name):
            yield lead + name


def _causes(path: str, rows: Sequence[Row]) -> Iterator[str]:
    """Yield what may be behind a difference where it is given: the field, its level, anything else."""
    yield path
    level = path
    while "." in level:
        level = level.rpartition(".")[0]
        yield level
    yield from dict.fromkeys(name for row in rows for name in row.given)


def _added(found: ConfigClass, path: str, said: tuple[str, str, str]) -> ConfigClass:
    """Return *found* with one more statement, in place of a formula of the field that does not hold."""
    part, name, text = said
    fixed, derived = ({one: of for one, of in held.items() if one != path} for held in (found.fixed, found.derived))
    kept = found.model_copy(update={"fixed": fixed, "derived": derived})
    if part == "spoils":
        return kept.model_copy(update={"spoils": {**kept.spoils, name: (*kept.spoils.get(name, ()), text)}})
    return kept.model_copy(update={part: {**getattr(kept, part), name: text}})
