"""A config.json says the same with and without what its configuration class fills in anyway."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from archcap.model.base import JsonObject
from archcap.model.request import HardwareRequest, Request
from archcap.model.resolution import Resolution
from archcap.resolver import resolve
from archcap.snapshot import ReleaseView
from archcap.snapshot.store import default

FOLDER = Path(__file__).parents[1] / "conformance" / "configs"
CONFIGS = sorted(path.name for path in FOLDER.glob("*.json"))
RELEASES = ("0.5.10", "0.5.15", "0.5.23")
LAUNCHES: tuple[tuple[str, JsonObject], ...] = (
    ("h100", {}),
    ("b200", {"tp_size": 8}),
    ("mi300x", {"tp_size": 8, "page_size": 16}),
    ("h200", {"speculative_algorithm": "EAGLE", "tp_size": 4}),
)
ENOUGH_STRIPPED = 45


def read(name: str) -> JsonObject:
    config: JsonObject = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    return config


def answer(release: str, config: JsonObject, gpu: str, settings: JsonObject) -> Resolution:
    hardware = HardwareRequest(gpu=gpu, count=8, nodes=1)
    request = Request(engine="sglang", release=release, config=config, hardware=hardware, settings=settings)
    return resolve(request, default())


def stripped(config: JsonObject, view: ReleaseView) -> JsonObject:
    """Return *config* without every key that its class restores, one after another, levels below included."""
    whole = view.levels(config)
    kept: JsonObject = json.loads(json.dumps(config))
    for level in (kept, *(below for below in kept.values() if isinstance(below, dict))):
        for key in list(level):
            value = level.pop(key)
            if view.levels(kept) != whole:
                level[key] = value
    return kept


@pytest.fixture(scope="module")
def twins() -> dict[tuple[str, str], JsonObject]:
    views = {release: default().release("sglang", release) for release in RELEASES}
    return {(release, name): stripped(read(name), view) for release, view in views.items() for name in CONFIGS}


def test_classes_restore_much_of_what_configurations_say(twins: dict[tuple[str, str], JsonObject]) -> None:
    gone = sum(len(json.dumps(read(name))) > len(json.dumps(twin)) for (_, name), twin in twins.items())
    assert gone >= ENOUGH_STRIPPED


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("name", CONFIGS)
def test_a_stripped_twin_has_the_same_facts_and_the_same_resolution(
    release: str, name: str, twins: dict[tuple[str, str], JsonObject]
) -> None:
    whole, twin = read(name), twins[release, name]
    view = default().release("sglang", release)
    assert view.levels(twin) == view.levels(whole)
    for gpu, settings in LAUNCHES:
        assert answer(release, twin, gpu, settings) == answer(release, whole, gpu, settings)


@pytest.mark.parametrize("name", CONFIGS)
def test_keys_a_class_restores_may_go_in_any_order_and_number(
    name: str, twins: dict[tuple[str, str], JsonObject]
) -> None:
    whole, twin = read(name), twins["0.5.23", name]
    removable = [key for key in whole if key not in twin]
    chance = random.Random(name)
    expected = answer("0.5.23", whole, "b200", {"tp_size": 8})
    for _ in range(5):
        gone = {key for key in removable if chance.random() < 0.5}
        part = {key: value for key, value in whole.items() if key not in gone}
        assert answer("0.5.23", part, "b200", {"tp_size": 8}) == expected


def test_a_class_that_only_the_checkpoint_has_leaves_what_reads_it_undetermined() -> None:
    config: JsonObject = {
        "architectures": ["LlamaForCausalLM"], "model_type": "a_type_of_its_own", "hidden_size": 4096,
        "num_attention_heads": 32, "num_hidden_layers": 32, "auto_map": {"AutoConfig": "configuration.Config"},
    }  # fmt: skip
    got = answer("0.5.23", config, "b200", {"trust_remote_code": True})
    known = answer("0.5.23", {**config, "model_type": "llama"}, "b200", {"trust_remote_code": True})
    assert got.verdict == "unknown"
    assert got.undetermined
    assert any("config." in need for one in got.undetermined for need in one.needs)
    assert known.verdict == "ok"


@pytest.mark.parametrize("name", ["LlamaForCausalLM.json", "Qwen3VLMoeForConditionalGeneration.json"])
def test_nothing_that_is_left_out_is_known_where_no_type_says_whose_fields_these_are(name: str) -> None:
    whole = read(name)
    untyped = {key: value for key, value in whole.items() if key != "model_type"}
    view = default().release("sglang", "0.5.23")
    levels = view.levels(untyped)
    assert "head_dim" in levels.outer.unknown
    assert "head_dim" in levels.text.unknown
    assert "head_dim" not in view.levels(whole).outer.unknown
    got = answer("0.5.23", untyped, "h100", {"tp_size": 8})
    assert got.verdict == "unknown"
    assert any("config.model_type" in one.needs for one in got.undetermined)


def test_a_level_of_one_class_is_of_that_class_whatever_type_it_names() -> None:
    config = read("Qwen3VLMoeForConditionalGeneration.json")
    vision = config["vision_config"]
    assert isinstance(vision, dict)
    view = default().release("sglang", "0.5.23")
    named = view.levels({**config, "vision_config": {**vision, "model_type": "qwen3_vl_moe"}}).config["vision_config"]
    assert isinstance(named, dict)
    assert "text_config" not in named
    assert named["depth"] == vision["depth"]


def test_overrides_change_what_the_class_made_not_what_it_makes_it_from() -> None:
    config = {**read("LlamaForCausalLM.json"), "num_attention_heads": 64, "hidden_size": 8192}
    config.pop("head_dim", None)
    view = default().release("sglang", "0.5.23")
    override = {"json_model_override_args": '{"num_attention_heads": 32}'}
    seen = view.code.effective_config(view.levels(config).config, override)
    assert (seen["num_attention_heads"], seen["head_dim"]) == (32, 128)


@pytest.mark.parametrize(
    ("release", "rope", "refused"),
    [
        ("0.5.9", {"type": "yarn", "factor": 4.0}, False),
        ("0.5.10", {"type": "yarn", "factor": 4.0}, True),
        ("0.5.23", {"rope_type": "yarn", "factor": 4.0}, True),
        ("0.5.23", {"rope_type": "llama3", "factor": 4.0}, True),
        ("0.5.23", {"rope_type": "linear", "factor": 4.0}, False),
        ("0.5.23", {"rope_type": "dynamic", "factor": 4.0}, False),
    ],
)
def test_scaled_positions_lengthen_the_context_only_where_the_library_notes_no_original_length(
    release: str, rope: JsonObject, refused: bool
) -> None:
    config = read("Qwen2ForCausalLM.json")
    longest = config["max_position_embeddings"]
    assert isinstance(longest, int)
    got = answer(release, {**config, "rope_scaling": rope}, "h100", {"context_length": 2 * longest})
    assert ("model.context-length" in {one.rule for one in got.findings}) is refused
