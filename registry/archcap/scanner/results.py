"""Keeps whole scans by what they were made of: an unchanged source is read and hashed, and nothing more.

A result is good for the same searched files, the same other files that were looked into, the same vocabulary and scan
settings, and the same scanner.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from pydantic import TypeAdapter, ValidationError

from archcap.model.vocabulary import Vocabulary
from archcap.scanner.cache import Store, digest
from archcap.scanner.config import ScanConfig
from archcap.scanner.modules import SourceFile
from archcap.scanner.scan_record import Scan
from archcap.scanner.source import Source


@dataclass(frozen=True, slots=True)
class Result:
    """A kept scan. `others` holds path and hash of each file that was read though it is not searched."""

    others: dict[str, str]
    scan: Scan


_RESULT = TypeAdapter(Result)


def result_key(source: Source, searched: list[SourceFile], vocabulary: Vocabulary, config: ScanConfig) -> bytes:
    """Return the hash of everything a scan is made of, but for files that are not searched."""
    probes = {name: one.probes.get(config.engine) for name, one in sorted(vocabulary.capabilities.items())}
    parts = [
        _own_code(),
        config.model_dump_json().encode(),
        *(f"{name}={'' if probe is None else probe.model_dump_json()}".encode() for name, probe in probes.items()),
        repr(source.metadata).encode(),
        "\n".join(source.names).encode(),
        *(file.hash for file in searched),
    ]
    return digest(b"\0".join(parts), b"result")


@cache
def _own_code() -> bytes:
    """Return the hash of the scanner's own code: another scanner finds something else."""
    folder = files("archcap.scanner")
    modules = sorted((one.name, one.read_bytes()) for one in folder.iterdir() if one.name.endswith(".py"))
    return digest(b"\0".join(content for _, content in modules))


def kept_result(store: Store, key: bytes, all_files: Mapping[str, SourceFile], where: str) -> Scan | None:
    """Return the scan kept under *key*, if the other files it was made of are as they were."""
    data = store.get("result", [key]).get(key)
    if data is None:
        return None
    try:
        result = _RESULT.validate_json(data)
    except ValidationError:
        return None
    by_path = {file.path: file for file in all_files.values()} if result.others else {}
    for path, hash_ in result.others.items():
        if path not in by_path or by_path[path].hash.hex() != hash_:
            return None
    result.scan.where = where
    return result.scan


def keep_result(store: Store, key: bytes, scan: Scan, others: list[SourceFile]) -> None:
    """Keep a scan under *key*."""
    if store.connection is not None:
        result = Result({file.path: file.hash.hex() for file in others}, scan)
        store.put("result", [(key, _RESULT.dump_json(result).decode())])
