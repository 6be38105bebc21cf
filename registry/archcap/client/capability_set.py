"""A capability's architectures as a set that is looked up when it is first used. Knows no client and no network."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Set


class CapabilitySet(Set[str]):
    """Equal to the frozenset of the architectures that have a capability, and hashed and pickled as one.

    Nothing is looked up until a member is asked for, so it may stand at the top of a module.

    Args:
        capability: its name.
        members: what it holds, or how to find out; called once.
    """

    __slots__ = ("_find", "_held", "capability")

    def __init__(self, capability: str, members: frozenset[str] | Callable[[], frozenset[str]]) -> None:
        self.capability = capability
        self._held: frozenset[str] | None = members if isinstance(members, frozenset) else None
        self._find = None if isinstance(members, frozenset) else members

    def _members(self) -> frozenset[str]:
        held = self._held
        if held is None:
            assert self._find is not None
            held = self._held = self._find()
        return held

    def __contains__(self, name: object) -> bool:
        held = self._held
        return name in (self._members() if held is None else held)

    def __iter__(self) -> Iterator[str]:
        return iter(self._members())

    def __len__(self) -> int:
        return len(self._members())

    def __hash__(self) -> int:
        return hash(self._members())

    def __repr__(self) -> str:
        return f"CapabilitySet({self.capability!r}, {set(self._members()) or '{}'})"

    def __reduce__(self) -> tuple[object, ...]:
        return CapabilitySet, (self.capability, self._members())

    @classmethod
    def _from_iterable(cls, it: Iterable[str]) -> frozenset[str]:  # type: ignore[override]
        return frozenset(it)

    def copy(self) -> frozenset[str]:
        """Return the members as a frozenset."""
        return self._members()

    def union(self, *others: Iterable[str]) -> frozenset[str]:
        """Return the members and those of *others*."""
        return self._members().union(*others)

    def intersection(self, *others: Iterable[object]) -> frozenset[str]:
        """Return the members that all *others* have too."""
        return self._members().intersection(*others)

    def difference(self, *others: Iterable[object]) -> frozenset[str]:
        """Return the members that none of *others* has."""
        return self._members().difference(*others)

    def symmetric_difference(self, other: Iterable[str]) -> frozenset[str]:
        """Return what is in exactly one of both."""
        return self._members().symmetric_difference(other)

    def issubset(self, other: Iterable[object]) -> bool:
        """Return whether *other* has every member."""
        return self._members().issubset(other)

    def issuperset(self, other: Iterable[object]) -> bool:
        """Return whether every one of *other* is a member."""
        return self._members().issuperset(other)
