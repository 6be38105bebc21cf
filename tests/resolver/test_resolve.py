"""Verdicts, settings, findings and plan, on the invented registry."""

from __future__ import annotations

import pytest

from archcap.errors import RequestError
from archcap.model.base import JsonObject
from tests.resolver.toy import RIVER, answer, snapshot


@pytest.mark.parametrize(
    ("release", "settings", "verdict"),
    [
        ("0.10", {}, "ok"),
        ("0.10", {"cache_mode": "auto"}, "ok"),
        ("0.10", {"shard_size": 2}, "refused"),
        ("0.10", {"shard_size": 2, "disable_cache": True}, "unsafe"),
        ("0.10", {"shard_size": 2, "disable_cache": True, "attention": "plain"}, "ok"),
        ("0.10", {"overlap": True}, "ok"),
        ("0.9", {"pp_size": 2}, "unsafe"),
        ("0.10", {"pp_size": 2}, "ok"),
        ("0.10", {"pp_size": 5}, "refused"),
        ("0.10", {"tp_size": 0}, "refused"),
        ("0.10", {"draft_method": "tree", "draft_path": "d", "draft_depth": 3}, "adjusted"),
        ("0.10", {"draft_method": "tree", "draft_path": "d", "draft_depth": 4}, "ok"),
        ("0.10", {"draft_method": "tree"}, "refused"),
    ],
)
def test_a_launch_gets_the_verdict_its_rules_give(release: str, settings: JsonObject, verdict: str) -> None:
    assert answer(release, settings=settings).verdict == verdict


TAGS: JsonObject = {"attention": "plain", "tags": ["a", "b", "c"]}
TREE: JsonObject = {"draft_method": "tree", "draft_path": "d", "draft_depth": 6}


@pytest.mark.parametrize(
    ("release", "settings", "verdict", "issues"),
    [
        ("0.9", TAGS, "ok", []),
        ("0.10", {**TAGS, "tags": ["a"]}, "ok", []),
        ("0.10", TAGS, "unsafe", ["many-tags"]),
        ("0.11", TREE, "ok", []),
        ("0.10", TREE, "refused", ["shallow-trees"]),
        ("0.10", {**TREE, **TAGS}, "refused", ["many-tags", "shallow-trees"]),
    ],
)
def test_known_issues_are_found_after_everything_else(
    release: str, settings: JsonObject, verdict: str, issues: list[str]
) -> None:
    got = answer(release, settings=settings)
    assert (got.verdict, [one.rule for one in got.findings if one.reference]) == (verdict, issues)
    assert all(one.workaround for one in got.findings if one.reference)


def test_an_issue_without_a_place_in_the_source_has_its_report_alone() -> None:
    first, second = (one for one in answer("0.10", settings={**TREE, **TAGS}).findings if one.reference)
    assert (first.source, first.evidence, first.stage) == (None, "report", "request")
    assert (second.source, second.evidence, second.stage) == ("draft/tree.py:Tree.grow", "verified", "init")


def test_settings_say_who_decided_them() -> None:
    got = answer(settings={"shard_size": 1, "page_size": 8}).settings
    assert (got["shard_size"].value, got["shard_size"].origin, got["shard_size"].rule) == (1, "user", None)
    assert (got["attention"].value, got["attention"].origin, got["attention"].rule) == (
        "fast",
        "rule",
        "platform_defaults.1",
    )
    assert "tp_size" not in got, "neither given nor written"


def test_a_refusal_at_a_later_stage_still_shows_all_resolved_settings() -> None:
    got = answer(settings={"shard_size": 2})
    assert got.findings[-1].stage == "init"
    assert got.settings["cache_mode"].value == "flat"


def test_a_refusal_at_an_early_stage_ends_the_settings_there() -> None:
    got = answer(settings={"tp_size": 0})
    assert [finding.stage for finding in got.findings] == ["parse"]
    assert set(got.settings) == {"tp_size"}


def test_causes_lead_from_the_refusal_to_what_the_user_gave() -> None:
    finding = answer(settings={"shard_size": 2}).findings[-1]
    assert [(cause.depth, cause.text, cause.origin) for cause in finding.causes] == [
        (0, "the tree page is 2", "rule"),
        (1, "shard_size is 2", "user"),
        (0, "2 recurrent layers", "config"),
        (0, "cache_mode is flat", "rule"),
        (1, "overlap is false, as it is by default", "default"),
        (1, "cache_mode is auto, as it is by default", "default"),
    ]


def test_a_missing_capability_is_named_with_the_release_that_has_it() -> None:
    config: JsonObject = {**RIVER, "architectures": ["RiverTextForCausalLM"]}
    finding = answer(config=config, settings={"shard_size": 2, "overlap": True}).findings[-1]
    words = " / ".join(cause.text for cause in finding.causes)
    assert "RiverTextForCausalLM is not registered for" in words
    assert "(it is from 0.11)" in words


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("cache.draft-buffer", "RiverForCausalLM is registered for extra state buffer in 0.11"),
        ("cache.draft-windowed", "RiverForCausalLM is among Architectures with an extra state buffer in 0.11"),
    ],
)
def test_what_is_asked_of_the_draft_is_told_of_the_draft(rule: str, text: str) -> None:
    target: JsonObject = {**RIVER, "architectures": ["RiverTextForCausalLM"]}
    echo: JsonObject = {"draft_method": "echo", "draft_depth": 7}
    got = answer("0.11", config=target, draft_config=RIVER, settings=echo)
    (finding,) = (one for one in got.findings if one.rule == rule)
    assert text in [cause.text for cause in finding.causes]


def test_the_plan_shows_what_the_vocabulary_puts_there() -> None:
    assert answer(settings={"page_size": 4}).plan == {"tree_page_size": 4}


def test_assumptions_are_listed_when_read_and_can_be_given() -> None:
    assert answer().assumptions == ("fastkit is installed: true",)
    without = answer(assumptions={"fastkit": False})
    assert without.assumptions == ("fastkit is installed: false",)
    assert without.settings["attention"].value == "plain"


def test_the_environment_the_engine_sets_for_itself_is_told() -> None:
    assert answer(env={"TOY_LAYOUT": "flat"}).env == {"TOY_FORCE_PLAIN": "1"}
    assert answer().env == {}


def test_a_structured_setting_keeps_the_origin_of_each_leaf() -> None:
    got = answer(settings={"pp_size": 2}).settings["graph_config"]
    assert got.value == {"decode": {"backend": "full", "max_batch": 64}, "prefill": {"backend": "disabled"}}
    assert got.leaves == {"prefill.backend": "graph.1"}


@pytest.mark.parametrize(
    ("asked", "used", "match"),
    [
        ("0.10", "0.10", "exact"),
        ("0.10.1", "0.10.post1", "nearest"),
        ("99", "0.11", "nearest"),
        ("0.1", "0.9", "nearest"),
    ],
)
def test_an_unknown_release_is_answered_by_the_nearest_and_says_so(asked: str, used: str, match: str) -> None:
    got = answer(asked)
    assert (got.release, got.release_match) == (used, match)
    assert (asked in "".join(got.notes)) == (match == "nearest")


def test_an_unknown_architecture_is_refused_with_the_nearest_names() -> None:
    got = answer(config={**RIVER, "architectures": ["RiverForCausalML"]})
    assert got.verdict == "refused"
    assert "RiverForCausalLM" in got.findings[-1].message


def test_an_architecture_of_a_later_release_is_refused_with_that_release() -> None:
    got = answer("0.9", config={**RIVER, "architectures": ["RiverTextForCausalLM"]})
    assert got.verdict == "refused"
    assert "0.10" in got.findings[-1].message


def test_a_value_outside_its_choices_is_refused_at_parse_with_the_nearest_choice() -> None:
    got = answer(settings={"cache_mode": "bufered"}, fixes=True)
    assert (got.verdict, got.findings[0].stage) == ("refused", "parse")
    assert "buffered" in got.findings[0].message
    assert {"cache_mode": "buffered"} in [fix.changes for fix in got.fixes or ()]


def test_a_name_that_nobody_registered_is_refused_where_it_is_looked_up() -> None:
    assert answer(settings={"weave": "beams"}).verdict == "ok"
    got = answer(settings={"weave": "beam"}, fixes=True)
    assert (got.verdict, got.findings[0].rule, got.findings[0].stage) == ("refused", "settings.unregistered", "load")
    assert "beams" in got.findings[0].message
    assert {"weave": "beams"} in [fix.changes for fix in got.fixes or ()]


def test_without_a_configuration_what_is_needed_is_said() -> None:
    got = answer(config=None, architecture="RiverForCausalLM", settings={"shard_size": 2, "attention": "plain"})
    assert got.verdict == "unknown"
    needs = {need for entry in got.undetermined for need in entry.needs}
    assert needs
    assert all(need.startswith("config") for need in needs)


def test_without_hardware_what_is_needed_is_said() -> None:
    got = answer(hardware=None)
    assert got.settings["attention"].origin == "unknown"


def test_a_user_value_replaced_without_a_log_line_is_a_silent_finding() -> None:
    got = answer(settings={"attention": "wide"})
    assert [(f.severity, f.rule) for f in got.findings if f.severity == "silent"] == [
        ("silent", "platform.wide-needs-newest")
    ]
    assert got.verdict == "adjusted"
    assert "attention wide is replaced by fast" in got.findings[0].message


def test_a_respelled_value_is_no_adjustment() -> None:
    got = answer(settings={"tags": ["a"]})
    assert got.settings["tags"].value == ["a", "tree"]
    assert got.verdict == "ok"


@pytest.mark.parametrize(
    ("parts", "code"),
    [
        ({"engine": "tog"}, "unknown-engine"),
        ({"hardware": {"gpu": "alpah"}}, "unknown-hardware"),
        ({"settings": {"tp_sze": 2}}, "unknown-setting"),
        ({"settings": {"tp_size": "two"}}, "wrong-type"),
        ({"settings": {"tp_size": True}}, "wrong-type"),
        ({"settings": {"overlap": 1}}, "wrong-type"),
        ({"assumptions": {"fastkid": True}}, "unknown-assumption"),
        ({"config": None, "checkpoint": "acme/nothing"}, "unknown-checkpoint"),
        ({"config": {"num_hidden_layers": 4}}, "no-architecture"),
        ({"release": "not a release"}, "unknown-release"),
        ({"env": {"TOY_FORCE_PLAIN": "perhaps"}}, "wrong-type"),
    ],
)
def test_misuse_is_an_error_with_a_stable_code(parts: JsonObject, code: str) -> None:
    with pytest.raises(RequestError) as error:
        answer(**parts)  # type: ignore[arg-type]
    assert error.value.code == code


def test_a_setting_another_release_has_is_named_with_that_release() -> None:
    with pytest.raises(RequestError, match=r"0\.10"):
        answer("0.9", settings={"graph_config": {}})


def test_known_checkpoints_stand_for_their_configuration() -> None:
    name = next(iter(snapshot().checkpoints))
    got = answer(config=None, checkpoint=name)
    assert got.architecture == snapshot().checkpoints[name].architecture
