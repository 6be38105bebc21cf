"""Every known issue is met by a launch, not by its neighbours, and tells what to do.

`cases/known_issues.jsonl` holds the launches; near misses stand before the hits.
"""

import json
from functools import lru_cache
from pathlib import Path

import pytest

from archcap.model.request import HardwareRequest, Request
from archcap.resolver import resolve
from archcap.snapshot.store import default

HERE = Path(__file__).parent
FILE = HERE / "cases" / "known_issues.jsonl"
LAUNCHES = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


@lru_cache(maxsize=1)
def snapshot():
    return default()


def issues():
    return snapshot().registry_of("sglang").known_issues


def answer(launch):
    config = None
    if "config" in launch:
        text = (HERE / "recorded" / "configs" / f"{launch['config']}.json").read_text(encoding="utf-8")
        config = {**json.loads(text), **launch.get("changes", {})}
    request = Request(
        engine="sglang",
        release=launch["release"],
        config=config,
        checkpoint=launch.get("checkpoint"),
        hardware=HardwareRequest(gpu=launch["gpu"], count=8),
        settings=launch["settings"],
    )
    return resolve(request, snapshot())


def label(launch):
    return f"{launch['issue']}-{launch['release']}-{launch['gpu']}-{launch['verdict']}"


@pytest.mark.parametrize("launch", LAUNCHES, ids=label)
def test_an_issue_is_met_where_it_was_reported_and_nowhere_else(launch):
    got = answer(launch)
    found = {one.rule for one in got.findings if one.rule in issues()}
    met = launch["verdict"] in ("unsafe", "refused")
    assert (got.verdict, found) == (launch["verdict"], {launch["issue"]} if met else set())


def test_every_issue_has_a_launch_that_meets_it_and_one_that_does_not():
    met = {one["issue"] for one in LAUNCHES if one["verdict"] in ("unsafe", "refused")}
    missed = {one["issue"] for one in LAUNCHES if one["verdict"] not in ("unsafe", "refused")}
    assert met == missed == set(issues())


def test_an_issue_is_told_with_its_report_and_what_to_do():
    (launch,) = [one for one in LAUNCHES if one["verdict"] == "refused"]
    finding = next(one for one in answer(launch).findings if one.rule == launch["issue"])
    issue = issues()[launch["issue"]]
    assert (finding.workaround, finding.reference) == (issue.workaround, issue.source)
    assert (finding.severity, finding.stage, finding.evidence) == ("error", "init", "source")


def test_reports_are_public_and_each_is_read_once():
    sources = [one.source for one in issues().values()]
    assert all(one.startswith("https://github.com/sgl-project/sglang/") for one in sources)
    assert len(set(sources)) == len(sources)
