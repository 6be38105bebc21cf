"""Writes one launch as something to run again: a command, or the request itself. Knows no layout."""

from __future__ import annotations

import json
import shlex

from archcap.model.base import Json
from archcap.verify.launches import Launch, Subject


def command_of(launch: Launch, setting: str | None = None) -> str | None:
    """Return the `capctl` command that shows what we make of *launch*, None where its configuration is in no file.

    Args:
        launch: the launch.
        setting: the setting to be explained; None asks for the whole answer.
    """
    subject = _subject(launch.subject, "--config")
    draft = [] if launch.draft is None else _subject(launch.draft, "--draft-config")
    if subject is None or draft is None:
        return None
    words = ["capctl", "explain" if setting else "resolve", "--engine", f"{launch.engine}@{launch.release}", *subject]
    words += [*draft, "--gpu", launch.gpu, "--gpus", str(launch.count)]
    if launch.nodes != 1:
        words += ["--nodes", str(launch.nodes)]
    for name, value in launch.settings.items():
        words += ["--set", f"{name}={_text(value)}"]
    for name, text in launch.env.items():
        words += ["--env", f"{name}={text}"]
    words += ["--setting", setting] if setting else ["--no-fixes"]
    return shlex.join(words)


def _subject(subject: Subject, option: str) -> list[str] | None:
    if subject.checkpoint is not None and option == "--config":
        return ["--checkpoint", subject.checkpoint]
    return None if subject.path is None else [option, str(subject.path)]


def _text(value: Json) -> str:
    """Return *value* as `--set` reads it back."""
    if not isinstance(value, str):
        return json.dumps(value)
    try:
        json.loads(value)
    except ValueError:
        return value
    return json.dumps(value)
