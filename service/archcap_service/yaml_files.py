"""Writes a snapshot as a registry's YAML files: loaded again, it has the same digest.

Comments and the short forms that people wrote are gone; what is left is strict YAML that `archcap.load` reads. Knows
parts and files; knows no record.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import yaml

from archcap.errors import RequestError
from archcap.model.base import Json, JsonObject
from archcap.snapshot import Snapshot
from archcap.snapshot.files import write_atomically

_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RESERVED = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "none", "inf", "nan"})
DEFINES = "00-defines"


class _Dumper(yaml.SafeDumper):
    """Quotes every text that could be read as anything else; never writes aliases."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    bare = _BARE.fullmatch(text) is not None and text.lower() not in _RESERVED
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if bare else '"')


_Dumper.add_representer(str, _text)


def write_registry(snapshot: Snapshot, folder: Path) -> None:
    """Write *snapshot* below *folder*, which is made, or is empty.

    Raises:
        RequestError: `not-empty`, something is there already.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise RequestError("not-empty", f"{folder} is not empty", "name a new folder")
    for name, value in registry_files(snapshot):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)
        write_atomically(path, text.encode())


def registry_files(snapshot: Snapshot) -> Iterator[tuple[str, JsonObject]]:
    """Yield the name of every file, as in `registry/hardware.yaml`, with its content."""
    for path in snapshot.parts:
        match path.split("/"):
            case ["vocabulary"]:
                yield "capabilities.yaml", snapshot.raw(path)
            case ["hardware"]:
                yield "registry/hardware.yaml", snapshot.raw(path)
            case ["checkpoints", organisation]:
                yield f"registry/checkpoints/{organisation}.yaml", snapshot.raw(path)
    for engine in snapshot.engine_names:
        yield from _engine_files(snapshot, f"engines/{engine}/")


def _engine_files(snapshot: Snapshot, base: str) -> Iterator[tuple[str, JsonObject]]:
    out = f"registry/{base}"
    rules: dict[str, JsonObject] = {}
    for path in (path for path in snapshot.parts if path.startswith(base)):
        value = snapshot.raw(path)
        match path.removeprefix(base).split("/"):
            case ["families", family]:
                yield f"{out}architectures/{family}.yaml", value
            case ["steps", file]:
                rules.setdefault(file, {}).update(value)
            case ["defines"]:
                define: Json = value.get("defines")
                if define:
                    rules.setdefault(DEFINES, {})["define"] = define
            case ["pipeline"]:
                if value.get("pipeline"):
                    yield f"{out}rules/pipeline.yaml", value
            case [name]:
                if value or name in ("engine", "settings"):
                    yield f"{out}{name}.yaml", value
    for file, content in rules.items():
        yield f"{out}rules/{file}.yaml", content
