"""The whole registry in memory, as `archcap.load` reads it and `archcap.snapshot` stores it."""

from __future__ import annotations

from archcap.model.architectures import Family, NameList
from archcap.model.base import Id, Name, Record
from archcap.model.checkpoints import Checkpoint
from archcap.model.config_classes import ConfigClass
from archcap.model.engine import Engine, Names, Setting
from archcap.model.hardware import Gpu
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


class Registry(Record):
    """All of archcap's data."""

    vocabulary: Vocabulary
    hardware: dict[Id, Gpu]
    checkpoints: dict[Id, Checkpoint] = {}
    engines: dict[Name, EngineRegistry]
