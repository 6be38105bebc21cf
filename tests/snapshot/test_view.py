"""A release view says what one release has, makes records only of what is asked for, and is made once."""

from __future__ import annotations

import pytest

from archcap.errors import RequestError
from archcap.model.architectures import Architecture
from archcap.model.base import JsonObject
from archcap.model.engine import Setting, SettingSpan
from archcap.resolver.knowledge import ReleaseView as Knowledge
from archcap.resolver.knowledge import SnapshotView
from archcap.snapshot import ReleaseView
from archcap.snapshot.support import conditions_of, has_at
from archcap.snapshot.timeline import Timeline
from tests.snapshot import toy


def test_a_view_is_what_the_resolver_asks_for() -> None:
    snapshot: SnapshotView = toy.snapshot()
    view: Knowledge = snapshot.release("toy", "0.10")
    assert (view.engine.engine, view.release) == ("toy", "0.10")


def test_views_are_made_once() -> None:
    snapshot = toy.snapshot()
    assert snapshot.release("toy", "0.10") is snapshot.release("toy", "0.10")


def test_releases_come_in_the_order_of_versions() -> None:
    assert toy.snapshot().releases("toy") == toy.RELEASES
    assert toy.snapshot().engine_names == ("toy",)


@pytest.mark.parametrize(
    ("engine", "release", "code", "hint"),
    [
        ("tyo", "0.10", "unknown-engine", "did you mean toy?"),
        ("vllm", "0.10", "unknown-engine", "known engines: toy"),
        ("toy", "0.12", "unknown-release", "known releases: 0.9 to 0.11"),
    ],
)
def test_what_is_not_known_is_misuse(engine: str, release: str, code: str, hint: str) -> None:
    with pytest.raises(RequestError) as caught:
        toy.snapshot().release(engine, release)
    assert (caught.value.code, caught.value.hint) == (code, hint)


# -- against the records, which say the same in another way ---------------------------


def view_and_records(release: str) -> tuple[ReleaseView, dict[str, Architecture]]:
    families = toy.registry().engines["toy"].families.values()
    return toy.view(release), {name: one for family in families for name, one in family.architectures.items()}


@pytest.mark.parametrize("release", toy.RELEASES)
def test_a_view_agrees_with_the_records(release: str) -> None:
    view, known = view_and_records(release)
    reg = toy.registry().engines["toy"]
    spans = {name: span for name, setting in reg.settings.items() if (span := setting.at(release))}
    assert dict(view.spans) == spans
    assert view.defaults == {name: span.default for name, span in spans.items()}
    assert dict(view.settings) == reg.settings
    assert dict(view.all_architectures) == known
    assert dict(view.architectures) == {name: one for name, one in known.items() if one.exists(release)}
    assert dict(view.lists) == {name: names.at(release) for name, names in reg.lists.items()}
    assert dict(view.name_lists) == reg.lists
    assert dict(view.capabilities) == toy.registry().vocabulary.capabilities
    assert view.names == reg.names


@pytest.mark.parametrize(
    ("release", "architecture", "always", "conditional"),
    [
        ("0.9", "RiverForCausalLM", "attention_kind extra_buffer hidden_capture max_depth state_cache", {}),
        ("0.9", "RiverTextForCausalLM", "", {}),
        ("0.10", "RiverTextForCausalLM", "attention_kind state_cache", {}),
        ("0.10.post1", "RiverTextForCausalLM", "attention_kind hidden_capture state_cache", {}),
        ("0.10", "StoneForCausalLM", "", {}),
        ("0.10.post1", "StoneForCausalLM", "attention_kind", {}),
        ("0.11", "StoneForCausalLM", "attention_kind hidden_capture", {
            "pipeline": 'hw.platform == "cuda"', "window": 'text.get("sliding_window") is not None',
        }),
        ("0.11", "Unheard", "", {}),
    ],
)  # fmt: skip
def test_capabilities_are_those_of_the_release(
    release: str, architecture: str, always: str, conditional: dict[str, str]
) -> None:
    held, when = toy.view(release).capabilities_of(architecture)
    assert (held, dict(when)) == (frozenset(always.split()), conditional)


def test_a_capabilitys_holders_are_the_same_facts_turned_round() -> None:
    for release in toy.RELEASES:
        view = toy.view(release)
        for capability in view.capabilities:
            expected = {name for name in view.architectures if capability in view.capabilities_of(name)[0]}
            assert view.capability_set(capability) == expected
    assert toy.view("0.11").conditional_set("pipeline") == {"StoneForCausalLM": 'hw.platform == "cuda"'}
    assert toy.view("0.11").capability_set("unheard") == frozenset()


@pytest.mark.parametrize(
    ("release", "architecture", "capability", "since"),
    [
        ("0.9", "RiverForCausalLM", "pipeline", "0.10"),
        ("0.10", "RiverTextForCausalLM", "extra_buffer", "0.11"),
        ("0.9", "RiverTextForCausalLM", "state_cache", "0.10"),
        ("0.10", "StoneForCausalLM", "attention_kind", "0.10.post1"),
        ("0.10", "StoneForCausalLM", "pipeline", "0.11"),
        ("0.10", "StoneForCausalLM", "window", "0.11"),
        ("0.11", "RiverTextForCausalLM", "pipeline", None),
        ("0.10", "RiverTextForCausalLM", "pipeline", None),
        ("0.9", "StoneForCausalLM", "quantisations", None),
        ("0.9", "Unheard", "pipeline", None),
    ],
)
def test_since_is_the_next_release_that_has_it(
    release: str, architecture: str, capability: str, since: str | None
) -> None:
    assert toy.view(release).since(architecture, capability) == since


@pytest.mark.parametrize(
    ("release", "list_id", "name", "since"),
    [
        ("0.9", "cache.buffered", "RiverTextForCausalLM", "0.11"),
        ("0.9", "cache.windowed_types", "stone", "0.10"),
        ("0.10", "cache.windowed_types", "stone_draft", "0.11"),
        ("0.11", "cache.buffered", "RiverTextForCausalLM", None),
        ("0.9", "cache.buffered", "Unheard", None),
        ("0.9", "unheard", "stone", None),
    ],
)
def test_a_list_tells_when_a_name_comes(release: str, list_id: str, name: str, since: str | None) -> None:
    assert toy.view(release).list_since(list_id, name) == since


def test_records_are_made_when_asked_for_and_kept() -> None:
    view = toy.snapshot().release("toy", "0.11")
    assert repr(view.spans) == "<16 values, 0 made>"
    assert isinstance(view.spans["tp_size"], SettingSpan)
    assert view.settings["tp_size"] is view.settings["tp_size"]
    assert isinstance(view.settings["tp_size"], Setting)
    assert repr(view.spans) == "<16 values, 1 made>"
    assert "unheard" not in view.spans
    assert view.spans.get("unheard") is None
    with pytest.raises(KeyError):
        view.spans["unheard"]


def test_an_architecture_knows_its_family() -> None:
    assert toy.view("0.11").family_of("StoneDraftModel") == "stone"


# -- what entries amount to ------------------------------------------------------------

YES: JsonObject = {}
NO: JsonObject = {"value": False}
UNVALIDATED: JsonObject = {"state": "unvalidated"}
WHEN: JsonObject = {"state": "conditional", "when": "x"}


def on(platform: str, entry: JsonObject) -> JsonObject:
    return {**entry, "platform": platform}


@pytest.mark.parametrize(
    ("entries", "condition"),
    [
        ([], None),
        ([YES], ""),
        ([NO], None),
        ([UNVALIDATED], None),
        ([{"state": "partial", "note": "n"}], ""),
        ([{"value": 0}], ""),
        ([WHEN], "x"),
        ([on("hip", YES)], 'hw.platform == "hip"'),
        ([on("hip", NO)], None),
        ([YES, on("hip", NO)], 'hw.platform != "hip"'),
        ([YES, on("hip", NO), on("npu", UNVALIDATED)], 'hw.platform not in ("hip", "npu")'),
        ([YES, on("hip", YES)], ""),
        ([YES, on("hip", WHEN)], '(hw.platform == "hip" and (x)) or hw.platform != "hip"'),
        ([WHEN, on("hip", YES)], 'hw.platform == "hip" or (hw.platform != "hip" and (x))'),
        ([NO, on("hip", YES), on("npu", WHEN)], 'hw.platform == "hip" or (hw.platform == "npu" and (x))'),
    ],
)
def test_entries_amount_to_always_never_or_when(entries: list[JsonObject], condition: str | None) -> None:
    assert conditions_of(entries) == condition
    assert conditions_of(list(reversed(entries))) == condition
    assert has_at(Timeline(["1"]), [*entries], 0) is (condition is not None)


def test_conditions_are_expressions_of_the_rule_language() -> None:
    from archcap.rules import condition_flaws

    for entries in ([WHEN, on("hip", YES)], [YES, on("hip", NO), on("npu", NO)]):
        text = (conditions_of(entries) or "").replace("x", 'hf.has("x")')
        assert not condition_flaws(text)


# -- releases ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("interval", "held"),
    [
        ({}, "0.9 0.10 0.10.post1 0.11"),
        ({"added": "0.10"}, "0.10 0.10.post1 0.11"),
        ({"removed": "0.10"}, "0.9"),
        ({"added": "0.10", "removed": "0.11"}, "0.10 0.10.post1"),
        ({"added": "0.10.1"}, "0.11"),
        ({"removed": "0.10.1"}, "0.9 0.10 0.10.post1"),
        ({"added": "0.12"}, ""),
        ({"removed": "0.12"}, "0.9 0.10 0.10.post1 0.11"),
    ],
)
def test_a_raw_interval_holds_what_the_record_holds(interval: JsonObject, held: str) -> None:
    timeline = Timeline(reversed(toy.RELEASES))
    found = [name for name in timeline.names if timeline.holds(interval, timeline.position(name))]
    assert found == held.split()


# -- configurations -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("release", "config", "completed"),
    [
        ("0.9", {"model_type": "river"}, {"layers": 4, "width": 64, "heads": 8, "head": 8, "window": 16}),
        ("0.10", {"model_type": "river"}, {"layers": 4, "width": 64, "heads": 8, "head": 8, "window": 64}),
        ("0.10", {"model_type": "brook"}, {}),
        ("0.9", {"model_type": "vessel"}, {}),
    ],
)
def test_a_configuration_is_completed_by_the_class_of_the_release(
    release: str, config: JsonObject, completed: JsonObject
) -> None:
    assert toy.view(release).levels(config).config == {**config, **completed}


def test_completed_configurations_are_kept() -> None:
    view = toy.view("0.10")
    first = view.levels({"model_type": "river", "layers": 6})
    assert view.levels({"model_type": "river", "layers": 6}) is first
    assert view.levels({"model_type": "river", "layers": True}) is not first
    assert first.text.unknown == {"depth"}


def test_classes_come_back_from_a_snapshot_as_they_went_in() -> None:
    classes = toy.registry().engines["toy"].config_classes
    assert sorted(classes) == ["river", "vessel"]
    assert toy.snapshot().registry.engines["toy"].config_classes == classes
