"""The rules' own checker, with its findings placed in files: names, types, flow of every release."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from archcap.errors import Problem
from archcap.load import Loaded
from archcap.load.parts import EngineParts, Part
from archcap.load.records import place
from archcap.load.strict_yaml import DataPath, Document
from archcap.load.words import Wording
from archcap.model.hardware import Gpu
from archcap.model.known_issues import KNOWN_ISSUES, KnownIssuesFile, step_of
from archcap.rules import check_engine

CHECK_ID = "rules"

_STEP = re.compile(r"\[(\d+)\]|([^.\[]+)")
_DOTTED_BELOW = frozenset({"set", "default", "var", "fact", "env"})
"""Keys of a statement whose keys may hold dots."""


def rule_problems(loaded: Loaded, engine: EngineParts, functions: Iterable[str]) -> Iterator[Problem]:
    """Yield what the rules' checker finds in one engine; nothing when the registry does not load.

    Args:
        loaded: the registry.
        engine: the engine's files.
        functions: names of the engine's pure functions.
    """
    if loaded.registry is None:
        return
    registry = loaded.registry
    reg = registry.engines[engine.name]
    for problem in check_engine(reg, registry.vocabulary, functions, hardware_names(), registry.checkpoints):
        yield _placed(engine, problem)


def hardware_names() -> frozenset[str]:
    """Return the fields rules may read as `hw.x`."""
    gpu = Gpu(title="any", vendor="any", platform="cuda", arch="any", compute=(1, 0))
    return frozenset(gpu.facts) | {"gpu", "count", "nodes"}


def _placed(engine: EngineParts, problem: Problem) -> Problem:
    path = parse_path(problem.path)
    if path[:2] == ("steps", KNOWN_ISSUES) and engine.known_issues is not None:
        return _of_an_issue(engine.known_issues, path, problem)
    document = _document(engine, problem.file, path)
    if document is None:
        return replace(problem, check=CHECK_ID)
    wording = Wording(path, problem.message, problem.expected, problem.suggestion, problem.hint)
    return replace(place(document, wording), severity=problem.severity, check=CHECK_ID)


def _of_an_issue(part: Part[KnownIssuesFile], path: DataPath, problem: Problem) -> Problem:
    """Return the problem at the issue that the statement at *path* was made of."""
    place_in_file: DataPath = ("known_issues",)
    if len(path) > 3 and isinstance(path[3], int):
        issue = step_of(part.record.known_issues).do[path[3]].id
        keys = (_KEYS.get(key, key) if isinstance(key, str) else key for key in path[4:])
        place_in_file = ("known_issues", issue or "", *keys)
    wording = Wording(place_in_file, problem.message, problem.expected, problem.suggestion, problem.hint)
    return replace(place(part.document, wording), severity=problem.severity, check=CHECK_ID)


_KEYS = {"unsafe": "says", "refuse": "says", "source": "at"}
"""How a statement's keys are called in an issue."""


def parse_path(text: str) -> DataPath:
    """Return the steps of a path such as `steps.draft.do[2].set.graph_config.decode.backend`."""
    steps: list[str | int] = []
    for match in _STEP.finditer(text):
        if len(steps) > 2 and steps[-1] in _DOTTED_BELOW:
            steps.append(text[match.start() :])
            break
        steps.append(int(match[1]) if match[1] is not None else match[2])
    return tuple(steps)


def _document(engine: EngineParts, stem: str, path: DataPath) -> Document | None:
    if path[:1] == ("pipeline",):
        return engine.pipeline.document if engine.pipeline is not None else None
    for part in engine.rules:
        if part.file.stem == PurePosixPath(stem).stem or (path[:1] == ("define",) and path[1] in part.record.define):
            return part.document
    return None
