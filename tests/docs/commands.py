"""Finds the `capctl` commands in the documentation and the options that each command has."""

from __future__ import annotations

import shlex
from argparse import Action
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import entry_points

from archcap.cli import COMMANDS
from archcap.cli.command import Parser
from archcap.cli.run import GROUP, find
from tests.docs.pages import Fence, fences, pages


@dataclass
class Typed:
    """A command as a page shows it, with the lines of output below it."""

    place: str
    line: str
    output: list[str] = field(default_factory=list)

    @property
    def words(self) -> list[str]:
        """Return the words after `capctl`, without what the shell does with its output."""
        words = shlex.split(self.line, comments=True)[1:]
        ends = [at for at, word in enumerate(words) if word in (">", "|", "<")]
        return words[: ends[0]] if ends else words


def typed(fence: Fence) -> list[Typed]:
    """Return the `capctl` commands of a console block."""
    found: list[Typed] = []
    waiting = ""
    for line in fence.body.splitlines():
        if line.startswith("$ ") or waiting:
            waiting += line.removeprefix("$ ") if not waiting else " " + line.strip()
            if waiting.endswith("\\"):
                waiting = waiting[:-1]
                continue
            found.append(Typed(fence.place, waiting))
            waiting = ""
        elif found:
            found[-1].output.append(line)
    return [one for one in found if one.line.startswith("capctl ")]


def all_typed() -> Iterator[Typed]:
    """Yield every command of every console block."""
    for fence in fences("console"):
        yield from typed(fence)


def mentioned() -> Iterator[tuple[str, str]]:
    """Yield page and text of the code spans that start with `capctl` and a command."""
    for page in pages():
        for span in page.spans():
            if span.startswith("capctl ") and not span.startswith("capctl -"):
                yield page.name, span


def parser_of(name: str) -> Parser:
    """Return the parser of one command."""
    command = find(name)
    parser = Parser(prog=f"capctl {name}", description=command.SUMMARY)
    parser.add_argument("--registry", metavar="PATH")
    command.configure(parser)
    return parser


def actions(name: str) -> list[Action]:
    """Return what the command takes, without `--help` and `--registry`."""
    return [action for action in parser_of(name)._actions if action.dest not in ("help", "registry")]


def known_commands() -> list[str]:
    """Return the names of the commands: the library's own, and those that other installed parts add."""
    return [*COMMANDS, *sorted(point.name for point in entry_points(group=GROUP) if point.name not in COMMANDS)]
