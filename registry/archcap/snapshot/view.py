"""One release of one engine, as the resolver, the pages and the client's slice read it.

Reads raw parts that all releases share and makes records only of what is asked for. Knows no request.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from archcap.engines import EngineSupport
from archcap.model.architectures import Architecture, DraftRewrite, NameList
from archcap.model.base import Json, JsonObject
from archcap.model.config_classes import ConfigClass
from archcap.model.engine import Engine, Names, Setting, SettingSpan
from archcap.model.vocabulary import Capability
from archcap.resolver.complete import EVERYTHING, Completed, Completion, Levels, complete, levels_of
from archcap.snapshot.facts import EngineFacts
from archcap.snapshot.lazy import LazyMapping, record, section
from archcap.snapshot.support import conditions_of, has_at
from archcap.snapshot.timeline import Timeline

if TYPE_CHECKING:
    from archcap.rules.run import Program

CodeOf: TypeAlias = Callable[[str, str], EngineSupport]
ProgramOf: TypeAlias = "Callable[[str, EngineSupport], Program]"
Held: TypeAlias = tuple[frozenset[str], tuple[tuple[str, str], ...]]

_PLAIN: Mapping[str, type] = {"bool": bool, "int": int, "float": float, "str": str, "list": list, "struct": dict}
_KEPT = 256
"""Configurations that are kept as their class holds them: most launches are of few checkpoints."""
_EQUAL_BYTES = 2
"""The version of Python's own format in which equal values are equal bytes."""
_NOTHING: Held = (frozenset(), ())


class ReleaseView:
    """One release of one engine.

    Attributes:
        engine: what `engine.yaml` says.
        release: its version.
        timeline: all releases of the engine.
    """

    def __init__(self, facts: EngineFacts, release: str, code: CodeOf, program: ProgramOf) -> None:
        self._facts = facts
        self._code_of = code
        self._program_of = program
        self.engine: Engine = facts.engine
        self.release: str = release
        self.timeline: Timeline = facts.timeline
        self._at = self.timeline.position(release)
        self._capabilities: dict[str, Held] = {}
        self._rewrites: dict[str, tuple[DraftRewrite, ...]] = {}
        self._since: dict[tuple[str, str], str | None] = {}
        self._assumed: dict[str | None, dict[str, Json]] = {}
        self._config_classes: dict[str, Completion] = {}
        self._levels: dict[bytes, Levels] = {}

    # -- settings and names --------------------------------------------------------------

    @property
    def settings(self) -> Mapping[str, Setting]:
        """Settings of any release."""
        return self._facts.settings

    @cached_property
    def _raw_spans(self) -> dict[str, JsonObject]:
        spans: dict[str, JsonObject] = {}
        for name, setting in self._facts.raw_settings.items():
            held = setting.get("spans") if isinstance(setting, dict) else None
            found = next(self.timeline.held(held, self._at), None)
            if found is not None:
                spans[name] = found
        return spans

    @cached_property
    def spans(self) -> Mapping[str, SettingSpan]:
        """Settings of this release."""
        raw = self._raw_spans
        return LazyMapping(raw, lambda name: record(SettingSpan, raw[name]))

    @cached_property
    def plain_types(self) -> Mapping[str, type]:
        """The type that a setting's values mostly have, for those where it needs no second look."""
        named = ((name, _PLAIN.get(str(raw.get("type")))) for name, raw in self._raw_spans.items())
        return {name: kind for name, kind in named if kind is not None}

    @cached_property
    def closed_choices(self) -> Mapping[str, Sequence[str | int]]:
        """The choices of settings that take nothing else."""
        closed = (name for name, raw in self._raw_spans.items() if raw.get("choices") and not raw.get("open_choices"))
        return {name: self.spans[name].choices for name in closed}

    @cached_property
    def open_choices(self) -> Mapping[str, Sequence[str | int]]:
        """The choices of settings to which a plug-in of the engine may add its own."""
        named = (name for name, raw in self._raw_spans.items() if raw.get("choices") and raw.get("open_choices"))
        return {name: self.spans[name].choices for name in named}

    @cached_property
    def defaults(self) -> Mapping[str, Json]:
        """The engine's raw default of every setting of this release."""
        return {name: span.get("default") for name, span in self._raw_spans.items()}

    @property
    def names(self) -> Names:
        """Facts, variables, assumptions and environment that rules may read."""
        return self._facts.names

    @cached_property
    def planned(self) -> Mapping[str, str]:
        """The variables that the answer's plan shows, with their keys there."""
        return {name: declared.plan for name, declared in self.names.vars.items() if declared.plan is not None}

    @cached_property
    def env_defaults(self) -> Mapping[str, Json]:
        """What every environment variable is worth when nobody sets it."""
        return {name: one.default for name, one in self.names.env.items()}

    def assumed_on(self, platform: str | None) -> Mapping[str, Json]:
        """Return what is assumed on a platform; on an unknown one, what does not depend on it."""
        found = self._assumed.get(platform)
        if found is None:
            declared = self.names.assumptions.items()
            found = {
                name: one.default if platform is None else one.platforms.get(platform, one.default)
                for name, one in declared
                if platform is not None or not one.platforms
            }
            self._assumed[platform] = found  # as many as the hardware catalogue has platforms
        return found

    # -- architectures and lists -----------------------------------------------------------

    @property
    def all_architectures(self) -> Mapping[str, Architecture]:
        """Architectures any release has."""
        return self._facts.architectures

    @cached_property
    def architectures(self) -> Mapping[str, Architecture]:
        """Architectures this release has."""
        return _Existing(self._facts, self._at)

    def rewrites_of(self, architecture: str) -> Sequence[DraftRewrite]:
        """Return how the release rewrites a checkpoint of an architecture that serves as a draft."""
        found = self._rewrites.get(architecture)
        if found is None:
            known = self.all_architectures.get(architecture)
            if known is None:
                return ()  # not remembered: anybody can ask for any name
            found = self._rewrites[architecture] = known.rewrites_at(self.release)
        return found

    def family_of(self, architecture: str) -> str:
        """Return the family an architecture belongs to; KeyError when no release has it."""
        return self._facts.family_of[architecture]

    @property
    def name_lists(self) -> Mapping[str, NameList]:
        """Lists over all releases."""
        return self._facts.lists

    @cached_property
    def lists(self) -> Mapping[str, frozenset[str]]:
        """The names each list holds in this release, on whatever platform."""
        return LazyMapping(self._facts.raw_lists, self._list)

    def _list(self, list_id: str) -> frozenset[str]:
        names = section(self._facts.raw_lists[list_id], "names")
        return frozenset(name for name, stays in names.items() if self.timeline.any_holds(stays, self._at))

    def raw_stays(self, list_id: str) -> Iterator[tuple[str, JsonObject]]:
        """Yield the names a list holds in this release, each with the raw interval that says so."""
        for name, stays in section(self._facts.raw_lists[list_id], "names").items():
            for stay in self.timeline.held(stays, self._at):
                yield name, stay

    def list_since(self, list_id: str, name: str) -> str | None:
        """Return the first later release in which the list holds the name, None when none does."""
        stays = section(self._facts.raw_lists.get(list_id), "names").get(name)
        later = (at for at in self.timeline.after(self._at) if self.timeline.any_holds(stays, at))
        return next((self.timeline.names[at] for at in later), None)

    def config_class(self, kind: str) -> Completion | None:
        """Return what the release's class of a `model_type` does, None where nothing is known of one."""
        known = self._config_classes.get(kind)
        if known is None:
            held = list(self.timeline.held(self._facts.raw_config_classes.get(kind), self._at))
            if not held:
                return None  # not remembered: anybody can ask for any type
            known = self._config_classes[kind] = Completion([record(ConfigClass, part) for part in held])
        return known

    def levels(self, config: JsonObject) -> Levels:
        """Return *config* as the release's configuration class holds it; the last ones are kept."""
        key = marshal.dumps(config, _EQUAL_BYTES)
        kept = self._levels.get(key)
        if kept is None:
            if len(self._levels) >= _KEPT:
                self._levels.clear()
            kept = self._levels[key] = levels_of(self._completed(config), self.code)
        return kept

    def _completed(self, config: JsonObject) -> Completed:
        if self._facts.raw_config_classes and config.get("model_type") is None:
            return Completed(config, EVERYTHING)  # nothing says whose fields these are
        return complete(config, self.config_class)

    # -- capabilities -----------------------------------------------------------------------

    @property
    def capabilities(self) -> Mapping[str, Capability]:
        """The vocabulary."""
        return self._facts.capabilities

    def capabilities_of(self, architecture: str) -> Held:
        """Return the capabilities it has in this release, and the conditional ones with their conditions.

        Returns:
            What it has whatever the configuration and platform; then pairs of a capability and an expression over the
            configuration (`hf`, `text`) and the hardware (`hw.platform`). Nothing for an architecture it does not have.
        """
        found = self._capabilities.get(architecture)
        if found is None:
            if architecture not in self.architectures:
                return _NOTHING
            found = self._capabilities[architecture] = self._capabilities_of(architecture)
        return found

    def _capabilities_of(self, architecture: str) -> Held:
        held = self.raw_support(architecture)
        conditions = {name: conditions_of(entries) for name, entries in held.items()}
        always = frozenset(name for name, when in conditions.items() if when == "")
        return always, tuple(sorted((name, when) for name, when in conditions.items() if when))

    def raw_support(self, architecture: str) -> dict[str, list[JsonObject]]:
        """Return the raw support entries that hold in this release, by capability."""
        support = section(self._facts.raw_architecture(architecture), "support")
        held = {name: list(self.timeline.held(entries, self._at)) for name, entries in support.items()}
        return {name: entries for name, entries in held.items() if entries}

    def capability_set(self, capability: str) -> frozenset[str]:
        """Return the architectures that have *capability* in this release, whatever the configuration and platform."""
        return self._by_capability.get(capability, frozenset())

    @cached_property
    def _by_capability(self) -> dict[str, frozenset[str]]:
        holders: dict[str, set[str]] = {}
        for architecture in self.architectures:
            for capability in self.capabilities_of(architecture)[0]:
                holders.setdefault(capability, set()).add(architecture)
        return {capability: frozenset(names) for capability, names in holders.items()}

    def conditional_set(self, capability: str) -> dict[str, str]:
        """Return the architectures that have *capability* under a condition, each with it."""
        pairs = ((name, dict(self.capabilities_of(name)[1]).get(capability)) for name in self.architectures)
        return {name: when for name, when in pairs if when is not None}

    def since(self, architecture: str, capability: str) -> str | None:
        """Return the first later release in which the architecture has the capability, None when none has.

        "Has" as `capabilities_of` means it: on some platform or under some condition suffices.
        """
        key = (architecture, capability)
        if key in self._since:
            return self._since[key]
        raw = self._facts.raw_architecture(architecture)
        entries = section(raw, "support").get(capability)
        if raw is None or entries is None:
            return None  # not remembered: anybody can ask for any name
        since = self._since[key] = self._first_later(raw, entries)
        return since

    def _first_later(self, raw: JsonObject, entries: Json) -> str | None:
        for at in self.timeline.after(self._at):
            if self.timeline.any_holds(raw.get("releases"), at) and has_at(self.timeline, entries, at):
                return self.timeline.names[at]
        return None

    # -- code ---------------------------------------------------------------------------------

    @cached_property
    def code(self) -> EngineSupport:
        """What the engine needs in code."""
        return self._code_of(self.engine.engine, self.release)

    @cached_property
    def program(self) -> Program:
        """The rules of the release, compiled."""
        return self._program_of(self.release, self.code)


class _Existing(Mapping[str, Architecture]):
    """The architectures of one release, without reading those nobody asks for."""

    def __init__(self, facts: EngineFacts, at: int) -> None:
        self._facts = facts
        self._at = at
        self._asked: dict[str, bool] = {}

    def __getitem__(self, name: str) -> Architecture:
        if name not in self:
            raise KeyError(name)
        return self._facts.architectures[name]

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        held = self._asked.get(name)
        if held is None:
            raw = self._facts.raw_architecture(name)
            if raw is None:
                return False  # not remembered: anybody can ask for any name
            held = self._asked[name] = self._facts.timeline.any_holds(raw.get("releases"), self._at)
        return held

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(name for name in self._facts.family_of if name in self)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
