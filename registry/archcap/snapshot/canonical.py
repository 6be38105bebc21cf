"""Canonical JSON and its digests: the same value gives the same bytes on every platform, however it was put together.

Knows no record.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256

from archcap.model.base import Json

ORDERED_IN_STATEMENTS = frozenset({"each", "let", "set", "default", "var", "fact", "env"})
"""Keys of a statement whose mappings are read in written order; everywhere else order means nothing."""


def canonical(value: Json, ordered: frozenset[str] = frozenset()) -> bytes:
    """Return *value* as canonical JSON: keys sorted, no white space, ASCII.

    Args:
        value: anything JSON can hold; no infinities.
        ordered: keys whose mappings keep the order they have.
    Raises:
        ValueError: a number that JSON cannot hold.
    """
    text = json.dumps(_sorted(value, ordered, keep=False), separators=(",", ":"), allow_nan=False)
    return text.encode("ascii")


def _sorted(value: Json, ordered: frozenset[str], keep: bool) -> Json:
    if isinstance(value, dict):
        keys = value if keep else sorted(value)
        return {key: _sorted(value[key], ordered, key in ordered and not keep) for key in keys}
    if isinstance(value, list):
        return [_sorted(item, ordered, keep=False) for item in value]
    return value


def leaf_digest(data: bytes) -> str:
    """Return the digest of one part's bytes."""
    return "sha256:" + sha256(b"archcap leaf\n" + data).hexdigest()


def node_digest(children: Iterable[tuple[str, str]]) -> str:
    """Return the digest over named digests, whatever order they come in."""
    hashed = sha256(b"archcap node\n")
    for name, digest in sorted(children):
        hashed.update(f"{name} {digest}\n".encode())
    return "sha256:" + hashed.hexdigest()


def tree_digests(leaves: Mapping[str, str]) -> dict[str, str]:
    """Return the digest of every node above *leaves*; the root is at "".

    Args:
        leaves: digest of each leaf by its path, as in `engines/toy/settings`.
    """
    children: dict[str, list[str]] = {"": []}
    for path in leaves:
        below = path
        while below:
            parent = below.rpartition("/")[0]
            known = parent in children
            children.setdefault(parent, []).append(below)
            if known:
                break
            below = parent
    digests: dict[str, str] = dict(leaves)
    for node in sorted(children, key=lambda path: (path == "", -path.count("/"))):
        digests[node] = node_digest((path, digests[path]) for path in children[node])
    return digests
