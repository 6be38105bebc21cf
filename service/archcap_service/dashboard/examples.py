"""Launches worth a look, shown on the start page where the registry knows their release and checkpoint. Data only."""

from __future__ import annotations

from collections.abc import Iterator

from archcap.snapshot import Snapshot
from archcap_service.dashboard.render import link

EXAMPLES = (
    (
        "--dcp-size 2 doubles the page of the prefix cache",
        {"engine": "sglang", "release": "0.5.18", "checkpoint": "Qwen/Qwen3.8-2.4T-A95B", "gpu": "h200", "count": "8",
         "command": "--tp 8 --dcp-size 2"},
    ),
    (
        "a draft that the wrapper class cannot serve",
        {"engine": "sglang", "release": "0.5.17", "checkpoint": "Qwen/Qwen3.8-2.4T-A95B", "gpu": "h200", "count": "8",
         "command": "--tp 8 --speculative-algorithm DFLASH --speculative-draft-model-path ./draft"},
    ),
    (
        "pipeline stages that each run every layer",
        {"engine": "sglang", "release": "0.5.9", "checkpoint": "Qwen/Qwen3.6-35B-A3B", "gpu": "h200", "count": "8",
         "command": "--tp 2 --pp-size 4"},
    ),
)  # fmt: skip
"""Pairs of words and the fields of the launch check."""


def examples_of(snapshot: Snapshot, engine: str) -> Iterator[tuple[str, str]]:
    """Yield words and path of every example that the registry knows everything of."""
    for words, fields in EXAMPLES:
        known = fields["engine"] == engine and fields["release"] in snapshot.releases(engine)
        if known and fields["checkpoint"] in snapshot.checkpoints and fields["gpu"] in snapshot.hardware:
            yield words, link("check", **fields)
