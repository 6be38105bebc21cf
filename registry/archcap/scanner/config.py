"""How one engine's source is laid out: the scanner's only engine-specific input, read from `scan.yaml`."""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path

import yaml

from archcap.model.base import Record
from archcap.model.vocabulary import Probe


class ListAlias(Record):
    """A collection that had no name in older releases: where a release lacks it, a probe finds its names."""

    id: str
    """The list's id: its newest place."""
    probe: Probe


class FamilyRule(Record):
    """Modules that belong to one family although their names differ."""

    family: str
    modules: tuple[str, ...]
    """Regular expressions over whole module names."""


class DraftRules(Record):
    """Where an engine rewrites the configuration of a checkpoint that serves as its own draft."""

    function: str
    """Dotted path below the package."""
    depth: str
    """The key that says how many layers a draft has."""
    levels: dict[str, str]
    """Attribute that holds a configuration -> its level, as in `hf_text_config: text`."""


class ScanConfig(Record):
    """`registry/engines/<engine>/scan.yaml`."""

    engine: str
    package: str
    models_package: str
    configs_package: str = ""
    """Where the engine's own configuration classes are."""
    entry_list: str = "EntryClass"
    settings_record: str
    settings_parser: str = "add_cli_args"
    search: tuple[str, ...] = ("",)
    """Beginnings of paths that are searched for facts; other files are read where an import leads to them."""
    leave_out: tuple[str, ...] = ()
    """Beginnings of paths below those that are not."""
    external: dict[str, tuple[str, ...]] = {}
    """What classes from outside the source give the classes made of them, by import path: names that probes ask for."""
    drafts: tuple[str, ...] = ()
    """Regular expressions that the names of draft architectures match."""
    predicates: dict[str, bool] = {}
    """Functions that say what the machine is, with what they say of the usual one; defaults are read as of that."""
    expected_unresolved: tuple[str, ...] = ()
    """Findings that are known and handled by people, by regular expression."""
    aliases: tuple[ListAlias, ...] = ()
    families: tuple[FamilyRule, ...] = ()
    family_suffixes: tuple[str, ...] = ()
    """Ends of module names that do not make a family of their own."""
    flags_file: tuple[str, ...] = ()
    """Flags that name a file of further flags."""
    draft_rewrites: DraftRules | None = None
    """Where checkpoints that serve as their own draft get their architecture and depth."""
    overrides: tuple[str, ...] = ()
    """Decorators that register a function for the architectures in their arguments."""

    @cached_property
    def _draft(self) -> re.Pattern[str]:
        return re.compile("|".join(self.drafts) or r"(?!)")

    @property
    def models_folder(self) -> str:
        """Folder of the models' package."""
        return self.models_package.replace(".", "/") + "/"

    def searched(self, path: str) -> bool:
        """Return whether a file is searched for facts."""
        return path.startswith(self.search) and not path.startswith(self.leave_out)

    def role(self, name: str) -> str:
        """Return the role of an architecture by its name."""
        return "draft" if self._draft.search(name) else "target"

    def expected(self, reason: str) -> bool:
        """Return whether an unresolved finding is known and handled."""
        return any(re.search(pattern, reason) for pattern in self.expected_unresolved)

    def family(self, module: str) -> str:
        """Return the family of a module: by rule, else the module's name without its suffixes."""
        for rule in self.families:
            if any(re.fullmatch(pattern, module) for pattern in rule.modules):
                return rule.family
        name = module.replace(".", "_")
        while True:
            end = next((s for s in self.family_suffixes if name.endswith("_" + s) and len(name) > len(s) + 1), None)
            if end is None:
                return name
            name = name[: -len(end) - 1]


def load_config(path: Path) -> ScanConfig:
    """Read a `scan.yaml`.

    Raises:
        OSError: it cannot be read.
        pydantic.ValidationError: it holds something else.
    """
    return ScanConfig.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")), strict=False)
