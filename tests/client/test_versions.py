"""Without the library for versions, the client orders them as the library does."""

from __future__ import annotations

import itertools
import random

import pytest
from packaging.version import InvalidVersion, Version

from archcap.client.facts import same
from archcap.client.versions import key, nearest
from archcap.model import releases

PARTS = (
    ("0.5.9", "0.5.10", "0.5.10.0", "1!0.1", "v2"),
    ("", "a1", "-beta.2", "rc", "rc2", "_preview_3"),
    ("", ".post1", "-2", "rev3", ".post"),
    ("", ".dev0", "dev3", "-dev"),
    ("", "+cu128", "+1", "+cu.2", "+G12"),
)
VERSIONS = ["".join(parts) for parts in itertools.product(*PARTS)]


@pytest.mark.parametrize("text", ["", "main", "0.5.", "0.5.9+", "1.0.0x", "0..1", "!1", "0.5.9 0", "1.0-", "๑.๐"])
def test_what_is_no_version_has_no_order(text: str) -> None:
    with pytest.raises(InvalidVersion):
        Version(text)
    assert key(text) is None


def test_versions_are_ordered_as_the_library_orders_them() -> None:
    chosen = random.Random(7).sample(VERSIONS, 700)
    for one, other in itertools.pairwise(chosen):
        mine, theirs = key(one), key(other)
        assert mine is not None
        assert theirs is not None
        assert (mine < theirs, mine == theirs) == (Version(one) < Version(other), Version(one) == Version(other))
    assert [Version(one) for one in sorted(chosen, key=lambda one: key(one) or ())] == sorted(map(Version, chosen))


@pytest.mark.parametrize("asked", ["0.5.18", "0.5.19.dev3", "0.5.18+cu128", "0.5.18.post2", "0.6", "0.1", "0.5.20rc1"])
def test_the_nearest_release_is_the_registrys(asked: str) -> None:
    known = ["0.5.9", "0.5.10", "0.5.18", "0.5.18.post1", "0.5.19", "0.5.20"]
    assert nearest(asked, known) == releases.nearest(asked, known)


def test_no_version_at_all_is_answered_by_the_last() -> None:
    assert nearest("main", ["0.5.9", "0.5.10"]) == "0.5.10"
    assert nearest("0.5.9", []) is None


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [("0.5.9", "0.5.9", True), ("0.5.9", "v0.5.9.0", True), ("0.5.9", "0.5.9+a", False), ("main", "main", True),
     ("main", "trunk", False)],
)  # fmt: skip
def test_spellings(one: str, other: str, equal: bool) -> None:
    assert same(one, other) is equal
