"""Takes launches through both ways: the engine's answers, kept where asked, and ours.

Knows no layout; what it yields is counted by `archcap.verify.agreement`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from hashlib import sha256
from typing import TypeVar

from archcap.errors import RequestError
from archcap.model.base import JsonObject
from archcap.resolver import resolve
from archcap.snapshot import Snapshot
from archcap.verify.answers import Answer, AnswersFile
from archcap.verify.compare import Comparison, compare
from archcap.verify.devices import machine_of
from archcap.verify.engine_process import Engine, Environment, NotRun
from archcap.verify.launches import Launch

T = TypeVar("T")


def limited(found: list[T], limit: int | None, name: Callable[[T], str]) -> list[T]:
    """Return at most *limit* of *found*: always the same ones, spread over all."""
    if limit is None or len(found) <= limit:
        return found
    return sorted(found, key=lambda one: sha256(name(one).encode()).hexdigest())[:limit]


def compared(launch: Launch, answer: Answer, snapshot: Snapshot, only: Collection[str] = frozenset()) -> Comparison:
    """Return the comparison of the engine's answer with ours.

    Raises:
        DataError: the registry is broken.
    """
    try:
        ours = resolve(launch.request(), snapshot)
    except RequestError as error:
        return compare(launch, answer, error.message, only)
    return compare(launch, answer, ours, only)


class Run:
    """Asks the engine what has not been answered yet.

    Attributes:
        reused: answers that were there already.
    """

    def __init__(self, engine: Engine, environment: Environment, snapshot: Snapshot, kept: AnswersFile | None) -> None:
        self._engine = engine
        self._fingerprint = environment.fingerprint()
        self._snapshot = snapshot
        self._kept = kept
        self.reused = 0

    def answers(self, launches: Iterable[Launch]) -> Iterator[tuple[Launch, Answer | NotRun]]:
        """Yield every launch with its answer: first those that are known, then the others, machine by machine.

        Raises:
            RequestError: a device cannot be faked, or the engine cannot be run.
        """
        waiting: dict[str, list[tuple[Launch, str]]] = {}
        machines: dict[str, JsonObject] = {}
        for launch in launches:
            machine = self._machine(launch)
            key = launch.key([self._fingerprint, machine])
            known = self._kept.get(key) if self._kept is not None else None
            if known is not None:
                self.reused += 1
                yield launch, known
                continue
            place = f"{launch.gpu} {launch.count} {sorted(launch.env.items())}"
            machines[place] = machine
            waiting.setdefault(place, []).append((launch, key))
        for place, asked in waiting.items():
            yield from self._asked(asked, machines[place])

    def _machine(self, launch: Launch) -> JsonObject:
        known = self._snapshot.hardware.get(launch.gpu)
        if known is None:
            said = f"launch {launch.id} runs on {launch.gpu!r}, which hardware.yaml does not know"
            raise RequestError("unknown-hardware", said, "see capctl list hardware")
        return machine_of(launch.gpu, known, launch.count)

    def _asked(self, asked: list[tuple[Launch, str]], machine: JsonObject) -> Iterator[tuple[Launch, Answer | NotRun]]:
        keys = {id(launch): key for launch, key in asked}
        env = asked[0][0].env
        for launch, answer in self._engine.answers([launch for launch, _ in asked], machine, env):
            if self._kept is not None and isinstance(answer, Answer):
                self._kept.add(keys[id(launch)], launch, answer)
            yield launch, answer
