"""SGLang's configuration classes: what each makes of a config.json, as the engine would load it.

The engine's own class of a type stands before the transformers library's. Knows nothing of archcap's data.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import importlib
import inspect
import logging
import re
from collections.abc import Iterable, Mapping
from typing import Any

from .plain import plain

Object = dict[str, object]
_REGISTRIES = (
    "sglang.srt.utils.hf_transformers.common",
    "sglang.srt.utils.hf_transformers_utils",
)
_LOOKED_UP = re.compile(r"""kwargs\.(?:pop|get)\(\s*["'](\w+)["'](?:,\s*([^()]+?))?\s*\)""")


@functools.lru_cache(maxsize=1)
def classes() -> Mapping[str, type]:
    """Return the classes by the `model_type` they are for; one that cannot be imported is left out."""
    logging.disable(logging.CRITICAL)
    _leave_unworded(_base())
    mapping = importlib.import_module("transformers.models.auto.configuration_auto").CONFIG_MAPPING
    found: dict[str, type] = {}
    for kind in mapping:
        with contextlib.suppress(Exception):
            found[kind] = mapping[kind]
    return {**found, **_own()}


def _own() -> dict[str, type]:
    """Return the engine's own classes."""
    for name in _REGISTRIES:
        with contextlib.suppress(ImportError):
            return dict(importlib.import_module(name)._CONFIG_REGISTRY)
    return {}


def types() -> Object:
    """Return the types that have a class, with the architectures each is used by as far as the library knows them.

    The engine's own types come without: all of them are used.
    """
    used: dict[str, set[str]] = {}
    auto = importlib.import_module("transformers.models.auto.modeling_auto")
    for name, mapping in vars(auto).items():
        if name.endswith("MAPPING_NAMES"):
            for kind, names in mapping.items():
                used.setdefault(kind, set()).update([names] if isinstance(names, str) else names)
    own = _own()
    return {kind: [] if kind in own else sorted(used.get(kind, {"?"})) for kind in classes()}


_below: dict[str, type] = {}
"""Classes that have no type of their own, under the type and the level they are found at."""


def class_of(kind: str) -> type | None:
    """Return the class of a type, or of a level that `described` named."""
    return _below.get(kind) or classes().get(kind)


def described(kind: str) -> Object:
    """Return what is fixed about the class of a type.

    Returns:
        `aliases`, other spellings of its fields; `levels`, the type of each nested level, made up of the outer one and
        the level's name where no type stands for its class; `arguments`, what it takes,
        with the value it assumes; `source`, a digest of the modules it is written in and of the library's
        generation: the same one, the same class.
    """
    made = class_of(kind)
    assert made is not None
    aliases = getattr(made, "attribute_map", None) or {}
    levels: Object = {}
    with contextlib.suppress(Exception):
        levels = {name: _kind_of(type(level), f"{kind}.{name}") for name, level in _all_levels(made).items()}
    return {"aliases": dict(aliases), "levels": levels, "arguments": _arguments(made), "source": _source(made)}


def _all_levels(made: type) -> dict[str, object]:
    """Return the levels a class makes of nothing, and those it makes only where they are given."""
    found = _levels(made())
    for name in _arguments(made):
        if name.endswith("_config") and name not in found:
            with contextlib.suppress(Exception):
                found |= {one: level for one, level in _levels(made(**{name: {}})).items() if one == name}
    return found


def _kind_of(made: type, place: str) -> str:
    """Return the type that stands for a level's class, or its place."""
    kind = str(getattr(made, "model_type", ""))
    if classes().get(kind) is made:
        return kind
    _below[place] = made
    return place


def _arguments(made: type) -> Object:
    """Return what the constructor names, and what it looks up in the rest of what it is given."""
    found: Object = {}
    with contextlib.suppress(TypeError, OSError):
        for name, default in _LOOKED_UP.findall(inspect.getsource(made)):
            with contextlib.suppress(ValueError, SyntaxError):
                found[name] = ast.literal_eval(default) if default else None
    for name, one in inspect.signature(made).parameters.items():
        if one.kind is not one.VAR_KEYWORD and one.kind is not one.VAR_POSITIONAL:
            found[name] = None if one.default is one.empty else plain(one.default)
    return found


def _base() -> type:
    base: type = importlib.import_module("transformers").PretrainedConfig
    return base


def _leave_unworded(base: Any) -> None:
    """Spare the library the text of every configuration, which it makes for a log nobody reads."""
    base.__repr__ = lambda config: type(config).__name__


def _source(made: type) -> str:
    generation = importlib.import_module("transformers").__version__.partition(".")[0]
    digest = hashlib.sha256(f"{made.__qualname__} {generation}".encode())
    for base in made.__mro__:
        if base not in _base().__mro__:  # what all classes share changes with every release of the library
            with contextlib.suppress(TypeError, OSError):
                digest.update(_module(str(inspect.getsourcefile(base))))
    return digest.hexdigest()


@functools.lru_cache(maxsize=2048)
def _module(path: str) -> bytes:
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).digest()


def views(made: type, configs: Iterable[Object]) -> list[Object]:
    """Return for each configuration the fields its class ends with, or the error it raises."""
    return [_view(made, config) for config in configs]


def _view(made: type, config: Object) -> Object:
    try:
        return {"fields": _fields(made.from_dict(dict(config)))}  # type: ignore[attr-defined]
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:200]}


def _levels(config: object) -> dict[str, object]:
    return {name: value for name, value in vars(config).items() if isinstance(value, _base())}


@functools.lru_cache(maxsize=2048)
def _computed(made: type) -> tuple[str, ...]:
    return tuple(name for name in _arguments(made) if isinstance(getattr(made, name, None), property))


def _fields(config: Any) -> Object:
    """Return every field of a configuration, also under its other spellings; nested levels in the same way.

    What the class computes when asked, under the name of something it takes, is a field too.
    """
    found = plain(config.to_dict())
    assert isinstance(found, dict)
    for name in _computed(type(config)):  # type: ignore[arg-type]
        with contextlib.suppress(Exception):
            value = plain(getattr(config, name))
            if not isinstance(value, str):  # text spells what another field holds
                found[name] = value
    for other in getattr(type(config), "attribute_map", None) or {}:
        with contextlib.suppress(Exception):
            found[other] = plain(getattr(config, other))
    for name, level in _levels(config).items():
        found[name] = _fields(level)
    return found
