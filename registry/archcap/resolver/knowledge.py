"""What the resolver must be told about an engine release; `archcap.snapshot` provides it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from archcap.model.architectures import Architecture, DraftRewrite, NameList
from archcap.model.base import Json, JsonObject
from archcap.model.checkpoints import Checkpoint
from archcap.model.engine import Engine, Names, Setting, SettingSpan
from archcap.model.hardware import Gpu
from archcap.model.vocabulary import Capability
from archcap.resolver.complete import Levels
from archcap.rules.run import Function, Program


class EngineCode(Protocol):
    """What an engine needs in code: a few pure functions (`archcap.engines`)."""

    @property
    def functions(self) -> Mapping[str, Function]:
        """Pure functions that rules may call, by name."""

    def text_config_of(self, config: JsonObject) -> JsonObject:
        """Return the level of *config* that describes the language model."""

    def outer_config_of(self, config: JsonObject, text: JsonObject) -> JsonObject:
        """Return *config* with what the engine copies into it from its *text* level."""

    def effective_config(self, config: JsonObject, settings: Mapping[str, Json]) -> JsonObject:
        """Return *config* as the engine sees it under *settings* (overrides given on the command line merged in)."""

    def format_command(
        self, settings: Mapping[str, Json], spans: Mapping[str, SettingSpan], launch: Sequence[str]
    ) -> str:
        """Return the launch command that asks for *settings*."""


class ReleaseView(Protocol):
    """One release of one engine."""

    @property
    def engine(self) -> Engine:
        """What `engine.yaml` says."""

    @property
    def release(self) -> str:
        """Its version."""

    @property
    def settings(self) -> Mapping[str, Setting]:
        """Settings any release has."""

    @property
    def spans(self) -> Mapping[str, SettingSpan]:
        """Settings of this release."""

    @property
    def plain_types(self) -> Mapping[str, type]:
        """The type that a setting's values mostly have, for those where it needs no second look."""

    @property
    def closed_choices(self) -> Mapping[str, Sequence[str | int]]:
        """The choices of settings that take nothing else."""

    @property
    def open_choices(self) -> Mapping[str, Sequence[str | int]]:
        """The choices of settings to which a plug-in of the engine may add its own."""

    @property
    def defaults(self) -> Mapping[str, Json]:
        """The engine's raw default of every setting."""

    @property
    def names(self) -> Names:
        """The typed names rules may read."""

    @property
    def planned(self) -> Mapping[str, str]:
        """The variables that the answer's plan shows, with their keys there."""

    @property
    def env_defaults(self) -> Mapping[str, Json]:
        """What every environment variable is worth when nobody sets it."""

    def assumed_on(self, platform: str | None) -> Mapping[str, Json]:
        """Return what is assumed on a platform; on an unknown one, what does not depend on it."""

    @property
    def architectures(self) -> Mapping[str, Architecture]:
        """Those the release has."""

    @property
    def all_architectures(self) -> Mapping[str, Architecture]:
        """Those any release has."""

    def rewrites_of(self, architecture: str) -> Sequence[DraftRewrite]:
        """Return how the release rewrites a checkpoint of an architecture that serves as a draft."""

    @property
    def lists(self) -> Mapping[str, frozenset[str]]:
        """The names each list holds in this release."""

    @property
    def name_lists(self) -> Mapping[str, NameList]:
        """The lists over all releases."""

    @property
    def capabilities(self) -> Mapping[str, Capability]:
        """The vocabulary."""

    @property
    def program(self) -> Program:
        """The rules, ready to run."""

    @property
    def code(self) -> EngineCode:
        """What the engine needs in code."""

    def levels(self, config: JsonObject) -> Levels:
        """Return *config* as the release's configuration class holds it."""

    def capabilities_of(self, architecture: str) -> tuple[frozenset[str], tuple[tuple[str, str], ...]]:
        """Return the capabilities it has in this release, and the conditional ones with their conditions."""

    def since(self, architecture: str, capability: str) -> str | None:
        """Return the first later release in which it has the capability, None when no scanned release does."""

    def list_since(self, list_id: str, name: str) -> str | None:
        """Return the first later release in which the list holds the name."""


class SnapshotView(Protocol):
    """The registry as compiled: `archcap.snapshot.Snapshot`."""

    @property
    def digest(self) -> str:
        """`sha256:…` over the whole registry."""

    @property
    def hardware(self) -> Mapping[str, Gpu]:
        """The hardware catalogue."""

    @property
    def checkpoints(self) -> Mapping[str, Checkpoint]:
        """The known checkpoints."""

    @property
    def engine_names(self) -> Sequence[str]:
        """The engines it knows."""

    def releases(self, engine: str) -> Sequence[str]:
        """Return the releases of *engine* in order."""

    def release(self, engine: str, release: str) -> ReleaseView:
        """Return one release, which must be known."""
