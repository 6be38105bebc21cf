"""What generated code calls while it runs: the state of one run, reads that may be unknown, and writes of leaves.

Small and fast: every name here is on the hot path. Knows no rule.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from archcap.model.base import Json
from archcap.rules.functions import RAISES
from archcap.rules.run import (
    KIND,
    NAME,
    NOT_THERE,
    VALUE,
    ConfigView,
    Event,
    Given,
    Inputs,
    Kind,
    NeedsInterpreter,
    PeerRun,
    Unknown,
    Value,
)

SET, VAR, FACT, ENV, FINDING = Kind.SET, Kind.VAR, Kind.FACT, Kind.ENV, Kind.FINDING
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


class PeerValues(Known):
    """What the peer's names came to, by kind and name; taken on first use."""

    __slots__ = ("run",)

    def __init__(self, run: PeerRun | None) -> None:
        super().__init__()
        self.run = run

    def __missing__(self, key: Any) -> Value:
        value = NOT_THERE if self.run is None else self.run.value(*key)
        if isinstance(value, Unknown):
            raise NeedsInterpreter(key)
        self[key] = value
        return value


NO_PEER = PeerValues(None)


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


class PartlyKnown(frozenset[str]):
    """Names of which some may or may not be in it; `unsure` None: all of them."""

    unsure: Container[object] | None = None

    def __contains__(self, name: object) -> bool:
        if self.unsure is None or name in self.unsure:
            raise NeedsInterpreter(name)
        return super().__contains__(name)


NOT_KNOWN = PartlyKnown()


class Lists(dict[str, frozenset[str]]):
    """The lists of a release, each fetched when first asked for; one that the release does not have is empty.

    Attributes:
        given: what they were made of.
        members: per architecture asked about, whether each of the numbered lists holds it.
        told: what the leading steps told of the checkpoints last launched, and the configurations it was told from.
    """

    __slots__ = ("given", "members", "told")

    def __init__(self, given: Mapping[str, frozenset[str]]) -> None:
        super().__init__()
        self.given = given
        self.members: dict[str, tuple[bool, ...]] = {}
        self.told: dict[tuple[object, ...], tuple[Told, tuple[object, ...]]] = {}

    def __missing__(self, name: str) -> frozenset[str]:
        names = self[name] = self.given.get(name, EMPTY)
        return names


class Told(NamedTuple):
    """What the leading steps told of a checkpoint.

    Attributes:
        facts: those that are known.
        unknown: those that are not, because something of the configuration is not known.
        events: the trace.
        undetermined: the statements that could not be decided, with what they need.
    """

    facts: dict[str, Value]
    unknown: dict[str, Unknown]
    events: tuple[Event, ...]
    undetermined: tuple[tuple[int, frozenset[str]], ...] = ()
    exact: bool = True

    def still_unknown(self, facts: Mapping[str, Value]) -> dict[str, Unknown]:
        """Return the unknown facts that nobody has told since."""
        return {name: value for name, value in self.unknown.items() if name not in facts}


class Unnamed:
    """The memberships of an architecture nobody named: reading one needs the interpreter."""

    __slots__ = ()

    def __getitem__(self, number: int) -> bool:
        raise NeedsInterpreter("architecture")


UNNAMED = Unnamed()
Memberships = tuple[bool, ...] | Unnamed


class Layout:
    """Where the code of one release finds settings and memberships: by number, three times faster than by name.

    Keeps what launches of the release share: the defaults in their places, and the lists.

    Attributes:
        settings: the settings that rules read or write, by number.
        at: the number of each.
        asked: the lists that are asked for an architecture, by number.
    """

    def __init__(self, settings: tuple[str, ...], asked: tuple[str, ...]) -> None:
        self.settings, self.asked = settings, asked
        self.at = {name: number for number, name in enumerate(settings)}
        self._lists = Lists({})
        self._start: tuple[Mapping[str, Value] | None, list[Value]] = (None, [])
        self._environment: tuple[Mapping[str, Value], Mapping[str, Value], dict[str, Value]] = ({}, {}, {})

    def start(self, raw: dict[str, Value] | Given) -> list[Value]:
        """Return the values that a launch begins with, in their places.

        Raises:
            KeyError: a setting was left out.
        """
        if type(raw) is not Given:
            return [raw[name] for name in self.settings]
        defaults, values = self._start
        if defaults is not raw.defaults:
            values = [raw.defaults[name] for name in self.settings]
            self._start = (raw.defaults, values)
        values = values.copy()
        for name, value in raw.own.items():
            number = self.at.get(name)
            if number is not None:
                values[number] = value
        return values

    def environment(self, given: Mapping[str, Value], defaults: Mapping[str, Value]) -> dict[str, Value]:
        """Return the environment that a launch begins with: what is given, else the rules' own default."""
        last, over, values = self._environment
        if last is not given or over is not defaults:  # launches that set nothing share what they give
            values = {**defaults, **given}
            self._environment = (given, defaults, values)
        return values.copy()

    def lists(self, given: Mapping[str, frozenset[str]]) -> Lists:
        """Return *given* as generated code reads it."""
        lists = self._lists
        if lists.given is not given:
            lists = self._lists = Lists(given)
        return lists

    def members(self, lists: Lists, architecture: str | None) -> Memberships:
        """Return whether each of the numbered lists holds an architecture."""
        if architecture is None:
            return UNNAMED
        found = lists.members.get(architecture)
        if found is None:
            found = lists.members[architecture] = tuple([architecture in lists[name] for name in self.asked])
        return found


class Settled(Mapping[str, Any]):
    """What every setting is worth at the end of a run: those that rules know in their places, the rest as given."""

    __slots__ = ("_at", "_given", "_values")

    def __init__(self, values: list[Value], at: Mapping[str, int], given: Mapping[str, Value]) -> None:
        self._values, self._at, self._given = values, at, given

    def __getitem__(self, name: str) -> Value:
        number = self._at.get(name)
        return self._given[name] if number is None else self._values[number]

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of a setting, *default* where there is none."""
        number = self._at.get(name)
        return self._given.get(name, default) if number is None else self._values[number]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self._given, *self._at]))

    def __len__(self) -> int:
        return len(dict.fromkeys([*self._given, *self._at]))

    def __repr__(self) -> str:
        return repr(dict(self))


class Missing:
    """Stands for a key that is not there (`ABSENT`) or whose class default nobody knows (`UNSURE`)."""

    __slots__ = ()


ABSENT, UNSURE = Missing(), Missing()


def look(view: ConfigView, path: tuple[str, ...]) -> Json | Missing:
    """Return the value at *path* of a configuration that is known, or why there is none."""
    value: Json = view.data
    if len(path) == 1 and isinstance(value, dict):  # nearly always
        found = value.get(path[0], UNSURE if path[0] in view.unknown else ABSENT)
        if not isinstance(found, dict):
            return found
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
    """A checkpoint's configuration of which some is unknown; one that is known is a plain dict."""

    __slots__ = ("view",)

    def __init__(self, view: ConfigView) -> None:
        self.view = view

    def get(self, key: str, default: Value = None) -> Value:
        """Return the value of a key at the top."""
        value = self.look((key,))
        return default if isinstance(value, Missing) else value

    def look(self, path: tuple[str, ...]) -> Json | Missing:
        """Return the value at a path of keys, or `ABSENT`."""
        value = UNSURE if self.view.data is None else look(self.view, path)
        if value is UNSURE:
            raise NeedsInterpreter(path[0])
        return value


def config_of(view: ConfigView) -> dict[str, Any] | Config:
    """Return a configuration as generated code reads it."""
    return Config(view) if view.data is None or view.unknown else view.data


def config_at(config: dict[str, Any] | Config, path: tuple[str, ...], default: Value = None) -> Value:
    """Return the value at a path of keys."""
    if isinstance(config, Config):
        value = config.look(path)
        return default if isinstance(value, Missing) else value
    found: Any = config
    for key in path:
        if not isinstance(found, dict) or key not in found:
            return default
        found = found[key]
    return found  # type: ignore[no-any-return]


def config_has(config: dict[str, Any] | Config, path: tuple[str, ...]) -> bool:
    """Return whether there is a value at a path of keys."""
    return config_at(config, path, _NO_VALUE) is not _NO_VALUE


_NO_VALUE: Any = object()


class Context:
    """The state of one run; generated steps read what they use of it into locals.

    Attributes:
        S: the settings, by number.
        at: the number of each by name.
        ends: where the trace has its findings.
    """

    __slots__ = (
        "A", "C", "DC", "DH", "DM", "DT", "E", "F", "H", "HF", "K", "LS", "M", "N", "P", "R", "S", "T", "TX", "U", "V",
        "W", "at", "ends", "fn", "trace",
    )  # fmt: skip

    S: Any
    V: dict[str, Any]
    E: dict[str, Any]
    F: dict[str, Any]
    W: dict[str, Any]
    N: set[str]
    trace: list[Event]
    ends: list[int]
    T: Callable[[Any], None]

    def __init__(
        self, inputs: Inputs, variables: Mapping[str, Value], env: Mapping[str, Value], read: Read,
        functions: Mapping[str, Callable[..., Value]], layout: Layout,
    ) -> None:  # fmt: skip
        self.R = layout.start(inputs.raw)
        self.S, self.U, self.at = self.R.copy(), inputs.user, layout.at
        self.V = dict(variables)
        self.F = Known(inputs.facts)
        self.H = Known(inputs.hw)
        self.A = Assumed(inputs.assume, read)
        self.E, self.N, self.W = layout.environment(inputs.env, env), set(inputs.env_set), {}
        self.K = Known() if inputs.architecture is None and inputs.profile is None else Known(profile=inputs.profile)
        self.C = held(inputs.architecture, inputs.capabilities, inputs.unknown_capabilities)
        self.DC = held(inputs.draft_architecture, inputs.draft_capabilities, {})
        self.LS = lists = layout.lists(inputs.lists)
        self.M = layout.members(lists, inputs.architecture)
        self.DM = layout.members(lists, inputs.draft_architecture)
        self.HF, self.TX = config_of(inputs.hf), config_of(inputs.text)
        self.DH, self.DT = config_of(inputs.draft_hf), config_of(inputs.draft_text)
        self.P = NO_PEER if inputs.peer is None else PeerValues(inputs.peer)
        self.fn = functions
        self.trace, self.ends = [], []
        self.T = self.trace.append

    def take(self, event: Event) -> None:
        """Add an event of a step within another to the trace."""
        if event[KIND] is FINDING:
            self.ends.append(len(self.trace))
        self.trace.append(event)


def held(
    architecture: str | None, capabilities: frozenset[str], unsure: Mapping[str, frozenset[str]]
) -> frozenset[str]:
    """Return the capabilities of an architecture as generated code asks for them."""
    if architecture is None:
        return NOT_KNOWN
    if not unsure:
        return capabilities
    partly = PartlyKnown(capabilities)
    partly.unsure = unsure
    return partly


def in_names(names: frozenset[str], value: Value) -> bool:
    """Return whether a list of the release holds *value*."""
    return isinstance(value, str) and value in names


def any_in_names(names: frozenset[str], values: Any) -> bool:
    """Return whether a list of the release holds one of *values*.

    Raises:
        TypeError: *values* are none.
    """
    try:
        return not names.isdisjoint(values)
    except TypeError:  # one of them cannot be a name, or there is nothing to go through
        return any(in_names(names, value) for value in values)


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
    if type(value) in _SCALARS:
        return value  # type: ignore[no-any-return]
    if isinstance(value, tuple | list):
        return list(value) if _SCALARS.issuperset(map(type, value)) else [plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(item) for item in value), key=lambda item: (type(item).__name__, str(item)))
    return {key: plain(item) for key, item in value.items()} if isinstance(value, dict) else value


_SCALARS = frozenset({str, int, float, bool, type(None)})


def commit(context: Context, settings: dict[str, Value], variables: dict[str, Value], events: Iterable[Event]) -> None:
    """Let the writes of an isolated step appear."""
    at, values = context.at, context.S
    for name, value in settings.items():
        values[at[name]] = value
    context.V.update(variables)
    context.trace.extend(events)


def within(
    context: Context, settings: dict[str, Value], variables: dict[str, Value], events: list[Event],
    step: Callable[[Context], int | None],
) -> int | None:  # fmt: skip
    """Run a step that an isolated one calls: it reads the entry and its own writes, which join the pending ones."""
    outside = context.S, context.V, context.trace, context.ends, context.T
    context.S, context.V, context.trace, context.ends = context.S.copy(), dict(context.V), [], []
    context.T = context.trace.append
    ended = False
    try:
        stop = step(context)
        ended = True
    finally:
        inside = context.trace
        context.S, context.V, context.trace, context.ends, context.T = outside
        for event in inside:
            if event[KIND] is not SET and event[KIND] is not VAR:
                context.take(event)
            elif ended:
                events.append(event)
                if event[KIND] is SET:
                    pend(context, settings, event[NAME], event[VALUE])
                else:
                    variables[event[NAME]] = event[VALUE]
    return stop


def pend(context: Context, pending: dict[str, Any], name: str, value: Value) -> None:
    """Write a setting or a leaf over what is pending, else over the entry."""
    head, _, rest = name.partition(".")
    if rest:
        entry = pending[head] if head in pending else context.S[context.at[head]]
        pending[head] = with_leaf(entry, tuple(rest.split(".")), value)
    else:
        pending[head] = value


__all__ = [
    "ENV", "FACT", "FINDING", "NO_PEER", "RAISES", "SET", "STOP_PIPELINE", "STOP_STAGE", "VAR", "Context",
    "Kind", "NeedsInterpreter", "Refusal", "any_in_names", "commit", "config_at", "config_has", "in_names", "leaf",
    "leaf1", "leaf2", "pend", "plain",
    "shown_leaf", "with_leaf", "within",
]  # fmt: skip
