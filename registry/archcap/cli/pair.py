"""Reads the other server of a pair from the command line: its launch command, or a request's `peer` as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from archcap.cli.command import Session
from archcap.cli.files import read_config, read_flags, read_text
from archcap.engines import Options, support
from archcap.engines.shell import with_start
from archcap.errors import RequestError
from archcap.model.base import Json, JsonObject
from archcap.model.reading import read_object
from archcap.resolver.pair import said_of_peer
from archcap.snapshot import ReleaseView

_WANTED: Final = "give its launch command in quotes, a file that holds it, or JSON"


def peer_of(
    text: str, request: JsonObject, view: ReleaseView, options: Callable[[ReleaseView], Options], session: Session
) -> tuple[JsonObject, tuple[str, ...]]:
    """Return the `peer` of a request, with what was noted while reading it.

    Args:
        text: a launch command or its flags alone, a JSON object, or a file that holds one of them.
        request: the launch it is the peer of.
        view: the release.
        options: gives what the release's command line takes.
        session: for the checkpoints the registry knows.
    Raises:
        RequestError: it is no launch of the engine, or no JSON.
    """
    with said_of_peer():
        content = _content(text)
        if content.lstrip().startswith("{"):
            return read_object(content.encode(), "its JSON"), ()
        words = [with_start(content, view.engine.launch)]
        try:
            launch = support(view.engine.engine, view.release).parse_command(words, options(view), read_flags)
        except RequestError as error:
            raise _no_such_file(text) if error.code == "no-launch" and _may_be_a_path(text) else error from None
    settings = launch.settings
    found, notes = _subject(settings, request, view, session)
    peer: JsonObject = {"settings": {**settings}, "env": {**launch.env}, **found}
    return peer, (*(f"the peer: {note}" for note in launch.notes), *notes)


def _content(text: str) -> str:
    """Return what *text* says, or the file that it names."""
    content = read_text(text) if _is_file(text) else text
    if not content.strip():
        problem = f"the file {text} is empty" if text.strip() else "nothing is given"
        raise RequestError("no-launch", problem, _WANTED)
    return content


def _may_be_a_path(text: str) -> bool:
    """Return whether what starts nothing was rather meant as a file: no option stands in it, and no file is there."""
    return not _is_file(text) and not any(word.startswith("-") for word in text.split())


def _no_such_file(text: str) -> RequestError:
    if Path(text).is_dir():
        return RequestError("no-file", f"{text} is a folder", "name a file in it")
    return RequestError("no-file", f"there is no file {text}, nor is it a launch", _WANTED)


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # a command is no path, and may be longer than one can be
        return False


def _subject(
    settings: Mapping[str, Json], request: JsonObject, view: ReleaseView, session: Session
) -> tuple[JsonObject, tuple[str, ...]]:
    """Return what the peer serves where that is not what the launch does, and its draft."""
    engine, own = view.engine, request["settings"]
    assert isinstance(own, dict)
    found: JsonObject = {}
    draft = settings.get(engine.draft_setting or "")
    if draft is not None and draft == own.get(engine.draft_setting or "") and "draft_config" in request:
        found["draft_config"] = request["draft_config"]
    path = settings.get(engine.config_setting)
    if not isinstance(path, str) or path == own.get(engine.config_setting):
        return found, ()
    if path in session.snapshot.checkpoints:
        return {**found, "checkpoint": path}, (f"the peer's {engine.config_setting} names a checkpoint",)
    if (Path(path) / "config.json").is_file():
        return {**found, "config": read_config(path)}, (f"the peer's configuration is read from {path}",)
    return found, (f"the peer is taken to serve the launch's checkpoint: {path} is not here",)
