"""Which settings stand behind a blocker: the only ones worth changing to cure it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from archcap.resolver.outcome import Outcome, statement_of
from archcap.rules.run import STATEMENT, Reference, StatementInfo

_WRITTEN = ("setting", "var", "fact")


def provenance(outcome: Outcome, event: int) -> list[str]:
    """Return the settings behind event *event* of the trace, the nearest first.

    What could have ended the step before counts, too. Where a setting was written, its writer's conditions are
    followed; where nobody wrote it, those of every statement that could have. Whatever else the user gave comes last:
    a step runs because another one calls it.
    """
    first = statement_of(outcome.subject, outcome.run.trace[event][STATEMENT])
    queue: deque[Reference] = deque(_read_by(first))
    for earlier in reversed(first.returns_before):
        queue.extend(_read_by(statement_of(outcome.subject, earlier)))
    seen: set[Reference] = set()
    names: dict[str, None] = {}
    while queue:
        reference = queue.popleft()
        if reference in seen:
            continue
        seen.add(reference)
        if reference.kind in ("setting", "user_set"):
            names[reference.key.split(".", 1)[0]] = None
        queue.extend(_behind(outcome, reference, event))
    return list(names | dict.fromkeys(outcome.subject.settings))


def named(outcome: Outcome, event: int) -> list[str]:
    """Return the settings that the statement behind event *event* of the trace reads itself."""
    read = _read_by(statement_of(outcome.subject, outcome.run.trace[event][STATEMENT]))
    return list(dict.fromkeys(one.key.split(".", 1)[0] for one in read if one.kind in ("setting", "user_set")))


def read_of_peer(outcome: Outcome, event: int) -> list[str]:
    """Return the settings of the peer that the statement behind event *event* of the trace reads."""
    read = _read_by(statement_of(outcome.subject, outcome.run.trace[event][STATEMENT]))
    spans = outcome.subject.view.spans
    names = dict.fromkeys(one.key.split(".", 1)[0] for one in read if one.kind == "peer")
    return [name for name in names if name in spans]


def _read_by(info: StatementInfo) -> Iterator[Reference]:
    for guard in reversed(info.guards):
        yield from guard.reads
    yield from info.reads


def _behind(outcome: Outcome, reference: Reference, event: int) -> Iterable[Reference]:
    if reference.kind not in _WRITTEN:
        return
    at = outcome.history.last_write(event, reference.kind, reference.key)
    if at is not None:
        yield from _read_by(statement_of(outcome.subject, outcome.run.trace[at][STATEMENT]))
        return
    prefix = "" if reference.kind == "setting" else f"{reference.kind}."
    for index in outcome.subject.view.program.writers.get(prefix + reference.key, ()):
        info = statement_of(outcome.subject, index)
        yield from _read_by(info)
        for earlier in info.returns_before:
            yield from _read_by(statement_of(outcome.subject, earlier))
