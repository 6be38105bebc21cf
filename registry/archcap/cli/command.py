"""What a command is, what it is given, and how its words are parsed."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, Protocol

from archcap.cli.console import Console
from archcap.errors import RequestError
from archcap.suggest import nearest_names

if TYPE_CHECKING:
    from archcap.snapshot import Snapshot


@dataclass
class Session:
    """What every command is given.

    Attributes:
        console: where it writes.
        registry: the registry asked for, None for the shipped or the checkout's.
        pasted: the words after `--`, None when there was none.
        notes: what every answer has to say of where its facts are from.
    """

    console: Console
    registry: Path | None = None
    pasted: list[str] | None = None
    notes: tuple[str, ...] = ()

    @cached_property
    def snapshot(self) -> Snapshot:
        """The registry as compiled; read at first use.

        Raises:
            DataError: the registry's data cannot be used.
        """
        from archcap.snapshot import store

        return store.open_registry(self.registry) if self.registry else store.default()

    @property
    def default_engine(self) -> str:
        """The engine meant when none is named: the first one the registry knows."""
        return self.snapshot.engine_names[0]


class Command(Protocol):
    """A module (or object) that is one command; entry points of the group `archcap.commands` name such objects.

    `SUMMARY` is one line for the overview; `TAKES_COMMAND` (optional) says that a launch command may follow `--`.
    """

    SUMMARY: str

    def configure(self, parser: Parser) -> None:
        """Declare the command's own words."""

    def run(self, args: argparse.Namespace, session: Session) -> int:
        """Run it and return the exit code; failures are raised as `ArchcapError`."""


class Parser(argparse.ArgumentParser):
    """argparse whose complaints are one line of `capctl`, with the nearest option."""

    def __init__(self, *, prog: str, description: str | None = None, epilog: str | None = None) -> None:
        super().__init__(
            prog=prog, description=description, epilog=epilog, allow_abbrev=False, add_help=True,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )  # fmt: skip

    def read(self, words: Sequence[str]) -> argparse.Namespace:
        """Parse *words*.

        Raises:
            RequestError: `usage`, for an unknown option, a missing or a wrong value.
        """
        args, extras = self.parse_known_args(list(words))
        if not extras:
            return args
        word = extras[0].split("=", 1)[0]
        if not word.startswith("-"):
            raise RequestError("usage", f"{self.prog} does not know what to do with {word!r}", self._help_hint())
        options = [option for action in self._actions for option in action.option_strings if option.startswith("--")]
        near = nearest_names(word, options, 1)
        hint = f"did you mean {near[0]}?" if near else self._help_hint()
        raise RequestError("usage", f"{self.prog} has no option {word}", hint)

    def error(self, message: str) -> NoReturn:
        """Raise the complaint instead of printing usage and leaving."""
        text = re.sub(r"^argument ", "", message).replace("the following arguments are required:", "missing:")
        raise RequestError("usage", f"{self.prog}: {text}", self._help_hint())

    def _help_hint(self) -> str:
        return f"see {self.prog} --help"


def key_value(text: str) -> tuple[str, str]:
    """Split `name=value`; an argparse type.

    Raises:
        argparse.ArgumentTypeError: there is no name or no `=`.
    """
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, not {text!r}")
    return name.strip(), value
