"""SGLang's own argument resolution: constructs its arguments, resolves, checks, and reads back what changed.

Releases before 0.5.20 resolve in the constructor and assign fields; later ones resolve when told to and keep what they
decided beside the raw input. Knows nothing of archcap's settings and rules.
"""

from __future__ import annotations

import dataclasses
import importlib
import os
import random
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from . import machine, sglang_classes, standins
from .plain import plain

Object = dict[str, object]
MODEL, DRAFT = "<model>", "<draft>"
"""What stands for the checkpoints' folders in an answer."""
_MESSAGE = 600

_FLASHINFER_DECODE = "flashinfer.decode"


def _decode_with_dcp(*args: object, enable_dcp: bool = False, **options: object) -> None:
    """Stand for a kernel of which the engine reads the signature."""
    raise RuntimeError("there are no kernels here")


_KERNELS = {
    "flashinfer": standins.Package(
        "0.7.2",
        holds={_FLASHINFER_DECODE: {"trtllm_batch_decode_with_kv_cache_mla": _decode_with_dcp}},
        empty=("flashinfer.mamba",),
    ),
    "sgl_kernel": standins.Package("0.4.10"),
    "deep_gemm": standins.Package("0.2.3"),
    "triton_kernels": standins.Package(filled=False),
}
_PASSING = standins.Package(found=False)
PACKAGES = {
    "cuda": {**_KERNELS, "torchvision": _PASSING},
    "hip": dict.fromkeys(("aiter", "sgl_kernel", "torchvision"), _PASSING),
    "npu": dict.fromkeys(("torch_npu", "sgl_kernel_npu", "sgl_kernel", "torchvision"), _PASSING),
    "xpu": dict.fromkeys(("sgl_kernel", "torchvision"), _PASSING),
    "cpu": dict.fromkeys(("sgl_kernel", "torchvision"), _PASSING),
}
"""What an install for each platform has and its argument resolution imports."""


def prepare(fake: machine.Machine, setup: Object) -> Sglang:
    """Become *fake* and import the engine.

    Args:
        fake: the machine.
        setup: `source` (a folder that holds the package, or None), `paths` put before everything, `scratch`.
    Raises:
        ImportError: the engine, or something it needs, is not there.
    """
    os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", TOKENIZERS_PARALLELISM="false", OMP_NUM_THREADS="1")
    if fake.platform == "cpu":
        os.environ["SGLANG_USE_CPU_ENGINE"] = "1"
    paths = setup["paths"]
    assert isinstance(paths, list)
    sys.path[:0] = paths if setup["source"] is None else [*paths, str(setup["source"])]
    standins.install(PACKAGES[fake.platform])
    machine.install(fake, str(setup["scratch"]))
    kept = _amx_kernel() if fake.platform == "cpu" else None
    return Sglang(importlib.import_module("sglang.srt.server_args"), kept)


def _amx_kernel() -> object:
    """Register the operator by which the engine tells that its kernels for this processor are there."""
    library = importlib.import_module("torch.library").Library("sgl_kernel", "FRAGMENT")
    library.define("convert_weight_packed(Tensor w) -> Tensor")
    return library  # unregistered when nobody holds it


class Sglang:
    """The imported engine.

    Attributes:
        version: its own word for it.
        warms: top modules worth importing once for all launches.
    """

    warms = ("sglang", "transformers", "huggingface_hub", "torch", "triton")

    def __init__(self, module: ModuleType, kept: object) -> None:
        self._class: type = module.ServerArgs
        self._kept = kept
        top = importlib.import_module("sglang")
        self._root = os.path.dirname(os.path.dirname(os.path.abspath(str(top.__file__))))
        self.version = _version()

    def resolve(self, settings: Object, folder: str, draft: str | None) -> Object:
        """Return the engine's answer: what it changed, or what it raised and where."""
        hidden = {folder: MODEL, **({draft: DRAFT} if draft else {})}
        given = {"model_path": folder, **({"speculative_draft_model_path": draft} if draft else {}), **settings}
        defaults = _defaults(self._class)
        unknown = sorted(set(given) - set(defaults))
        if unknown:
            raise LookupError(f"the engine has no setting {', '.join(unknown)}")
        writers = _note_writers(self._class)
        environment = dict(os.environ)
        random.seed(0)
        start = time.perf_counter()
        stage, made = "construct", None
        try:
            made = self._class(**given)
            if hasattr(made, "resolve_once"):
                stage = "resolve"
                made.resolve_once()
            stage = "check"
            made.check_server_args()
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return {"outcome": "error", "error": self._raised(error, stage), "ms": _since(start)}
        took = _since(start)
        answer = _read_back(made, defaults, {**defaults, **given}, writers)
        answer["env_set"] = {name: text for name, text in os.environ.items() if environment.get(name) != text}
        return {"outcome": "ok", **_scrubbed(answer, hidden), "ms": took}

    def classes(self, asked: Object) -> Object:
        """Return the types that have a configuration class, or what the class of one type makes of configurations."""
        kind = asked.get("type")
        if kind is None:
            return {"types": sglang_classes.types()}
        configs = asked["configs"]
        assert isinstance(configs, list)
        made = sglang_classes.class_of(str(kind))
        if made is None:
            return {"views": [{"error": "there is no such class"}] * len(configs)}
        return {**sglang_classes.described(str(kind)), "views": sglang_classes.views(made, configs)}

    def _raised(self, error: BaseException, stage: str) -> Object:
        """Return what was raised, and by which function of the engine."""
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if frame.filename.startswith(self._root)]
        last = own[-1] if own else frames[-1]
        return {
            "type": type(error).__name__,
            "where": f"{os.path.relpath(last.filename, self._root)}:{last.name}",
            "line": last.lineno,
            "stage": stage,
            "message": str(error)[:_MESSAGE],
        }


def _version() -> str:
    try:
        return str(importlib.import_module("sglang.version").__version__)
    except (ImportError, AttributeError):
        return "unknown"


def _since(start: float) -> float:
    return round((time.perf_counter() - start) * 1e3, 2)


def _defaults(kind: type) -> Object:
    """Return every field of the arguments' class with its default: a dataclass or a msgspec struct."""
    if dataclasses.is_dataclass(kind):
        return {field.name: _default(field, dataclasses.MISSING) for field in dataclasses.fields(kind)}
    msgspec = importlib.import_module("msgspec")
    return {field.name: _default(field, msgspec.NODEFAULT) for field in msgspec.structs.fields(kind)}


def _default(field: Any, nothing: object) -> object:
    if field.default is not nothing:
        return field.default
    return field.default_factory() if callable(field.default_factory) else None


def _note_writers(kind: type) -> dict[str, str]:
    """Return a table that fills itself with the function that assigns each field, where fields are assigned."""
    writers: dict[str, str] = {}
    if hasattr(kind, "resolve_once"):
        return writers
    plain_set: Callable[[object, str, object], None] = getattr(kind, "__setattr__")  # noqa: B009

    def noting(self: object, name: str, value: object) -> None:
        writer = _writer()
        if writer not in ("__init__", "materialize_declarations"):
            writers[name] = writer
        plain_set(self, name, value)

    setattr(kind, "__setattr__", noting)  # noqa: B010 - the engine's class, which no type checker knows
    return writers


_CARRIERS = {"noting", "_writer", "__setattr__", "_apply_fields", "override", "setattr"}
"""Functions that write for another one."""


def _writer() -> str:
    frame = sys._getframe(1)
    while frame.f_code.co_name in _CARRIERS and frame.f_back is not None:
        frame = frame.f_back
    return frame.f_code.co_name


def _read_back(made: object, defaults: Iterable[str], given: Object, writers: dict[str, str]) -> Object:
    """Return what ended with another value than it began with, and who wrote it last."""
    raw = getattr(made, "_raw_input", None) or given
    final = _reader(made)
    changed: Object = {}
    for name in defaults:
        value = plain(final(made, name))
        if value != plain(raw.get(name)):
            changed[name] = value
    last = dict(writers)
    for source, fields in getattr(made, "_resolved_overrides", None) or ():
        last.update(dict.fromkeys(fields, str(source)))
    return {"changed": changed, "writer": {name: last[name] for name in changed if name in last}}


def _reader(made: object) -> Callable[[object, str], object]:
    """Return the function that reads a resolved value: the engine's own where it has one."""
    try:
        overrides = importlib.import_module("sglang.srt.arg_groups.overrides")
        read: Callable[[object, str], object] = overrides.resolution_result
        read(made, "model_path")
        return read
    except Exception:
        return getattr


def _scrubbed(value: object, hidden: dict[str, str]) -> Object:
    """Return *value* without the checkpoints' folders."""

    def scrub(part: object) -> object:
        if isinstance(part, str):
            for path, name in hidden.items():
                part = part.replace(path, name)
            return part
        if isinstance(part, dict):
            return {key: scrub(item) for key, item in part.items()}
        return [scrub(item) for item in part] if isinstance(part, list) else part

    scrubbed = scrub(value)
    assert isinstance(scrubbed, dict)
    return scrubbed
