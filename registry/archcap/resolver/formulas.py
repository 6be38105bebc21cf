"""The formulas by which configuration classes work out one field from others, written once. Pure; knows no class."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import NamedTuple

from archcap.model.base import Json

_MOST_LAYERS = 4096


class Unworkable(Exception):
    """The fields a formula needs are not there or of another type: its value is unknown."""


class Literal(NamedTuple):
    """An argument that is the same for every configuration."""

    value: Json


class Formula(NamedTuple):
    """A formula as written: its function and its arguments, fields' names or literals."""

    function: Callable[..., Json]
    arguments: tuple[str | Literal, ...]

    @property
    def reads(self) -> frozenset[str]:
        """The fields it reads."""
        return frozenset(one for one in self.arguments if isinstance(one, str))

    def value(self, read: Callable[[str], Json]) -> Json:
        """Return its value.

        Args:
            read: gives the value of a field, None where there is none.
        Raises:
            Unworkable: it cannot be worked out.
        """
        try:
            return self.function(*[read(one) if isinstance(one, str) else one.value for one in self.arguments])
        except (TypeError, ValueError, ZeroDivisionError, OverflowError) as error:
            raise Unworkable(str(error)) from None


def formula(text: str) -> Formula:
    """Read `name(argument, …)`; an argument is a field's name, or a literal (`=4`, `="full"`).

    Raises:
        ValueError: *text* is no formula.
    """
    name, _, rest = text.partition("(")
    if not rest.endswith(")") or name not in FORMULAS:
        raise ValueError(f"{text!r} is no formula")
    inner = rest[:-1]
    return Formula(FORMULAS[name], tuple(_argument(part.strip()) for part in inner.split(",")) if inner else ())


def _argument(text: str) -> str | Literal:
    return Literal(json.loads(text[1:])) if text.startswith("=") else text


# -- values --------------------------------------------------------------------------------------


def _whole(value: Json) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError("a whole number")
    return value


def _count(value: Json) -> int:
    if not 0 <= _whole(value) <= _MOST_LAYERS:
        raise TypeError("a number of layers")
    return _whole(value)


def _list(value: Json) -> Sequence[Json]:
    if not isinstance(value, list):
        raise TypeError("a list")
    return value


def same(value: Json) -> Json:
    """Return the other field's value."""
    return value


def either(value: Json, other: Json) -> Json:
    """Return the first field's value, the second's where the first has none."""
    return other if value is None else value


def ratio(value: Json, by: Json) -> Json:
    """Return how many whole times *by* fits in *value*."""
    return _whole(value) // _whole(by)


def ratio_up(value: Json, by: Json) -> Json:
    """Return the smallest number of *by* that covers *value*."""
    return -(-_whole(value) // _whole(by))


def total(*values: Json) -> Json:
    """Return the sum."""
    return sum(_whole(value) for value in values)


def product(*values: Json) -> Json:
    """Return the product."""
    made = 1
    for value in values:
        made *= _whole(value)
    return made


def where(condition: Json, value: Json, other: Json = None) -> Json:
    """Return *value* where the condition is true, else *other*."""
    return value if condition else other


def opaque() -> Json:
    """Return nothing: the class changes what is given, and nobody has worked out how."""
    raise TypeError("opaque")


# -- lists of layers -----------------------------------------------------------------------------


def all_layers(count: Json, kind: Json) -> Json:
    """Return the same for every layer."""
    return [kind] * _count(count)


def every(count: Json, step: Json, special: Json, usual: Json) -> Json:
    """Return *special* for every *step*-th layer, *usual* for the others."""
    period = _whole(step)
    return [usual if (layer + 1) % period else special for layer in range(_count(count))]


def every_and_last(count: Json, step: Json, special: Json, usual: Json) -> Json:
    """Return *special* for every *step*-th layer and for the last, *usual* for the others."""
    kinds: list[Json] = list(_list(every(count, step, special, usual)))
    return [*kinds[:-1], special] if kinds else kinds


def every_from_first(count: Json, step: Json, special: Json, usual: Json) -> Json:
    """Return *special* for the first layer and every *step*-th after it, *usual* for the others."""
    period = _whole(step)
    return [usual if layer % period else special for layer in range(_count(count))]


def first_layers(count: Json, many: Json, first: Json, rest: Json) -> Json:
    """Return one kind for the first layers, another for the rest."""
    return [first if layer < _whole(many) else rest for layer in range(_count(count))]


def window_layers(count: Json, window: Json, start: Json) -> Json:
    """Return sliding layers from *start* on where there is a window, full ones before."""
    from_layer = _whole(start)
    windowed = window is not None
    kinds = ("full_attention", "sliding_attention")
    return [kinds[windowed and layer >= from_layer] for layer in range(_count(count))]


def window_every_other(count: Json, windowed: Json, end: Json) -> Json:
    """Return sliding layers, every other one from the first up to *end*, where there are windows; full ones else."""
    up_to = _whole(end)
    kinds = ("full_attention", "sliding_attention")
    return [kinds[bool(windowed) and layer % 2 == 0 and layer < up_to] for layer in range(_count(count))]


def listed_layers(count: Json, listed: Json, special: Json, usual: Json) -> Json:
    """Return *special* for the layers that a list names, *usual* for the others."""
    held = set(map(_whole, _list(listed)))
    return [special if layer in held else usual for layer in range(_count(count))]


def marked_layers(marks: Json, mark: Json, special: Json, usual: Json) -> Json:
    """Return *special* for the layers with the mark in a list of marks, *usual* for the others."""
    return [special if one == mark else usual for one in _list(marks)]


_LETTERS: dict[str, Json] = {"M": "mamba", "*": "attention", "-": "mlp", "E": "moe"}


def letters(pattern: Json) -> Json:
    """Return what the letters of a pattern of layers stand for."""
    if not isinstance(pattern, str) or not set(pattern) <= _LETTERS.keys():
        raise TypeError("a pattern of layers")
    return [_LETTERS[letter] for letter in pattern]


def in_letters(kinds: Json) -> str | None:
    """Return a list of layers as a pattern, None where it has kinds that no letter stands for."""
    spelled = {word: letter for letter, word in _LETTERS.items()}
    if not isinstance(kinds, list) or not kinds or any(one not in spelled for one in kinds):
        return None
    return "".join(spelled[one] for one in kinds)


def length(kinds: Json) -> Json:
    """Return how many there are."""
    return len(_list(kinds))


def window_halved(flag: Json, window: Json) -> Json:
    """Return half a window and one where the flag is set, else the window."""
    return _whole(window) // 2 + 1 if flag else window


def ending(kinds: Json, last: Json) -> Json:
    """Return the list with another last entry."""
    return [*_list(kinds)[:-1], last] if _list(kinds) else []


def places(kinds: Json, kind: Json) -> Json:
    """Return which layers are of one kind."""
    return [layer for layer, one in enumerate(_list(kinds)) if one == kind]


def layers_by_step(count: Json, step: Json) -> Json:
    """Return the last of every *step* layers, by number."""
    return list(range(_whole(step) - 1, _count(count), _whole(step)))


FORMULAS: dict[str, Callable[..., Json]] = {
    one.__name__: one
    for one in (
        same, either, ratio, ratio_up, total, product, where, opaque,
        all_layers, every, every_and_last, every_from_first, first_layers, window_layers, window_every_other,
        listed_layers, marked_layers, letters, length, window_halved, ending, places, layers_by_step,
    )
}  # fmt: skip
