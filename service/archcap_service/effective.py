"""The registry as it stands: a base, the overrides of one revision laid over it, and what has been answered from it.

A `State` never changes but for its memory of answers, so whoever holds one sees one revision. Knows no web.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Generic, TypeAlias, TypeVar

from archcap.snapshot import Snapshot
from archcap_service.overrides import Override, OverrideProblem, apply_overrides
from archcap_service.store.revisions import Revision, Stored

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
Question: TypeAlias = tuple[bytes, bytes]
"""The path and the body of a POST, as they came."""
OVERHEAD = 300
"""Bytes a remembered answer takes besides its content."""


class Memory(Generic[K, V]):
    """A bounded memory of answers; the oldest used go first.

    Args:
        limit_bytes: how much it may hold.
    """

    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._held: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self.bytes = 0

    def get(self, key: K) -> V | None:
        """Return what is remembered under *key*."""
        found = self._held.get(key)
        if found is None:
            return None
        self._held.move_to_end(key)
        return found[0]

    def put(self, key: K, value: V, size: int) -> None:
        """Remember *value*, forgetting what was used least lately where there is no room.

        Args:
            key: what it is found by.
            value: the answer.
            size: of both, in bytes.
        """
        if size > self._limit or key in self._held:
            return
        self._held[key] = value, size
        self.bytes += size
        while self.bytes > self._limit:
            _, (_, dropped) = self._held.popitem(last=False)
            self.bytes -= dropped


@dataclass(frozen=True, slots=True)
class Document:
    """An answer to a GET.

    Attributes:
        body: its bytes.
        etag: strong, in quotes.
        engine: what it is about, for counting.
        release: the release that answered.
        exact: whether that is the one asked for.
        architecture: the architecture it is about.
    """

    body: bytes
    etag: bytes
    engine: str | None = None
    release: str | None = None
    exact: bool = True
    architecture: str | None = None


def document(
    body: bytes,
    engine: str | None = None,
    release: str | None = None,
    exact: bool = True,
    architecture: str | None = None,
) -> Document:
    """Return *body* as a document; the ETag is a digest of the bytes."""
    tag = blake2b(body, digest_size=12).hexdigest()
    return Document(body, f'"{tag}"'.encode(), engine, release, exact, architecture)


@dataclass(frozen=True)
class State:
    """One revision, ready to answer.

    Attributes:
        snapshot: the registry with the overrides laid over it.
        base: the registry without them.
        revision: which revision.
        overrides: those that hold.
        unfit: those of them that no longer fit the registry and are left out.
        recent: the newest revisions, the newest first.
        documents: answers to GETs by canonical path.
        answers: answers to repeated questions.
        making: held by whoever makes a document.
    """

    snapshot: Snapshot
    base: Snapshot
    revision: Revision
    overrides: tuple[Override, ...] = ()
    unfit: tuple[tuple[Override, tuple[OverrideProblem, ...]], ...] = ()
    recent: tuple[Revision, ...] = ()
    documents: dict[str, Document] = field(default_factory=dict)
    variants: Memory[str, Document] = field(default_factory=lambda: Memory(16 << 20))
    answers: Memory[Question, bytes] = field(default_factory=lambda: Memory(64 << 20))
    making: threading.Lock = field(default_factory=threading.Lock)

    @property
    def next_expiry(self) -> float | None:
        """When the next override ends, as a timestamp."""
        ends = [one.statement.expires for one in self.overrides if one.statement.expires is not None]
        return min(ends).timestamp() if ends else None


def state_of(
    stored: Stored, base: Snapshot, recent: tuple[Revision, ...], previous: State | None, answer_bytes: int
) -> State:
    """Return the state of *stored*.

    Args:
        stored: a revision with its overrides.
        base: the registry it lies on.
        recent: the newest revisions.
        previous: the state before, which is built upon where the new one only adds.
        answer_bytes: memory for repeated resolutions.
    """
    old = previous.overrides if previous is not None and previous.base.digest == base.digest else None
    if previous is not None and old is not None and stored.overrides[: len(old)] == old:
        applied = apply_overrides(previous.snapshot, stored.overrides[len(old) :], base)
        unfit = previous.unfit + applied.unfit
    else:
        applied = apply_overrides(base, stored.overrides)
        unfit = applied.unfit
    answers: Memory[Question, bytes] = Memory(answer_bytes)
    return State(applied.snapshot, base, stored.revision, stored.overrides, unfit, recent, answers=answers)
