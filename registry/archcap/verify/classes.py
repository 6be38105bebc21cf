"""Works out what configuration classes do by asking them: defaults, other spellings, formulas that fit every answer.

A field for which no formula fits is written down as unknown, never guessed. Knows no engine.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from archcap.model.base import Json, JsonObject
from archcap.model.config_classes import ConfigClass
from archcap.resolver.complete import Completion, complete
from archcap.resolver.formulas import Unworkable, formula, in_letters
from archcap.verify.class_formulas import candidates
from archcap.verify.sparse import Shape, counts, sparse

Ask = Callable[[Sequence[JsonObject]], list["JsonObject | None"]]
"""Gives the fields that a class ends with for each configuration; None where it refuses one."""

_PROBES, _CHECKS, _ENOUGH, _TURNS = 70, 80, 6, 4
_PROBED: tuple[Json, ...] = (1, 2, True, 0.5, [1], [0, 1], ["full_attention"], "M*-", {"a": 1})
"""Values of every kind, to see whether something that has no field of its own changes others."""
_WORKED_OUT = ("defaults", "derived", "nulls", "fixed")
_KINDS = ("llama", "siglip_vision_model")
"""Two types that have little in common."""
_LONGEST = 800
"""Characters of the longest list that is a default."""


@dataclass(frozen=True, slots=True)
class Row:
    """One configuration that a class was asked about, with the fields it ended with."""

    given: JsonObject
    fields: JsonObject


@dataclass(slots=True)
class Found:
    """What has been worked out of one class.

    Attributes:
        config_class: what it does.
        open: the fields nobody could work out, with an example of each.
        bare: its levels as it makes them where a configuration does not give them.
    """

    config_class: ConfigClass
    open: dict[str, str] = field(default_factory=dict)
    bare: JsonObject = field(default_factory=dict)


def work_out(kind: str, described: JsonObject, ask: Ask) -> Found | None:
    """Return what the class of *kind* does, None when it cannot be made out of nothing.

    Args:
        kind: its `model_type`, which also seeds what it is asked.
        described: its `aliases`, `levels` and `arguments`.
        ask: the class.
    """
    base = ask([{}])[0]
    if base is None:
        return None
    levels = {name: level for name, level in _texts(described.get("levels")).items() if level}
    aliases = _spelled(base, _texts(described.get("aliases")), ask)
    called = _called(base, levels, described, ask)
    spoils = {name: fields for name, fields in _spoils(base, described, ask).items() if name not in called.values()}
    shape = replace(_shape(base, levels, aliases, _hidden(base, described, spoils), ask), called=called)
    flat = _flat(base, levels, ask)
    made = ConfigClass(
        aliases={other: name for other, name in aliases.items() if counts(other)},
        levels=levels,
        flat=flat,
        called=called,
        typed=tuple(name for name in levels if _is_typed(name, called.get(name, name), base, ask)),
        filled=_filled(base, levels, flat, ask),
        spoils=spoils,
        dropped=tuple(name for name in _silent(base, described) if name not in spoils and name not in called.values()),
    )
    found = _worked_out(kind, made, shape, ask)
    beyond = {name for name in shape.hidden if any(one in found.open for one in spoils[name])}
    if beyond:  # what it does to others is beyond us: it only spoils them
        hidden = {name: value for name, value in shape.hidden.items() if name not in beyond}
        found = _worked_out(kind, made, replace(shape, hidden=hidden), ask)
    found.bare = {name: base[name] for name in levels}
    return found


def _worked_out(kind: str, made: ConfigClass, shape: Shape, ask: Ask) -> Found:
    rows = [Row({}, shape.base), *shape_rows(shape, ask), *random_rows(kind, shape, ask, _PROBES)]
    left = {name: fields for name, fields in made.spoils.items() if name not in shape.hidden}
    return _held(kind, _fitted(made.model_copy(update={"spoils": left}), shape, rows), shape, ask)


def _texts(value: Json) -> dict[str, str]:
    return {name: str(text) for name, text in value.items()} if isinstance(value, dict) else {}


# -- what a class takes --------------------------------------------------------------------------


def _shape(base: JsonObject, levels: dict[str, str], aliases: dict[str, str], hidden: JsonObject, ask: Ask) -> Shape:
    names = [name for name in sorted(base) if counts(name) and name not in levels and name not in aliases]
    nulls = ask([{name: None} for name in names])
    nullable = {name: fields for name, fields in zip(names, nulls, strict=True) if fields is not None}
    return Shape(base, tuple(names), tuple(levels), nullable, hidden)


def _spelled(base: JsonObject, said: Mapping[str, str], ask: Ask) -> dict[str, str]:
    """Return the other spellings with the field each stands for: the one that gives way where both are given.

    What a class only answers to, and does not take, is no spelling but a field.
    """
    known = {other: name for other, name in said.items() if name in base}
    found: dict[str, str] = {}
    for other, name in known.items():
        one = _count_of(base[name])
        alone = list(known.values()).count(name) == 1 and other in base
        if not alone or not _ends(name, one * 2, {name: one * 2, other: one * 4}, ask):
            found[other] = name
        elif _ends(name, one * 4, {other: one * 4}, ask):
            found[name] = other
    return found


def _count_of(value: Json) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 4


def _ends(name: str, value: int, given: JsonObject, ask: Ask) -> bool:
    """Return whether a field ends with a value where something is given."""
    fields = ask([given])[0]
    return fields is not None and fields.get(name) == value


def _silent(base: JsonObject, described: JsonObject) -> list[str]:
    """Return what the class takes and has no field for."""
    arguments = described.get("arguments")
    return [name for name in arguments if name not in base and counts(name)] if isinstance(arguments, dict) else []


def _spoils(base: JsonObject, described: JsonObject, ask: Ask) -> dict[str, tuple[str, ...]]:
    """Return what has no field of its own and changes others, each with those it changes."""
    found: dict[str, tuple[str, ...]] = {}
    for name in _silent(base, described):
        changed: set[str] = set()
        for fields in ask([{name: value} for value in _PROBED]):
            changed |= {one for one in base if counts(one) and fields is not None and fields.get(one) != base[one]}
        if changed:
            found[name] = tuple(sorted(changed))
    return found


def _called(base: JsonObject, levels: Iterable[str], described: JsonObject, ask: Ask) -> dict[str, str]:
    """Return the levels that a configuration gives under another name, each with that name."""
    found: dict[str, str] = {}
    for level in levels:
        inner = base.get(level)
        value = inner.get("num_hidden_layers") if isinstance(inner, dict) else None
        if isinstance(value, int) and not _follows(level, level, value + 12, ask):
            others = (name for name in _silent(base, described) if _follows(name, level, value + 12, ask))
            found |= zip([level], others, strict=False)
    return found


def _is_typed(level: str, name: str, base: JsonObject, ask: Ask) -> bool:
    """Return whether a level is of the class that its own type names: then it has other fields."""
    usual = base.get(level)
    others = [fields.get(level) for fields in ask([{name: {"model_type": kind}} for kind in _KINDS]) if fields]
    return isinstance(usual, dict) and any(isinstance(made, dict) and usual.keys() != made.keys() for made in others)


def _follows(name: str, level: str, layers: int, ask: Ask) -> bool:
    fields = ask([{name: {"num_hidden_layers": layers}}])[0]
    made = fields.get(level) if fields else None
    return isinstance(made, dict) and made.get("num_hidden_layers") == layers


def _hidden(base: JsonObject, described: JsonObject, spoils: Mapping[str, Sequence[str]]) -> JsonObject:
    """Return those of them that assume a value, so that others of the same kind can be tried.

    One that assumes none and changes a single field may be another spelling of it: it assumes that field's value.
    """
    arguments = described.get("arguments")
    said = arguments if isinstance(arguments, dict) else {}
    others = ((name, fields[0]) for name, fields in spoils.items() if len(fields) == 1 and said.get(name) is None)
    alone = {name: base.get(field) for name, field in others}
    assumed = {**said, **alone}
    found = {name: assumed[name] for name in spoils if isinstance(assumed.get(name), int | str)}
    patterns = {name: fields for name, fields in spoils.items() if name.endswith("pattern") and name not in found}
    spelled = {
        name: next(filter(None, (in_letters(base.get(one)) for one in fields)), None)
        for name, fields in patterns.items()
    }
    return {**found, **{name: text for name, text in spelled.items() if text}}


def shape_rows(shape: Shape, ask: Ask) -> list[Row]:
    """Return the answers to a null in each field, and to another value in each field alone."""
    rows = [Row({name: None}, fields) for name, fields in shape.nullable.items()]
    chance = random.Random(0)
    asked = [one for name in shape.names if (one := sparse(shape, chance, 1.0, only=name))]
    filled = [name for name, fields in shape.nullable.items() if fields.get(name) is not None]
    asked += [{**sparse(shape, chance, share), name: None} for name in filled for share in (0.5, 0.3) * 5]
    kept = [name for name in shape.nullable if name not in filled and shape.base[name] is None]
    asked += [{**sparse(shape, chance, share), name: None} for name in kept for share in (0.6, 0.5, 0.4)]
    return rows + _answered(asked, ask)


def random_rows(seed: str, shape: Shape, ask: Ask, count: int) -> list[Row]:
    """Return answers to random configurations; fewer fields at once where the class is picky."""
    chance = random.Random(seed)
    rows: list[Row] = []
    for share in (0.5, 0.25, 0.1, 0.05):
        rows += _answered([sparse(shape, chance, share) for _ in range(count - len(rows))], ask)
        if len(rows) >= count * 2 // 3:
            break
    return rows


def _answered(asked: Sequence[JsonObject], ask: Ask) -> list[Row]:
    return [Row(one, fields) for one, fields in zip(asked, ask(asked), strict=True) if fields is not None]


def _flat(base: JsonObject, levels: Iterable[str], ask: Ask) -> str | None:
    """Return the level that takes the outer fields when it is not given."""
    for level in levels:
        inner = base.get(level)
        value = inner.get("num_hidden_layers") if isinstance(inner, dict) else None
        if isinstance(value, int):
            fields = ask([{"num_hidden_layers": value + 12}])[0]
            below = fields.get(level) if fields else None
            if isinstance(below, dict) and below.get("num_hidden_layers") == value + 12:
                return level
    return None


def _filled(base: JsonObject, levels: Iterable[str], flat: str | None, ask: Ask) -> tuple[str, ...]:
    """Return the levels that end as if they were not given where a part of them is."""
    return tuple(
        name for name in levels if (_is_flat if name == flat else _is_filled)(name, base.get(name), ask)
    )


def _is_flat(name: str, bare: Json, ask: Ask) -> bool:
    """Return whether the outer fields go into a level that is given too."""
    value = bare.get("num_hidden_layers") if isinstance(bare, dict) else None
    if not isinstance(bare, dict) or not isinstance(value, int):
        return False
    fields = ask([{"num_hidden_layers": value + 12, name: {"hidden_size": bare.get("hidden_size")}}])[0]
    made = fields.get(name) if fields else None
    return isinstance(made, dict) and made.get("num_hidden_layers") == value + 12


def _is_filled(name: str, bare: Json, ask: Ask) -> bool:
    if not isinstance(bare, dict):
        return False
    field_ = next((one for one, value in bare.items() if counts(one) and isinstance(value, int)), None)
    part: JsonObject = {field_: bare[field_]} if field_ is not None else {}
    fields = ask([{name: part}])[0] if part else None
    made = fields.get(name) if fields else None
    return isinstance(made, dict) and all(made.get(one) == value for one, value in bare.items() if counts(one))


# -- fitting -------------------------------------------------------------------------------------


class _Fit:
    """Sorts the fields of one class by what the class does with them."""

    def __init__(self, made: ConfigClass, shape: Shape, rows: Sequence[Row]) -> None:
        self._shape = shape
        self._rows = rows
        self._spellings = {
            name: [name, *(other for other, own in made.aliases.items() if own == name)] for name in shape.names
        }
        self.defaults: JsonObject = {}
        self.derived: dict[str, str] = {}
        self.nulls: dict[str, str] = {}
        self.fixed: dict[str, str] = {}
        self.unknown: list[str] = []

    def sort(self, name: str) -> None:
        """Find out what the class does with one field."""
        said = [(row, self._said(row, name)) for row in self._rows]
        absent = [row for row, (given, _) in said if not given]
        null = [row for row, (given, value) in said if given and value is None]
        given = [(row, value) for row, (given, value) in said if given and value is not None]
        if any(row.fields.get(name) != value for row, value in given):
            self._sort_fixed(name, absent, [row for row, _ in given])
            return
        self._sort_absent(name, absent)
        kept = name not in self.derived and all(row.fields.get(name) is None for row in null)
        if not kept and not (name in self.derived and self._holds(name, null)):
            self.nulls[name] = self._formula(name, null) or "opaque()"

    def _said(self, row: Row, name: str) -> tuple[bool, Json]:
        return next(((True, row.given[one]) for one in self._spellings[name] if one in row.given), (False, None))

    def _holds(self, name: str, rows: Sequence[Row]) -> bool:
        return all(gives(self.derived[name], name, row, None, self._shape.hidden) for row in rows)

    def _sort_absent(self, name: str, absent: Sequence[Row]) -> None:
        value = self._shape.base[name]
        if all(row.fields.get(name) == value for row in absent):
            if _short(value):
                self.defaults[name] = value
            else:
                self.unknown.append(name)
        elif text := self._formula(name, absent):
            self.derived[name] = text
        else:
            self.unknown.append(name)

    def _sort_fixed(self, name: str, absent: Sequence[Row], given: Sequence[Row]) -> None:
        """Find a formula that also changes what is given, and the value it begins from where nothing is."""
        began = {json.dumps(row.fields.get(name)) for row in absent}
        for text in sorted(began, key=lambda one: (one == "null", len(one)))[:4]:
            found = self._formula(name, self._rows, own=True, default=json.loads(text))
            if found:
                self.fixed[name] = found
                self.defaults[name] = json.loads(text)
                return
        found = self._formula(name, given, own=True)
        self.fixed[name] = found or "opaque()"
        if found:
            self._sort_absent(name, absent)

    def _formula(self, name: str, rows: Sequence[Row], own: bool = False, default: Json = None) -> str | None:
        """Return the first formula that gives the field's value in every row."""
        if not rows or (len(rows) < _ENOUGH and len({json.dumps(row.fields.get(name)) for row in rows}) > 1):
            return None
        fields = [row.fields for row in rows]
        tried = candidates(name, fields, self._shape, own)
        hidden = self._shape.hidden
        return next((text for text in tried if all(gives(text, name, row, default, hidden) for row in rows)), None)


def gives(text: str, name: str, row: Row, default: Json, hidden: Mapping[str, Json]) -> bool:
    """Return whether a formula gives the field's value in one answer; its own field it reads as it was given."""

    def read(other: str) -> Json:
        if other == name:
            return row.given.get(other, default)
        if other in hidden:
            return row.given.get(other, hidden[other])
        level, dot, below = other.partition(".")
        held = row.fields.get(level)
        return (held.get(below) if isinstance(held, dict) else None) if dot else held

    try:
        return formula(text).value(read) == row.fields.get(name)
    except Unworkable:
        return False


def _short(value: Json) -> bool:
    return not isinstance(value, list | dict) or len(json.dumps(value)) <= _LONGEST


def _fitted(made: ConfigClass, shape: Shape, rows: Sequence[Row]) -> ConfigClass:
    fit = _Fit(made, shape, rows)
    for name in shape.names:
        fit.sort(name)
    optional: JsonObject = {name: None for name in shape.levels if shape.base.get(name) is None}
    update = {
        "defaults": {**fit.defaults, **optional}, "assumed": dict(shape.hidden), "derived": fit.derived,
        "nulls": fit.nulls, "fixed": fit.fixed, "unknown": tuple(fit.unknown),
    }  # fmt: skip
    return made.model_copy(update=update)


# -- checking ------------------------------------------------------------------------------------


def _held(kind: str, made: ConfigClass, shape: Shape, ask: Ask) -> Found:
    """Ask again, otherwise; what does not fit is taken back."""
    found = Found(made)
    for turn in range(_TURNS):
        wrong = differences(found.config_class, random_rows(f"{kind} {turn}", shape, ask, _CHECKS), shape.hidden)
        if not wrong:
            break
        found = Found(_without(found.config_class, wrong), {**found.open, **{one.field: one.example for one in wrong}})
    opaque = [name for name, text in found.config_class.fixed.items() if text == "opaque()"]
    for name in (*found.config_class.unknown, *opaque):
        found.open.setdefault(name, "no formula fits")
    return found


class Wrong(NamedTuple):
    """A field in which our completion differs from the class: where it was absent, null or given, and an example."""

    field: str
    where: Literal["absent", "null", "given"]
    example: str


def differences(known: ConfigClass, rows: Iterable[Row], hidden: Collection[str] = ()) -> list[Wrong]:
    """Return the fields of one level in which our completion differs from the class, once for each way to give one."""
    wrong: dict[tuple[str, str], Wrong] = {}
    own = Completion([known.model_copy(update={"levels": {}, "flat": None})])
    for row in rows:
        levels = {name: row.fields.get(name) for name in known.levels}
        ours = complete({**row.given, **levels, "model_type": "itself"}, lambda kind: own)
        for name, value in ours.config.items():
            if counts(name) and name not in known.levels and name not in hidden and value != row.fields.get(name):
                example = f"{json.dumps(row.given)[:200]}: {row.fields.get(name)!r}, ours {value!r}"
                one = Wrong(known.aliases.get(name, name), _where(row.given, name), example[:400])
                wrong.setdefault((one.field, one.where), one)
    return list(wrong.values())


def _where(given: JsonObject, name: str) -> Literal["absent", "null", "given"]:
    if name not in given:
        return "absent"
    return "null" if given[name] is None else "given"


def _without(known: ConfigClass, wrong: Iterable[Wrong]) -> ConfigClass:
    """Return the class with the fields that turned out otherwise as unknown, where they did."""
    parts: dict[str, JsonObject] = {part: dict(getattr(known, part)) for part in _WORKED_OUT}
    unknown = set(known.unknown)
    for field_, where, _ in wrong:
        if where == "given" or field_ in parts["fixed"]:
            parts["fixed"][field_] = "opaque()"
        if where == "null" and field_ not in parts["nulls"]:
            parts["nulls"][field_] = "opaque()"
        if where == "absent":
            unknown.add(field_)
        if where != "null" or parts["nulls"].get(field_) != "opaque()":
            parts["defaults"].pop(field_, None)
            parts["derived"].pop(field_, None)
    return known.model_copy(update={**parts, "unknown": tuple(sorted(unknown))})
