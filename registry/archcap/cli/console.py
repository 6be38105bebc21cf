"""Writes for people: colour only on a terminal, wrapped lines, aligned tables; results and talk kept apart.

Knows no command and no record.
"""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TextIO

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "magenta": "35",
          "cyan": "36"}  # fmt: skip
_WIDEST, _IN_A_LOG = 120, 100


@dataclass(slots=True)
class Console:
    """Where a command writes.

    Attributes:
        out: results, for people and programs.
        err: talk: notes, progress, failures.
        colour: whether results may be coloured.
        width: columns that text is wrapped to.
    """

    out: TextIO
    err: TextIO
    colour: bool = False
    width: int = _IN_A_LOG

    @classmethod
    def standard(cls) -> Console:
        """Return the process's own console; coloured on a terminal that has not asked for none."""
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="replace" if "utf" not in (stream.encoding or "").lower() else "strict")
        terminal = sys.stdout.isatty()
        plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
        width = min(shutil.get_terminal_size((_IN_A_LOG, 24)).columns, _WIDEST) if terminal else _IN_A_LOG
        return cls(sys.stdout, sys.stderr, terminal and not plain, max(width, 40))

    def write(self, text: str) -> None:
        """Write a result, with a line end."""
        self.out.write(text + "\n")

    def write_bytes(self, data: bytes) -> None:
        """Write a result that is UTF-8 already, with a line end, and pass it on at once."""
        buffer = getattr(self.out, "buffer", None)
        if buffer is None:
            self.out.write(data.decode() + "\n")
            return
        self.out.flush()
        buffer.write(data + b"\n")
        buffer.flush()

    def say(self, text: str) -> None:
        """Write a line of talk."""
        self.err.write(text + "\n")

    def paint(self, text: str, *styles: str) -> str:
        """Return *text* in *styles* where colour is on."""
        if not self.colour or not text:
            return text
        codes = ";".join(_CODES[style] for style in styles)
        return f"\033[{codes}m{text}\033[0m"

    def wrap(self, text: str, indent: str = "", hanging: str | None = None) -> str:
        """Return *text* filled to the width, the first line behind *indent*, the others behind *hanging*."""
        after = indent if hanging is None else hanging
        lines: list[str] = []
        for number, line in enumerate(text.splitlines() or [""]):
            lines += textwrap.wrap(
                line, self.width, initial_indent=after if number else indent, subsequent_indent=after,
                break_long_words=False, break_on_hyphens=False,
            ) or [""]  # fmt: skip
        return "\n".join(lines)


def table(rows: Sequence[Sequence[str]], indent: str = "", gap: int = 2) -> list[str]:
    """Return *rows* as lines with aligned columns; the last column is left as it is."""
    if not rows:
        return []
    columns = max(len(row) for row in rows)
    widths = [max((len(row[at]) for row in rows if len(row) > at), default=0) for at in range(columns)]
    return [
        (indent + (" " * gap).join(cell.ljust(widths[at]) for at, cell in enumerate(row))).rstrip() for row in rows
    ]
