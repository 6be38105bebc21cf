"""Strict YAML with the C parser: one pass builds the values, a second one finds lines, only when something is wrong.

A document is refused for duplicate keys, keys that are no text, anchors, aliases, tags, merge keys, several documents,
tabs, another encoding than UTF-8, too much depth or size, and for scalars YAML readers disagree on (`scalars`).
Knows no record.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TypeAlias, cast

import yaml
from yaml._yaml import CParser
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from archcap.errors import Problem
from archcap.load.scalars import Scalar, Trap, resolve_plain
from archcap.load.syntax_words import syntax_problem
from archcap.model.base import Json

MAX_BYTES = 20 * 1024 * 1024
MAX_DEPTH = 64

DataPath: TypeAlias = tuple[str | int, ...]

_PLAIN = "plain"
_QUOTED = "quoted"
_MERGE = "<<"
_SUSPECT = re.compile(rb"(?:^|[\s\[\]{},:-])(?:[&*][0-9A-Za-z_-]|!(?!= ))", re.MULTILINE)
_UNSEEN = object()


class TooDeepError(Exception):
    """The document nests deeper than `MAX_DEPTH`."""


class _Composer(CParser):
    """The C parser with the least possible resolver: it only tells plain scalars from quoted ones."""

    def __init__(self, data: bytes) -> None:
        CParser.__init__(self, data)
        self._depth = 0

    def resolve(self, kind: type[Node], value: object, implicit: bool | tuple[bool, bool] | None) -> str:
        return _PLAIN if implicit is True or (isinstance(implicit, tuple) and implicit[0]) else _QUOTED

    def descend_resolver(self, parent: Node | None, index: object) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise TooDeepError

    def ascend_resolver(self) -> None:
        self._depth -= 1


def _compose(data: bytes) -> Node | None:
    parser = _Composer(data)
    try:
        return parser.get_single_node()
    finally:
        parser.dispose()


class Builder:
    """Turns composed nodes into plain values; remembers every distinct plain scalar it has resolved.

    Attributes:
        clean: False once something was met that `Document.problems` has to report.
    """

    def __init__(self) -> None:
        self.clean = True
        self._plain: dict[str, Scalar | Trap] = {}

    def scalar(self, text: str) -> Scalar:
        """Return what plain *text* means; a trap stands for what was meant, and clears `clean`."""
        value = self._plain.get(text, _UNSEEN)
        if value is _UNSEEN:
            value = self._plain[text] = resolve_plain(text)
        if type(value) is Trap:
            self.clean = False
            return value.meant
        return cast(Scalar, value)

    def build(self, node: Node) -> Json:
        """Return the value of *node*, depth first."""
        kind = type(node)
        tag = node.tag
        if kind is ScalarNode:
            if tag == _PLAIN:
                return self.scalar(node.value)
            return str(node.value)
        if kind is MappingNode:
            return self._mapping(node)
        return [self.build(item) for item in node.value]

    def _mapping(self, node: Node) -> dict[str, Json]:
        built: dict[str, Json] = {}
        for key_node, value_node in node.value:
            key = self._key(key_node)
            if key in built:
                self.clean = False
                continue
            built[key] = self.build(value_node)
        return built

    def _key(self, node: Node) -> str:
        if type(node) is not ScalarNode:
            self.clean = False
            return "?"
        text: str = node.value
        if node.tag == _PLAIN and (type(self.scalar(text)) is not str or text == _MERGE):
            self.clean = False
        return text


class Document:
    """One file: its value, what is wrong with its YAML, and where a path into the value stands.

    Attributes:
        name: how problems call the file.
        value: the file's value; None when the YAML cannot be read at all.
        problems: what is wrong with the YAML itself.
    """

    def __init__(self, name: str, data: bytes, builder: Builder | None = None) -> None:
        self.name = name
        self.value: Json = None
        self.problems: tuple[Problem, ...] = ()
        self._data = data
        self._read(builder or Builder())

    @classmethod
    def unreadable(cls, name: str, problem: Problem) -> Document:
        """Return a document without a value."""
        made = cls.__new__(cls)
        made.name, made.value, made.problems, made._data = name, None, (problem,), b""
        return made

    @property
    def readable(self) -> bool:
        """Whether there is a value to check."""
        return self.value is not None

    def _problem(self, line: int | None, message: str, hint: str | None = None, path: str = "") -> Problem:
        return Problem(self.name, line, path, message, hint=hint)

    def _read(self, builder: Builder) -> None:
        self.problems = tuple(_byte_problems(self.name, self._data)) or _once(self._reference_problems())
        if self.problems:
            return
        try:
            node = _compose(self._data)
        except TooDeepError:
            self.problems = (self._problem(None, f"nests deeper than {MAX_DEPTH} levels", "flatten it"),)
        except yaml.YAMLError as error:
            self.problems = (syntax_problem(self.name, self._data, error),)
        else:
            self._take(node, builder)

    def _take(self, node: Node | None, builder: Builder) -> None:
        builder.clean = True
        self.value = builder.build(node) if node is not None else None
        if node is None or (self.value is None and builder.clean):
            self.problems = (self._problem(None, "the file is empty", "restore its content or delete the file"),)
        elif not builder.clean:
            self.problems = _once(_node_problems(self.name, node, ()))

    def _reference_problems(self) -> Iterator[Problem]:
        """Report anchors, aliases and tags; the cheap search first, as few files can hold any."""
        if not _SUSPECT.search(self._data):
            return
        parser = _Composer(self._data)
        try:
            while (event := parser.get_event()) is not None:
                yield from self._event_problems(event)
        except yaml.YAMLError:
            return  # composing reports it
        finally:
            parser.dispose()

    def _event_problems(self, event: yaml.Event) -> Iterator[Problem]:
        line = event.start_mark.line + 1 if event.start_mark is not None else None
        anchor = getattr(event, "anchor", None)
        if isinstance(event, yaml.AliasEvent):
            yield self._problem(line, f"the alias *{anchor} is not allowed", "write the value out")
        elif anchor is not None:
            yield self._problem(line, f"the anchor &{anchor} is not allowed", "remove it and write values out")
        tag = getattr(event, "tag", None)
        if tag is not None:
            yield self._problem(line, f"the tag {tag} is not allowed", "write the plain value")

    @cached_property
    def _root(self) -> Node | None:
        try:
            return _compose(self._data) if self.readable else None
        except (yaml.YAMLError, TooDeepError):  # pragma: no cover - it was composed before
            return None

    def locate(self, path: Sequence[str | int]) -> Located:
        """Return where *path* stands; steps the file does not spell out (short forms) are passed over."""
        found = Located(line=None, path=(), text=None, rest=tuple(path))
        node = self._root
        for index, step in enumerate(path):
            below = _child(node, step) if node is not None else None
            if below is None:
                continue
            line, node = below
            text = node.value if type(node) is ScalarNode and node.tag == _PLAIN else None
            found = Located(line, (*found.path, step), text, tuple(path[index + 1 :]))
        if found.line is None and node is not None:
            return Located(node.start_mark.line + 1, (), None, tuple(path))
        return found


def _once(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    return tuple(dict.fromkeys(problems))


class Located:
    """Where a path stands in a document.

    Attributes:
        line: from 1; None when the document has no value.
        path: the steps the file spells out.
        text: the plain scalar that stands there, as written.
        rest: the steps behind the last one found.
    """

    __slots__ = ("line", "path", "rest", "text")

    def __init__(self, line: int | None, path: DataPath, text: str | None, rest: DataPath) -> None:
        self.line = line
        self.path = path
        self.text = text
        self.rest = rest


def show_path(path: Sequence[str | int]) -> str:
    """Return *path* as problems print it: `settings.page_size[0].type`, `releases["0.5.9"].date`."""
    shown = ""
    for step in path:
        if isinstance(step, int):
            shown += f"[{step}]"
        elif re.fullmatch(r"[\w-]+", step):
            shown += f".{step}" if shown else step
        else:
            shown += f'["{step}"]'
    return shown


def _child(node: Node, step: str | int) -> tuple[int, Node] | None:
    if type(node) is MappingNode and isinstance(step, str):
        for key, value in node.value:
            if type(key) is ScalarNode and key.value == step:
                return key.start_mark.line + 1, value
    if type(node) is SequenceNode and isinstance(step, int) and 0 <= step < len(node.value):
        item = node.value[step]
        return item.start_mark.line + 1, item
    return None


def _byte_problems(name: str, data: bytes) -> Iterator[Problem]:
    if len(data) > MAX_BYTES:
        yield Problem(name, None, "", f"is {len(data)} bytes, more than {MAX_BYTES}", hint="split it")
    elif data.startswith((b"\xff\xfe", b"\xfe\xff")):
        yield Problem(name, 1, "", "is UTF-16", hint="save it as UTF-8")
    elif data.startswith(b"\xef\xbb\xbf"):
        yield Problem(name, 1, "", "starts with a byte order mark", hint="save it as UTF-8 without one")
    else:
        yield from _text_problems(name, data)


def _text_problems(name: str, data: bytes) -> Iterator[Problem]:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        yield Problem(name, line, "", f"byte 0x{data[error.start]:02x} is not UTF-8", hint="save the file as UTF-8")
        return
    for number, row in enumerate(data.split(b"\n"), 1) if b"\t" in data else ():
        if b"\t" in row:
            yield Problem(name, number, "", "holds a tab", hint='indent with spaces, and write "\\t" inside quotes')


def _node_problems(name: str, node: Node, path: DataPath) -> Iterator[Problem]:
    if isinstance(node, ScalarNode):
        value = resolve_plain(node.value) if node.tag == _PLAIN else None
        if isinstance(value, Trap):
            yield Problem(name, node.start_mark.line + 1, show_path(path), value.message, hint=value.hint)
    elif isinstance(node, MappingNode):
        yield from _mapping_problems(name, node, path)
    else:
        for index, item in enumerate(node.value):
            yield from _node_problems(name, item, (*path, index))


def _mapping_problems(name: str, node: MappingNode, path: DataPath) -> Iterator[Problem]:
    first: dict[str, int] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, ScalarNode):
            yield Problem(name, line, show_path(path), "a list or mapping stands as a key", hint="use text as the key")
            continue
        below = (*path, key.value)
        yield from _key_problems(name, key, below)
        if key.value in first:
            message = f"the key is given twice, first in line {first[key.value]}"
            yield Problem(name, line, show_path(below), message, hint="keep one of them")
            continue
        first[key.value] = line
        yield from _node_problems(name, value, below)


def _key_problems(name: str, key: ScalarNode, path: DataPath) -> Iterator[Problem]:
    if key.tag != _PLAIN:
        return
    value = resolve_plain(key.value)
    line = key.start_mark.line + 1
    if key.value == _MERGE:
        yield Problem(name, line, show_path(path), "merge keys are not allowed", hint="write the keys out")
    elif not isinstance(value, str):
        found = f'{value.message if isinstance(value, Trap) else "the key is no text"}'
        yield Problem(name, line, show_path(path), found, hint=f'write "{key.value}":')
