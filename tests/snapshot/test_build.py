"""A snapshot holds the registry, the same facts give the same bytes, and every fact counts for the digest."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from archcap.errors import ArchcapError
from archcap.load import load_registry
from archcap.model.architectures import Family
from archcap.model.base import Json, JsonObject
from archcap.snapshot import Snapshot, build
from archcap.snapshot.canonical import canonical, node_digest, tree_digests
from tests import mini
from tests.snapshot import toy

PARTS = toy.snapshot().parts
ORDERED = {"let", "set", "default", "var", "fact", "env", "each"}


def test_a_snapshot_gives_the_registry_back() -> None:
    snapshot = toy.snapshot()
    assert snapshot.registry == toy.registry()
    assert build(snapshot.registry) == toy.data() == snapshot.to_bytes()
    snapshot.verify()


def test_a_snapshot_is_json_that_says_where_its_parts_are() -> None:
    read = json.loads(toy.data())
    assert read["schema"] == 1
    assert set(read["data"]) == set(read["parts"]) == set(PARTS)
    body = toy.data().split(b"\n", 1)[1]
    for path, (_, start, length) in read["parts"].items():
        assert json.loads(body[start : start + length]) == read["data"][path]


def test_the_parts_follow_the_files() -> None:
    assert "checkpoints/acme" in PARTS
    assert {path for path in PARTS if "/families/" in path} == {
        "engines/toy/families/river", "engines/toy/families/stone",
    }  # fmt: skip
    assert len([path for path in PARTS if "/steps/" in path]) == 4


# -- the same facts in another order ------------------------------------------------


def shuffled(value: Any, luck: random.Random, keep: bool = False) -> Any:
    if isinstance(value, dict):
        keys = list(value)
        if not keep:
            luck.shuffle(keys)
        return {key: shuffled(value[key], luck, key in ORDERED) for key in keys}
    return [shuffled(item, luck) for item in value] if isinstance(value, list) else value


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32))
def test_the_order_facts_are_written_in_does_not_change_the_bytes(tmp_path: Path, seed: int) -> None:
    luck = random.Random(seed)
    root = mini.copy_to(tmp_path / str(luck.random()))
    for path in root.rglob("*.yaml"):
        path.write_text(json.dumps(shuffled(yaml.safe_load(path.read_text()), luck)))
    assert build(load_registry(root)) == toy.data()


def test_the_order_of_lets_is_meaning(tmp_path: Path) -> None:
    built = []
    for number, order in enumerate(("{one: =1, two: =2}", "{two: =2, one: =1}")):
        root = mini.copy_to(tmp_path / str(number))
        mini.edit(root, "rules/20-resolve.yaml", "{wants_buffer: =overlap or pages > 1}", order)
        built.append(build(load_registry(root)))
    assert built[0] != built[1]


# -- one fact changed -----------------------------------------------------------------


def scalars(value: Json, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    if isinstance(value, dict):
        return [found for key, part in value.items() for found in scalars(part, (*path, key))]
    if isinstance(value, list):
        return [found for index, part in enumerate(value) for found in scalars(part, (*path, index))]
    return [path]


def changed(value: Any, path: tuple[str | int, ...]) -> Any:
    if not path:
        if isinstance(value, bool):
            return not value
        return value + {int: 1, float: 0.5, str: "x"}[type(value)] if value is not None else "x"
    copy = value.copy()
    copy[path[0]] = changed(value[path[0]], path[1:])
    return copy


PLACES = [(part, path) for part in PARTS for path in scalars(toy.snapshot().raw(part))]


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(PLACES))
def test_any_fact_changed_changes_the_root_and_exactly_one_leaf(place: tuple[str, tuple[str | int, ...]]) -> None:
    part, path = place
    before = toy.snapshot()
    try:
        after = before.with_part_replaced(part, changed(before.raw(part), path))
    except (ValidationError, ArchcapError):
        assume(False)
        raise
    differing = [name for name in PARTS if before.digest_of(name) != after.digest_of(name)]
    assert differing == [part]
    assert before.digest != after.digest
    assert Snapshot.open(after.to_bytes()).digest == after.digest
    assert build(after.registry) == after.to_bytes()


def test_enough_facts_can_be_changed_for_that_to_mean_something() -> None:
    assert len(PLACES) > 400


def test_changing_a_fact_back_gives_the_first_digest() -> None:
    before = toy.snapshot()
    raw = before.raw("hardware")
    there = before.with_part_replaced("hardware", changed(raw, ("hardware", "beta", "title")))
    assert there.with_part_replaced("hardware", raw).digest == before.digest


def test_a_replaced_part_is_what_the_new_snapshot_says_and_the_old_one_does_not() -> None:
    before = toy.snapshot()
    assert "pipeline" not in before.release("toy", "0.9").capabilities_of("RiverForCausalLM")[0]
    raw: Any = before.raw("engines/toy/families/river")
    raw["architectures"]["RiverForCausalLM"]["support"]["pipeline"] = [{}]
    after = before.with_part_replaced("engines/toy/families/river", raw)
    assert "pipeline" in after.release("toy", "0.9").capabilities_of("RiverForCausalLM")[0]
    assert "pipeline" not in before.release("toy", "0.9").capabilities_of("RiverForCausalLM")[0]
    assert after.digest_of("engines/toy/settings") == before.digest_of("engines/toy/settings")
    assert after.digest_of("engines/toy") != before.digest_of("engines/toy")


def test_a_family_can_be_added() -> None:
    family = Family.model_validate_json('{"family": "new", "architectures": {"New": {"releases": [{}]}}}')
    after = toy.snapshot().with_part_replaced("engines/toy/families/new", family)
    assert "New" in after.release("toy", "0.9").architectures
    assert after.registry.engines["toy"].families["new"] == family


@pytest.mark.parametrize("value", [{}, {"family": "river"}, {"family": "river", "architectures": {}, "more": 1}])
def test_a_part_that_is_no_such_record_is_refused(value: JsonObject) -> None:
    with pytest.raises(ValidationError):
        toy.snapshot().with_part_replaced("engines/toy/families/river", value)


@pytest.mark.parametrize("path", ["", "nowhere", "engines/toy", "engines/toy/families", "vocabulary/x"])
def test_a_part_that_no_snapshot_has_is_refused(path: str) -> None:
    with pytest.raises(ArchcapError) as caught:
        toy.snapshot().with_part_replaced(path, {})
    assert caught.value.code == "unknown-part"


@pytest.mark.parametrize(
    ("path", "other"),
    [
        ("engines/toy/families/river", "engines/toy/families/stone"),
        ("engines/toy/engine", "engines/tyo/engine"),
        ("checkpoints/acme", "checkpoints/other"),
    ],
)
def test_a_part_belongs_where_it_says(path: str, other: str) -> None:
    snapshot = toy.snapshot()
    with pytest.raises(ArchcapError) as caught:
        snapshot.with_part_replaced(other, snapshot.raw(path))
    assert caught.value.code == "wrong-part"


# -- damage -----------------------------------------------------------------------------


def flip(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


DAMAGED = [
    (b"", "no-snapshot"),
    (b"{}", "no-snapshot"),
    (b"\x89PNG", "no-snapshot"),
    (b'{"schema":1}', "no-snapshot"),
    (b'{"schema":1,"data":{\n}}\n', "bad-snapshot"),
    (toy.data()[:-1], "bad-snapshot"),
    (toy.data()[: len(toy.data()) // 2], "bad-snapshot"),
    (toy.data() + b"\n", "bad-snapshot"),
    (toy.data().replace(b'"schema":1', b'"schema":2', 1), "snapshot-schema"),
    (toy.data().replace(b'"schema":1', b'"schema":0', 1), "snapshot-schema"),
    (toy.data().replace(b'"digest":"sha256:', b'"digest":"sha256:0', 1), "bad-snapshot"),
]


@pytest.mark.parametrize(("data", "code"), DAMAGED, ids=range(len(DAMAGED)))
def test_what_is_no_whole_snapshot_is_refused_at_once(data: bytes, code: str) -> None:
    with pytest.raises(ArchcapError) as caught:
        Snapshot.open(data)
    assert caught.value.code == code
    assert caught.value.hint


def test_a_newer_schema_asks_for_a_newer_archcap() -> None:
    with pytest.raises(ArchcapError, match="update archcap"):
        Snapshot.open(toy.data().replace(b'"schema":1', b'"schema":2', 1))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, len(toy.data()) - 1))
def test_no_single_wrong_byte_goes_unnoticed(at: int) -> None:
    data = flip(toy.data(), at)
    try:
        snapshot = Snapshot.open(data)
        snapshot.verify()
    except ArchcapError:
        return
    assert snapshot.registry == toy.registry()  # the byte stood between parts


# -- canonical form ---------------------------------------------------------------------


def test_canonical_json_is_sorted_compact_ascii() -> None:
    assert canonical({"b": [1.5, None, True], "a": "é\ud800"}) == b'{"a":"\\u00e9\\ud800","b":[1.5,null,true]}'


def test_numbers_that_json_cannot_hold_are_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        canonical(float("nan"))


def test_a_node_is_hashed_over_names_and_digests_in_any_order() -> None:
    assert node_digest([("a", "1"), ("b", "2")]) == node_digest([("b", "2"), ("a", "1")])
    assert len({node_digest(pairs) for pairs in ([("a", "1")], [("b", "1")], [("a", "2")], [])}) == 4


def test_the_tree_has_a_digest_for_every_folder() -> None:
    digests = tree_digests({"x": "1", "e/a/p": "2", "e/a/q/r": "3", "e/b/p": "4"})
    assert set(digests) == {"", "x", "e", "e/a", "e/a/p", "e/a/q", "e/a/q/r", "e/b", "e/b/p"}
    assert digests["e/a"] == node_digest([("e/a/p", "2"), ("e/a/q", digests["e/a/q"])])
    assert digests[""] == node_digest([("x", "1"), ("e", digests["e"])])
