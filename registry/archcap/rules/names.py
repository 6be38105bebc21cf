"""Every name an engine's rules may use, over all of its releases. Knows no expression and no statement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from archcap.model.engine import Names, Setting
from archcap.model.registry import EngineRegistry
from archcap.model.vocabulary import Vocabulary
from archcap.rules.functions import BUILTINS

ROOTS = frozenset({"fact", "var", "hw", "assume", "hf", "text", "draft", "profile", "peer"})
NAMED_CALLS = frozenset({"user_set", "raw", "setting", "own", "env", "env_set", "has", "in_list"})
RESERVED = ROOTS | NAMED_CALLS | frozenset(BUILTINS)
"""Words with a meaning of their own; nothing else may be called so."""


@dataclass(frozen=True, slots=True)
class Universe:
    """The names of one engine.

    Attributes:
        settings: launch options of any release.
        names: facts, variables, assumptions and environment, with their types.
        capabilities: ids of the vocabulary.
        lists: list id -> kind.
        defines: definition -> parameters.
        functions: names the engine registered.
        hardware: fields of `hw`, None when they are not to be checked.
        steps: names of the steps.
    """

    settings: Mapping[str, Setting]
    names: Names
    capabilities: frozenset[str]
    lists: Mapping[str, str]
    defines: Mapping[str, tuple[str, ...]]
    functions: frozenset[str]
    hardware: frozenset[str] | None
    steps: frozenset[str]
    structured: frozenset[str] = field(default_factory=frozenset)
    """Settings with leaves in some release."""


def universe_of(
    reg: EngineRegistry, vocabulary: Vocabulary, functions: Iterable[str], hardware: Iterable[str] | None = None
) -> Universe:
    """Return the names the rules of *reg* may use.

    Args:
        reg: the engine.
        vocabulary: the capabilities.
        functions: names of the engine's pure functions.
        hardware: fields of `hw`; None accepts any.
    """
    structured = {
        name for name, setting in reg.settings.items() if any(s.type == "struct" or s.fields for s in setting.spans)
    }
    return Universe(
        settings=reg.settings,
        names=reg.names,
        capabilities=frozenset(vocabulary.capabilities),
        lists={key: names.kind for key, names in reg.lists.items()},
        defines={name: variants[0].params if variants else () for name, variants in reg.defines.items()},
        functions=frozenset(functions),
        hardware=None if hardware is None else frozenset(hardware),
        steps=frozenset(reg.steps),
        structured=frozenset(structured),
    )
