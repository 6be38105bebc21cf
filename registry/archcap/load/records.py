"""One file's value to its record, with every problem placed in the file.

Knows which record each kind of file holds; knows nothing of other files.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

from archcap.errors import Problem
from archcap.load.files import Kind
from archcap.load.strict_yaml import DataPath, Document, show_path
from archcap.load.words import MISSING_KEY, Wording, word_errors
from archcap.model.architectures import Family, ListsFile
from archcap.model.base import Json, Record
from archcap.model.checkpoints import CheckpointsFile
from archcap.model.config_classes import ConfigClassesFile
from archcap.model.engine import Engine, Names, SettingsFile
from archcap.model.hardware import HardwareFile
from archcap.model.known_issues import KnownIssuesFile
from archcap.model.rules import PipelineFile, RulesFile
from archcap.model.siblings import SiblingGuide
from archcap.model.vocabulary import Vocabulary

MODELS: dict[Kind, type[Record]] = {
    "vocabulary": Vocabulary,
    "hardware": HardwareFile,
    "checkpoints": CheckpointsFile,
    "engine": Engine,
    "settings": SettingsFile,
    "lists": ListsFile,
    "names": Names,
    "architectures": Family,
    "rules": RulesFile,
    "pipeline": PipelineFile,
    "siblings": SiblingGuide,
    "config_classes": ConfigClassesFile,
    "known_issues": KnownIssuesFile,
}

_ENTRY_DEPTH = 2
"""Entries of a file (an architecture, a setting, a step) stand at this depth; a bad one is left out, the rest go on."""

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Read(Generic[M]):
    """A file's record, as far as it is valid, and what is wrong with the rest."""

    record: M | None
    problems: tuple[Problem, ...]


def read_record(model: type[M], document: Document) -> Read[M]:
    """Return the record in *document*, bad entries left out, and every problem."""
    try:
        return Read(_validate(model, document.value), ())
    except ValidationError as error:
        found = error.errors(include_url=False)
    wordings = word_errors(model, document.value, found)
    problems = tuple(place(document, wording) for wording in wordings)
    return Read(_salvage(model, document.value, [wording.path for wording in wordings]), problems)


def _validate(model: type[M], value: Json) -> M:
    """Validate through JSON: strict, yet lists become tuples and words become enum members."""
    return model.model_validate_json(json.dumps(value, ensure_ascii=False))


def _salvage(model: type[M], value: Json, bad: Sequence[DataPath]) -> M | None:
    if not isinstance(value, dict):
        return None
    kept: dict[str, Json] = {key: dict(part) if isinstance(part, dict) else part for key, part in value.items()}
    for path in bad:
        section = kept.get(str(path[0])) if path else None
        if len(path) >= _ENTRY_DEPTH and isinstance(section, dict):
            section.pop(str(path[1]), None)
        elif path and path[0] not in model.model_fields:
            kept.pop(str(path[0]), None)
        else:
            return None
    try:
        return _validate(model, kept)
    except ValidationError:
        return None


def place(document: Document, wording: Wording) -> Problem:
    """Return the problem *wording* describes, at its line of *document*."""
    at = document.locate(wording.path)
    missing = at.rest[-1:] if wording.message == MISSING_KEY else ()
    hint = wording.hint
    if wording.quote and at.text is not None:
        hint = f'write "{at.text}" in quotes'
    path = show_path((*at.path, *missing))
    return Problem(document.name, at.line, path, wording.message, wording.expected, wording.suggestion, hint)
