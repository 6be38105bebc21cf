"""Lays parts out in one JSON file: a first line that says where everything is, then one part per line.

The header line tells schema, digest, and for each part its digest, start and length, so that a reader parses only what
it needs. Knows bytes; knows no record.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from archcap.errors import ArchcapError
from archcap.model.registry import Registry
from archcap.snapshot.canonical import leaf_digest, tree_digests
from archcap.snapshot.parts import registry_parts

SCHEMA = 1
"""Version of the file's layout and of what its parts mean."""

_OPEN = b',"data":{\n'
_CLOSE = b"}}\n"


@dataclass(frozen=True, slots=True)
class Entry:
    """A part as the header describes it.

    Attributes:
        digest: of its bytes.
        start: offset behind the header line.
        length: in bytes.
    """

    digest: str
    start: int
    length: int


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of a snapshot.

    Attributes:
        digests: of every part and every node above; the root's is at "".
        parts: every part by its path.
        end: where the header line ends and the parts begin.
    """

    digests: Mapping[str, str]
    parts: Mapping[str, Entry]
    end: int


def build(registry: Registry) -> bytes:
    """Return *registry* as a snapshot: the same bytes for the same facts, in whatever order they were put together."""
    return assemble(dict(registry_parts(registry)))


def assemble(parts: Mapping[str, bytes]) -> bytes:
    """Return the file that holds *parts*.

    Args:
        parts: canonical JSON of each part by its path.
    """
    digests = {path: leaf_digest(data) for path, data in parts.items()}
    placed: dict[str, list[str | int]] = {}
    rows: list[bytes] = []
    at = 0
    for path in sorted(parts):
        key = json.dumps(path).encode("ascii") + b":"
        placed[path] = [digests[path], at + len(key), len(parts[path])]
        rows.append(key + parts[path])
        at += len(rows[-1]) + len(b",\n")
    head = {"schema": SCHEMA, "digest": tree_digests(digests)[""], "parts": placed}
    text = json.dumps(head, separators=(",", ":")).encode("ascii")
    return text[:-1] + _OPEN + b",\n".join(rows) + b"\n" + _CLOSE


def read_header(data: bytes) -> Header:
    """Return the header of the snapshot *data*; the parts are not looked at.

    Raises:
        ArchcapError: `no-snapshot`, `snapshot-schema`, or `bad-snapshot` when it was cut or does not fit its digest.
    """
    end = data.find(_OPEN)
    if end < 0 or not data.startswith(b'{"schema":'):
        raise ArchcapError("no-snapshot", "this is no archcap snapshot", "make one with `capctl build`")
    try:
        head = json.loads(data[:end] + b"}")
        schema, digest = head["schema"], head["digest"]
        parts = {path: Entry(str(row[0]), int(row[1]), int(row[2])) for path, row in head["parts"].items()}
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise _bad("its header cannot be read") from error
    if schema != SCHEMA:
        hint = "update archcap" if isinstance(schema, int) and schema > SCHEMA else "build it again with `capctl build`"
        raise ArchcapError("snapshot-schema", f"the snapshot has schema {schema}, this archcap reads {SCHEMA}", hint)
    digests = tree_digests({path: entry.digest for path, entry in parts.items()})
    if digests[""] != digest:
        raise _bad("its digest does not fit its parts")
    _check_length(data, parts, end + len(_OPEN))
    return Header(digests, parts, end + len(_OPEN))


def _check_length(data: bytes, parts: Mapping[str, Entry], end: int) -> None:
    last = max((entry.start + entry.length for entry in parts.values()), default=0)
    if len(data) != end + last + (1 if parts else 0) + len(_CLOSE):
        raise _bad("it is cut short or something follows it")


def _bad(reason: str) -> ArchcapError:
    return ArchcapError("bad-snapshot", f"the snapshot is damaged: {reason}", "fetch or build it again")
