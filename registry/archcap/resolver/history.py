"""What a run knew at one point of its trace: who wrote a name last, and what everything was worth then.

Reads the trace where it is asked to; nothing is replayed, because settings are hundreds and questions are few.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from archcap.model.base import Json
from archcap.rules.run import KIND, NAME, STATEMENT, VALUE, Event, Inputs, Kind, Run, Unknown

_KINDS: Mapping[str, Kind] = {"setting": Kind.SET, "var": Kind.VAR, "fact": Kind.FACT, "env": Kind.ENV}
_RETURN, _NEVER = Kind.RETURN, -1
_ABSENT = object()


class Values:
    """What the names of one kind are worth before one event: as last written, else as the launch gave them."""

    __slots__ = ("_at", "_history", "_kind")

    def __init__(self, history: History, kind: str, at: int) -> None:
        self._history, self._kind, self._at = history, kind, at

    def get(self, name: str, default: object = None, /) -> Json | Unknown:
        """Return the value of a setting (not of a part of one), variable, fact or environment variable."""
        return self._history.value(self._at, self._kind, name, default)


class Moment:
    """One point of a run: before one event of its trace."""

    __slots__ = ("_history", "at")

    def __init__(self, history: History, at: int) -> None:
        self._history, self.at = history, at

    def values(self, kind: str) -> Values:
        """Return the values of one kind of name: `setting`, `var`, `fact` or `env`."""
        return Values(self._history, kind, self.at)

    def value(self, kind: str, name: str) -> Json | Unknown:
        """Return the value of a setting, of a part of one (`a.b`), a variable, fact or environment variable."""
        value = self._history.value(self.at, kind, name, _ABSENT)
        if value is not _ABSENT:
            return value
        head, *path = name.split(".")
        value = self._history.value(self.at, kind, head)
        for part in path:
            value = value.get(part) if isinstance(value, dict) else None
        return value


class History:
    """The trace of one run, by name; made at no cost, because most runs are asked little or nothing."""

    __slots__ = ("_given", "_last", "_moments", "_names", "_parts", "_returns", "_written", "run")

    def __init__(self, run: Run, inputs: Inputs) -> None:
        self.run = run
        self._given: Mapping[str, Mapping[str, Json]] = {
            "setting": inputs.raw, "var": {}, "fact": inputs.facts, "env": inputs.env,
        }  # fmt: skip
        self._moments: dict[int, Moment] = {}
        self._last: dict[str, int] | None = None
        self._names: list[str] = []
        self._parts: dict[str, list[str]] = {}
        self._returns: dict[int, int] | None = None
        self._written: dict[tuple[Kind, str], list[int]] = {}

    @property
    def returns(self) -> Mapping[int, int]:
        """Where in the trace each statement ended its step."""
        if self._returns is None:
            trace = enumerate(self.run.trace)
            self._returns = {event[STATEMENT]: at for at, event in trace if event[KIND] is _RETURN}
        return self._returns

    def before(self, event: int) -> Moment:
        """Return the point before event *event* of the trace."""
        moment = self._moments.get(event)
        if moment is None:
            moment = self._moments[event] = Moment(self, event)
        return moment

    def value(self, before: int, kind: str, name: str, default: object = None) -> Json | Unknown:
        """Return what a name without parts of its own was worth before an event.

        Args:
            before: index of the event.
            kind: `setting`, `var`, `fact` or `env`.
            name: a whole setting, a variable, fact or environment variable.
            default: what it is worth when nobody wrote or gave it; of a variable, the declared default.
        """
        at = self._find(before, _KINDS[kind], name)
        if at == _NEVER:
            return self._given[kind].get(name, default)  # type: ignore[arg-type]
        event = self.run.trace[at]
        return event[VALUE] if event[NAME] == name else self._put_together(before, kind, name)

    def last_write(self, before: int, kind: str, name: str) -> int | None:
        """Return the index of the last event before *before* that wrote *name*, part of it, or what it is part of."""
        if "." not in name:
            at = self._find(before, _KINDS[kind], name)
            return None if at == _NEVER else at
        writes = self._writes(before, _KINDS[kind], name.partition(".")[0])
        return next((at for at in writes if touches(self.run.trace[at][NAME], name)), None)

    def _find(self, before: int, kind: Kind, head: str) -> int:
        """Return the last event before *before* that wrote *head* or a part of it."""
        last = self._index() if self._last is None else self._last
        at = last.get(head, _NEVER)
        if head not in self._parts and (at == _NEVER or (at < before and self.run.trace[at][KIND] is kind)):
            return at
        return next(self._writes(before, kind, head), _NEVER)

    def _index(self) -> dict[str, int]:
        """Return where each name was written last: mostly that is before the event asked about."""
        names = self._names = [event[NAME] for event in self.run.trace]
        last = self._last = dict(zip(names, range(len(names)), strict=True))
        for name in last:
            if "." in name:
                self._parts.setdefault(name.partition(".")[0], []).append(name)
        return last

    def _writes(self, before: int, kind: Kind, head: str) -> Iterator[int]:
        """Yield the events of one kind before *before* that wrote *head* or a part of it, the last first."""
        written = self._written.get((kind, head))
        if written is None:
            if self._last is None:
                self._index()
            trace = self.run.trace
            named = [at for name in (head, *self._parts.get(head, ())) for at in self._places(name)]
            written = self._written[kind, head] = sorted((at for at in named if trace[at][KIND] is kind), reverse=True)
        for at in written:
            if at < before:
                yield at

    def _places(self, name: str) -> Iterator[int]:
        """Yield where a name stands in the trace."""
        at = -1
        for _ in range(self._names.count(name)):
            at = self._names.index(name, at + 1)
            yield at

    def _put_together(self, before: int, kind: str, name: str) -> Json | Unknown:
        """Return the last whole value with the parts written since in their places."""
        value: Json | Unknown = self._given[kind].get(name)
        parts: list[Event] = []
        for at in self._writes(before, _KINDS[kind], name):
            event = self.run.trace[at]
            if event[NAME] == name:
                value = event[VALUE]
                break
            parts.append(event)
        for event in reversed(parts):
            value = _with_part(value if isinstance(value, dict) else {}, event[NAME].split(".")[1:], event[VALUE])
        return value


def touches(written: str, read: str) -> bool:
    """Return whether a write to *written* writes *read*, a part of it, or the whole that it is a part of."""
    return written == read or written.startswith(read + ".") or read.startswith(written + ".")


def _with_part(node: dict[str, Json], path: Sequence[str], value: Json) -> dict[str, Json]:
    head, *rest = path
    child = node.get(head)
    return {**node, head: _with_part(child if isinstance(child, dict) else {}, rest, value) if rest else value}
