"""Puts the indexes of a file's pieces together, and turns them into plain lists and back for the cache."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import cast

from archcap.model.base import Json
from archcap.scanner.chunks import Chunk
from archcap.scanner.index import Class, FileIndex, Function, Import, Member, Span, Value
from archcap.scanner.sites import Site

VERSION = 8
"""Of the cached form: raise it whenever an index says something it did not say before."""


def compose(parts: Iterable[tuple[Chunk, FileIndex]]) -> FileIndex:
    """Return the index of a file from those of its pieces, with line numbers of the file."""
    whole = FileIndex()
    for chunk, part in parts:
        _add(whole, part, chunk.line - (chunk.owner is not None), chunk.owner)
    return whole


def _add(whole: FileIndex, part: FileIndex, by: int, owner: str | None) -> None:
    for name, imports in part.imports.items():
        whole.imports.setdefault(name, []).extend(Import(i[0], i[1], i[2], i[3] + by, i[4]) for i in imports)
    whole.stars.extend(Import(i[0], i[1], i[2], i[3] + by, i[4]) for i in part.stars)
    for name, values in part.values.items():
        whole.values.setdefault(name, []).extend(Value(_moved(v[0], by), v[1], v[2]) for v in values)
    for name, functions in part.functions.items():
        whole.functions.setdefault(name, []).extend(_moved_functions(functions, by))
    for name, classes in part.classes.items():
        if owner is None:
            whole.classes.setdefault(name, []).extend(_moved_class(c, by) for c in classes)
        else:
            _extend(whole.classes[name][-1], classes[0], by)
    whole.patches.extend((c, n, Member(_moved(m[0], by), m[1], m[2])) for c, n, m in part.patches)
    whole.calls.extend(_moved(span, by) for span in part.calls)


def _moved(span: Span, by: int) -> Span:
    return (span[0] + by, span[1], span[2] + by, span[3])


def _moved_functions(functions: Sequence[Function], by: int) -> list[Function]:
    return [Function(_moved(f[0], by), f[1], f[2], f[3]) for f in functions]


def _moved_members(members: Sequence[Member], by: int) -> list[Member]:
    return [Member(_moved(m[0], by), m[1], m[2]) for m in members]


def _moved_class(made: Class, by: int) -> Class:
    return Class(
        _moved(made.span, by),
        made.bases,
        made.decorators,
        made.guards,
        {name: _moved_functions(functions, by) for name, functions in made.methods.items()},
        {name: _moved_members(members, by) for name, members in made.members.items()},
        {name: _moved(span, by) for name, span in made.annotations.items()},
    )


def _extend(into: Class, more: Class, by: int) -> None:
    for name, functions in more.methods.items():
        moved = _moved_functions(functions, by)
        into.methods.setdefault(name, []).extend(moved)
        into.span = (*into.span[:2], *moved[-1].span[2:])
    for name, members in more.members.items():
        into.members.setdefault(name, []).extend(_moved_members(members, by))
    for name, span in more.annotations.items():
        into.annotations[name] = _moved(span, by)


def dumps(index: FileIndex) -> str:
    """Return an index as JSON text, without its sites."""
    classes = {
        name: [[c.span, c.bases, c.decorators, c.guards, c.methods, c.members, c.annotations] for c in made]
        for name, made in index.classes.items()
    }
    parts = [index.imports, index.stars, index.values, index.functions, classes, index.patches, index.calls]
    return json.dumps(parts, separators=(",", ":"))


def loads(text: str) -> FileIndex:
    """Return the index that *text* holds. What was a tuple is a list: nothing is changed in place."""
    imports, stars, values, functions, classes, patches, calls = json.loads(text)
    return FileIndex(
        {n: [Import._make(i) for i in many] for n, many in imports.items()},
        [Import._make(i) for i in stars],
        {n: [Value._make(v) for v in many] for n, many in values.items()},
        {n: [Function._make(f) for f in many] for n, many in functions.items()},
        {n: [_class(c) for c in many] for n, many in classes.items()},
        [(c, n, Member._make(m)) for c, n, m in patches],
        calls,
    )


def load_sites(text: str) -> list[Site]:
    """Return the sites that *text* holds."""
    return [Site(f, ln, o, s, tuple(n), tuple(r), neg) for f, ln, o, s, n, r, neg in json.loads(text)]


def _class(value: Sequence[Json]) -> Class:
    span, bases, decorators, guards, methods, members, annotations = value
    return Class(
        cast(Span, span),
        cast("tuple[str, ...]", bases),
        cast("tuple[str, ...]", decorators),
        cast("tuple[str, ...]", guards),
        {n: [Function._make(f) for f in many] for n, many in cast("dict[str, list[list[Json]]]", methods).items()},
        {n: [Member._make(m) for m in many] for n, many in cast("dict[str, list[list[Json]]]", members).items()},
        cast("dict[str, Span]", annotations),
    )
