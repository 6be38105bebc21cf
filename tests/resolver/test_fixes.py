"""Fixes start when tried again, are minimal, and say what they give up."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archcap.model.base import Json
from archcap.resolver import resolve
from tests.resolver.toy import answer, ask, snapshot

_LAUNCHES = st.fixed_dictionaries(
    {},
    optional={
        "shard_size": st.sampled_from([1, 2, 4]),
        "page_size": st.sampled_from([1, 8]),
        "cache_mode": st.sampled_from(["auto", "buffered", "flat"]),
        "disable_cache": st.booleans(),
        "overlap": st.booleans(),
        "pp_size": st.sampled_from([1, 2, 8]),
        "tp_size": st.sampled_from([0, 1, 8]),
        "attention": st.sampled_from(["fast", "plain", "wide"]),
        "draft_method": st.sampled_from(["echo", "tree"]),
        "draft_depth": st.integers(0, 4),
    },
)


def test_taking_back_the_users_value_is_a_fix_and_says_what_it_gives_up() -> None:
    fixes = answer(settings={"shard_size": 2}, fixes=True).fixes or ()
    first = fixes[0]
    assert (first.changes, first.verdict, first.gives_up) == ({"shard_size": 1}, "ok", "sharded decode context")


@pytest.mark.parametrize(
    ("release", "asked", "cure"),
    [("0.9", {"pp_size": 2}, {"pp_size": 1}), ("0.10", {"draft_method": "tree"}, {"draft_method": None})],
)
def test_what_keeps_a_step_from_ending_early_is_behind_its_blocker(
    release: str, asked: dict[str, Json], cure: dict[str, Json]
) -> None:
    fixes = answer(release, settings=asked, fixes=True).fixes or ()
    assert cure in [fix.changes for fix in fixes if fix.release is None]


def test_a_setting_the_user_never_gave_and_that_is_fine_is_in_no_fix() -> None:
    fixes = answer(settings={"page_size": 8}, fixes=True).fixes or ()
    assert all("shard_size" not in fix.changes for fix in fixes)


def test_a_later_release_is_offered_with_what_is_still_to_change() -> None:
    fixes = answer("0.9", settings={"pp_size": 2}, fixes=True).fixes or ()
    assert ({}, "0.10") in [(fix.changes, fix.release) for fix in fixes]


def test_no_fix_is_said_in_words() -> None:
    got = answer("0.11", config={"architectures": ["Nothing"]}, fixes=True)
    assert got.fixes == ()
    assert any("No change" in note for note in got.notes)


def test_fixes_are_absent_unless_asked_for() -> None:
    assert answer(settings={"shard_size": 2}).fixes is None


@given(_LAUNCHES, st.sampled_from(["0.9", "0.10", "0.11"]))
@settings(max_examples=150, deadline=None)
def test_every_fix_starts_when_resolved_again_and_contains_no_smaller_one(asked: dict[str, Json], release: str) -> None:
    got = resolve(ask(release, settings=asked, fixes=True), snapshot())
    for fix in got.fixes or ():
        changed = {**asked, **fix.changes}
        changed = {name: value for name, value in changed.items() if value is not None}
        again = resolve(ask(fix.release or release, settings=changed), snapshot())
        assert again.verdict == fix.verdict
        smaller = [other for other in got.fixes or () if other is not fix and other.release in (None, fix.release)]
        assert not any(other.changes.items() <= fix.changes.items() for other in smaller)
    assert got.verdict in ("refused", "unsafe") or not got.fixes


@given(_LAUNCHES, st.sampled_from(["0.9", "0.10", "0.11"]))
@settings(max_examples=100, deadline=None)
def test_a_fix_is_found_wherever_taking_back_one_or_two_things_is_one(asked: dict[str, Json], release: str) -> None:
    got = resolve(ask(release, settings=asked, fixes=True), snapshot())
    if got.verdict not in ("refused", "unsafe"):
        return
    sizes = [len(fix.changes) + (fix.release is not None) for fix in got.fixes or ()]
    for many in (1, 2):
        for gone in itertools.combinations(asked, many):
            kept = {name: value for name, value in asked.items() if name not in gone}
            if resolve(ask(release, settings=kept), snapshot()).verdict in ("ok", "adjusted"):
                assert min(sizes, default=3) <= many
