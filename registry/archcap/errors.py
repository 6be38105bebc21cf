"""The errors archcap raises: one type with a stable code and a hint, and the problems found in data.

Knows no file format, no rule and no transport; `archcap.load`, `archcap.rules` and `archcap.lint` make the problems,
the command line, the service and the pages lay them out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with the data, with its place and the way out.

    Attributes:
        file: path as a reader would open it, relative to the registry's root where it lies below it; "" when no file
            is meant.
        line: line in *file*, from 1; None when the whole file is meant.
        path: keys that lead to the value, joined by dots, as in `settings.page_size.type`; "" for the whole file.
        message: what is wrong. Beside *expected* it says what was found instead.
        expected: what would be right, as in `one of bool, int`.
        suggestion: the nearest valid name.
        hint: what to do, as a clause, where no single name cures it.
        severity: an `error` makes the data unusable, a `warning` does not.
        check: id of the lint check that found it; None for the loader's own.
    """

    file: str
    line: int | None
    path: str
    message: str
    expected: str | None = None
    suggestion: str | None = None
    hint: str | None = None
    severity: Literal["error", "warning"] = "error"
    check: str | None = None

    def __str__(self) -> str:
        """Return the problem on one line: place, path, what is wrong, what to do."""
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        lead = [part for part in (place, self.path) if part]
        says = self.message if self.expected is None else f"expected {self.expected}, {self.message}"
        ends = [f'did you mean "{self.suggestion}"?'] if self.suggestion is not None else []
        if self.hint is not None:
            ends.insert(0, self.hint)
        return " ".join(": ".join([*lead, "; ".join([says, *ends])]).split())


class ArchcapError(Exception):
    """An error a user can act on.

    Attributes:
        code: stable identifier, as in `unknown-release`.
        message: one sentence that says what is wrong.
        hint: what to do about it, or None.
    """

    def __init__(self, code: str, message: str, hint: str | None = None) -> None:
        super().__init__(code, message, hint)
        self.code = code
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        """Return message and hint on one line."""
        return self.message if self.hint is None else f"{self.message}; {self.hint}"


class RequestError(ArchcapError):
    """Misuse: what was asked cannot be answered as asked (exit code 2, HTTP 4xx)."""


class DataError(ArchcapError):
    """The registry's data cannot be used; `problems` holds everything that is wrong with it, in file order."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(problems)
        count = len(self.problems)
        super().__init__("bad-data", f"{count} problem{'s' if count != 1 else ''} in the registry's data")

    def __reduce__(self) -> tuple[type[DataError], tuple[tuple[Problem, ...]]]:
        """Rebuild from the problems, so that the error can cross a process boundary."""
        return (type(self), (self.problems,))

    def __str__(self) -> str:
        """Return the problems, one per line."""
        return "\n".join(str(problem) for problem in self.problems)
