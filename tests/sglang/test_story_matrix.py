"""The founding stories over the releases: one golden page, reviewed against docs and sources as a whole.

`ARCHCAP_GOLDEN=write` writes it. What must never change whatever else does is asserted beside it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from archcap.cli.console import table
from archcap.errors import RequestError
from archcap.model.base import JsonObject
from archcap.model.resolution import Resolution, deciding
from archcap.snapshot.store import default
from tests.sglang.spec_launches import DFLASH, DFLASH_DRAFT, NEXTN, launch, qwen35

PAGE = Path(__file__).with_name("story-matrix.txt")
TEXT_ONLY, WRAPPED = "Qwen3_5MoeForCausalLM", "Qwen3_5MoeForConditionalGeneration"
DCP: JsonObject = {"tp_size": 8, "dcp_size": 2}
HICACHE: JsonObject = {"tp_size": 8, "enable_hierarchical_cache": True, **NEXTN}
PIPELINE: JsonObject = {"tp_size": 8, "pp_size": 4}
RELEASES = [name for name in default().releases("sglang") if ".post" not in name]


def story_one(release: str) -> Resolution:
    return launch(release, qwen35(TEXT_ONLY), DCP)


def story_one_triton(release: str) -> Resolution:
    return launch(release, qwen35(TEXT_ONLY), {**DCP, "attention_backend": "triton"})


def story_two(release: str) -> Resolution:
    return launch(release, qwen35(TEXT_ONLY), DFLASH, draft=DFLASH_DRAFT)


def story_three(release: str) -> Resolution:
    return launch(release, qwen35(WRAPPED), HICACHE)


def story_four(release: str) -> Resolution:
    return launch(release, qwen35(WRAPPED), PIPELINE)


STORIES = {
    "1: text-only class, two decode ranks, Hopper": story_one,
    "1: the same with attention_backend=triton": story_one_triton,
    "2: text-only class with a DFLASH draft": story_two,
    "3: multimodal class, draft of its own layers, host cache": story_three,
    "4: multimodal class over four pipeline ranks": story_four,
}
CAUSES = ("error", "unsafe", "silent")


def row(release: str, story: str) -> tuple[str, str, str]:
    try:
        answer = STORIES[story](release)
    except RequestError as error:
        return release, "no such setting", error.message
    found = dict.fromkeys(f"{one.severity} {one.rule}" for one in answer.findings if one.severity in CAUSES)
    return release, answer.verdict, ", ".join(found)


def page() -> Iterator[str]:
    for story in STORIES:
        yield story
        yield from table([row(release, story) for release in RELEASES], "  ")
        yield ""


def test_the_matrix_reads_as_reviewed() -> None:
    text = "\n".join(page())
    if os.environ.get("ARCHCAP_GOLDEN") == "write":
        PAGE.write_text(text, encoding="utf-8")
    assert text == PAGE.read_text(encoding="utf-8")


def rules(answer: Resolution, severity: str) -> set[str]:
    return {one.rule for one in answer.findings if one.severity == severity}


def test_story_one_refused_until_0_5_18_and_unsafe_from_0_5_19_on() -> None:
    assert story_one("0.5.18").verdict == "refused"
    for release in RELEASES[RELEASES.index("0.5.19") :]:
        assert story_one(release).verdict == "unsafe", release
        fixed = story_one_triton(release)
        assert fixed.verdict in ("ok", "adjusted"), release
        assert fixed.settings["mamba_radix_cache_strategy"].value == "extra_buffer", release


def test_story_two_is_refused_in_0_5_17_and_never_again_for_that() -> None:
    assert story_two("0.5.17").verdict == "refused"
    for release in RELEASES[RELEASES.index("0.5.18") :]:
        assert not {rule for rule in rules(story_two(release), "error") if "capture" in rule}, release


def test_story_three_is_silent_in_0_5_17_alone_of_the_later_ones() -> None:
    assert "draft.depth-in-one-level" in rules(story_three("0.5.17"), "silent")
    for release in RELEASES[RELEASES.index("0.5.18") :]:
        assert "draft.depth-in-one-level" not in rules(story_three(release), "silent"), release


@pytest.mark.parametrize(("release", "verdicts"), [("0.5.9", ("unsafe",)), ("0.5.17", ("ok", "adjusted"))])
def test_story_four_was_unsafe_and_is_not(release: str, verdicts: tuple[str, ...]) -> None:
    assert story_four(release).verdict in verdicts


def test_a_refusal_is_told_before_a_hazard_that_was_met_earlier() -> None:
    answer = story_one("0.5.15")
    assert [one.severity for one in answer.findings if one.severity in CAUSES] == ["unsafe", "error"]
    told = deciding(answer.verdict, answer.findings)
    assert told is not None
    assert told.rule == "architecture.unknown"
