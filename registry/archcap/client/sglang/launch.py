"""A launch as the engine's arguments hold it, as a request; and what the engine made of it. Knows no client."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping

_DEEPEST = 8
_DRAFT_PATH = "speculative_draft_model_path"
_PATHS = ("model_path", _DRAFT_PATH)
_ENV = ("SGLANG_", "SGL_", "CUDA_", "NCCL_", "HIP_", "FLASHINFER_", "VLLM_")


def request_of(arguments: object) -> dict[str, object]:
    """Return the launch that *arguments*, not resolved yet, ask for.

    What differs from the class's default counts as given. The configuration is read from the checkpoint's folder or
    from the local copy of a hub's; where there is neither, the checkpoint is named and the registry may know it.
    """
    given = {name: value for name, default in defaults(type(arguments)).items()
             if (value := plain(getattr(arguments, name, None))) != plain(default)}  # fmt: skip
    path, draft = str(given.get("model_path", "")), given.get(_DRAFT_PATH)
    config = _config(path)
    request: dict[str, object] = {"config": config} if config is not None else {"checkpoint": path}
    if isinstance(draft, str) and (found := _config(draft)) is not None:
        request["draft_config"] = found
    hardware = _hardware(given.get("nnodes"))
    return {
        **request,
        **({"hardware": hardware} if hardware else {}),
        "settings": given,
        "env": {name: text for name, text in os.environ.items() if name.startswith(_ENV)},
        "fixes": True,
    }


def defaults(kind: type) -> dict[str, object]:
    """Return every field of the arguments' class with its default: a dataclass or a msgspec struct."""
    import dataclasses

    if dataclasses.is_dataclass(kind):
        return {one.name: _default(one, dataclasses.MISSING) for one in dataclasses.fields(kind)}
    msgspec = __import__("msgspec.structs")
    return {one.name: _default(one, msgspec.NODEFAULT) for one in msgspec.structs.fields(kind)}


def _default(field: object, nothing: object) -> object:
    default = getattr(field, "default", nothing)
    factory = getattr(field, "default_factory", None)
    return default if default is not nothing else factory() if callable(factory) else None


def reader(arguments: object) -> Callable[[str], object]:
    """Return the function that reads a resolved value of *arguments*: the engine's own where it has one."""
    module = sys.modules.get("sglang.srt.arg_groups.overrides")
    read = getattr(module, "resolution_result", None)
    if callable(read) and hasattr(type(arguments), "resolve_once"):
        return lambda name: plain(read(arguments, name))
    return lambda name: plain(getattr(arguments, name, None))


def plain(value: object, depth: int = 0) -> object:
    """Return *value* as JSON has it."""
    if value is None or isinstance(value, bool | int | float | str):
        return getattr(value, "value", value)
    if depth > _DEEPEST:
        return repr(value)
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, depth + 1) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(item, depth + 1) for item in value), key=repr)
    fields = getattr(value, "__struct_fields__", None) or getattr(value, "__dataclass_fields__", None)
    if fields is not None and not isinstance(value, type):
        return {name: plain(getattr(value, name, None), depth + 1) for name in fields}
    return plain(inner, depth + 1) if (inner := getattr(value, "value", None)) is not None else repr(value)


def _config(place: str) -> dict[str, object] | None:
    """Return a checkpoint's config.json, None when there is no local one."""
    path = os.path.join(place, "config.json")
    if not os.path.isfile(path):
        hub = sys.modules.get("huggingface_hub")
        look = getattr(hub, "try_to_load_from_cache", None)
        found = look(place, "config.json") if callable(look) and place.count("/") == 1 else None
        if not isinstance(found, str):
            return None
        path = found
    with open(path, encoding="utf-8") as stream:
        config = json.load(stream)
    return config if isinstance(config, dict) else None


def _hardware(nodes: object) -> dict[str, object]:
    """Return what the launch runs on, as torch sees it; the engine asks it the same."""
    torch = sys.modules.get("torch")
    cuda = getattr(torch, "cuda", None)
    if cuda is None or not cuda.is_available():
        return {}
    count = {"count": int(cuda.device_count()), "nodes": nodes if isinstance(nodes, int) else 1}
    return {"gpu": str(cuda.get_device_name(0)), **count}
