"""An engine: its releases, its settings, and the names its rules may use besides."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from archcap.model.base import Id, Json, JsonObject, Name, Record, Text
from archcap.model.releases import Interval, version

ValueType = Literal["bool", "int", "float", "number", "str", "list", "struct", "any"]


class Release(Record):
    """One published release."""

    date: str | None = None
    python: str | None = None
    transformers: str | None = None
    note: Text | None = None


class Engine(Record):
    """`engine.yaml`."""

    engine: Name
    title: Text
    package: str
    """Distribution on the package index."""
    launch: tuple[str, ...]
    """The command that starts it, as words; flags follow."""
    config_setting: Name = "model_path"
    """The setting that names the checkpoint."""
    draft_setting: Name | None = None
    """The setting that names the draft checkpoint; a draft config implies it."""
    draft_method_setting: Name | None = None
    """The setting that names the speculative algorithm, upon which the draft's class may depend."""
    nodes_setting: Name | None = None
    """The setting that counts nodes."""
    source_root: str = ""
    """Folder of the package that `source:` paths start from."""
    releases: dict[str, Release]
    loose_flags: dict[str, tuple[LooseFlag, ...]] = {}
    """Flags of no setting, by spelling."""


class Flag(Record):
    """A spelling on the command line that is more than the setting's own value."""

    name: str
    value: Json = None
    """What the flag writes when it takes no argument, or whatever its argument is."""
    has_value: bool = True
    """Whether a word follows it."""
    choices: tuple[str | int, ...] = ()
    """Of this spelling, where they differ from the setting's."""
    replaced_by: Text | None = None
    """Deprecated: the spelling that the engine recommends instead."""
    note: Text | None = None


class LooseFlag(Interval):
    """A flag that writes no setting: a retired one, or the one that names a file of further flags."""

    effect: Literal["ignored", "refused", "flags_file"]
    """What the engine does with it: warn and go on, stop, or read more flags from the file it names."""
    words: Literal[0, 1] = 0
    says: Text | None = None
    """What to use instead, as in "use --swa-full-tokens-ratio"."""
    source: Text | None = None


class SettingSpan(Interval):
    """A launch option as it is over one interval of releases."""

    type: ValueType
    optional: bool = False
    """Whether None is a value (unset)."""
    default: Json = None
    choices: tuple[str | int, ...] = ()
    open_choices: bool = False
    """Choices can be extended at run time; the list is what the source names."""
    sentinel: Json = None
    """The value that means "decide for me" (`auto`); `default:` overwrites it."""
    item: ValueType | None = None
    """Type of the items of a list."""
    flags: tuple[str | Flag, ...] = ()
    """Spellings on the command line; empty when it has none."""
    fields: tuple[str, ...] = ()
    """Leaf paths of a structured setting."""
    positional: bool = False
    many: bool = False
    """The flag takes several words."""
    words: Literal["?", "*", "+"] | None = None
    """How many, as argparse's `nargs`; None is `+` where `many`, else one word."""
    const: Json = None
    """`words: "?"`: the value when the flag stands alone."""
    parser: Literal["json", "si_int", "nullable"] | None = None
    """How the word becomes a value where its type does not say it: JSON text, an integer with a suffix (`25.6k`,
    `1Mi`), or a string whose empty form or `None` is unset."""
    source: Text | None = None


class Setting(Record):
    """A launch option under the engine's own name."""

    group: Name | None = None
    title: Text | None = None
    """Words for people, as in "decode context parallel size"."""
    gives_up: Text | None = None
    """What an operator loses when a fix takes their value away, as in "decode context parallelism"."""
    fix: Literal["free", "reduce", "never"] | None = None
    """How a fix may change it: freely, only back towards its default (`reduce`), or never. None: by its type."""
    spans: tuple[SettingSpan, ...]

    @model_validator(mode="after")
    def _apart(self) -> Setting:
        for first, second in zip(self.spans, self.spans[1:], strict=False):
            if first.removed is None or second.added is None or version(second.added) < version(first.removed):
                raise ValueError("spans must stand in release order and must not overlap")
        return self

    def at(self, release: str) -> SettingSpan | None:
        """Return the span that holds in *release*, or None where the engine has no such setting."""
        return next((span for span in self.spans if span.holds(release)), None)


class Declared(Record):
    """A typed name that rules may read: a fact or a variable of the resolution."""

    type: ValueType
    optional: bool = False
    meaning: Text
    says: Text | None = None
    """How a cause words it, with `{value}`; as in "the tree page is {value}"."""
    default: Json = None
    """Variables: the value before any rule writes it."""
    plan: str | None = None
    """Variables: the key of the answer's plan that shows it."""
    choices: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    """Facts: what must be given for it, as in `config.num_attention_heads`."""
    source: Text | None = None


class Assumption(Record):
    """Something about the machine that nobody told us, with what is assumed."""

    type: Literal["bool", "int", "str"]
    says: Text
    """How the answer lists it, with `{value}`, as in "flashinfer is installed: {value}"."""
    default: Json = None
    platforms: JsonObject = {}
    """Default by platform (`cuda`, `hip`, …), over `default`."""
    source: Text | None = None


class EnvironmentVariable(Record):
    """An environment variable rules may read, with its type and default."""

    type: Literal["bool", "int", "float", "str"]
    default: Json = None
    meaning: Text | None = None
    source: Text | None = None
    spans: tuple[Interval, ...] = ()
    """When the engine reads it; none: in every known release."""
    instead: Text | None = None
    """What does its work once it is gone: a flag, another variable, or why nothing does."""


    def read_in(self, release: str) -> bool:
        """Return whether the engine reads it in a release."""
        return not self.spans or any(span.holds(release) for span in self.spans)


class Names(Record):
    """`names.yaml`."""

    facts: dict[Name, Declared] = {}
    vars: dict[Name, Declared] = {}
    assumptions: dict[Name, Assumption] = {}
    env: dict[Name, EnvironmentVariable] = {}


class SettingsFile(Record):
    """`settings.yaml`."""

    settings: dict[Name, Setting]


__all__ = [
    "Assumption", "Declared", "Engine", "EnvironmentVariable", "Flag", "Id", "LooseFlag", "Names", "Release", "Setting",
    "SettingSpan", "SettingsFile", "ValueType",
]
