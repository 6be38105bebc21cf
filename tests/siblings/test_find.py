"""What is suspect and what is not, on a few invented architectures."""

from __future__ import annotations

from dataclasses import replace

import pytest

from archcap.model.siblings import Pair, SiblingGuide
from archcap.model.vocabulary import Absence, Capability, Group, Probe, Vocabulary
from archcap.siblings.facts import Draft, Facts, Member, Names, Seen
from archcap.siblings.find import Finding, findings
from archcap.siblings.rank import Past, closed, features, learn, precision, ranked

HERE = Seen("models/here.py", 7)


def capability(effect: str = "error", group: str = "all", method: str | None = None) -> Capability:
    return Capability(
        title="Some thing", group=group, meaning="It can.",
        absence=Absence.model_validate({"stage": "init", "effect": effect}, strict=False),
        probes={"wagon": Probe(method=method)} if method else {},
    )  # fmt: skip


VOCABULARY = Vocabulary(
    groups={name: Group(title=name, meaning=name) for name in ("all", "media")},
    capabilities={
        "steam": capability(method="make_steam"),
        "half": capability(),
        "other_half": capability(),
        "pictures": capability(),
        "frames": capability(group="media"),
        "windows": capability(),
        "given_steam": capability(),
        "embedded": capability(),
        "whistle": capability("silent", method="blow"),
    },
)
GUIDE = SiblingGuide(
    engine="wagon",
    traits=("pictures",),
    nested="pictures",
    shown_by={"pictures": ("windows",)},
    only_for={"media": "pictures"},
    only_role={"given_steam": "draft"},
    apart={"embedded": "pictures"},
    leave_out=("windows",),
    trait_lists=("core.media",),
    pairs=(
        Pair(id="halves", has="half", lacks="other_half", stage="init", effect="error", because="No.", source="a.py"),
        Pair(
            id="of_targets",
            role="target",
            has="whistle",
            lacks="steam",
            stage="init",
            effect="error",
            because="No.",
            source="a.py",
        ),
    ),
)


def member(
    name: str, *has: str, body: str | None = "Coal@coal", role: str = "target", sometimes: bool = False
) -> Member:
    return Member(name, role, body, None, HERE, dict.fromkeys(has, HERE), frozenset(has if sometimes else ()))


def facts(*members: Member, **more: object) -> Facts:
    return replace(Facts("wagon", "1.0", {one.name: one for one in members}), **more)


def names(id_: str, *of: str, stands_for: bool = False) -> Names:
    return Names(id_, HERE, dict.fromkeys(of, HERE), stands_for)


def found(of: Facts, kind: str) -> list[Finding]:
    return [one for one in findings(of, VOCABULARY, GUIDE) if one.kind == kind]


A, B, C = "AForCausalLM", "BForCausalLM", "CForCausalLM"

NO_SIBLING = {
    "two with the same": facts(member(A, "steam"), member(B, "steam")),
    "another body": facts(member(A, "steam"), member(B, body="Wood@wood")),
    "a draft beside a target": facts(member(A, "steam"), member(B, role="draft")),
    "what only those with pictures have": facts(member(A, "steam", "pictures"), member(B)),
    "a capability that concerns pictures": facts(member(A, "frames", "pictures"), member(B), member(C, "frames")),
    "what pictures show themselves by, and a text-only class": facts(member(A, "steam", "windows"), member(B)),
    "a target without what is asked of drafts": facts(member(A, "given_steam"), member(B)),
    "only one that has it for some configurations": facts(member(A, "steam", sometimes=True), member(B)),
    "one that has it for some configurations, beside one that always has": facts(
        member(A, "steam"), member(B, "steam", sometimes=True)
    ),
    "a text-only and a multimodal class in what the latter does elsewhere": facts(
        member(A, "embedded"), member(B, "pictures"), member(C, "embedded", "pictures", body=None)
    ),
    "a reward model beside a language model": facts(member(A, "steam"), member("ARewardModel")),
}


@pytest.mark.parametrize("name", NO_SIBLING)
def test_these_are_no_siblings_that_differ(name):
    assert found(NO_SIBLING[name], "sibling") == []


def test_a_twin_without_what_the_others_have_is_suspect():
    (one,) = found(facts(member(A, "steam"), member(B, "steam"), member(C)), "sibling")
    assert (one.what, list(one.lacking), list(one.having), one.effect) == ("steam", [C], [A, B], "error")


ONE_MISSING = {
    "a class that shows a trait in another way": facts(member(A, "steam", "windows"), member(B, "pictures")),
    "a draft without what is asked of drafts": facts(
        member(A, "given_steam", role="draft"), member(B, role="draft"), member(C)
    ),
    "two text-only classes in what multimodal ones do elsewhere": facts(member(A, "embedded"), member(B)),
}


@pytest.mark.parametrize("name", ONE_MISSING)
def test_these_siblings_differ(name):
    (one,) = found(ONE_MISSING[name], "sibling")
    assert list(one.lacking) == [B]


def test_the_text_only_and_the_multimodal_class_of_one_name_are_twins_without_a_common_body():
    twins = facts(member("AForConditionalGeneration", "steam", body="X@x"), member(A, body="Y@y"))
    (one,) = found(twins, "sibling")
    assert list(one.lacking) == [A]


LONG, LONGER, LONGEST = "CoalForCausalLM", "CoalFireForCausalLM", "CoalTextForCausalLM"


def test_a_twin_that_is_missing_from_a_list_is_suspect_unless_a_capability_stands_for_it():
    twins = facts(member(LONG), member(LONGER), member(LONGEST), member(A))
    listed = {"core.LONG": names("core.LONG", LONG, LONGER)}
    (one,) = found(replace(twins, lists=listed), "list")
    assert (one.what, list(one.lacking)) == ("core.LONG", [LONGEST])
    assert found(replace(twins, lists={"core.LONG": names("core.LONG", LONG, LONGER, stands_for=True)}), "list") == []


@pytest.mark.parametrize(("id_", "suspect"), [("core.media.SIZES", []), ("core.LONG", [LONGEST])])
def test_a_text_only_class_is_not_missing_from_a_list_about_media(id_, suspect):
    twins = facts(member(LONG, "pictures"), member(LONGER, "pictures"), member(LONGEST))
    told = found(replace(twins, lists={id_: names(id_, LONG, LONGER)}), "list")
    assert [name for one in told for name in one.lacking] == suspect


@pytest.mark.parametrize(("role", "suspect"), [("draft", []), ("target", [A]), ("wrapper", [A])])
def test_half_of_a_pair_that_concerns_targets_is_no_fault_of_a_draft(role, suspect):
    both = member(B, "whistle", "steam", body=None)
    told = found(facts(member(A, "whistle", body=None, role=role), both), "pair")
    assert [name for one in told for name in one.lacking] == suspect


def test_one_half_of_a_pair_is_suspect_once_somebody_has_both():
    alone = member(A, "half", body=None)
    assert found(facts(alone), "pair") == []
    (one,) = found(facts(alone, member(B, "half", "other_half", body=None)), "pair")
    assert (one.what, list(one.lacking)) == ("halves", [A])


@pytest.mark.parametrize(
    ("levels", "has", "suspect"),
    [(("hf", "text"), ("pictures",), []), (("hf",), (), []), ((), ("pictures",), []), (("hf",), ("pictures",), [A])],
)
def test_a_depth_at_the_top_level_is_suspect_where_the_configuration_is_nested(levels, has, suspect):
    drafts = {A: Draft("ADraft", 1, levels, HERE)}
    assert [
        name for one in found(facts(member(A, *has), drafts=drafts), "one-level") for name in one.lacking
    ] == suspect


def test_lists_that_are_nearly_the_same_are_suspect_and_small_or_different_ones_are_not():
    everybody = [member(f"{letter}ForCausalLM", body=None) for letter in "ABCDEF"]
    every = [one.name for one in everybody]
    near = {"a.quiet": names("a.quiet", *every), "b.quiet": names("b.quiet", *every[:5])}
    (one,) = found(facts(*everybody, lists=near), "near-lists")
    assert (one.what, one.shared, list(one.lacking)) == ("b.quiet", "a.quiet", [every[5]])
    far = {"a.quiet": names("a.quiet", *every), "b.loud": names("b.loud", *every[:3])}
    assert found(facts(*everybody, lists=far), "near-lists") == []


def test_a_name_that_no_class_bears_is_suspect_in_a_list_of_classes():
    listed = {"core.LONG": names("core.LONG", A, "GoneForCausalLM")}
    (one,) = found(facts(member(A), lists=listed), "dead-name")
    assert list(one.lacking) == ["GoneForCausalLM"]


def test_a_hook_that_nobody_ever_had_is_suspect():
    assert found(facts(member(A)), "unimplemented") == []
    (one,) = found(facts(member(A), never=frozenset({"whistle", "half"})), "unimplemented")
    assert (one.what, list(one.lacking)) == ("whistle", ["blow"])


def past(*members: Member) -> Past:
    of = facts(*members)
    return Past(of, findings(of, VOCABULARY, GUIDE))


def test_a_suspicion_is_closed_when_half_of_those_it_is_about_have_the_thing():
    before = past(member(A, "steam"), member(B), member(C))
    (one,) = before.found
    assert not closed(one, [past(member(A, "steam"), member(B), member(C))])
    assert not closed(one, [past(member(A, "steam"))])
    assert closed(one, [past(member(A, "steam"), member(B, "steam"), member(C))])


def test_what_was_closed_before_stands_first_afterwards():
    then = past(member(A, "steam", "half"), member(B))
    now = past(member(A, "steam", "half"), member(B, "steam"))
    weights = learn([then, then, now])
    assert weights["what steam"] > weights["what half"]
    assert precision(then, [now], weights, first=1) == 1.0
    assert [one.finding.what for one in ranked(then.found, then.facts, weights)] == ["steam", "half"]


def test_features_say_nothing_of_names():
    one = past(member(A, "steam"), member(B))
    assert not any(A in feature or B in feature for feature in features(one.found[0], one.facts))
