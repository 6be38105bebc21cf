"""Cuts a file into pieces that change independently: top-level statements, and the methods of large classes.

A piece is what the cache is keyed by: most of a changed file is as it was in the release before. Cutting goes by the
beginnings of lines; a cut in a wrong place (inside a long string) leaves a piece that does not parse, and then the file
is read whole.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

_TOP = re.compile(rb"\n(?=[A-Za-z_@])(?!else\b|elif\b|except\b|finally\b)")
_METHOD = re.compile(rb"\n    (?=def |async def |@)")
_CLASS = re.compile(rb"^class[ \t]+([A-Za-z_][A-Za-z0-9_]*)", re.MULTILINE)
_DEF = re.compile(rb"^(?:    )?(?:async )?def[ \t]+([A-Za-z_][A-Za-z0-9_]*)", re.MULTILINE)
_OWN = (b"def ", b"class ", b"async ", b"@")
_LARGE = 3000
"""Bytes from which a class is cut into methods."""


class Chunk(NamedTuple):
    """A piece of a file. `owner` is the class whose method it is, None at top level."""

    line: int
    """Lines before it in the file."""
    text: bytes
    owner: str | None = None
    cut: bool = False
    """It is a class whose methods follow as pieces of their own."""
    hints: tuple[int, ...] = ()
    """Its lines that can hold a site, counted from its first as 1."""

    @property
    def function(self) -> str | None:
        """Name of the function or method that it is, with its decorators; None when it is something else."""
        if self.owner is None and not self.text.startswith((b"def ", b"async ", b"@")):
            return None
        if self.owner is None and self.text.startswith(b"@") and _CLASS.search(self.text) is not None:
            return None
        found = _DEF.search(self.text)
        return None if found is None else found.group(1).decode()


def chunks(content: bytes) -> list[Chunk]:
    """Cut a file's content into pieces that together are the content.

    Args:
        content: the file as it is on disk, without a byte order mark and in UTF-8.
    """
    found: list[Chunk] = []
    line = 0
    for text in _grouped(_cut(content, _TOP, 0)):
        name = _class_name(text) if len(text) >= _LARGE else None
        if name is None:
            found.append(Chunk(line, text))
        else:
            found.extend(_methods(line, text, name))
        line += text.count(b"\n")
    return found


def _cut(text: bytes, beginning: re.Pattern[bytes], indent: int) -> list[bytes]:
    """Cut *text* after the line ends where *beginning* matches; decorators stay with what they decorate."""
    cuts = [0]
    decorated = text[indent : indent + 1] == b"@"
    for match in beginning.finditer(text):
        at = match.start() + 1
        if not decorated:
            cuts.append(at)
        decorated = text[at + indent : at + indent + 1] == b"@"
    cuts.append(len(text))
    return [text[a:b] for a, b in pairwise(cuts) if a < b]


def _grouped(pieces: list[bytes]) -> list[bytes]:
    """Join simple statements that stand together: imports and constants change as one."""
    found: list[bytes] = []
    simple: list[bytes] = []
    for piece in pieces:
        if piece.startswith(_OWN):
            if simple:
                found.append(b"".join(simple))
                simple = []
            found.append(piece)
        else:
            simple.append(piece)
    if simple:
        found.append(b"".join(simple))
    return found


def _class_name(text: bytes) -> str | None:
    if text.startswith((b"def ", b"async ")):
        return None
    match = _CLASS.search(text)
    return match.group(1).decode() if match else None


def _methods(line: int, text: bytes, name: str) -> list[Chunk]:
    found: list[Chunk] = []
    for number, piece in enumerate(_cut(text, _METHOD, 4)):
        found.append(Chunk(line, piece, name if number else None, not number))
        line += piece.count(b"\n")
    return found
