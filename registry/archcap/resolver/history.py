"""What a run knew at one point of its trace: who wrote a name last, and what everything was worth then.

Reads the trace where it is asked to; nothing is replayed, because settings are hundreds and questions are few.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from archcap.model.base import Json
from archcap.rules.run import KIND, NAME, STATEMENT, VALUE, Event, Inputs, Kind, Run, Unknown

_KINDS: Mapping[str, Kind] = {"setting": Kind.SET, "var": Kind.VAR, "fact": Kind.FACT, "env": Kind.ENV}
_RETURN = Kind.RETURN
_ABSENT = object()


class Values:
    """What the names of one kind are worth before one event: as last written, else as the launch gave them."""

    __slots__ = ("_at", "_given", "_history", "_kind", "_read")

    def __init__(self, history: History, kind: Kind, given: Mapping[str, Json], at: int) -> None:
        self._history, self._kind, self._given, self._at = history, kind, given, at
        self._read: dict[str, Json | Unknown] = {}

    def get(self, name: str, default: object = None, /) -> Json | Unknown:
        """Return the value of a setting (not of a part of one), variable, fact or environment variable."""
        if name in self._read:
            return self._read[name]
        at = next(self._history.writes(self._at, self._kind, name), None)
        if at is None:
            return self._given.get(name, default)  # type: ignore[arg-type]
        event = self._history.run.trace[at]
        value = self._read[name] = event[VALUE] if event[NAME] == name else self._in_parts(name)
        return value

    def _in_parts(self, name: str) -> Json | Unknown:
        """Return the last whole value with the parts written since in their places."""
        value: Json | Unknown = self._given.get(name)
        parts: list[Event] = []
        for at in self._history.writes(self._at, self._kind, name):
            event = self._history.run.trace[at]
            if event[NAME] == name:
                value = event[VALUE]
                break
            parts.append(event)
        for event in reversed(parts):
            value = _with_part(value if isinstance(value, dict) else {}, event[NAME].split(".")[1:], event[VALUE])
        return value


def _with_part(node: dict[str, Json], path: Sequence[str], value: Json) -> dict[str, Json]:
    head, *rest = path
    child = node.get(head)
    return {**node, head: _with_part(child if isinstance(child, dict) else {}, rest, value) if rest else value}


class Moment:
    """One point of a run: before one event of its trace."""

    __slots__ = ("_history", "_values", "at")

    def __init__(self, history: History, at: int) -> None:
        self._history, self.at = history, at
        self._values: dict[str, Values] = {}

    def values(self, kind: str) -> Values:
        """Return the values of one kind of name: `setting`, `var`, `fact` or `env`."""
        found = self._values.get(kind)
        if found is None:
            history = self._history
            found = self._values[kind] = Values(history, _KINDS[kind], history.given(kind), self.at)
        return found

    def value(self, kind: str, name: str) -> Json | Unknown:
        """Return the value of a setting, of a part of one (`a.b`), a variable, fact or environment variable."""
        values = self.values(kind)
        value = values.get(name, _ABSENT)
        if value is not _ABSENT:
            return value
        head, *path = name.split(".")
        value = values.get(head)
        for part in path:
            value = value.get(part) if isinstance(value, dict) else None
        return value


class History:
    """The trace of one run, by name; made at no cost, because most runs are asked little or nothing."""

    __slots__ = ("_found", "_heads", "_inputs", "_moments", "_returns", "run")

    def __init__(self, run: Run, inputs: Inputs) -> None:
        self.run, self._inputs = run, inputs
        self._moments: dict[int, Moment] = {}
        self._heads: list[str] | None = None
        self._found: dict[str, list[int]] = {}
        self._returns: dict[int, int] | None = None

    def given(self, kind: str) -> Mapping[str, Json]:
        """Return what the launch gives of one kind of name; variables begin with their declared defaults."""
        inputs = self._inputs
        if kind == "setting":
            return inputs.raw
        return inputs.facts if kind == "fact" else inputs.env if kind == "env" else {}

    @property
    def returns(self) -> Mapping[int, int]:
        """Where in the trace each statement ended its step."""
        if self._returns is None:
            trace = self.run.trace
            self._returns = {trace[at][STATEMENT]: at for at in positions([event[KIND] for event in trace], _RETURN)}
        return self._returns

    def before(self, event: int) -> Moment:
        """Return the point before event *event* of the trace."""
        moment = self._moments.get(event)
        if moment is None:
            moment = self._moments[event] = Moment(self, event)
        return moment

    def last_write(self, before: int, kind: str, name: str) -> int | None:
        """Return the index of the last event before *before* that wrote *name*, part of it, or what it is part of."""
        head, dot, _ = name.partition(".")
        for at in self.writes(before, _KINDS[kind], head):
            if not dot or _touches(self.run.trace[at][NAME], name):
                return at
        return None

    def writes(self, before: int, kind: Kind, head: str) -> Iterator[int]:
        """Yield the events of one kind before *before* that name *head* or a part of it, the last first."""
        trace = self.run.trace
        for at in reversed(self._about(head)):
            if at < before and trace[at][KIND] == kind:
                yield at

    def _about(self, head: str) -> list[int]:
        """Return where in the trace *head* or a part of it is named."""
        found = self._found.get(head)
        if found is None:
            if self._heads is None:
                names = [event[NAME] for event in self.run.trace]
                self._heads = [name.partition(".")[0] if "." in name else name for name in names]
            found = self._found[head] = positions(self._heads, head)
        return found


def positions(values: Sequence[object], wanted: object) -> list[int]:
    """Return where *wanted* stands among *values*; searched by the sequence itself, which is ten times as fast."""
    found: list[int] = []
    at = -1
    for _ in range(values.count(wanted)):
        at = values.index(wanted, at + 1)
        found.append(at)
    return found


def _touches(written: str, read: str) -> bool:
    return written == read or written.startswith(read + ".") or read.startswith(written + ".")
