"""Launches that the engine itself resolved, release by release: it refused or settled as we say.

`recorded/launches.jsonl.gz` holds one launch a line, sampled from grids and from random flags: what was asked, the
engine function that refused it or the settings it changed. The configurations are invented and stand beside it.
"""

import gzip
import json
from collections import defaultdict
from functools import lru_cache
from pathlib import Path

import pytest

from archcap.model.request import HardwareRequest, Request
from archcap.resolver import resolve
from archcap.snapshot.store import default

FOLDER = Path(__file__).with_name("recorded")
FIELDS = frozenset(
    """page_size uses_mamba_radix_cache mamba_radix_cache_strategy mamba_scheduler_strategy disable_overlap_schedule
    disable_radix_cache attention_backend prefill_attention_backend decode_attention_backend dcp_comm_backend
    speculative_algorithm speculative_num_steps speculative_eagle_topk speculative_num_draft_tokens""".split()
)


@lru_cache(maxsize=1)
def launches():
    by_release = defaultdict(list)
    with gzip.open(FOLDER / "launches.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            launch = json.loads(line)
            by_release[launch["release"]].append(launch)
    return by_release


@lru_cache(maxsize=64)
def config(name):
    return json.loads((FOLDER / "configs" / name).read_text(encoding="utf-8")) if name else None


def answer_to(launch):
    request = Request(
        engine="sglang",
        release=launch["release"],
        config=config(launch["config"]),
        draft_config=config(launch.get("draft")),
        hardware=HardwareRequest(gpu=launch["gpu"], count=8, nodes=launch["flags"].get("nnodes", 1)),
        settings=launch["flags"],
        env=launch.get("env", {}),
    )
    return resolve(request, default())


def refusal(answer):
    early = [one for one in answer.findings if one.severity == "error" and one.stage in ("parse", "resolve")]
    return (early[0].source or "").partition(":")[2] or early[0].rule if early else None


def settled(launch, answer):
    """Return the recorded settings and ours, where either side changed something."""
    ours = {
        name: one.value
        for name, one in answer.settings.items()
        if name in FIELDS and one.origin == "rule" and one.value != launch["flags"].get(name, one.default)
    }
    return {name: value for name, value in launch["changed"].items() if name in FIELDS}, ours


def disagreement(launch):
    answer = answer_to(launch)
    said, meant = refusal(answer), launch["refused"]
    if said or meant:
        return None if said and meant and meant in said else (launch["id"], launch["flags"], meant, said)
    theirs, ours = settled(launch, answer)
    return None if theirs == ours else (launch["id"], launch["flags"], theirs, ours)


@pytest.mark.parametrize("release", sorted(launches()))
def test_the_engine_settled_it_the_same_way(release):
    assert len(launches()[release]) >= 30
    assert [found for found in map(disagreement, launches()[release]) if found] == []
