"""Takes apart what people paste: a shell command, a script's lines, a container's command line.

Finds where the engine is started, the environment assigned in front, and the words that follow. Knows no flag.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from archcap.errors import RequestError

_ASSIGNMENT = re.compile(r"^(?:--env=|-e)?([A-Za-z_][A-Za-z0-9_]*)=(.*)$", re.DOTALL)
_PLACEHOLDER = r"<[A-Za-z](?:[\w ./-]*[\w./-])?>(?=\s|$)"
"""As in documentation: `--model-path <model>`; no redirection."""
_PART = rf"""'[^']*'|"(?:\\.|[^"\\])*"|\\.|{_PLACEHOLDER}|[^\s'"\\;&|<>()]"""
_KINDS = {
    "blank": r"(?:[^\S\n]|\\\r?\n)+",
    "comment": r"#[^\n]*",
    "placeholder": _PLACEHOLDER,
    "redirection": r"[0-9]*(?:&>>?|<{1,3}&?|>{1,2}&?)",
    "operator": r"[;&|()\n]+",
    "word": rf"(?:{_PART})+",
}
_TOKEN = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _KINDS.items()), re.DOTALL)
_IN_WORD = re.compile(_PART, re.DOTALL)
_IN_DOUBLE_QUOTES = re.compile(r"""\\(["\\$`]|\r?\n)""")
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
    if not any(word.strip() for command in commands for word in command):
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


def with_start(text: str, start: Sequence[str]) -> str:
    """Return a text that may hold flags alone as one that starts the engine.

    Args:
        text: what was pasted.
        start: the words that start the engine.
    """
    return " ".join([*start, text.strip()]) if text.lstrip().startswith("-") else text


def _is_text(word: str) -> bool:
    return not word.startswith("--") and any(space in word.strip() for space in " \t\n")


def _commands(text: str) -> list[list[str]]:
    """Split a text into its commands, each into its words; redirections and their targets are dropped."""
    if len(text) > _LONGEST:
        raise RequestError("bad-command", f"the launch command has {len(text)} characters", "paste the command alone")
    commands: list[list[str]] = [[]]
    target = False
    for kind, token in _tokens(text):
        if kind == "operator":
            commands.append([])
        elif kind in ("word", "placeholder") and not target:
            commands[-1].append(_unquoted(token))
        target = kind == "redirection"
    return [command for command in commands if command]


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """Yield words, operators and redirections as a shell would see them."""
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            problem = f"the launch command has no end: {text[at : at + 40]!r}"
            raise RequestError("bad-command", problem, "close the quote")
        at = match.end()
        kind = match.lastgroup or ""
        if kind not in ("blank", "comment"):
            yield kind, match.group()


def _unquoted(word: str) -> str:
    return "".join(map(_plain, _IN_WORD.findall(word)))


def _plain(part: str) -> str:
    """Return one part of a word without its quotes and escapes."""
    if part[0] == "'":
        return part[1:-1]
    if part[0] == '"':
        return _IN_DOUBLE_QUOTES.sub(lambda match: match.group(1).lstrip("\r\n"), part[1:-1])
    if part[0] == "\\":
        return part[1:].lstrip("\r\n")
    return part


def _exported(command: Sequence[str]) -> Sequence[str]:
    """Return the assignments of a command that keeps them for the commands after it."""
    return command if command[0] == "export" or all(_ASSIGNMENT.match(word) for word in command) else ()


def _assigned(words: Sequence[str]) -> dict[str, str]:
    found = [match for word in words if (match := _ASSIGNMENT.match(word))]
    return {match.group(1): match.group(2) for match in found}
