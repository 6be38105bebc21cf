"""Chains of steps that call and definitions that use each other: none may come back to itself, or grow without end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from archcap.rules.lower import Place
from archcap.rules.parse import Flaw

MAX_CALLS, MAX_USES = 12, 20

Edges = Mapping[str, Sequence[str]]
"""Name -> what it calls or uses."""


def call_places(edges: Edges) -> Iterator[Place]:
    """Yield what is wrong with steps that call each other."""
    for chain in cycles(edges):
        yield Place(chain[0], "", Flaw(f"calls itself: {' → '.join((*chain, chain[0]))}"))
    for name in too_deep(edges, MAX_CALLS):
        yield Place(name, "", Flaw(f"calls more than {MAX_CALLS} steps deep"))


def use_places(edges: Edges) -> Iterator[Place]:
    """Yield what is wrong with definitions that use each other."""
    for chain in cycles(edges):
        yield Place(None, f"define.{chain[0]}", Flaw(f"uses itself: {' → '.join((*chain, chain[0]))}"))
    for name in too_deep(edges, MAX_USES):
        yield Place(None, f"define.{name}", Flaw(f"uses definitions more than {MAX_USES} deep"))


def cycles(edges: Edges) -> Iterator[tuple[str, ...]]:
    """Yield one chain per cycle, from its first name in the order of *edges*."""
    done: set[str] = set()
    for start in edges:
        if start in done:
            continue
        stack = [(start, iter(edges[start]))]
        path: dict[str, None] = {start: None}
        while stack:
            name, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                done.add(name)
                del path[name]
                stack.pop()
            elif following in path:
                names = list(path)
                yield tuple(names[names.index(following) :])
            elif following not in done and following in edges:
                path[following] = None
                stack.append((following, iter(edges[following])))


def too_deep(edges: Edges, limit: int) -> Iterator[str]:
    """Yield the names from which a chain has *limit* links or more, the first of each; those of cycles are not."""
    reached = set(edges)
    for _ in range(limit):
        reached = {name for name, following in edges.items() if not reached.isdisjoint(following)}
    called = {one for name in reached for one in edges[name]}
    yield from (name for name in edges if name in reached - called)
