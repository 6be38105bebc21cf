"""How many lines of an engine's registry more releases cost: `python -m benchmarks.growth ENGINE FIRST [MORE]...`.

A line counts for a set of releases when something on it holds in one of them. Compared are the lines of FIRST alone
with those of FIRST and MORE together, file by file; without MORE, all releases but FIRST.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from archcap.model.releases import parse_range, version

ROOT = Path(__file__).parents[1] / "registry" / "engines"
_VERSION = re.compile(r"^(<=)?\d+(\.\d+)+(\.post\d+)?$")
_SHORT_BELOW = ("support", "names", "spans", "releases")
"""Keys whose scalars may be short forms: since this release."""


def holds(added: str | None, removed: str | None, releases: Sequence[str]) -> bool:
    """Return whether an interval as it is written holds in one of some releases."""
    oldest = added is None or added.startswith("<=")
    return any(
        (oldest or version(r) >= version(str(added))) and (removed is None or version(r) < version(removed))
        for r in releases
    )


def lines(node: Node, releases: Sequence[str], below: str = "") -> Iterator[int]:
    """Yield the lines on which something stands that holds in one of some releases."""
    if isinstance(node, ScalarNode):
        if not (below in _SHORT_BELOW and _VERSION.match(node.value)) or holds(node.value, None, releases):
            yield from range(node.start_mark.line, max(node.end_mark.line, node.start_mark.line + 1))
    elif isinstance(node, SequenceNode):
        for item in node.value:
            yield from lines(item, releases, below)
    elif isinstance(node, MappingNode) and _holds(node, releases):
        for key, value in _entries(node, releases, below):
            own = list(lines(value, releases, key.value))
            if own or (not isinstance(value, ScalarNode) and not value.value):
                yield from (key.start_mark.line, *own)


def _holds(node: MappingNode, releases: Sequence[str]) -> bool:
    said = {key.value: value.value for key, value in node.value if isinstance(value, ScalarNode)}
    written = said.get("releases")
    if written is not None and not _VERSION.match(written):
        return any(parse_range(written).holds(release) for release in releases)
    return holds(said.get("added", written), said.get("removed"), releases)


def _entries(node: MappingNode, releases: Sequence[str], below: str) -> Iterator[tuple[ScalarNode, Node]]:
    """Yield a mapping's entries; of sources by release those that are valid in one of some releases."""
    keys = [key.value for key, _ in node.value]
    by_release = below == "source" and bool(keys) and all(_VERSION.match(key) for key in keys)
    for key, value in node.value:
        later = sorted((one for one in keys if by_release and version(one) > version(key.value)), key=version)
        if not by_release or holds(key.value, later[0] if later else None, releases):
            yield key, value


def main(words: list[str]) -> int:
    """Print the lines of each part of an engine's registry for both sets of releases."""
    if len(words) < 2 or not (ROOT / words[0]).is_dir():
        print("usage: python -m benchmarks.growth ENGINE FIRST [MORE]...", file=sys.stderr)
        return 2
    folder, first = ROOT / words[0], words[1]
    known = yaml.safe_load((folder / "engine.yaml").read_text(encoding="utf-8"))["releases"]
    every = [first, *(words[2:] or [str(name) for name in known if str(name) != first])]
    counts: dict[str, list[int]] = {}
    for path in sorted(folder.rglob("*.yaml")):
        node = yaml.compose(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
        part = path.relative_to(folder).parts[0]
        own = [len(set(lines(node, releases))) if node is not None else 0 for releases in ([first], every)]
        counts[part] = [a + b for a, b in zip(counts.get(part, [0, 0]), own, strict=True)]
    counts["all"] = [sum(column) for column in zip(*counts.values(), strict=True)]
    for part, (alone, together) in counts.items():
        print(f"{part:<22} {alone:>7} {together:>7} {(together - alone) / max(alone, 1):>7.1%}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
