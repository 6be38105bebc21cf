"""Two releases differ in what the records say, and an architecture's history is told in order."""

from __future__ import annotations

import pytest

from archcap.errors import RequestError
from archcap.snapshot.compare import ListChange, SettingChange, diff, history
from tests.snapshot import toy


def test_a_release_does_not_differ_from_itself() -> None:
    for release in toy.RELEASES:
        assert diff(toy.snapshot(), "toy", release, release).empty


def test_architectures_come_and_go() -> None:
    found = diff(toy.snapshot(), "toy", "0.9", "0.10")
    assert found.architectures_added == ("RiverTextForCausalLM", "StoneDraftModel")
    assert found.architectures_removed == ("StoneForCausalLM",)
    back = diff(toy.snapshot(), "toy", "0.10", "0.9")
    assert (back.architectures_added, back.architectures_removed) == (
        found.architectures_removed,
        found.architectures_added,
    )


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ("0.9", "0.10", [("RiverForCausalLM", "pipeline", "gained"), ("RiverForCausalLM", "quantisations", "gained")]),
        ("0.10", "0.9", [("RiverForCausalLM", "pipeline", "lost"), ("RiverForCausalLM", "quantisations", "lost")]),
        ("0.10", "0.10.post1", [("RiverTextForCausalLM", "hidden_capture", "gained")]),
        ("0.10.post1", "0.11", [
            ("RiverForCausalLM", "max_depth", "changed"),
            ("RiverTextForCausalLM", "extra_buffer", "gained"),
            ("StoneForCausalLM", "hidden_capture", "gained"),
            ("StoneForCausalLM", "pipeline", "gained"),
            ("StoneForCausalLM", "window", "gained"),
        ]),
    ],
)  # fmt: skip
def test_support_is_compared_for_architectures_of_both(
    before: str, after: str, changes: list[tuple[str, str, str]]
) -> None:
    found = diff(toy.snapshot(), "toy", before, after).support
    assert [(change.architecture, change.capability, change.kind) for change in found] == changes


def test_a_change_tells_both_sides() -> None:
    (change, *_) = diff(toy.snapshot(), "toy", "0.10.post1", "0.11").support
    assert ([one.value for one in change.before], [one.value for one in change.after]) == ([3], [8])
    window = diff(toy.snapshot(), "toy", "0.10.post1", "0.11").support[-1]
    assert [(one.state, one.when) for one in window.after] == [
        ("conditional", 'text.get("sliding_window") is not None')
    ]


def test_lists_are_compared_by_name() -> None:
    assert diff(toy.snapshot(), "toy", "0.9", "0.11").lists == (
        ListChange("cache.buffered", ("RiverTextForCausalLM",), ()),
        ListChange("cache.windowed_types", ("stone",), ()),
    )
    assert diff(toy.snapshot(), "toy", "0.9", "0.10").lists == (
        ListChange("cache.windowed_types", ("stone",), ("stone_draft",)),
    )


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ("0.9", "0.10", [
            SettingChange("graph_config", "added", None, {
                "decode": {"backend": "full", "max_batch": 64}, "prefill": {"backend": "piecewise"},
            }),
        ]),
        ("0.10", "0.10.post1", [
            SettingChange("cache_mode", "choices", ["auto", "buffered", "flat"], ["auto", "buffered", "flat", "lazy"]),
            SettingChange("cache_mode", "flags", ["--cache-mode"], ["--cache-mode", "--cache-strategy"]),
        ]),
        ("0.10.post1", "0.11", [
            SettingChange("overlap", "default", False, True),
            SettingChange("overlap", "flags", ["--overlap"], ["--no-overlap"]),
        ]),
    ],
)  # fmt: skip
def test_settings_are_compared_by_what_an_operator_sees(
    before: str, after: str, changes: list[SettingChange]
) -> None:
    assert list(diff(toy.snapshot(), "toy", before, after).settings) == changes


def test_a_history_is_told_from_the_oldest_release_on() -> None:
    told = [
        (one.release, one.kind, one.capability, one.or_earlier)
        for one in history(toy.snapshot(), "toy", "StoneForCausalLM")
    ]
    assert told == [
        ("0.9", "added", None, True),
        ("0.9", "gained", "attention_kind", True),
        ("0.9", "gained", "pipeline", True),
        ("0.10", "removed", None, False),
        ("0.10.post1", "added", None, False),
        ("0.10.post1", "lost", "pipeline", False),
        ("0.11", "gained", "hidden_capture", False),
        ("0.11", "gained", "pipeline", False),
        ("0.11", "gained", "window", False),
    ]


def test_a_history_of_one_capability_tells_its_values() -> None:
    told = history(toy.snapshot(), "toy", "RiverForCausalLM", "max_depth")
    assert [(one.release, one.kind, [held.value for held in one.holdings]) for one in told] == [
        ("0.9", "added", []),
        ("0.9", "gained", [3]),
        ("0.11", "changed", [8]),
    ]


@pytest.mark.parametrize(
    ("architecture", "capability", "code", "hint"),
    [
        ("RiverForCausal", None, "unknown-architecture", "did you mean RiverForCausalLM?"),
        ("RiverForCausalLM", "pipelin", "unknown-capability", "did you mean pipeline?"),
        ("RiverForCausalLM", "zzz", "unknown-capability", None),
    ],
)
def test_a_history_of_nothing_known_is_misuse(
    architecture: str, capability: str | None, code: str, hint: str | None
) -> None:
    with pytest.raises(RequestError) as caught:
        history(toy.snapshot(), "toy", architecture, capability)
    assert (caught.value.code, caught.value.hint) == (code, hint)


def test_releases_nobody_knows_are_misuse() -> None:
    with pytest.raises(RequestError) as caught:
        diff(toy.snapshot(), "toy", "0.10", "0.10.post2")
    assert (caught.value.code, caught.value.hint) == ("unknown-release", "did you mean 0.10.post1?")
