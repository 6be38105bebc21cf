"""One release of one engine, as the resolver, the pages and the client's slice read it.

Reads the snapshot's raw parts and makes records only of what is asked for. Knows no request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from archcap.engines import EngineSupport
from archcap.model.architectures import Architecture, NameList
from archcap.model.base import Json, JsonObject
from archcap.model.engine import Engine, Names, Setting, SettingSpan
from archcap.model.vocabulary import Capability
from archcap.snapshot.lazy import LazyMapping, lazy_records, record, section
from archcap.snapshot.support import conditions_of, has_at
from archcap.snapshot.timeline import Timeline

if TYPE_CHECKING:
    from archcap.rules.run import Program
    from archcap.snapshot.snapshot import Snapshot

CodeOf: TypeAlias = Callable[[str, str], EngineSupport]


class ReleaseView:
    """One release of one engine.

    Attributes:
        engine: what `engine.yaml` says.
        release: its version.
        timeline: all releases of the engine.
    """

    def __init__(self, snapshot: Snapshot, engine: str, release: str, code: CodeOf) -> None:
        self._snapshot = snapshot
        self._base = f"engines/{engine}/"
        self._code = code
        self.engine: Engine = snapshot.engine(engine)
        self.release: str = release
        self.timeline: Timeline = snapshot.timeline(engine)
        self._at = self.timeline.position(release)
        self._capabilities: dict[str, tuple[frozenset[str], tuple[tuple[str, str], ...]]] = {}

    @cached_property
    def _raw_settings(self) -> JsonObject:
        return section(self._snapshot.raw(self._base + "settings"), "settings")

    @cached_property
    def settings(self) -> Mapping[str, Setting]:
        """Settings of any release."""
        return lazy_records(Setting, self._raw_settings)

    @cached_property
    def _raw_spans(self) -> dict[str, JsonObject]:
        spans: dict[str, JsonObject] = {}
        for name, setting in self._raw_settings.items():
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
    def defaults(self) -> Mapping[str, Json]:
        """The engine's raw default of every setting of this release."""
        return {name: span.get("default") for name, span in self._raw_spans.items()}

    @cached_property
    def names(self) -> Names:
        """Facts, variables, assumptions and environment that rules may read."""
        return record(Names, self._snapshot.raw(self._base + "names"))

    @cached_property
    def _families(self) -> dict[str, str]:
        return {name: family for family, raw in self._raw_families.items() for name in section(raw, "architectures")}

    @cached_property
    def _raw_families(self) -> dict[str, JsonObject]:
        prefix = self._base + "families/"
        paths = [path for path in self._snapshot.parts if path.startswith(prefix)]
        return {path.removeprefix(prefix): self._snapshot.raw(path) for path in paths}

    @cached_property
    def _raw_architectures(self) -> dict[str, JsonObject]:
        found: dict[str, JsonObject] = {}
        for raw in self._raw_families.values():
            for name, architecture in section(raw, "architectures").items():
                if isinstance(architecture, dict):
                    found[name] = architecture
        return found

    def family_of(self, architecture: str) -> str:
        """Return the family an architecture belongs to; KeyError when no release has it."""
        return self._families[architecture]

    @cached_property
    def all_architectures(self) -> Mapping[str, Architecture]:
        """Architectures any release has."""
        raw = self._raw_architectures
        return LazyMapping(raw, lambda name: record(Architecture, raw[name]))

    @cached_property
    def architectures(self) -> Mapping[str, Architecture]:
        """Architectures this release has."""
        raw, everything = self._raw_architectures, self.all_architectures
        held = [name for name in raw if self.timeline.any_holds(raw[name].get("releases"), self._at)]
        return LazyMapping(held, lambda name: everything[name])

    @cached_property
    def _raw_lists(self) -> JsonObject:
        return section(self._snapshot.raw(self._base + "lists"), "lists")

    @cached_property
    def name_lists(self) -> Mapping[str, NameList]:
        """Lists over all releases."""
        return lazy_records(NameList, self._raw_lists)

    @cached_property
    def lists(self) -> Mapping[str, frozenset[str]]:
        """The names each list holds in this release, on whatever platform."""
        return LazyMapping(self._raw_lists, self._list)

    def _list(self, list_id: str) -> frozenset[str]:
        names = section(self._raw_lists[list_id], "names")
        return frozenset(name for name, stays in names.items() if self.timeline.any_holds(stays, self._at))

    @cached_property
    def capabilities(self) -> Mapping[str, Capability]:
        """The vocabulary."""
        return lazy_records(Capability, section(self._snapshot.raw("vocabulary"), "capabilities"))

    def capabilities_of(self, architecture: str) -> tuple[frozenset[str], tuple[tuple[str, str], ...]]:
        """Return the capabilities it has in this release, and the conditional ones with their conditions.

        Returns:
            What it has whatever the configuration and platform; then pairs of a capability and an expression over the
            configuration (`hf`, `text`) and the hardware (`hw.platform`). Nothing for an architecture it does not have.
        """
        found = self._capabilities.get(architecture)
        if found is None:
            found = self._capabilities[architecture] = self._capabilities_of(architecture)
        return found

    def _capabilities_of(self, architecture: str) -> tuple[frozenset[str], tuple[tuple[str, str], ...]]:
        if architecture not in self.architectures:
            return frozenset(), ()
        support = section(self._raw_architectures[architecture], "support")
        conditions = {name: conditions_of(list(self.timeline.held(support[name], self._at))) for name in support}
        always = frozenset(name for name, when in conditions.items() if when == "")
        return always, tuple(sorted((name, when) for name, when in conditions.items() if when))

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

    def raw_support(self, architecture: str) -> dict[str, list[JsonObject]]:
        """Return the raw support entries that hold in this release, by capability."""
        support = section(self._raw_architectures[architecture], "support")
        held = {name: list(self.timeline.held(entries, self._at)) for name, entries in support.items()}
        return {name: entries for name, entries in held.items() if entries}

    def since(self, architecture: str, capability: str) -> str | None:
        """Return the first later release in which the architecture has the capability, None when none has.

        "Has" as `capabilities_of` means it: on some platform or under some condition suffices.
        """
        raw = self._raw_architectures.get(architecture, {})
        entries = section(raw, "support").get(capability)
        for at in self.timeline.after(self._at) if entries is not None else ():
            if self.timeline.any_holds(raw.get("releases"), at) and has_at(self.timeline, entries, at):
                return self.timeline.names[at]
        return None

    def list_since(self, list_id: str, name: str) -> str | None:
        """Return the first later release in which the list holds the name, None when none does."""
        stays = section(self._raw_lists.get(list_id), "names").get(name)
        later = (at for at in self.timeline.after(self._at) if self.timeline.any_holds(stays, at))
        return next((self.timeline.names[at] for at in later), None)

    @cached_property
    def code(self) -> EngineSupport:
        """What the engine needs in code."""
        return self._code(self.engine.engine, self.release)

    @cached_property
    def program(self) -> Program:
        """The rules of the release, compiled."""
        from archcap.snapshot.programs import program_of

        return program_of(self._snapshot, self.engine.engine, self.release, self.code.functions)
