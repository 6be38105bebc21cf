"""What all releases of an engine share: its raw parts and the records made of them, each read once and when asked for.

Knows a snapshot's parts; knows no release.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Protocol

from archcap.model.architectures import Architecture, NameList
from archcap.model.base import JsonObject
from archcap.model.engine import Engine, Names, Setting
from archcap.model.vocabulary import Capability
from archcap.snapshot.lazy import lazy_records, record, section
from archcap.snapshot.timeline import Timeline


class Parts(Protocol):
    """What is read of a snapshot."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The paths of all parts, sorted."""

    def part(self, path: str) -> bytes:
        """Return the canonical JSON of one part."""

    def engine(self, engine: str) -> Engine:
        """Return what `engine.yaml` says."""


class EngineFacts:
    """One engine's facts over all releases.

    Attributes:
        engine: what `engine.yaml` says.
        timeline: its releases.
    """

    def __init__(self, snapshot: Parts, engine: str) -> None:
        self._snapshot = snapshot
        self._base = f"engines/{engine}/"
        self.engine: Engine = snapshot.engine(engine)
        self.timeline: Timeline = Timeline(self.engine.releases)
        self._families: dict[str, JsonObject] = {}
        self._places: dict[str, str] = {}

    def _raw(self, path: str) -> JsonObject:
        value: JsonObject = json.loads(self._snapshot.part(path))
        return value

    @cached_property
    def raw_settings(self) -> JsonObject:
        """Settings by name."""
        return section(self._raw(self._base + "settings"), "settings")

    @cached_property
    def settings(self) -> Mapping[str, Setting]:
        """Settings as records."""
        return lazy_records(Setting, self.raw_settings)

    @cached_property
    def names(self) -> Names:
        """Facts, variables, assumptions and environment that rules may read."""
        return record(Names, self._raw(self._base + "names"))

    @cached_property
    def raw_lists(self) -> JsonObject:
        """Lists by id."""
        return section(self._raw(self._base + "lists"), "lists")

    @cached_property
    def lists(self) -> Mapping[str, NameList]:
        """Lists as records."""
        return lazy_records(NameList, self.raw_lists)

    @cached_property
    def raw_config_classes(self) -> JsonObject:
        """Configuration classes by type."""
        path = self._base + "config_classes"
        return section(self._raw(path), "config_classes") if path in self._snapshot.parts else {}

    @cached_property
    def capabilities(self) -> Mapping[str, Capability]:
        """The vocabulary."""
        return lazy_records(Capability, section(self._raw("vocabulary"), "capabilities"))

    # -- architectures ---------------------------------------------------------------

    @cached_property
    def _family_names(self) -> tuple[str, ...]:
        prefix = self._base + "families/"
        return tuple(path.removeprefix(prefix) for path in self._snapshot.parts if path.startswith(prefix))

    def _family(self, family: str) -> JsonObject:
        """Return the raw architectures of one family."""
        if family not in self._families:
            self._families[family] = section(self._raw(f"{self._base}families/{family}"), "architectures")
        return self._families[family]

    @cached_property
    def family_of(self) -> Mapping[str, str]:
        """The family of every architecture; reads every family."""
        return {name: family for family in self._family_names for name in self._family(family)}

    def _find(self, architecture: str) -> str | None:
        """Return the family of one architecture; parses only families whose text names it."""
        if "family_of" in self.__dict__:
            return self.family_of.get(architecture)
        key = json.dumps(architecture).encode("ascii") + b":{"
        for family in self._family_names:
            if key in self._snapshot.part(f"{self._base}families/{family}") and architecture in self._family(family):
                return family
        return None

    def raw_architecture(self, architecture: str) -> JsonObject | None:
        """Return one architecture of any release, None when there is none of that name."""
        family = self._places.get(architecture) or self._find(architecture)
        if family is None:
            return None  # not remembered: anybody can ask for any name
        self._places[architecture] = family
        found = self._family(family)[architecture]
        return found if isinstance(found, dict) else None

    @cached_property
    def architectures(self) -> Mapping[str, Architecture]:
        """Architectures of any release as records; those looked up by name read one family each."""
        return Architectures(self)

    def make_architecture(self, architecture: str) -> Architecture:
        """Return one architecture as a record; KeyError when there is none of that name."""
        raw = self.raw_architecture(architecture)
        if raw is None:
            raise KeyError(architecture)
        return record(Architecture, raw)


class Architectures(Mapping[str, Architecture]):
    """All architectures of an engine, without reading those nobody asks for."""

    def __init__(self, facts: EngineFacts) -> None:
        self._facts = facts
        self._made: dict[str, Architecture] = {}

    def __getitem__(self, name: str) -> Architecture:
        found = self._made.get(name)
        if found is None:
            found = self._made[name] = self._facts.make_architecture(name)
        return found

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._facts.raw_architecture(name) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self._facts.family_of)

    def __len__(self) -> int:
        return len(self._facts.family_of)
