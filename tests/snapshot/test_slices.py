"""A slice is what an engine fetches: one release's facts, verifiable with the standard library alone."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from archcap.snapshot import release_slice, store
from tests.snapshot import toy


def read(release: str) -> Any:
    return json.loads(release_slice(toy.snapshot(), "toy", release))


@pytest.mark.parametrize("release", toy.RELEASES)
def test_the_digest_can_be_checked_without_archcap(release: str) -> None:
    found = read(release)
    canonical = json.dumps(found["facts"], sort_keys=True, separators=(",", ":")).encode()
    assert found["digest"] == "sha256:" + hashlib.sha256(canonical).hexdigest()


@pytest.mark.parametrize("release", toy.RELEASES)
def test_a_slice_says_what_the_view_says(release: str) -> None:
    facts, view = read(release)["facts"], toy.view(release)
    assert (facts["schema"], facts["engine"], facts["release"]) == (1, "toy", release)
    assert facts["releases"] == list(toy.RELEASES)
    assert facts["lists"] == {name: sorted(names) for name, names in view.lists.items()}
    assert set(facts["architectures"]) == set(view.architectures)
    for name, said in facts["architectures"].items():
        has, conditional = view.capabilities_of(name)
        assert set(said["has"]) == has
        assert said.get("when", {}) == dict(conditional)


def test_a_slice_tells_values_and_what_nobody_has_checked() -> None:
    architectures = read("0.11")["facts"]["architectures"]
    assert architectures["RiverForCausalLM"] == {
        "family": "river",
        "role": "target",
        "profile": "river",
        "has": [
            "attention_kind", "extra_buffer", "hidden_capture", "max_depth", "pipeline", "quantisations", "state_cache",
        ],
        "values": {"attention_kind": "full", "max_depth": 8, "quantisations": ["fp8", "int4"]},
    }  # fmt: skip
    assert architectures["RiverTextForCausalLM"]["unvalidated"] == ["pipeline"]
    assert architectures["StoneForCausalLM"]["partial"] == {"hidden_capture": "Only with the echo method."}
    assert architectures["StoneDraftModel"] == {"family": "stone", "role": "draft", "has": []}


def test_a_slice_names_the_collections_that_show_a_capability() -> None:
    snapshot = toy.snapshot()
    raw: Any = snapshot.raw("vocabulary")
    raw["capabilities"]["pipeline"]["probes"] = {"toy": {"set": "cache.registry.PIPED"}, "kiln": {"set": "a.B"}}
    raw["capabilities"]["extra_buffer"]["probes"] = {
        "toy": {"set": ["cache.state._BUFFERED", "cache.registry.BUFFERED"]}
    }
    other = snapshot.with_part_replaced("vocabulary", raw)
    found = json.loads(release_slice(other, "toy", "0.11"))["facts"]["collections"]
    assert found["pipeline"] == ["cache.registry.PIPED"]
    assert found["extra_buffer"] == ["cache.state._BUFFERED", "cache.registry.BUFFERED"]


def test_a_slice_tells_what_people_said_and_from_where() -> None:
    stated = read("0.11")["facts"]["stated"]
    said = {"value": True, "note": None}
    buffered = {"capability": "extra_buffer", "name": "RiverTextForCausalLM", "source": "toy#35", **said}
    assert buffered in stated
    assert {one["source"] for one in stated} == {"toy#12", "toy#35"}  # one platform's stay in a list is not for all
    assert buffered not in read("0.10")["facts"]["stated"]


def test_slices_that_were_cut_are_used_for_the_snapshot_they_are_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "BUILT", tmp_path)
    snapshot = toy.snapshot()
    assert store.carried_slice(snapshot, "toy", "0.11") is None
    store.write_slices(snapshot, tmp_path)
    assert store.carried_slice(snapshot, "toy", "0.11") == release_slice(snapshot, "toy", "0.11")
    assert store.carried_slice(snapshot, "toy", "0.12") is None
    raw: Any = snapshot.raw("hardware")
    raw["hardware"]["beta"]["title"] = "Beta 2"
    other = snapshot.with_part_replaced("hardware", raw)
    assert store.carried_slice(other, "toy", "0.11") is None
    store.write_slices(other, tmp_path)
    assert store.carried_slice(snapshot, "toy", "0.11") is None


def test_slices_of_releases_that_are_gone_are_removed(tmp_path: Path) -> None:
    store.write_slices(toy.snapshot(), tmp_path)
    stray = tmp_path / "slices" / "toy" / "0.8.json"
    stray.write_text("{}")
    store.write_slices(toy.snapshot(), tmp_path)
    assert stray.exists()  # nothing is looked at as long as the slices are of this snapshot
    (tmp_path / "slices" / store.SLICES_OF).unlink()
    store.write_slices(toy.snapshot(), tmp_path)
    assert not stray.exists()


def test_slices_of_other_releases_differ() -> None:
    assert len({read(release)["digest"] for release in toy.RELEASES}) == len(toy.RELEASES)


def test_what_a_slice_does_not_tell_does_not_change_it() -> None:
    snapshot = toy.snapshot()
    raw: Any = snapshot.raw("hardware")
    raw["hardware"]["beta"]["title"] = "Beta 2"
    other = snapshot.with_part_replaced("hardware", raw)
    assert other.digest != snapshot.digest
    assert release_slice(other, "toy", "0.11") == release_slice(snapshot, "toy", "0.11")
