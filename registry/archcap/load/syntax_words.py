"""Words for what the YAML parser says: what is wrong, where, and what to do. Knows only the parser's messages."""

from __future__ import annotations

import yaml

from archcap.errors import Problem

_WORDS = {
    "mapping values are not allowed in this context": (
        '": " inside unquoted text starts a mapping', "put the text in quotes",
    ),
    "did not find expected key": (
        "the line fits none of the blocks above it", "check its indentation and the quotes before it",
    ),
    "did not find expected '-' indicator": (
        "a list and a mapping are mixed at one level", "check the indentation",
    ),
    "did not find expected ',' or ']'": (
        "a [ list is not closed or lacks a comma", "close it, or quote text that holds , [ ] { }",
    ),
    "did not find expected ',' or '}'": (
        "a { mapping is not closed or lacks a comma", "close it, or quote text that holds , [ ] { }",
    ),
    "did not find expected node content": (
        "a value is missing", "complete it; the file may be truncated",
    ),
    "found unexpected end of stream": (
        "a quote that opens here is never closed", "close it; the file may be truncated",
    ),
    "found character that cannot start any token": (
        "unquoted text cannot start with this character", "put the text in quotes",
    ),
    "but found another document": (
        "a second document starts here", "keep one document per file: remove the ---",
    ),
    "could not find expected ':'": (
        "a key without a colon", 'write "key: value"; the file may be truncated',
    ),
    "found unknown escape character": (
        "unknown escape in double quotes", "double the backslash or use single quotes",
    ),
    "control characters are not allowed": (
        "holds a control character", "remove it",
    ),
}

_TOLD_BY_THEIR_START = frozenset({"found unexpected end of stream", "could not find expected ':'"})


def syntax_problem(name: str, data: bytes, error: yaml.YAMLError) -> Problem:
    """Return the problem that *error* stands for.

    Args:
        name: how problems call the file.
        data: the file's bytes, to find the line of reader errors.
        error: what the parser raised.
    """
    said = str(getattr(error, "problem", None) or getattr(error, "reason", None) or error)
    message, hint = _WORDS.get(said, (f"is no valid YAML: {said}", "correct the syntax"))
    return Problem(name, _line(data, error, said), "", message, hint=hint)


def _line(data: bytes, error: yaml.YAMLError, said: str) -> int | None:
    opened = said in _TOLD_BY_THEIR_START
    mark = getattr(error, "context_mark" if opened else "problem_mark", None) or getattr(error, "problem_mark", None)
    if mark is not None:
        return int(mark.line) + 1
    position = getattr(error, "position", None)
    return data.count(b"\n", 0, position) + 1 if isinstance(position, int) else None
