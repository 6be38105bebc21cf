"""Overrides laid over a snapshot, against a model: a table of release, architecture and capability."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from archcap.load import load_registry
from archcap_service.holders import holders
from archcap_service.overrides import Override, OverrideRequest, apply_overrides, check_override
from archcap_service.yaml_files import write_registry

RELEASES = ("0.9", "0.10", "0.10.post1", "0.11")
EXISTS = {
    "RiverForCausalLM": RELEASES,
    "RiverTextForCausalLM": RELEASES[1:],
    "StoneDraftModel": RELEASES[1:],
    "StoneForCausalLM": ("0.9", "0.10.post1", "0.11"),
}
FAMILIES = {"river": ("RiverForCausalLM", "RiverTextForCausalLM"), "stone": ("StoneDraftModel", "StoneForCausalLM")}
FLAGS = ("extra_buffer", "hidden_capture", "pipeline", "state_cache", "window")
LIST, TYPES = "cache.buffered", "cache.windowed_types"


def asked(**parts):
    given = {"engine": "toy", "reason": "because", "value": True, **parts}
    return OverrideRequest.model_validate(given)


def numbered(statements):
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return [Override(id=n, revision=n, author="me", created=at, statement=one) for n, one in enumerate(statements, 1)]


def ranges():
    pick = st.sampled_from(RELEASES)
    exact = pick
    lower = pick.map(">={}".format)
    upper = st.sampled_from(RELEASES[1:]).map("<{}".format)
    both = st.tuples(pick, pick).filter(lambda pair: RELEASES.index(pair[0]) < RELEASES.index(pair[1]))
    return st.one_of(st.none(), exact, lower, upper, both.map(lambda pair: f">={pair[0]},<{pair[1]}"))


def held(text):
    if text is None:
        return RELEASES
    first, end = 0, len(RELEASES)
    for part in text.split(","):
        if part.startswith(">="):
            first = RELEASES.index(part[2:])
        elif part.startswith("<"):
            end = RELEASES.index(part[1:])
        else:
            first = RELEASES.index(part)
            end = first + 1
    return RELEASES[first:end]


SUBJECTS = st.one_of(
    st.sampled_from(sorted(EXISTS)).map(lambda name: {"architecture": name}),
    st.sampled_from(sorted(FAMILIES)).map(lambda name: {"family": name}),
    st.just({}),
)
FLAG = st.builds(
    lambda subject, flag, value, releases: {**subject, "capability": flag, "value": value, "releases": releases},
    SUBJECTS, st.sampled_from(FLAGS), st.booleans(), ranges(),
)  # fmt: skip
MEMBER = st.builds(
    lambda name, value, releases: {"list": LIST, "architecture": name, "value": value, "releases": releases},
    st.sampled_from(sorted(EXISTS)), st.booleans(), ranges(),
)  # fmt: skip
TYPE = st.builds(
    lambda name, value, releases: {"list": TYPES, "name": name, "value": value, "releases": releases},
    st.sampled_from(["stone", "stone_draft", "pebble"]), st.booleans(), ranges(),
)  # fmt: skip


def table(snapshot):
    """Everything that overrides of the model can change, as a mapping."""
    found = {}
    for release in RELEASES:
        view = snapshot.release("toy", release)
        for name in view.architectures:
            has, conditional = view.capabilities_of(name)
            for flag in FLAGS:
                found[release, name, flag] = dict(conditional).get(flag, flag in has)
        for list_id in (LIST, TYPES):
            for name in (*EXISTS, "stone", "stone_draft", "pebble"):
                found[release, list_id, name] = name in view.lists[list_id]
    return found


def expected(before, statements):
    """The model: the last statement about a cell wins, cells of releases that lack the architecture are none."""
    after = dict(before)
    for one in statements:
        names = [one.architecture] if one.architecture else FAMILIES[one.family] if one.family else list(EXISTS)
        for release in held(one.releases):
            if one.list is not None:
                after[release, one.list, one.member] = bool(one.value)
            else:
                for name in names:
                    if release in EXISTS[name]:
                        after[release, name, one.capability] = bool(one.value)
    return after


@settings(max_examples=120, deadline=None)
@given(st.lists(st.one_of(FLAG, MEMBER, TYPE), max_size=6))
def test_overrides_are_what_the_model_says_and_leave_a_sound_registry(snapshot, parts):
    statements = [asked(**part) for part in parts]
    statements = [one for one in statements if not check_override(one, snapshot)]
    applied = apply_overrides(snapshot, numbered(statements))
    assert applied.unfit == ()
    assert table(applied.snapshot) == expected(table(snapshot), statements)
    applied.snapshot.verify()
    for release in RELEASES:
        view = applied.snapshot.release("toy", release)
        for flag in FLAGS:
            quick = sorted(view.capability_set(flag)), sorted(view.conditional_set(flag).items())
            assert holders(applied.snapshot, view, flag) == quick
    assert (applied.snapshot.digest == snapshot.digest) == (
        not statements or applied.snapshot.to_bytes() == snapshot.to_bytes()
    )


@settings(max_examples=40, deadline=None)
@given(st.lists(st.one_of(FLAG, MEMBER, TYPE), min_size=1, max_size=6), st.data())
def test_laying_some_and_then_the_rest_is_laying_all(snapshot, parts, data):
    statements = numbered([one for part in parts if not check_override(one := asked(**part), snapshot)])
    at = data.draw(st.integers(0, len(statements)))
    first = apply_overrides(snapshot, statements[:at]).snapshot
    assert (
        apply_overrides(first, statements[at:], snapshot).snapshot.digest
        == apply_overrides(snapshot, statements).snapshot.digest
    )


@settings(max_examples=15, deadline=None)
@given(parts=st.lists(st.one_of(FLAG, MEMBER, TYPE), min_size=1, max_size=5))
def test_a_registry_with_overrides_written_as_yaml_loads_with_the_same_digest(snapshot, tmp_path_factory, parts):
    from archcap.snapshot import Snapshot, build

    statements = numbered([one for part in parts if not check_override(one := asked(**part), snapshot)])
    made = apply_overrides(snapshot, statements).snapshot
    folder = tmp_path_factory.mktemp("yaml") / "registry"
    write_registry(made, folder)
    assert Snapshot.open(build(load_registry(folder))).digest == made.digest


@pytest.mark.parametrize(
    ("parts", "value", "release"),
    [
        ({"architecture": "RiverForCausalLM", "capability": "max_depth", "value": 5, "releases": "0.10"}, 5, "0.10"),
        ({"architecture": "RiverForCausalLM", "capability": "attention_kind", "value": "latent"}, "latent", "0.11"),
        ({"family": "river", "capability": "quantisations", "value": ("fp8",)}, ["fp8"], "0.9"),
    ],
)
def test_a_capability_with_values_takes_one(snapshot, parts, value, release):
    made = apply_overrides(snapshot, numbered([asked(**parts)])).snapshot
    [entry] = made.release("toy", release).raw_support("RiverForCausalLM")[parts["capability"]]
    assert (entry["value"], entry["source"], entry["note"]) == (value, "override 1", "because")


NEAR = [
    ({"engine": "toi", "capability": "pipeline"}, "engine", "toy"),
    ({"capability": "pipelin"}, "capability", "pipeline"),
    ({"architecture": "RiverForCausaLM", "capability": "pipeline"}, "architecture", "RiverForCausalLM"),
    ({"family": "rivers", "capability": "pipeline"}, "family", "river"),
    ({"list": "cache.bufferd", "architecture": "RiverForCausalLM"}, "list", "cache.buffered"),
    ({"list": "cache.buffered", "name": "RiverForCausaLM"}, "name", "RiverForCausalLM"),
    ({"list": "cache.windowed_types", "architecture": "RiverForCausalLM"}, "architecture", None),
    ({"capability": "pipeline", "releases": ">=0.12"}, "releases", "0.11"),
    ({"capability": "pipeline", "releases": "0.10.1"}, "releases", "0.10.post1"),
    ({"capability": "pipeline", "releases": ">0.9"}, "releases", None),
    ({"capability": "pipeline", "releases": ">=0.11,<0.9"}, "releases", None),
    ({"architecture": "StoneForCausalLM", "capability": "pipeline", "releases": "0.10"}, "releases", None),
    ({"capability": "pipeline", "value": 3}, "value", None),
    ({"capability": "max_depth", "value": True}, "value", None),
    ({"capability": "attention_kind", "value": "ful"}, "value", "full"),
    ({"capability": "quantisations", "value": "fp8"}, "value", None),
    ({"capability": "pipeline", "expires": datetime.now(UTC) - timedelta(1)}, "expires", None),
]


@pytest.mark.parametrize(("parts", "field", "suggestion"), NEAR)
def test_a_wrong_override_is_told_with_the_nearest_name(snapshot, parts, field, suggestion):
    [problem] = check_override(asked(**parts), snapshot, datetime.now(UTC))
    assert (problem.field, problem.suggestion) == (field, suggestion)


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"capability": "pipeline", "list": "cache.buffered"},
        {"capability": "pipeline", "architecture": "A", "family": "b"},
        {"capability": "pipeline", "name": "A"},
        {"list": "cache.buffered"},
        {"list": "cache.buffered", "name": "A", "architecture": "A"},
        {"list": "cache.buffered", "name": "A", "value": 3},
        {"capability": "pipeline", "reason": ""},
    ],
)
def test_an_override_is_about_one_thing(parts):
    with pytest.raises(ValidationError):
        asked(**parts)


def test_an_override_that_no_longer_fits_is_left_out_and_reported(snapshot):
    gone = asked(architecture="GoneForCausalLM", capability="pipeline")
    kept = asked(architecture="RiverForCausalLM", capability="pipeline", releases="0.9")
    applied = apply_overrides(snapshot, numbered([gone, kept]))
    assert [(one.id, problems[0].field) for one, problems in applied.unfit] == [(1, "architecture")]
    assert applied.snapshot.digest == apply_overrides(snapshot, numbered([gone, kept])[1:]).snapshot.digest


def test_an_override_does_not_compile_rules_again(snapshot):
    made = apply_overrides(snapshot, numbered([asked(family="river", capability="pipeline", value=False)])).snapshot
    assert made.release("toy", "0.11").program is snapshot.release("toy", "0.11").program
