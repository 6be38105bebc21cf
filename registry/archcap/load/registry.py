"""The whole registry from its folder: the second half of loading, across files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from archcap.errors import DataError, Problem
from archcap.load.across import check_across
from archcap.load.parts import EngineParts, RegistryParts
from archcap.load.read import read_parts
from archcap.load.records import place
from archcap.model.engine import Names
from archcap.model.registry import EngineRegistry, Registry
from archcap.model.rules import Define


@dataclass(frozen=True, slots=True)
class Loaded:
    """A registry as far as it could be loaded.

    Attributes:
        registry: None when anything is wrong.
        problems: everything that is wrong, in the order of files and lines.
        parts: the files behind it, for checks that point at lines.
    """

    registry: Registry | None
    problems: tuple[Problem, ...]
    parts: RegistryParts


def load_registry(root: Path) -> Registry:
    """Load and check the registry below *root*.

    Args:
        root: the folder that holds `capabilities.yaml` and `registry/`.
    Raises:
        DataError: with every problem of every file.
    """
    loaded = check_registry(root)
    if loaded.registry is None:
        raise DataError(loaded.problems)
    return loaded.registry


def check_registry(root: Path) -> Loaded:
    """Load the registry below *root* and return it with its problems; never raises for data.

    Args:
        root: the folder that holds `capabilities.yaml` and `registry/`.
    """
    parts = read_parts(Path(root))
    across = [place(document, wording) for document, wording in check_across(parts)]
    problems = _ordered([*parts.problems, *across], parts)
    return Loaded(None if problems else _assemble(parts), tuple(problems), parts)


def _ordered(problems: Iterable[Problem], parts: RegistryParts) -> list[Problem]:
    """Return *problems* without repetitions, by file as read, then by line."""
    documents = [parts.documents, *(engine.documents for engine in parts.engines.values())]
    names = [document.name for group in documents for kind in group.values() for document in kind]
    rank = {name: index for index, name in enumerate(names)}
    return sorted(dict.fromkeys(problems), key=lambda problem: (rank.get(problem.file, -1), problem.line or 0))


def _assemble(parts: RegistryParts) -> Registry:
    assert parts.vocabulary is not None  # its absence is a problem
    assert parts.hardware is not None
    return Registry(
        vocabulary=parts.vocabulary.record,
        hardware=parts.hardware.record.hardware,
        checkpoints={key: value for part in parts.checkpoints for key, value in part.record.checkpoints.items()},
        engines={name: _engine(engine) for name, engine in sorted(parts.engines.items())},
    )


def _engine(parts: EngineParts) -> EngineRegistry:
    assert parts.engine is not None
    return EngineRegistry(
        engine=parts.engine.record,
        settings={key: value for part in parts.settings for key, value in part.record.settings.items()},
        names=_names(part.record for part in parts.names),
        lists={key: value for part in parts.lists for key, value in part.record.lists.items()},
        families={part.record.family: part.record for part in parts.families},
        defines={key: _define(value) for part in parts.rules for key, value in part.record.define.items()},
        steps={key: value for part in parts.rules for key, value in part.record.steps.items()},
        step_files={key: part.file.stem for part in parts.rules for key in part.record.steps},
        pipeline=parts.pipeline.record.pipeline if parts.pipeline is not None else (),
        siblings=parts.siblings.record if parts.siblings is not None else None,
        config_classes={key: one for part in parts.config_classes for key, one in part.record.config_classes.items()},
        known_issues=parts.known_issues.record.known_issues if parts.known_issues is not None else {},
    ).with_known_issues()


def _names(records: Iterable[Names]) -> Names:
    merged = Names(facts={}, vars={}, assumptions={}, env={})
    for record in records:
        merged = Names(
            facts=merged.facts | record.facts,
            vars=merged.vars | record.vars,
            assumptions=merged.assumptions | record.assumptions,
            env=merged.env | record.env,
        )
    return merged


def _define(value: str | Define | tuple[Define, ...]) -> tuple[Define, ...]:
    assert isinstance(value, tuple)  # short forms are written out before validation
    return value
