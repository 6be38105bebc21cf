"""What a run knew at one point of its trace: who wrote a name last, and what everything was worth then.

Reads the trace where it is asked to; nothing is replayed, because settings are hundreds and questions are few.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from archcap.model.base import Json
from archcap.rules.run import KIND, NAME, VALUE, Event, Inputs, Kind, Run, Unknown, name_of_return

_KINDS: Mapping[str, Kind] = {"setting": Kind.SET, "var": Kind.VAR, "fact": Kind.FACT, "env": Kind.ENV}
_NEVER = -1
_ABSENT = object()


class Values:
    """What the names of one kind are worth before one event: as last written, else as the launch gave them."""

    __slots__ = ("_at", "_given", "_history", "_kind", "_last")

    def __init__(self, history: History, kind: str, at: int) -> None:
        self._history, self._kind, self._at = history, _KINDS[kind], at
        self._last, self._given = history.last, history.given(kind)

    def get(self, name: str, default: object = None, /) -> Json | Unknown:
        """Return the value of a setting (not of a part of one), variable, fact or environment variable.

        Args:
            name: of a whole.
            default: what it is worth when nobody wrote or gave it; of a variable, the declared default.
        """
        at = self._last.get(name, _NEVER)
        history = self._history
        if name not in history.parts:
            if at == _NEVER:
                return self._given.get(name, default)  # type: ignore[arg-type]
            event = history.trace[at]
            if at < self._at and event[KIND] is self._kind:
                return event[VALUE]
        at = next(history.writes(self._at, self._kind, name), _NEVER)
        if at == _NEVER:
            return self._given.get(name, default)  # type: ignore[arg-type]
        event = history.trace[at]
        return event[VALUE] if event[NAME] == name else self._put_together(name)

    def _put_together(self, name: str) -> Json | Unknown:
        """Return the last whole value with the parts written since in their places."""
        value: Json | Unknown = self._given.get(name)
        parts: list[Event] = []
        for at in self._history.writes(self._at, self._kind, name):
            event = self._history.trace[at]
            if event[NAME] == name:
                value = event[VALUE]
                break
            parts.append(event)
        for event in reversed(parts):
            value = _with_part(value if isinstance(value, dict) else {}, event[NAME].split(".")[1:], event[VALUE])
        return value


class Moment:
    """One point of a run: before one event of its trace.

    Attributes:
        at: the index of that event.
        context: what compiled rules read, where they made the run.
    """

    __slots__ = ("_history", "_values", "at", "context")

    def __init__(self, history: History, at: int) -> None:
        self._history, self.at, self.context = history, at, history.context
        self._values: dict[str, Values] = {}

    def values(self, kind: str) -> Values:
        """Return the values of one kind of name: `setting`, `var`, `fact` or `env`."""
        values = self._values.get(kind)
        if values is None:
            values = self._values[kind] = Values(self._history, kind, self.at)
        return values

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
    """The trace of one run, by name; made at no cost, because most runs are asked little or nothing.

    Attributes:
        parts: of a structured setting, the parts that some rule of the release writes.
        context: what compiled rules read, where they made the run.
    """

    __slots__ = ("_inputs", "_last", "_names", "_written", "context", "parts", "trace")

    def __init__(self, run: Run, inputs: Inputs, parts: Mapping[str, Sequence[str]]) -> None:
        self.trace, self.context, self.parts, self._inputs = run.trace, run.context, parts, inputs
        self._last: dict[str, int] | None = None
        self._names: list[str] | None = None
        self._written: dict[tuple[Kind, str], list[int]] = {}

    @property
    def last(self) -> dict[str, int]:
        """Where each name was written last: mostly that is before the event asked about."""
        if self._last is None:
            self._last = {event[NAME]: at for at, event in enumerate(self.trace)}
        return self._last

    def given(self, kind: str) -> Mapping[str, Json]:
        """Return what the names of a kind are worth before any rule runs."""
        inputs = self._inputs
        if kind == "setting":
            return inputs.raw
        return inputs.facts if kind == "fact" else inputs.env if kind == "env" else {}

    def returned(self, statement: int, before: int) -> int | None:
        """Return where in the trace *statement* ended its step, if it did before an event."""
        at = self.last.get(name_of_return(statement), before)
        return at if at < before else None

    def before(self, event: int) -> Moment:
        """Return the point before event *event* of the trace; made anew, who asks more than once keeps it."""
        return Moment(self, event)

    def last_write(self, before: int, kind: str, name: str) -> int | None:
        """Return the index of the last event before *before* that wrote *name*, part of it, or what it is part of."""
        head, dot, _ = name.partition(".")
        if not dot and name not in self.parts:
            at = self.last.get(name)
            if at is None or (at < before and self.trace[at][KIND] is _KINDS[kind]):
                return at
        writes = self.writes(before, _KINDS[kind], head)
        return next((at for at in writes if not dot or touches(self.trace[at][NAME], name)), None)

    def writes(self, before: int, kind: Kind, head: str) -> Iterator[int]:
        """Yield the events of one kind before *before* that wrote *head* or a part of it, the last first."""
        written = self._written.get((kind, head))
        if written is None:
            places = [at for at in self._places(head) if self.trace[at][KIND] is kind]
            written = self._written[kind, head] = places[::-1]
        for at in written:
            if at < before:
                yield at

    def _places(self, name: str) -> list[int]:
        """Return where a name, or a part of what it names, stands in the trace."""
        parts = self.parts.get(name)
        if parts is not None:
            names = {name, *parts}
            return [at for at, event in enumerate(self.trace) if event[NAME] in names]
        if self._names is None:
            self._names = [event[NAME] for event in self.trace]
        places: list[int] = []
        at = -1
        for _ in range(self._names.count(name)):
            at = self._names.index(name, at + 1)
            places.append(at)
        return places


def touches(written: str, read: str) -> bool:
    """Return whether a write to *written* writes *read*, a part of it, or the whole that it is a part of."""
    return written == read or written.startswith(read + ".") or read.startswith(written + ".")


def _with_part(node: dict[str, Json], path: Sequence[str], value: Json) -> dict[str, Json]:
    head, *rest = path
    child = node.get(head)
    return {**node, head: _with_part(child if isinstance(child, dict) else {}, rest, value) if rest else value}
