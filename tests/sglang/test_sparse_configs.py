"""Random keys deleted from configurations: what is still determined is what the engine does with what is left.

`recorded/sparse.jsonl.gz` holds launches of 0.5.23 that the engine accepted, each with its configuration: those of the
conformance corpus with a tenth to four fifths of their keys taken out at random, nested ones included.
"""

from __future__ import annotations

import gzip
import json
from functools import lru_cache
from pathlib import Path

import pytest

from archcap.model.base import Json, JsonObject
from archcap.model.request import HardwareRequest, Request
from archcap.model.resolution import Resolution
from archcap.resolver import resolve
from archcap.snapshot.store import default
from archcap.verify.compare import MEANINGLESS, same

PLACE = Path(__file__).with_name("recorded") / "sparse.jsonl.gz"
RELEASE = "0.5.23"
ENOUGH, DETERMINED = 300, 0.98


@lru_cache(maxsize=1)
def launches() -> list[JsonObject]:
    with gzip.open(PLACE, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def answer(launch: JsonObject) -> Resolution:
    hardware = HardwareRequest(gpu=str(launch["gpu"]), count=8, nodes=1)
    config, flags = launch["config"], launch["flags"]
    assert isinstance(config, dict)
    assert isinstance(flags, dict)
    request = Request(engine="sglang", release=RELEASE, config=config, hardware=hardware, settings=flags)
    return resolve(request, default())


def wrong(launch: JsonObject, got: Resolution) -> set[str]:
    """Return the settings we give another value than the engine ended with."""
    changed, flags = launch["changed"], launch["flags"]
    assert isinstance(changed, dict)
    assert isinstance(flags, dict)
    found = set()
    for name, value in got.settings.items():
        ended: Json = changed.get(name, flags.get(name, value.default))
        if value.origin == "rule" and name not in MEANINGLESS and not same(value.value, ended):
            found.add(name)
    return found


@pytest.mark.parametrize("start", range(8))
def test_no_setting_that_is_still_determined_is_wrong(start: int) -> None:
    for launch in launches()[start::8]:
        got = answer(launch)
        assert wrong(launch, got) == set(), launch["name"]
        assert not [one for one in got.findings if one.severity == "error" and one.stage in ("parse", "resolve")]


def test_most_settings_the_engine_changes_are_still_determined() -> None:
    known = missing = 0
    for launch in launches():
        changed, got = launch["changed"], answer(launch).settings
        assert isinstance(changed, dict)
        known += len(changed.keys() & got.keys())
        missing += len(changed.keys() - got.keys())
    assert len(launches()) >= ENOUGH
    assert known / (known + missing) >= DETERMINED

