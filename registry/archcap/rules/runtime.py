"""What generated code calls while it runs: the state of one run, reads that may be unknown, and writes of leaves.

Small and fast: every name here is on the hot path. Knows no rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from archcap.model.base import Json
from archcap.rules.functions import RAISES
from archcap.rules.run import ConfigView, Event, Inputs, Kind, NeedsInterpreter, Value

SET, VAR, FACT, ENV, FINDING = Kind.SET, Kind.VAR, Kind.FACT, Kind.ENV, Kind.FINDING
new = tuple.__new__
EMPTY: frozenset[str] = frozenset()
STOP_PIPELINE, STOP_STAGE = 1, 2


class Refusal(Exception):
    """The engine would stop at a statement; `shown` fills its message."""

    def __init__(self, statement: int, shown: dict[str, Value] | None = None) -> None:
        super().__init__(statement)
        self.statement = statement
        self.shown = shown or {}


class Known(dict[str, Any]):
    """Values by name; one that is absent is unknown."""

    def __missing__(self, name: str) -> Value:
        raise NeedsInterpreter(name)


class Read(Protocol):
    """Takes the names of what is read."""

    def append(self, name: str, /) -> None:
        """Note one name."""


class Assumed(dict[str, Any]):
    """Assumptions; the first read of each is recorded."""

    __slots__ = ("given", "read")

    def __init__(self, given: Mapping[str, Value], read: Read) -> None:
        super().__init__()
        self.given, self.read = given, read

    def __missing__(self, name: str) -> Value:
        if name not in self.given:
            raise NeedsInterpreter(name)
        self.read.append(name)
        value = self[name] = self.given[name]
        return value


class Held(dict[str, Any]):
    """Whether the architecture has a capability, or stands in a list, asked once each."""

    __slots__ = ("holds",)

    def __init__(self, holds: Callable[[str], bool]) -> None:
        super().__init__()
        self.holds = holds

    def __missing__(self, name: str) -> bool:
        value = self[name] = self.holds(name)
        return value


class Missing:
    """Stands for a key that is not there (`ABSENT`) or whose class default nobody knows (`UNSURE`)."""

    __slots__ = ()


ABSENT, UNSURE = Missing(), Missing()


def look(view: ConfigView, path: tuple[str, ...]) -> Json | Missing:
    """Return the value at *path* of a configuration that is known, or why there is none."""
    value: Json = view.data
    for depth, key in enumerate(path):
        if not isinstance(value, dict):
            return ABSENT
        if key not in value:
            unsure = view.unknown and any(".".join(path[:n]) in view.unknown for n in range(depth + 1, len(path) + 1))
            return UNSURE if unsure else ABSENT
        value = value[key]
    if view.unknown and isinstance(value, dict) and any(key.startswith(".".join(path) + ".") for key in view.unknown):
        return UNSURE
    return value


class Config:
    """A checkpoint's configuration as expressions read it."""

    __slots__ = ("data", "unknown", "view")

    def __init__(self, view: ConfigView) -> None:
        self.view, self.data, self.unknown = view, view.data, view.unknown

    def get(self, key: str, default: Value = None) -> Value:
        """Return the value of a key at the top."""
        data = self.data
        if data is None or self.unknown:
            return self.at((key,), default)
        return data.get(key, default)

    def at(self, path: tuple[str, ...], default: Value = None) -> Value:
        """Return the value at a path of keys."""
        value = self._look(path)
        return default if isinstance(value, Missing) else value

    def has(self, path: tuple[str, ...]) -> bool:
        """Return whether there is a value at a path of keys."""
        return not isinstance(self._look(path), Missing)

    def _look(self, path: tuple[str, ...]) -> Json | Missing:
        if self.data is None:
            raise NeedsInterpreter(path[0])
        value = look(self.view, path)
        if value is UNSURE:
            raise NeedsInterpreter(path[0])
        return value


class Context:
    """The state of one run; generated steps read what they use of it into locals."""

    __slots__ = (
        "A",
        "C",
        "DC",
        "DH",
        "DL",
        "DT",
        "E",
        "F",
        "H",
        "HF",
        "K",
        "L",
        "LS",
        "N",
        "R",
        "S",
        "T",
        "TX",
        "U",
        "V",
        "W",
        "fn",
        "trace",
    )  # fmt: skip

    S: dict[str, Any]
    V: dict[str, Any]
    W: dict[str, Any]
    trace: list[Event]
    T: Callable[[Any], None]

    def __init__(
        self, inputs: Inputs, variables: Mapping[str, Value], env: Mapping[str, Value], read: list[str],
        functions: Mapping[str, Callable[..., Value]],
    ) -> None:  # fmt: skip
        self.S = inputs.raw.copy()
        self.R = inputs.raw
        self.U = inputs.user
        self.V = dict(variables)
        self.F: Known = Known(inputs.facts)
        self.H = Known(inputs.hw)
        self.A = Assumed(inputs.assume, read)
        self.E = {**env, **inputs.env}
        self.N = set(inputs.env_set)
        self.W = {}
        self.K = Known() if inputs.architecture is None and inputs.profile is None else Known(profile=inputs.profile)
        self.C = Held(lambda name: holds_capability(name, inputs))
        self.DC = Held(lambda name: draft_holds(name, inputs))
        self.L = Held(lambda name: in_names(inputs.lists, name, known(inputs.architecture)))
        self.DL = Held(lambda name: in_names(inputs.lists, name, known(inputs.draft_architecture)))
        self.LS = inputs.lists
        self.HF, self.TX = Config(inputs.hf), Config(inputs.text)
        self.DH, self.DT = Config(inputs.draft_hf), Config(inputs.draft_text)
        self.fn = functions
        self.trace = []
        self.T = self.trace.append

    def branch(self) -> Context:
        """Return a context for a step called by an isolated one: its own settings and variables, the rest shared."""
        other = object.__new__(Context)
        for name in Context.__slots__:
            setattr(other, name, getattr(self, name))
        other.S, other.V, other.trace = dict(self.S), dict(self.V), []
        other.T = other.trace.append
        return other


def known(name: str | None) -> str:
    """Return the name of an architecture, which must be known."""
    if name is None:
        raise NeedsInterpreter("architecture")
    return name


def holds_capability(name: str, inputs: Inputs) -> bool:
    """Return whether the architecture has the capability."""
    known(inputs.architecture)
    if name in inputs.unknown_capabilities:
        raise NeedsInterpreter(name)
    return name in inputs.capabilities


def draft_holds(name: str, inputs: Inputs) -> bool:
    """Return whether the draft's architecture has the capability."""
    known(inputs.draft_architecture)
    return name in inputs.draft_capabilities


def in_names(lists: Mapping[str, frozenset[str]], name: str, value: Value) -> bool:
    """Return whether a list of the release holds *value*."""
    return isinstance(value, str) and value in lists.get(name, EMPTY)


def leaf(value: Any, *path: str) -> Value:
    """Return a leaf of a structured setting; a missing one is None.

    Raises:
        AttributeError: the path leads through None or a plain value, as it would for the engine.
    """
    for key in path:
        if type(value) is dict:
            value = value.get(key)
        else:
            raise AttributeError(f"{type(value).__name__!r} object has no attribute {key!r}")
    return value  # type: ignore[no-any-return]


def leaf1(value: Any, first: str) -> Value:
    """Return a leaf one level down."""
    if type(value) is dict:
        return value.get(first)
    return leaf(value, first)


def leaf2(value: Any, first: str, second: str) -> Value:
    """Return a leaf two levels down."""
    try:
        return value[first][second]  # type: ignore[no-any-return]
    except (KeyError, TypeError, IndexError):
        return leaf(value, first, second)


def shown_leaf(value: Any, *path: str) -> Value:
    """Return a leaf for a message, None where there is none."""
    try:
        return leaf(value, *path)
    except AttributeError:
        return None


def with_leaf(value: Any, path: tuple[str, ...], new_value: Value) -> Value:
    """Return a structured setting with one leaf replaced; what it does not hold is shared.

    Raises:
        AttributeError: the path leads through None or a plain value.
    """
    if type(value) is not dict:
        raise AttributeError(f"{type(value).__name__!r} object has no attribute {path[0]!r}")
    changed = value.copy()
    changed[path[0]] = new_value if len(path) == 1 else with_leaf(value.get(path[0]), path[1:], new_value)
    return changed


def plain(value: Any) -> Value:
    """Return *value* as JSON has it: tuples are lists, sets are sorted lists."""
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(item) for item in value), key=lambda item: (type(item).__name__, str(item)))
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value  # type: ignore[no-any-return]


def commit(context: Context, settings: dict[str, Value], variables: dict[str, Value], events: Iterable[Event]) -> None:
    """Let the writes of an isolated step appear."""
    context.S.update(settings)
    context.V.update(variables)
    context.trace.extend(events)


def within(
    context: Context, settings: dict[str, Value], variables: dict[str, Value], events: list[Event],
    step: Callable[[Context], int | None],
) -> int | None:  # fmt: skip
    """Run a step that an isolated one calls: it reads the entry and its own writes, which join the pending ones."""
    inner = context.branch()
    try:
        stop = step(inner)
    except BaseException:
        context.trace.extend(event for event in inner.trace if event.kind not in (SET, VAR))
        raise
    for event in inner.trace:
        if event.kind is SET:
            pend(context.S, settings, event.name, event.value)
            events.append(event)
        elif event.kind is VAR:
            variables[event.name] = event.value
            events.append(event)
        else:
            context.T(event)
    return stop


def pend(entry: dict[str, Any], pending: dict[str, Any], name: str, value: Value) -> None:
    """Write a setting or a leaf over what is pending, else over the entry."""
    head, _, rest = name.partition(".")
    if rest:
        pending[head] = with_leaf(pending[head] if head in pending else entry[head], tuple(rest.split(".")), value)
    else:
        pending[head] = value


__all__ = [
    "EMPTY", "ENV", "FACT", "FINDING", "RAISES", "SET", "STOP_PIPELINE", "STOP_STAGE", "VAR", "Context", "Event",
    "Kind", "NeedsInterpreter", "Refusal", "commit", "in_names", "leaf", "leaf1", "leaf2", "new", "pend", "plain",
    "shown_leaf", "with_leaf", "within",
]  # fmt: skip
