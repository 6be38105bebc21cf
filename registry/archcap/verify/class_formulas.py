"""Formulas that may be what a class does with one field, the likely ones first. Knows no engine."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence

from archcap.model.base import Json, JsonObject
from archcap.verify.sparse import Shape

_STEPS = range(2, 13)


def candidates(name: str, fields: Sequence[JsonObject], shape: Shape, own: bool) -> Iterator[str]:
    """Yield formulas for a field.

    Args:
        name: the field.
        fields: what the class ended with, one for each configuration it was asked about.
        shape: of the class.
        own: whether the value given for the field itself may be read.
    """
    others = [one for one in shape.names if one != name]
    if len(found := {json.dumps(held.get(name)) for held in fields}) == 1 and "," not in (only := found.pop()):
        yield f"same(={only})"
    if own:
        yield from (f"ending({name}, {one})" for one in _kinds(name, fields))
    others += shape.hidden
    yield from (f"length({one})" for one in others if isinstance(fields[0].get(one), list))
    if any(isinstance(held.get(name), list) for held in fields):
        yield from (f"letters({one})" for one, value in shape.hidden.items() if isinstance(value, str))
        yield from _lists(name, fields, others, [one for one, value in shape.hidden.items() if isinstance(value, int)])
    yield from _values(name, fields, others, shape)
    if own:
        yield from _own_values(name, fields, others, shape)
    yield from _numbers(others, fields)


def _constants(name: str, fields: Sequence[JsonObject]) -> list[str]:
    """Return the field's few values as literals."""
    found = {json.dumps(held.get(name)) for held in fields}
    return [f"={one}" for one in sorted(found)[:4] if "," not in one] if len(found) <= 4 else []


def _truths(others: Sequence[str], fields: Sequence[JsonObject]) -> list[str]:
    return [one for one in others if isinstance(fields[0].get(one), bool)]


def _values(name: str, fields: Sequence[JsonObject], others: Sequence[str], shape: Shape) -> Iterator[str]:
    """Yield the formulas that take a value from elsewhere."""
    constants = _constants(name, fields)
    yield from (f"same({one})" for one in others)
    yield from (f"same({level}.{name})" for level in shape.levels)
    truths = _truths(others, fields)
    yield from (f"where({one}, {a}, {b})" for one in truths for a, b in itertools.permutations(constants, 2))
    for one, constant, other in itertools.product(truths, [*constants, "=1"], others):
        yield f"where({one}, {constant}, {other})"
        yield f"where({one}, {other}, {constant})"
    yield from (
        f"either({a}, {b})" for a, b in itertools.permutations(others, 2) if any(held.get(a) is None for held in fields)
    )


def _own_values(name: str, fields: Sequence[JsonObject], others: Sequence[str], shape: Shape) -> Iterator[str]:
    """Yield the formulas that change what was given."""
    for constant in _constants(name, fields):
        yield f"same({constant})"
    yield from (f"window_halved({one}, {name})" for one in _truths(others, fields))
    yield from (f"where({one}, {name})" for one in others)
    yield from (f"where({one}, {name}, ={text})" for one in _truths(others, fields) for text in ("0", "false", "true"))
    yield from (f"where({name}, {name}, {level}.{name})" for level in shape.levels)
    yield from (f"either({name}, {one})" for one in others)
    yield from (f"where({name}, {name}, {one})" for one in others)
    yield from (
        f"where({a}, {name}, {b})" for a, b in itertools.permutations(others, 2) if a in _truths(others, fields)
    )


def _numbers(others: Sequence[str], fields: Sequence[JsonObject]) -> Iterator[str]:
    """Yield the formulas that reckon."""
    whole = [one for one in others if isinstance(fields[0].get(one), int) and not isinstance(fields[0].get(one), bool)]
    yield from (f"ratio({a}, {b})" for a, b in itertools.permutations(whole, 2))
    yield from (f"total({a}, {b})" for a, b in itertools.combinations(whole, 2))
    yield from (f"product({a}, {b})" for a, b in itertools.combinations(whole, 2))
    yield from (f"product({a}, ={n})" for a, n in itertools.product(whole, (2, 3, 4)))
    yield from (f"total({a}, ={n})" for a, n in itertools.product(whole, (-1, 1)))
    yield from (f"ratio({a}, ={n})" for a, n in itertools.product(whole, (2, 3, 4, 8, 16)))
    yield from (f"ratio_up({a}, ={n})" for a, n in itertools.product(whole, (16,)))


def _kinds(name: str, fields: Sequence[JsonObject]) -> list[str]:
    """Return what the field's lists hold as literals."""
    held: list[list[Json]] = [list(one) for row in fields if isinstance(one := row.get(name), list)]
    return [f"={one}" for one in sorted({json.dumps(kind) for one in held for kind in one}) if "," not in one][:4]


def _lists(name: str, fields: Sequence[JsonObject], others: Sequence[str], hidden: Sequence[str]) -> Iterator[str]:
    kinds = _kinds(name, fields)
    counted = [
        one for one in others if isinstance(fields[0].get(one), int) and not isinstance(fields[0].get(one), bool)
    ]
    lists = [one for one in others if any(isinstance(row.get(one), list) for row in fields)]
    lengths = [one for one in counted if all(_length(row, name) == row.get(one) for row in fields)]
    for length in lengths:
        yield from _by_layer(length, kinds, [*hidden, *counted], others)
        yield from (
            f"listed_layers({length}, {one}, {a}, {b})" for one in lists for a, b in itertools.permutations(kinds, 2)
        )
    marks = ("=0", "=1", "=true", "=false")
    for one, mark, (a, b) in itertools.product(lists, marks, itertools.permutations(kinds, 2)):
        yield f"marked_layers({one}, {mark}, {a}, {b})"
    for one in lists:
        words = {json.dumps(kind) for row in fields if isinstance(row.get(one), list) for kind in _items(row, one)}
        yield from (f"places({one}, ={word})" for word in sorted(words)[:6] if "," not in word)
    yield from (f"layers_by_step({a}, {b})" for a, b in itertools.permutations(counted, 2))


def _items(row: JsonObject, name: str) -> Sequence[Json]:
    held = row.get(name)
    return held if isinstance(held, list) else ()


def _length(row: JsonObject, name: str) -> int:
    held = row.get(name)
    return len(held) if isinstance(held, list) else -1


def _by_layer(length: str, kinds: Sequence[str], counted: Sequence[str], others: Sequence[str]) -> Iterator[str]:
    """Yield the formulas that give each layer its kind by its number."""
    yield from (f"all_layers({length}, {one})" for one in (*kinds, *counted))
    windows = sorted((one for one in others if "window" in one), key=lambda one: not one.startswith("use"))
    yield from (f"window_layers({length}, {a}, {b})" for a, b in itertools.permutations(windows, 2))
    yield from (f"window_every_other({length}, {a}, {b})" for a, b in itertools.permutations(windows, 2))
    yield from (f"first_layers({length}, =1, {a}, {b})" for a, b in itertools.permutations(kinds, 2))
    named = sorted(counted, key=lambda one: not any(word in one for word in ("interval", "step", "freq", "first")))
    steps = [*named, *(f"={number}" for number in _STEPS)]
    for shape in ("every", "every_and_last", "every_from_first", "first_layers"):
        for step, (a, b) in itertools.product(steps, itertools.permutations(kinds, 2)):
            yield f"{shape}({length}, {step}, {a}, {b})"
