"""Releases are ordered as versions, intervals are half-open, ranges have at most two bounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from archcap.model.releases import Interval, nearest, parse_range, version

ORDER = ["0.9", "0.10rc1", "0.10", "0.10.post1", "0.11", "1.0"]


def test_versions_are_ordered_by_number_not_by_text() -> None:
    assert sorted(sorted(ORDER), key=version) == ORDER
    assert sorted(ORDER) != ORDER


def test_what_is_no_version_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"'0\.x' is no PEP 440 version"):
        version("0.x")


@pytest.mark.parametrize(
    ("added", "removed", "held"),
    [
        (None, None, ORDER),
        ("0.10", None, ["0.10", "0.10.post1", "0.11", "1.0"]),
        (None, "0.10", ["0.9", "0.10rc1"]),
        ("0.10", "0.11", ["0.10", "0.10.post1"]),
        ("0.10.post1", "0.11", ["0.10.post1"]),
    ],
)
def test_an_interval_holds_its_first_and_not_its_last(added: str | None, removed: str | None, held: list[str]) -> None:
    interval = Interval(added=added, removed=removed)
    assert [release for release in ORDER if interval.holds(release)] == held


@pytest.mark.parametrize(("added", "removed"), [("0.10", "0.10"), ("0.11", "0.10"), ("0.10.post1", "0.10")])
def test_an_empty_interval_is_refused(added: str, removed: str) -> None:
    with pytest.raises(ValidationError, match="the interval is empty"):
        Interval(added=added, removed=removed)


@pytest.mark.parametrize(
    ("text", "added", "removed"),
    [
        (">=0.10", "0.10", None),
        ("<0.11", None, "0.11"),
        (">=0.10,<0.11", "0.10", "0.11"),
        ("< 0.11 , >= 0.10", "0.10", "0.11"),
    ],
)
def test_a_range_has_one_bound_or_two(text: str, added: str | None, removed: str | None) -> None:
    assert parse_range(text) == Interval(added=added, removed=removed)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (">0.10", "is no bound"),
        ("<=0.10", "is no bound"),
        ("==0.10", "is no bound"),
        ("0.10", "is no bound"),
        ("", "is no bound"),
        (">=0.10,", "is no bound"),
        (">=0.10,>=0.11", "gives >= twice"),
        (">=0.11,<0.10", "the interval is empty"),
        (">=x", "is no PEP 440 version"),
    ],
)
def test_another_range_is_refused(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_range(text)


@pytest.mark.parametrize(
    ("release", "found"),
    [("0.10", "0.10"), ("0.10.post2", "0.10.post1"), ("0.8", "0.9"), ("2", "1.0"), ("0.10.dev1", "0.9")],
)
def test_the_nearest_release_is_the_last_before(release: str, found: str) -> None:
    assert nearest(release, reversed(ORDER)) == found


@given(st.sampled_from(ORDER), st.lists(st.sampled_from(ORDER), min_size=1))
def test_the_nearest_release_is_always_a_known_one(release: str, known: list[str]) -> None:
    found = nearest(release, known)
    assert found in known
    assert found == release if release in known else True
