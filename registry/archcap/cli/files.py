"""Reads what a command names: a config.json, a checkpoint's folder, a flags file, standard input.

The only place of the command line that opens users' files; their content is read by `archcap.model.reading`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from archcap.errors import RequestError
from archcap.model.base import JsonObject
from archcap.model.reading import MAX_BYTES, read_object

CONFIG, QUANTIZATION = "config.json", "hf_quant_config.json"


def read_config(place: str) -> JsonObject:
    """Return a checkpoint's configuration.

    Args:
        place: a file, a checkpoint's folder, or `-` for standard input. What a separate `hf_quant_config.json` beside
            config.json says about quantization is added as `quantization_config`, unless config.json has its own.
    Raises:
        RequestError: there is no such file, or it is no configuration.
    """
    if place == "-":
        return read_object(sys.stdin.buffer.read(MAX_BYTES + 1), "standard input")
    path = Path(place)
    if path.is_dir():
        return _checkpoint(path)
    return read_object(_bytes(path), place)


def read_flags(place: str) -> JsonObject:
    """Return the mapping of a YAML file of launch flags.

    Raises:
        RequestError: there is no such file, or it holds no mapping.
    """
    import yaml

    data = _bytes(Path(place))
    try:
        content = yaml.load(data, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}" if mark else ""
        raise RequestError("bad-flags-file", f"{place} is no YAML{where}", "mend the file the command names") from None
    if content is None:
        return {}
    if not isinstance(content, dict) or not all(isinstance(key, str) for key in content):
        raise RequestError("bad-flags-file", f"{place} holds no mapping of flags", "as in: tp-size: 8")
    return content


def said_place(place: str) -> str:
    """Return how a sentence calls a file, or `-`."""
    return "standard input" if place == "-" else place


def read_text(place: str) -> str:
    """Return a small text file, or standard input for `-`.

    Raises:
        RequestError: there is no such file, or it is no text.
    """
    data = sys.stdin.buffer.read(MAX_BYTES + 1) if place == "-" else _bytes(Path(place))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise RequestError("bad-file", f"{said_place(place)} is no text", "give a UTF-8 text file") from None


@contextmanager
def opened(place: str) -> Iterator[BinaryIO]:
    """Open a file, or standard input for `-`, to read its lines as they come.

    Raises:
        RequestError: there is no such file.
    """
    if place == "-":
        yield sys.stdin.buffer
        return
    path = Path(place)
    _must_be_file(path)
    with path.open("rb") as lines:
        yield lines


def _checkpoint(folder: Path) -> JsonObject:
    path = folder / CONFIG
    if not path.is_file():
        hint = "give the folder that holds the checkpoint, or the file itself"
        raise RequestError("no-config", f"there is no {CONFIG} in {folder}", hint)
    config = read_object(_bytes(path), str(path))
    beside = folder / QUANTIZATION
    if "quantization_config" in config or "compression_config" in config or not beside.is_file():
        return config
    quantization = read_object(_bytes(beside), str(beside)).get("quantization")
    return {**config, "quantization_config": quantization} if isinstance(quantization, dict) else config


def _bytes(path: Path) -> bytes:
    _must_be_file(path)
    with path.open("rb") as file:
        return file.read(MAX_BYTES + 1)


def _must_be_file(path: Path) -> None:
    if path.is_dir():
        raise RequestError("no-file", f"{path} is a folder", "name a file in it")
    if not path.exists():
        raise RequestError("no-file", f"there is no file {path}", "check the path")
