"""Facts, variables, assumptions and environment that nothing uses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from archcap.lint.check import Check, EngineContext, Flaw, Placed
from archcap.model.architectures import Family
from archcap.model.base import Json
from archcap.model.engine import Names

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WHAT = {"facts": "fact", "vars": "variable", "assumptions": "assumption", "env": "environment variable"}


def _find(context: EngineContext) -> Iterator[Placed]:
    if not context.parts.rules or any(not document.readable for document in context.parts.documents.get("rules", ())):
        return
    read = _words(context)
    for part in context.parts.names:
        for section, name in _declared(part.record):
            if name not in read:
                yield Placed(part.document, Flaw((section, name), f"no rule uses this {_WHAT[section]}"))


def _declared(names: Names) -> Iterator[tuple[str, str]]:
    for section in _WHAT:
        for name, entry in getattr(names, section).items():
            if getattr(entry, "plan", None) is None:
                yield section, name


def _words(context: EngineContext) -> set[str]:
    """Return every word of every expression and text; writing a name counts as using it, declaring it does not."""
    words: set[str] = set()
    for part in context.parts.rules:
        value = part.document.value
        sections = value.values() if isinstance(value, dict) else ()
        for section in sections:
            for body in section.values() if isinstance(section, dict) else ():
                words.update(word for text in _texts(body) for word in _WORD.findall(text))
    if context.parts.known_issues is not None:
        texts = _texts(context.parts.known_issues.document.value)
        words.update(word for text in texts for word in _WORD.findall(text))
    for family in context.parts.families:
        words.update(word for text in _conditions(family.record) for word in _WORD.findall(text))
    return words


def _conditions(family: Family) -> Iterable[str]:
    for architecture in family.architectures.values():
        for entries in architecture.support.values():
            yield from (entry.when for entry in entries if entry.when is not None)


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _texts(item)


CHECK = Check(id="unused-names", severity="warning", tip="use it or remove it", find=_find)
