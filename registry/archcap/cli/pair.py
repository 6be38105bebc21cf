"""Reads the other server of a pair from the command line: its launch command, or a request's `peer` as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from archcap.cli.command import Session
from archcap.cli.files import read_config, read_flags, read_text
from archcap.engines import Options, support
from archcap.model.base import Json, JsonObject
from archcap.model.reading import read_object
from archcap.resolver.pair import said_of_peer
from archcap.snapshot import ReleaseView


def peer_of(
    text: str, request: JsonObject, view: ReleaseView, options: Callable[[ReleaseView], Options], session: Session
) -> tuple[JsonObject, tuple[str, ...]]:
    """Return the `peer` of a request, with what was noted while reading it.

    Args:
        text: a launch command, a JSON object, or a file that holds one of them.
        request: the launch it is the peer of.
        view: the release.
        options: gives what the release's command line takes.
        session: for the checkpoints the registry knows.
    Raises:
        RequestError: it is no launch of the engine, or no JSON.
    """
    with said_of_peer():
        content = read_text(text) if _is_file(text) else text
        if content.lstrip().startswith("{"):
            return read_object(content.encode(), "its JSON"), ()
        launch = support(view.engine.engine, view.release).parse_command([content], options(view), read_flags)
    settings = launch.settings
    found, notes = _subject(settings, request, view, session)
    peer: JsonObject = {"settings": {**settings}, "env": {**launch.env}, **found}
    return peer, (*(f"the peer: {note}" for note in launch.notes), *notes)


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
