"""What an engine needs in code: reading and writing its launch command, the level of a config it reads, pure functions.

One module per engine, imported when its engine is asked for. Knows nothing of rules, snapshots and files: whoever calls
reads files and passes their content.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Protocol, cast

from archcap.errors import RequestError
from archcap.model.base import Json, JsonObject
from archcap.model.engine import LooseFlag, Setting, SettingSpan

Function = Callable[..., Json]
ReadFlagsFile = Callable[[str], JsonObject]
"""Returns the content of the flags file that a command names; raises RequestError when it cannot be read."""

ENGINES = ("sglang",)
"""Engines whose code ships here; `support` finds any module of an engine's name."""


@dataclass(frozen=True, slots=True)
class Options:
    """What a release's command line takes.

    Attributes:
        release: the release, for messages and for what changed over time.
        spans: the settings, each with its spellings.
        loose: flags of no setting, by spelling.
        settings: the settings of every release, to tell when a flag came or went.
    """

    release: str
    spans: Mapping[str, SettingSpan]
    loose: Mapping[str, LooseFlag] = field(default_factory=dict)
    settings: Mapping[str, Setting] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Launch:
    """What a launch command asks for.

    Attributes:
        settings: what its flags set, under the engine's own names.
        env: environment variables assigned in front of it.
        notes: what a reader should know: deprecated spellings, flags without effect.
        flags: the spellings it uses, in full, each with the setting it writes; None for a flag of no setting.
    """

    settings: dict[str, Json]
    env: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    flags: Mapping[str, str | None] = field(default_factory=dict)


class EngineSupport(Protocol):
    """One engine's code, as one release of it behaves."""

    @property
    def functions(self) -> Mapping[str, Function]:
        """Pure functions that rules may call, by name."""

    def text_config_of(self, config: JsonObject) -> JsonObject:
        """Return the level of *config* that describes the language model; *config* itself when it has no levels."""

    def outer_config_of(self, config: JsonObject, text: JsonObject) -> JsonObject:
        """Return *config* with what the engine copies into it from *text*, the level of the language model."""

    def effective_config(self, config: JsonObject, settings: Mapping[str, Json]) -> JsonObject:
        """Return *config* as the engine sees it under *settings* (overrides given on the command line merged in).

        Raises:
            RequestError: `bad-config-override`, when the override is no JSON object.
        """

    def parse_command(
        self, words: Sequence[str], options: Options, read_flags_file: ReadFlagsFile | None = None
    ) -> Launch:
        """Read a launch command.

        Args:
            words: the command as the shell would pass it, or one word that holds the whole text. What starts the engine
                (interpreter, container, environment assignments) may stand in front.
            options: what the release takes.
            read_flags_file: reads the file of further flags that the command may name.
        Raises:
            RequestError: an unknown flag, a value its flag does not take, or no launch of this engine in it.
        """

    def format_command(
        self, settings: Mapping[str, Json], spans: Mapping[str, SettingSpan], launch: Sequence[str]
    ) -> str:
        """Return the shell command that asks for *settings*; read back, it gives the same settings.

        Args:
            settings: the values asked for. Those no flag can say stand in a comment at the end.
            spans: the release's settings.
            launch: the words that start the engine; empty for the flags alone.
        """


def support(engine: str, release: str | None = None) -> EngineSupport:
    """Return the code of *engine* as *release* behaves; None means the newest known behaviour.

    The code of an engine is the module of its name here, with a function `make(release)`.

    Raises:
        RequestError: `unknown-engine`.
    """
    name = f"{__name__}.{engine}"
    try:
        make = getattr(import_module(name), "make", None) if engine.isidentifier() else None
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        make = None
    if make is None:
        raise RequestError("unknown-engine", f"archcap has no code for engine {engine!r}", f"it would be {name}")
    return cast(EngineSupport, make(release))
