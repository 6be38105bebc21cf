"""Edits YAML as text, so that comments and layout stay: entries taken out, scalars replaced, keys put in order.

Every edit is checked: the new text must read as the old value with the fixes applied, or nothing is changed. Knows
nothing of checks and of files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from archcap.lint.fix import Fix, Put, Remove, Sort
from archcap.load.strict_yaml import DataPath
from archcap.model.base import Json

_COMMENT = re.compile(r"\s*#")


class _Span(NamedTuple):
    start: int
    end: int
    text: str

    def meets(self, other: _Span) -> bool:
        """Return whether two places have something in common."""
        return self.start < other.end and other.start < self.end


class _Step(NamedTuple):
    """A node with the collection it stands in, and its place there."""

    node: Node
    parent: Node | None
    at: int
    key: str | int


def edited(text: str, groups: Sequence[tuple[Fix, ...]]) -> tuple[str, frozenset[tuple[Fix, ...]]]:
    """Return a file's text with fixes applied, and which of them were; those of one group together or not at all.

    Groups whose places overlap wait for the next round; those that the layout does not allow are left out.

    Args:
        text: a YAML file.
        groups: fixes with paths from its top.
    """
    page = _Page(text)
    page.empty([fix for group in groups for fix in group])
    taken: dict[_Span, None] = {}
    done: list[tuple[Fix, ...]] = []
    for group in dict.fromkeys(groups):
        spans = [page.span(fix) for fix in group]
        known = [one for one in spans if one is not None and (one in taken or not any(map(one.meets, taken)))]
        if len(known) == len(group):
            taken.update(dict.fromkeys(known))
            done.append(group)
    made = _replaced(text, taken)
    every = [fix for group in done for fix in group]
    return (made, frozenset(done)) if _reads_as(made, text, every) else (text, frozenset())


def _replaced(text: str, spans: Iterable[_Span]) -> str:
    for span in sorted(spans, reverse=True):
        text = text[: span.start] + span.text + text[span.end :]
    return text


def _reads_as(made: str, text: str, fixes: Sequence[Fix]) -> bool:
    """Return whether a text says what another says with fixes applied, the order of keys included."""
    wanted: Json = yaml.load(text, yaml.BaseLoader)
    for fix in sorted(fixes, key=lambda one: _last_first(one.path)):
        wanted = _applied(wanted, fix)
    try:
        return json.dumps(yaml.load(made, yaml.BaseLoader)) == json.dumps(wanted)
    except yaml.YAMLError:
        return False


def _last_first(path: DataPath) -> tuple[tuple[int, int, str], ...]:
    return tuple((1, -step, "") if isinstance(step, int) else (0, 0, step) for step in path)


def _applied(value: Json, fix: Fix) -> Json:
    """Return a value with one fix applied."""
    path = _spelled(value, fix.path)
    if isinstance(fix, Sort):
        found = _value_at(value, path)
        return _with(value, path, dict(sorted(found.items())) if isinstance(found, dict) else found)
    if isinstance(fix, Put):
        return _with(value, path, fix.value)
    return _without(value, path)


def _spelled(value: Json, path: DataPath) -> DataPath:
    """Return the steps of a path that a value spells out."""
    steps: list[str | int] = []
    for step in path:
        if isinstance(value, dict) and step in value:
            value = value[str(step)]
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            continue
        steps.append(step)
    return tuple(steps)


def _value_at(value: Json, path: DataPath) -> Json:
    for step in path:
        value = value[step] if isinstance(value, list) and isinstance(step, int) else value[str(step)]  # type: ignore[index,call-overload]
    return value


def _with(value: Json, path: DataPath, new: Json) -> Json:
    if not path:
        return new
    if isinstance(value, dict):
        return {key: _with(one, path[1:], new) if key == path[0] else one for key, one in value.items()}
    assert isinstance(value, list)
    return [_with(one, path[1:], new) if index == path[0] else one for index, one in enumerate(value)]


def _without(value: Json, path: DataPath) -> Json:
    parent = _value_at(value, path[:-1])
    if isinstance(parent, dict | list) and len(parent) == 1 and len(path) > 1:
        return _without(value, path[:-1])
    if isinstance(parent, dict):
        return _with(value, path[:-1], {key: one for key, one in parent.items() if key != path[-1]})
    assert isinstance(parent, list)
    return _with(value, path[:-1], [one for index, one in enumerate(parent) if index != path[-1]])


@dataclass
class _Page:
    """A file's text with its nodes."""

    text: str

    def __post_init__(self) -> None:
        self.root: Node | None = yaml.compose(self.text, yaml.SafeLoader)
        self.lines = self.text.splitlines(keepends=True)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))
        self.emptied: set[int] = set()

    def empty(self, fixes: Iterable[Fix]) -> None:
        """Note the collections of which fixes take away everything: they go with it."""
        gone: dict[int, set[int]] = {}
        for fix in fixes:
            steps = list(self._steps(fix.path)) if isinstance(fix, Remove) else []
            if steps and steps[-1].parent is not None:
                parent = steps[-1].parent
                at = gone.setdefault(id(parent), set())
                at.add(steps[-1].at)
                if len(at) == len(_children(parent)):
                    self.emptied.add(id(parent))

    def span(self, fix: Fix) -> _Span | None:
        """Return what a fix replaces by what; None where the layout does not allow it."""
        steps = list(self._steps(fix.path))
        if isinstance(fix, Sort):
            return self._sorted(steps[-1].node if steps else self.root)
        if not steps:
            return None
        if isinstance(fix, Put):
            node = steps[-1].node
            quoted = json.dumps(fix.value)
            return _Span(node.start_mark.index, node.end_mark.index, quoted) if isinstance(node, ScalarNode) else None
        while len(steps) > 1 and (len(_children(steps[-1].parent)) == 1 or id(steps[-1].parent) in self.emptied):
            steps.pop()
        return self._removed(steps[-1])

    def _steps(self, path: DataPath) -> Iterator[_Step]:
        node = self.root
        for key in path:
            children = _children(node)
            at = next((i for i, (name, _, _) in enumerate(children) if name == key), None)
            if at is not None:
                parent, node = node, children[at][2]
                yield _Step(node, parent, at, key)

    def _removed(self, step: _Step) -> _Span | None:
        parent = step.parent
        if isinstance(parent, MappingNode | SequenceNode) and parent.flow_style:
            return self._removed_in_flow(parent, step.at)
        first = _children(parent)[step.at][1].start_mark
        lead = self.lines[first.line][: first.column].strip()
        if lead != ("-" if isinstance(parent, SequenceNode) else ""):
            return None
        return _Span(self.starts[first.line], self.starts[_last_line(step.node) + 1], "")

    def _removed_in_flow(self, parent: Node, at: int) -> _Span:
        children = _children(parent)
        own = children[at]
        if at + 1 < len(children):
            return _Span(own[1].start_mark.index, children[at + 1][1].start_mark.index, "")
        return _Span(children[at - 1][2].end_mark.index, own[2].end_mark.index, "")

    def _sorted(self, node: Node | None) -> _Span | None:
        children = _children(node)
        if not isinstance(node, MappingNode) or not children:
            return None
        if node.flow_style:
            pieces = [(str(name), self._piece(key, value)) for name, key, value in children]
            start, end = children[0][1].start_mark.index, children[-1][2].end_mark.index
            return None if "\n" in self.text[start:end] else _Span(start, end, ", ".join(p for _, p in sorted(pieces)))
        if any(self.lines[k.start_mark.line][: k.start_mark.column].strip() for _, k, _ in children):
            return None
        tops = self._tops(children)
        bottom = _last_line(children[-1][2]) + 1
        ends = [*tops[1:], bottom]
        chunks = [
            (str(name), "".join(self.lines[a:b])) for (name, _, _), a, b in zip(children, tops, ends, strict=True)
        ]
        end = "\r\n" if "\r\n" in self.text else "\n"
        made = "".join(chunk if chunk.endswith("\n") else f"{chunk}{end}" for _, chunk in sorted(chunks))
        return _Span(self.starts[tops[0]], self.starts[bottom], made)

    def _piece(self, key: Node, value: Node) -> str:
        return self.text[key.start_mark.index : value.end_mark.index]

    def _tops(self, children: Sequence[tuple[str | int, Node, Node]]) -> list[int]:
        """Return the first line of each entry of a mapping, with the comments right above it."""
        tops: list[int] = []
        for at, (_, key, _) in enumerate(children):
            line = key.start_mark.line
            least = _last_line(children[at - 1][2]) + 1 if at else line
            while line > least and _COMMENT.match(self.lines[line - 1]):
                line -= 1
            tops.append(line)
        return tops


def _children(node: Node | None) -> list[tuple[str | int, Node, Node]]:
    """Return what a collection holds: key or index, the node that begins the entry, and the value."""
    if isinstance(node, MappingNode):
        return [(key.value, key, value) for key, value in node.value]
    if isinstance(node, SequenceNode):
        return [(index, item, item) for index, item in enumerate(node.value)]
    return []


def _last_line(node: Node) -> int:
    """Return the last line of a node; a block collection's mark points behind the comments that follow it."""
    if isinstance(node, MappingNode | SequenceNode) and not node.flow_style and node.value:
        return max(_last_line(value) for _, _, value in _children(node))
    end = node.end_mark
    return end.line - 1 if end.column == 0 and end.line > node.start_mark.line else end.line
