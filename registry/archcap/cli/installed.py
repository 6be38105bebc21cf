"""Completes a config.json by the transformers library that is installed here, when somebody asks for it.

Only classes that the library itself has are made: code that a checkpoint brings along is never run.
"""

from __future__ import annotations

import importlib
import json
import logging
from types import ModuleType

from archcap.errors import RequestError
from archcap.model.base import JsonObject

_AUTO = "transformers.models.auto.configuration_auto"


def completed_by_transformers(config: JsonObject) -> tuple[JsonObject, str]:
    """Return *config* as the library's class of its type holds it, and a note that says so.

    A type the library has no class of is left to the registry; the note says that.

    Raises:
        RequestError: `no-transformers`, when it is not installed; `bad-config`, when its class refuses *config*.
    """
    library, auto = _library()
    name = f"the installed transformers {library.__version__}"
    kind = config.get("model_type")
    if kind not in auto.CONFIG_MAPPING:
        return config, f"{name} has no class of model_type {kind!r}: config.json is completed by the registry"
    known = auto.CONFIG_MAPPING[kind]
    try:
        made = known.from_dict(json.loads(json.dumps(config)))
        fields: JsonObject = json.loads(made.to_json_string(use_diff=False))
    except Exception as error:  # whatever a library's class may raise
        said = f"{name} refuses config.json: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        raise RequestError("bad-config", said, "leave out --transformers") from None
    return {**config, **fields}, f"config.json is completed by {name}"


def _library() -> tuple[ModuleType, ModuleType]:
    logging.getLogger("transformers").setLevel(logging.CRITICAL)
    try:
        return importlib.import_module("transformers"), importlib.import_module(_AUTO)
    except ImportError as error:
        said = f"--transformers needs the transformers library, which cannot be imported: {error}"
        raise RequestError("no-transformers", said, "pip install it at the version the engine pins") from None
