"""The invented registry as a snapshot, with an engine without code of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from archcap.engines import EngineSupport, Function, Launch, Options, ReadFlagsFile
from archcap.load import load_registry
from archcap.model.base import Json, JsonObject
from archcap.model.engine import SettingSpan
from archcap.model.registry import Registry
from archcap.snapshot import ReleaseView, Snapshot, build
from tests import mini

RELEASES = ("0.9", "0.10", "0.10.post1", "0.11")


class NoCode:
    """An engine that needs nothing in code."""

    functions: Mapping[str, Function] = {}

    def text_config_of(self, config: JsonObject) -> JsonObject:
        return config

    def outer_config_of(self, config: JsonObject, text: JsonObject) -> JsonObject:
        return config

    def effective_config(self, config: JsonObject, settings: Mapping[str, Json]) -> JsonObject:
        return config

    def parse_command(
        self, words: Sequence[str], options: Options, read_flags_file: ReadFlagsFile | None = None
    ) -> Launch:
        return Launch({})

    def format_command(
        self, settings: Mapping[str, Json], spans: Mapping[str, SettingSpan], launch: Sequence[str]
    ) -> str:
        return " ".join(launch)


def code(engine: str, release: str) -> EngineSupport:
    """Stand in for `archcap.engines.support`."""
    return NoCode()


@cache
def registry() -> Registry:
    """Return the invented registry."""
    return load_registry(mini.ROOT)


@cache
def data() -> bytes:
    """Return its snapshot's bytes."""
    return build(registry())


def snapshot() -> Snapshot:
    """Return its snapshot, opened anew."""
    return Snapshot.open(data(), code)


@cache
def view(release: str) -> ReleaseView:
    """Return one release of it."""
    return snapshot().release("toy", release)
