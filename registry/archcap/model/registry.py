"""The whole registry in memory, as `archcap.load` reads it and `archcap.snapshot` stores it."""

from __future__ import annotations

from archcap.model.architectures import Family, NameList
from archcap.model.base import Id, Name, Record
from archcap.model.checkpoints import Checkpoint
from archcap.model.config_classes import ConfigClass
from archcap.model.engine import Engine, Names, Setting
from archcap.model.hardware import Gpu
from archcap.model.known_issues import KNOWN_ISSUES, KnownIssue, entry, step_of
from archcap.model.rules import Define, PipelineEntry, Step
from archcap.model.siblings import SiblingGuide
from archcap.model.vocabulary import Vocabulary


class EngineRegistry(Record):
    """Everything known of one engine.

    `rules` maps a rules file's stem (`30-cache`) to its steps; step names are unique over the files.
    """

    engine: Engine
    settings: dict[Name, Setting]
    names: Names = Names()
    lists: dict[Id, NameList] = {}
    families: dict[Name, Family]
    defines: dict[Name, tuple[Define, ...]] = {}
    steps: dict[Name, Step] = {}
    step_files: dict[Name, str] = {}
    pipeline: tuple[PipelineEntry, ...] = ()
    siblings: SiblingGuide | None = None
    config_classes: dict[Id, tuple[ConfigClass, ...]] = {}
    known_issues: dict[Id, KnownIssue] = {}

    def with_known_issues(self) -> EngineRegistry:
        """Return the engine with the step that finds its known issues, at the end of every release."""
        if not self.known_issues:
            return self
        return self.model_copy(
            update={
                "steps": {**self.steps, KNOWN_ISSUES: step_of(self.known_issues)},
                "step_files": {**self.step_files, KNOWN_ISSUES: KNOWN_ISSUES},
                "pipeline": (*self.pipeline, entry()),
            }
        )

    def without_known_issues(self) -> EngineRegistry:
        """Return the engine as its files hold it."""
        if KNOWN_ISSUES not in self.steps or not self.known_issues:
            return self
        return self.model_copy(
            update={
                "steps": {name: step for name, step in self.steps.items() if name != KNOWN_ISSUES},
                "pipeline": tuple(one for one in self.pipeline if one.step != KNOWN_ISSUES),
            }
        )


class Registry(Record):
    """All of archcap's data."""

    vocabulary: Vocabulary
    hardware: dict[Id, Gpu]
    checkpoints: dict[Id, Checkpoint] = {}
    engines: dict[Name, EngineRegistry]
