"""Takes apart what people paste: a shell command, a script's lines, a container's command line.

Finds where the engine is started, the environment assigned in front, and the words that follow. Knows no flag.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence

from archcap.errors import RequestError

_OPERATORS = ";&|<>()\n"
_ASSIGNMENT = re.compile(r"^(?:--env=|-e)?([A-Za-z_][A-Za-z0-9_]*)=(.*)$", re.DOTALL)
_PLACEHOLDER = re.compile(r"(?<![^\s=])<([A-Za-z][\w ./-]*)>(?!\S)")
_COMMENT = re.compile(r"(?m)^\s*#.*$|\s#\s.*$")
_DESCRIPTOR = re.compile(r"(?<!\S)[0-9](?=[<>])")
_LONGEST = 200_000

Finder = Callable[[Sequence[str]], int | None]
"""Returns the index of the first word after what starts the engine, or None when the words do not start it."""


def launch_of(words: Sequence[str], find: Finder, wanted: str) -> tuple[dict[str, str], list[str]]:
    """Return the environment assigned in front of the launch, and the words that follow what starts the engine.

    Args:
        words: words as the shell passed them, or one word that holds a whole text.
        find: finds where the engine is started.
        wanted: how a launch looks, for the message.
    Raises:
        RequestError: `bad-command` when the text cannot be split, `no-launch` when it starts another program or
            nothing, `many-launches` when it starts the engine more than once.
    """
    commands = _commands(words[0]) if len(words) == 1 and _is_text(words[0]) else [list(words)]
    if not any(commands):
        raise RequestError("no-launch", "the launch command is empty", f"paste one: {wanted}")
    starts = [(number, at) for number, command in enumerate(commands) if (at := find(command)) is not None]
    if len(starts) > 1:
        problem = f"the text starts the engine {len(starts)} times"
        raise RequestError("many-launches", problem, "paste one launch at a time")
    if starts:
        number, at = starts[0]
        before = [word for command in commands[:number] for word in _exported(command)]
        return _assigned([*before, *commands[number][:at]]), commands[number][at:]
    if len(commands) == 1 and commands[0][0].startswith("-"):
        return {}, commands[0]
    shown = " ".join(commands[0])[:60]
    raise RequestError("no-launch", f"{shown!r} does not start the engine", f"a launch looks like: {wanted}")


def _is_text(word: str) -> bool:
    return not word.startswith("--") and any(space in word.strip() for space in " \t\n")


def _commands(text: str) -> list[list[str]]:
    """Split a text into its commands, each into its words."""
    if len(text) > _LONGEST:
        raise RequestError("bad-command", f"the launch command has {len(text)} characters", "paste the command alone")
    text = re.sub(r"\\\r?\n", " ", text.replace("\r\n", "\n"))
    text = _PLACEHOLDER.sub(lambda match: f"'<{match.group(1)}>'", _COMMENT.sub("", text))
    text = _DESCRIPTOR.sub("", text)
    lexer = shlex.shlex(text, posix=True, punctuation_chars=_OPERATORS)
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    try:
        tokens = list(lexer)
    except ValueError as error:
        raise RequestError("bad-command", f"the launch command does not end: {error}", "close the quote") from error
    return _without_operators(tokens)


def _without_operators(tokens: Sequence[str]) -> list[list[str]]:
    """Group words into commands; drop operators and the targets of redirections."""
    commands: list[list[str]] = [[]]
    skip = False
    for token in tokens:
        if set(token) <= set(_OPERATORS) and token:
            skip = "<" in token or ">" in token
            if not skip:
                commands.append([])
        elif skip:
            skip = False
        else:
            commands[-1].append(token)
    return [command for command in commands if command]


def _exported(command: Sequence[str]) -> Sequence[str]:
    """Return the assignments of a command that keeps them for the commands after it."""
    return command if command[0] == "export" or all(_ASSIGNMENT.match(word) for word in command) else ()


def _assigned(words: Sequence[str]) -> dict[str, str]:
    found = [match for word in words if (match := _ASSIGNMENT.match(word))]
    return {match.group(1): match.group(2) for match in found}
