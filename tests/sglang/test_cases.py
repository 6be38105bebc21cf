"""Public failure reports and their neighbours: the verdict an operator needed, for the stated reason.

`cases/launches.jsonl` says what is launched; `cases/README.md` how to read it. No rule may know a case.
"""

import json
from collections import Counter
from functools import lru_cache
from pathlib import Path

import pytest

from archcap.model.request import HardwareRequest, PeerRequest, Request
from archcap.resolver import resolve
from archcap.snapshot.store import default

HERE = Path(__file__).parent
STOPS = ("refused", "unsafe")


def launches():
    return [json.loads(line) for line in (HERE / "cases" / "launches.jsonl").read_text(encoding="utf-8").splitlines()]


def recorded(name):
    return json.loads((HERE / "recorded" / "configs" / f"{name}.json").read_text(encoding="utf-8"))


def config(case):
    base = recorded(case["config"])
    if "below" not in case:
        return {**base, **case.get("changes", {})}
    return {**case["changes"], case["below"]: {**base, **case["text"]}}


@lru_cache(maxsize=1)
def snapshot():
    return default()


def answer(case):
    draft = {**recorded(case["draft"]), **case["draft_changes"]} if "draft" in case else None
    machine = {"gpu": case["gpu"], "count": case.get("gpus", 8), "nodes": case.get("nodes", 1)}
    hardware = HardwareRequest(**machine) if case["gpu"] else None
    request = Request(
        engine="sglang",
        release=case["release"],
        config=config(case),
        draft_config=draft,
        hardware=hardware,
        settings=case["settings"],
        env=case.get("env", {}),
        assumptions=case.get("assumptions", {}),
        peer=PeerRequest(**case["peer"]) if "peer" in case else None,
    )
    return resolve(request, snapshot())


def label(case):
    return f"{case['case']}-{case['release']}-{case['gpu']}-{case['verdict']}"


def blockers(got):
    return [one.rule for one in got.findings if one.severity in ("error", "unsafe")]


@pytest.mark.parametrize("case", launches(), ids=label)
def test_a_report_gets_the_verdict_it_needed(case):
    got = answer(case)
    assert (got.verdict, blockers(got)[:1]) == (case["verdict"], [case["rule"]] if "rule" in case else [])
    found = {name: got.settings[name].value if name in got.settings else None for name in case.get("values", {})}
    assert found == case.get("values", {})


def test_every_report_that_stops_has_a_neighbour_that_starts():
    verdicts = Counter((case["case"], case["verdict"] in STOPS) for case in launches())
    alone = {case for case, stops in verdicts if stops and not verdicts[case, False]}
    assert alone == set()


def test_neither_refusing_everything_nor_refusing_nothing_passes():
    stopping = sum(case["verdict"] in STOPS for case in launches())
    assert 0.3 < stopping / len(launches()) < 0.7
