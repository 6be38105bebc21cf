"""Finds and runs one command; the only place that turns failures into lines and exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

from archcap.cli import COMMANDS, INTERNAL, INTERRUPTED, MISUSE, OK, PIPE_CLOSED
from archcap.cli.command import Command, Parser, Session
from archcap.cli.console import Console, table
from archcap.errors import ArchcapError, DataError, RequestError
from archcap.suggest import nearest_name

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "archcap.commands"
EXTRAS = "install it with its extras, as in: pip install 'archcap[service]'"
REPORT = "please report it with the command you ran; ARCHCAP_DEBUG=1 shows where it happened"
_SHOWN_PROBLEMS = 20


def run(words: Sequence[str]) -> int:
    """Run the command that *words* name and return its exit code; never raises."""
    console = Console.standard()
    try:
        code = _dispatch(words, console)
        console.out.flush()
        return code
    except BrokenPipeError:
        _hush()
        return PIPE_CLOSED
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else OK
    except Exception as error:
        return _failed(error, console)


def _dispatch(words: Sequence[str], console: Console) -> int:
    name, rest, registry = _split(words)
    if name is None:
        console.write(overview())
        return OK if rest else MISUSE
    command = find(name)
    own, pasted = _pasted(rest)
    if pasted is not None and not getattr(command, "TAKES_COMMAND", False):
        raise RequestError("usage", f"capctl {name} takes no launch command after --", f"see capctl {name} --help")
    parser = Parser(prog=f"capctl {name}", description=command.SUMMARY[:1].upper() + command.SUMMARY[1:] + ".")
    parser.add_argument("--registry", metavar="PATH", type=Path, default=registry, help="the registry's folder")
    command.configure(parser)
    args = parser.read(own)
    return command.run(args, Session(console, args.registry, pasted))


def _split(words: Sequence[str]) -> tuple[str | None, list[str], Path | None]:
    """Return the command's name, the words after it and the registry named before it.

    Without a command the second part tells whether help was asked for.
    """
    registry: Path | None = None
    rest = iter(words)
    for word in rest:
        if word == "--registry":
            registry = Path(next(rest, ""))
        elif word.startswith("--registry="):
            registry = Path(word.split("=", 1)[1])
        elif word in ("-h", "--help", "help"):
            return None, [word], registry
        elif word.startswith("-"):
            raise RequestError("usage", f"capctl has no option {word} before a command", "see capctl --help")
        else:
            return word, list(rest), registry
    return None, [], registry


def _pasted(words: Sequence[str]) -> tuple[list[str], list[str] | None]:
    at = words.index("--") if "--" in words else None
    return (list(words), None) if at is None else (list(words[:at]), list(words[at + 1 :]))


def find(name: str) -> Command:
    """Return the command called *name*: one of our own, else an installed one.

    Raises:
        RequestError: `unknown-command`, with the nearest name.
    """
    if name in COMMANDS:
        return cast(Command, import_module(COMMANDS[name][0]))
    from importlib.metadata import entry_points

    installed = {point.name: point for point in entry_points(group=GROUP)}
    if name in installed:
        return cast(Command, loaded(installed[name]))
    near = nearest_name(name, [*COMMANDS, *installed])
    hint = f"did you mean {near}?" if near else "see capctl --help"
    raise RequestError("unknown-command", f"there is no command {name!r}", hint)


def loaded(point: EntryPoint) -> object:
    """Return what an entry point names.

    Raises:
        RequestError: `missing-library`, when something it needs is not installed.
    """
    try:
        return point.load()
    except ImportError as error:
        needs = error.name or str(error)
        raise RequestError("missing-library", f"{point.name} needs {needs}, which is not installed", EXTRAS) from error


def overview() -> str:
    """Return the help of `capctl` itself: every command with its summary, installed ones included."""
    from importlib.metadata import entry_points

    rows = [(name, summary) for name, (_, summary) in COMMANDS.items()]
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        if point.name not in COMMANDS:
            rows.append((point.name, _summary(point.name)))
    lines = [
        "usage: capctl [--registry PATH] COMMAND ...",
        "       capctl COMMAND --help | capctl --version",
        "",
        "What each model architecture can do in each release of an inference engine, and whether a launch starts.",
        "",
        "commands:",
        *table(rows, "  "),
        "",
        "exit codes: 0 fine, 1 refused, unsafe or findings, 2 misuse, 3 undecided",
    ]
    return "\n".join(lines)


def _summary(name: str) -> str:
    """Return an installed command's summary; one that does not load says so instead of taking the help down."""
    try:
        return find(name).SUMMARY
    except RequestError as error:
        return f"({error.message})"
    except Exception as error:
        return f"(does not load: {type(error).__name__}: {error})"


def _failed(error: Exception, console: Console) -> int:
    """Word a failure on stderr and return its exit code."""
    if os.environ.get("ARCHCAP_DEBUG"):
        import traceback

        console.err.write("".join(traceback.format_exception(error)))
    if isinstance(error, DataError):
        return _bad_data(error, console)
    if isinstance(error, ArchcapError):
        console.say(f"capctl: {_one_line(str(error))}")
        return MISUSE
    if isinstance(error, OSError):
        where = f" {error.filename}" if error.filename else ""
        console.say(f"capctl: cannot use{where}: {error.strerror or error}; check the path and its permissions")
        return MISUSE
    if isinstance(error, MemoryError):
        console.say("capctl: out of memory; give smaller input")
        return MISUSE
    console.say(f"capctl: internal error: {type(error).__name__}: {_one_line(str(error))[:300]}; {REPORT}")
    return INTERNAL


def _bad_data(error: DataError, console: Console) -> int:
    for problem in error.problems[:_SHOWN_PROBLEMS]:
        console.say(f"capctl: {problem}")
    more = len(error.problems) - _SHOWN_PROBLEMS
    if more > 0:
        console.say(f"capctl: {more} more problems; capctl validate lists them all")
    return MISUSE


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _hush() -> None:
    """Let the interpreter close a stdout whose reader has gone without complaining again."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
