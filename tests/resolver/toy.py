"""The invented registry, compiled, with an engine module of the tests' own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import cast

from archcap.engines import EngineSupport, Function, Launch, Options, ReadFlagsFile
from archcap.load import load_registry
from archcap.model.base import Json, JsonObject
from archcap.model.engine import SettingSpan
from archcap.model.request import Request
from archcap.model.resolution import Resolution
from archcap.resolver import resolve
from archcap.snapshot import build
from archcap.snapshot.snapshot import Snapshot

MINI = Path(__file__).parent.parent / "mini"


class ToyCode:
    """The invented engine's code: configs have no levels, commands are `name=value`."""

    functions: Mapping[str, Function] = {}

    def text_config_of(self, config: JsonObject) -> JsonObject:
        inner = config.get("text_config")
        return inner if isinstance(inner, dict) else config

    def outer_config_of(self, config: JsonObject, text: JsonObject) -> JsonObject:
        return config

    def effective_config(self, config: JsonObject, settings: Mapping[str, Json]) -> JsonObject:
        return config

    def parse_command(
        self, words: Sequence[str], options: Options, read_flags_file: ReadFlagsFile | None = None
    ) -> Launch:
        raise NotImplementedError

    def format_command(
        self, settings: Mapping[str, Json], spans: Mapping[str, SettingSpan], launch: Sequence[str]
    ) -> str:
        return " ".join([*launch, *(f"{name}={value}" for name, value in settings.items())])


@cache
def snapshot() -> Snapshot:
    """Return the invented registry's snapshot."""
    return Snapshot.open(build(load_registry(MINI)), code=lambda engine, release: cast(EngineSupport, ToyCode()))


RIVER: JsonObject = {
    "architectures": ["RiverForCausalLM"],
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "state_layers": 2,
}


def ask(release: str = "0.10", **parts: Json) -> Request:
    """Return a request for River on an alpha card unless told otherwise."""
    asked: dict[str, Json] = {"engine": "toy", "release": release, "config": RIVER, "hardware": {"gpu": "alpha"}}
    asked.update(parts)
    return Request.model_validate({name: value for name, value in asked.items() if value is not None})


def answer(release: str = "0.10", **parts: Json) -> Resolution:
    """Resolve `ask(…)`."""
    return resolve(ask(release, **parts), snapshot())
