"""Finds the line in which a name of a collection stands."""

from __future__ import annotations

from archcap.scanner.modules import SourceFile


def lines_of(names: list[str], file: SourceFile, first: int) -> dict[str, int]:
    """Return the line each name stands in, searched from the collection's first line on."""
    found: dict[str, int] = {}
    lines = file.lines
    for name in names:
        quoted = (f'"{name}"'.encode(), f"'{name}'".encode())
        at = next((i for i in range(first - 1, len(lines)) if any(q in lines[i] for q in quoted)), first - 1)
        found[name] = at + 1
    return found
