"""Completes a config.json as the engine's configuration class would. Pure; knows no class by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from archcap.model.base import Json, JsonObject
from archcap.model.config_classes import ConfigClass
from archcap.resolver.formulas import Formula, Unworkable, formula

_DEEPEST = 4
_TAKEN_ALONG = frozenset({"rope_parameters", "rope_scaling", "rope_theta", "dtype", "torch_dtype"})
"""Fields of every class that a level takes from the outer ones where it is not given itself."""


class Everything(frozenset[str]):
    """Every field there could be: what a class that the checkpoint brings along may fill in."""

    def __contains__(self, name: object) -> bool:
        return True

    def __or__(self, other: object) -> Everything:
        return self


EVERYTHING = Everything({"*"})


@dataclass(frozen=True, slots=True)
class Completed:
    """A configuration with everything its class fills in.

    Attributes:
        config: the whole, nested levels completed likewise.
        unknown: fields whose value only the class knows, nested ones with their path.
    """

    config: JsonObject
    unknown: frozenset[str] = frozenset()


class LevelsCode(Protocol):
    """What an engine's code knows of the levels of a configuration."""

    def text_config_of(self, config: JsonObject) -> JsonObject:
        """Return the level of *config* that describes the language model."""

    def outer_config_of(self, config: JsonObject, text: JsonObject) -> JsonObject:
        """Return *config* with what the engine copies into it from its *text* level."""


@dataclass(frozen=True, slots=True)
class Levels:
    """A completed configuration as an engine reads it.

    Attributes:
        config: the whole.
        outer: the whole with what is copied into it from the level below.
        text: the level that describes the language model; the whole where there is one level only.
    """

    config: JsonObject
    outer: Completed
    text: Completed


def levels_of(done: Completed, code: LevelsCode) -> Levels:
    """Return the levels of a completed configuration."""
    text = code.text_config_of(done.config)
    if text is done.config:
        return Levels(text, done, done)
    unknown = _unknown_of(text, done)
    outer = code.outer_config_of(done.config, text)
    return Levels(done.config, Completed(outer, done.unknown | unknown), Completed(text, unknown))


def _unknown_of(level: JsonObject, done: Completed) -> frozenset[str]:
    """Return the unknown fields of one level of a configuration, or of a copy of that level that has more fields."""
    if not done.unknown or isinstance(done.unknown, Everything):
        return done.unknown
    prefix = _path_to(level, done.config)
    return frozenset(name.removeprefix(prefix) for name in done.unknown if name.startswith(prefix))


def _path_to(level: JsonObject, config: JsonObject, path: str = "") -> str:
    """Return the path of a level with a dot behind it, "" when it is nowhere."""
    for name, below in config.items():
        if isinstance(below, dict) and below:
            here = f"{path}{name}."
            if below is level or below.items() <= level.items():
                return here
            deeper = _path_to(level, below, here)
            if deeper:
                return deeper
    return ""


class _Step(NamedTuple):
    """One field that is worked out, where a configuration leaves it out, gives it as null, or gives a value."""

    field: str
    formula: Formula
    absent: bool
    null: bool
    given: bool

    def wanted(self, given: JsonObject) -> bool:
        """Return whether the field is worked out for a configuration."""
        if not _gives(given, self.field):
            return self.absent
        return self.null if _value(given, self.field) is None else self.given


def _level_of(config: JsonObject, path: str) -> tuple[JsonObject | None, str]:
    """Return the level in which a path ends, None where there is none, and the field's name in it."""
    if "." not in path:
        return config, path
    outer, _, rest = path.partition(".")
    below = config.get(outer)
    return _level_of(below, rest) if isinstance(below, dict) else (None, rest)


def _gives(config: JsonObject, path: str) -> bool:
    level, name = _level_of(config, path)
    return level is not None and name in level


def _value(config: JsonObject, path: str) -> Json:
    level, name = _level_of(config, path)
    return None if level is None else level.get(name)


def _put(config: JsonObject, path: str, value: Json) -> None:
    level, name = _level_of(config, path)
    if level is not None:
        level[name] = value


def _drop(config: JsonObject, path: str) -> None:
    level, name = _level_of(config, path)
    if level is not None:
        level.pop(name, None)


class Completion:
    """What a class does, ready to be done to configurations.

    Attributes:
        levels: nested configurations, each with the type of its class.
        typed: those whose own `model_type` says of which class they are.
        fields: everything the class takes, nested configurations apart.
    """

    __slots__ = (
        "_aliases", "_assumed", "_called", "_defaults", "_dropped", "_filled", "_flat", "_spoils", "_steps", "_unknown",
        "fields", "levels", "typed",
    )  # fmt: skip

    def __init__(self, parts: Sequence[ConfigClass]) -> None:
        """Read the parts that hold in one release.

        Raises:
            ValueError: something is no formula.
        """
        self._defaults: JsonObject = {name: value for part in parts for name, value in part.defaults.items()}
        self._assumed: JsonObject = {name: value for part in parts for name, value in part.assumed.items()}
        self._aliases = {other: name for part in parts for other, name in part.aliases.items()}
        self._dropped = tuple(name for part in parts for name in part.dropped)
        self._spoils = {name: fields for part in parts for name, fields in part.spoils.items()}
        self._unknown = frozenset(name for part in parts for name in part.unknown)
        self._filled = frozenset(name for part in parts for name in part.filled)
        self._called = {name: other for part in parts for name, other in part.called.items()}
        self._flat = next((part.flat for part in parts if part.flat is not None), None)
        self.levels = {name: kind for part in parts for name, kind in part.levels.items()}
        self.typed = frozenset(name for part in parts for name in part.typed)
        self._steps = _in_order(list(self._steps_of(parts)))
        named = (self._assumed, self._defaults, self._aliases, self._spoils, self._unknown)
        self.fields = frozenset({step.field for step in self._steps}.union(*named))

    def _steps_of(self, parts: Iterable[ConfigClass]) -> Iterator[_Step]:
        nulls = {name for part in parts for name in part.nulls}
        for part in parts:
            for name, text in part.derived.items():
                yield _Step(name, self._formula(text), absent=True, null=name not in nulls, given=False)
            for name, text in part.nulls.items():
                yield _Step(name, self._formula(text), absent=False, null=True, given=False)
            for name, text in part.fixed.items():
                yield _Step(name, self._formula(text), absent=True, null=True, given=True)

    def _formula(self, text: str) -> Formula:
        """Return a formula that names fields by their own spelling."""
        made = formula(text)
        own = tuple(self._aliases.get(one, one) if isinstance(one, str) else one for one in made.arguments)
        return Formula(made.function, own)

    def renamed(self, given: JsonObject) -> JsonObject:
        """Return *given* with each field under its own spelling; where it is given twice the other one holds."""
        aliases = self._aliases
        if aliases.keys().isdisjoint(given):
            return given
        own = {name: value for name, value in given.items() if name not in aliases}
        return own | {aliases[name]: value for name, value in given.items() if name in aliases}

    def leaves_out(self, name: str, given: JsonObject) -> bool:
        """Return whether there is a level only where it is given, and it is not."""
        optional = name in self._defaults and self._defaults[name] is None
        return optional and not isinstance(given.get(self._called.get(name, name)), dict)

    def level_of(self, name: str, given: JsonObject, below: Completion | None) -> JsonObject:
        """Return what a configuration says of one level, for which *below* is the class of its type."""
        said, own = given.get(self._called.get(name, name)), self._defaults.get(name)
        usual = own if isinstance(own, dict) else {}
        if isinstance(said, dict) and name not in self._filled:
            return said
        if name == self._flat and below is not None:
            usual = {one: value for one, value in given.items() if one in below.fields or one in _TAKEN_ALONG}
        return {**usual, **said} if isinstance(said, dict) else usual

    def finish(self, given: JsonObject, levels: Mapping[str, Json], below: set[str]) -> tuple[JsonObject, set[str]]:
        """Return the class's fields, also under their other spellings, and those nobody can work out.

        Args:
            given: the configuration, renamed.
            levels: its levels, complete.
            below: what nobody can work out in them, with the path; it is among what is returned.
        """
        held = {**self._assumed, **self._defaults, **given, **levels}
        unknown = self._beyond(given) | below
        for name in unknown:
            _drop(held, name)
        for step in self._steps:
            name = step.field
            if step.wanted(given) and (step.given or name not in unknown):
                try:
                    _put(held, name, step.formula.value(_reader(held, unknown)))
                except Unworkable:
                    unknown.add(name)
                    _drop(held, name)
        self._spell(held, given, unknown)
        return held, unknown

    def _beyond(self, given: JsonObject) -> set[str]:
        """Return the fields that nobody has worked out."""
        unknown = {name for name in self._unknown if given.get(name) is None}
        for cause, fields in self._spoils.items():
            if _value(given, cause) is not None:
                unknown.update(name for name in fields if name == cause or "." in name or given.get(name) is None)
        return unknown

    def _spell(self, held: JsonObject, given: JsonObject, unknown: set[str]) -> None:
        """Take away what is no field of the class, and give each field all its spellings."""
        for name in self._dropped:
            held.pop(name, None)
        for name in self._assumed:
            if name not in given:
                held.pop(name, None)
        for other, name in self._aliases.items():
            if name in held:
                held[other] = held[name]
            elif name in unknown:
                unknown.add(other)


def _reader(held: JsonObject, unknown: set[str]) -> Callable[[str], Json]:
    def read(name: str) -> Json:
        if name in unknown:
            raise Unworkable(name)
        return _value(held, name)

    return read


def _in_order(steps: list[_Step]) -> tuple[_Step, ...]:
    """Return the steps so that what a formula reads is settled before; its own field it reads as it was given."""
    waiting, done = list(steps), list[_Step]()
    while waiting:
        open_fields = {step.field for step in waiting}
        own = {step.field for step in waiting if not step.given}  # what is filled in comes before what is changed
        ready = [
            step
            for step in waiting
            if not (step.formula.reads - {step.field}) & open_fields and not (step.given and step.field in own)
        ]
        done += ready or waiting
        waiting = [step for step in waiting if step not in ready] if ready else []
    return tuple(done)


ClassOf = Callable[[str], Completion | None]
"""Gives the class of a `model_type`, None where nothing is known of one."""


def complete(config: JsonObject, class_of: ClassOf) -> Completed:
    """Return *config* as its class would hold it.

    A type that no class is known of is left as it is; where the checkpoint brings the class along, every field that is
    not given is unknown.

    Args:
        config: what was given; it is not changed.
        class_of: the classes.
    """
    known = _class_of(config, class_of)
    if known is None:
        return Completed(config, EVERYTHING if _brings_class(config) else frozenset())
    held, unknown = _completed(config, known, class_of, 0)
    return Completed(held, frozenset(unknown))


def _class_of(config: JsonObject, class_of: ClassOf) -> Completion | None:
    kind = config.get("model_type")
    return class_of(kind) if isinstance(kind, str) else None


def _brings_class(config: JsonObject) -> bool:
    mapped = config.get("auto_map")
    return isinstance(mapped, dict) and "AutoConfig" in mapped and isinstance(config.get("model_type"), str)


def _completed(config: JsonObject, known: Completion, class_of: ClassOf, depth: int) -> tuple[JsonObject, set[str]]:
    given = known.renamed(config)
    levels: JsonObject = {}
    below_unknown: set[str] = set()
    for name, kind in known.levels.items() if depth < _DEEPEST else ():
        if known.leaves_out(name, given):
            continue
        below = class_of(kind)
        level = known.level_of(name, given, below)
        if name in known.typed:
            below = _class_of(level, class_of) or below
        level = level if "." in kind else {"model_type": kind, **level}
        if below is None:
            levels[name] = dict(level)
            continue
        held, unknown = _completed(level, below, class_of, depth + 1)
        levels[name] = held
        below_unknown |= {f"{name}.{path}" for path in unknown}
    return known.finish(given, levels, below_unknown)
