"""Stored records come back as they were, whole or in parts."""

from dataclasses import dataclass

import pytest

from archcap.rules.coding import Stored, decode, encode


@dataclass(frozen=True, slots=True)
class Leaf:
    name: str
    value: int | float | bool | None


@dataclass(frozen=True, slots=True)
class Branch:
    parts: tuple[object, ...]
    left: object
    right: object


CLASSES = (Leaf, Branch)
ONE, OTHER = Leaf("one", 1), Leaf("other", None)
TREES = [
    (),
    ("text", 1, 1.5, True, None),
    (ONE, OTHER, ONE),
    (Branch((ONE, (OTHER, "x")), Branch((), ONE, ONE), None), Branch((), "left", 2)),
    (Leaf("1", 1), Leaf("1", True), Leaf("1", 1.0)),
]


@pytest.mark.parametrize("tree", TREES)
def test_what_is_stored_comes_back(tree):
    assert repr(decode(encode(tree, CLASSES), CLASSES)) == repr(tree)


@pytest.mark.parametrize("tree", TREES[1:])
def test_each_part_comes_back_alone(tree):
    stored = Stored(encode(tree, CLASSES), CLASSES)
    for place, part in reversed(list(enumerate(tree))):
        assert repr(stored.part(place)) == repr(part)


def test_a_part_is_found_by_the_places_on_the_way_to_it():
    stored = Stored(encode(TREES[3], CLASSES), CLASSES)
    assert stored.part(0, 0, 1, 1) == "x"
    assert stored.part(0, 1, 2) == ONE
    assert stored.part(1, 2) == 2


def test_a_part_asked_for_twice_is_one_object():
    stored = Stored(encode(TREES[3], CLASSES), CLASSES)
    assert stored.part(0, 1) is stored.part(0, 1)
    assert stored.part(0, 1, 1) is stored.part(0, 1).left


def test_a_part_leaves_the_others_unmade(monkeypatch):
    made = []
    monkeypatch.setattr(Leaf, "__init__", lambda self, *parts: made.append(parts))
    Stored(encode((ONE, OTHER), CLASSES), CLASSES).part(1)
    assert made == [("other", None)]


def test_a_part_as_deep_as_rules_may_be_comes_back():
    text = "[" + ",".join(['[1,"one",1]', *(f"[0,[{at}]]" for at in range(5_000)), "[0,[5000]]", "[0,[5001]]"]) + "]"
    part = Stored(text, CLASSES).part(0)
    for _ in range(5_000):
        (part,) = part
    assert part == ONE
