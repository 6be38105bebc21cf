"""Every file of a registry to its record: the first half of loading, file by file."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar, cast

from archcap.errors import Problem
from archcap.load.expand import Expansion
from archcap.load.files import Finder, Kind, SourceFile, read_bytes
from archcap.load.parts import EngineNames, EngineParts, Part, RegistryParts
from archcap.load.records import MODELS, place, read_record
from archcap.load.strict_yaml import Builder, Document
from archcap.load.words import Wording
from archcap.model.base import Record

R = TypeVar("R", bound=Record)


def read_parts(root: Path) -> RegistryParts:
    """Read every file below *root*; problems are collected in the result, in the order of the files."""
    finder = Finder(root).find()
    parts = RegistryParts(problems=list(finder.problems))
    builder = Builder()
    opened = [(file, _open(file, builder)) for file in finder.files]
    for file, document in opened:
        _documents(parts, file).setdefault(file.kind, []).append(document)
    for file, document in opened:
        parts.problems.extend(document.problems)
        if document.readable:
            parts.problems.extend(_take(parts, file, document))
    return parts


def _open(file: SourceFile, builder: Builder) -> Document:
    data = read_bytes(file)
    return Document.unreadable(file.name, data) if isinstance(data, Problem) else Document(file.name, data, builder)


def _documents(parts: RegistryParts, file: SourceFile) -> dict[Kind, list[Document]]:
    return _engine(parts, file).documents if file.engine else parts.documents


def _engine(parts: RegistryParts, file: SourceFile) -> EngineParts:
    return parts.engines.setdefault(file.engine, EngineParts(file.engine))


def _take(parts: RegistryParts, file: SourceFile, document: Document) -> list[Problem]:
    """Expand, validate and file one document; return its problems."""
    problems = _expand(parts, file, document)
    read = read_record(MODELS[file.kind], document)
    spoken = {(problem.line, problem.path) for problem in document.problems}
    problems += [problem for problem in read.problems if (problem.line, problem.path) not in spoken]
    if read.record is not None:
        _file(parts, Part(file, document, read.record))
    return problems


def _expand(parts: RegistryParts, file: SourceFile, document: Document) -> list[Problem]:
    releases = EngineNames(_engine(parts, file)).releases if file.engine else None
    expansion = Expansion(releases.names[0] if releases is not None else None)
    expansion.file(file.kind, document.value)
    problems = []
    for path, text in expansion.wrong_oldest:
        expected = f'"<={expansion.oldest}" (the oldest release)'
        problems.append(place(document, Wording(path, f'found "{text}"', expected)))
    return problems


def _file(parts: RegistryParts, part: Part[Any]) -> None:
    owner: RegistryParts | EngineParts = _engine(parts, part.file) if part.file.engine else parts
    field = {"architectures": "families"}.get(part.file.kind, part.file.kind)
    held = getattr(owner, field)
    if isinstance(held, list):
        cast("list[Part[Any]]", held).append(part)
    else:
        setattr(owner, field, part)
