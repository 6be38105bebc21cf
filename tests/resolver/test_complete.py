"""A configuration is completed as its class would: what is left out, null, renamed, nested, or beyond anybody."""

from __future__ import annotations

import json

import pytest

from archcap.model.base import Json, JsonObject
from archcap.model.config_classes import ConfigClass
from archcap.resolver.complete import Completed, Completion, complete, levels_of
from archcap.resolver.formulas import FORMULAS, Unworkable, formula

RIVER: JsonObject = {
    "defaults": {"layers": 4, "width": 64, "heads": 8, "window": 16, "windowed": False, "step": 2, "deep": 3},
    "derived": {"head": "ratio(width, heads)", "kinds": 'every(layers, step, ="full", ="slide")', "odd": "same(dim)"},
    "nulls": {"heads": "ratio(width, =8)", "odd": "same(=null)"},
    "fixed": {"window": "where(windowed, window)"},
    "aliases": {"dim": "width"},
    "dropped": ["noise"],
    "spoils": {"recipe": ["deep", "kinds"]},
    "unknown": ["guess"],
}
VESSEL: JsonObject = {
    "defaults": {"tied": True},
    "derived": {"width": "same(text.width)"},
    "levels": {"text": "river", "eye": "eye"},
    "typed": ["eye"],
    "flat": "text",
}
EYE: JsonObject = {"defaults": {"patch": 14}}
PARTS = {"river": [RIVER], "vessel": [VESSEL], "eye": [EYE]}


def class_of(kind: str) -> Completion | None:
    parts = PARTS.get(kind)
    return Completion([ConfigClass.model_validate_json(json.dumps(part)) for part in parts]) if parts else None


def done(kind: str, **given: Json) -> Completed:
    return complete({"model_type": kind, **given}, class_of)


@pytest.mark.parametrize(
    ("given", "field", "value"),
    [
        ({"layers": 6}, "layers", 6),
        ({}, "layers", 4),
        ({"head": 3}, "head", 3),
        ({}, "head", 8),
        ({"width": 32}, "head", 4),
        ({"head": None}, "head", 8),
        ({"deep": None}, "deep", None),
        ({"heads": None, "width": 32}, "heads", 4),
        ({"odd": None}, "odd", None),
        ({}, "odd", 64),
        ({"windowed": True}, "window", 16),
        ({"windowed": True, "window": 9}, "window", 9),
        ({"window": 9}, "window", None),
        ({"dim": 32}, "width", 32),
        ({"dim": 32}, "head", 4),
        ({}, "dim", 64),
        ({"dim": 32, "width": 16}, "dim", 32),
        ({"width": 16, "dim": 32}, "width", 32),
        ({"layers": 3}, "kinds", ["slide", "full", "slide"]),
        ({"recipe": None}, "deep", 3),
        ({"recipe": "x", "deep": 5}, "deep", 5),
        ({"anything": 1}, "anything", 1),
    ],
)
def test_a_field_has_the_value_its_class_gives_it(given: JsonObject, field: str, value: Json) -> None:
    got = done("river", **given)
    assert field not in got.unknown
    assert got.config[field] == value


@pytest.mark.parametrize(
    ("given", "unknown"),
    [
        ({"guess": 1}, set()),
        ({}, {"guess"}),
        ({"guess": None}, {"guess"}),
        ({"guess": 1, "recipe": "x"}, {"deep", "kinds"}),
        ({"guess": 1, "heads": 0}, {"head"}),
        ({"guess": 1, "width": "wide"}, {"head"}),
        ({"guess": 1, "layers": -1}, {"kinds"}),
    ],
)
def test_what_nobody_can_work_out_is_unknown_and_left_out(given: JsonObject, unknown: set[str]) -> None:
    got = done("river", **given)
    assert got.unknown == unknown
    assert not unknown & got.config.keys()


def test_what_a_class_forgets_is_gone() -> None:
    assert "noise" not in done("river", noise=1).config


def test_what_was_given_is_left_alone() -> None:
    given: JsonObject = {"model_type": "vessel", "text": {"width": 32}}
    before = json.dumps(given)
    complete(given, class_of)
    assert json.dumps(given) == before


def test_levels_are_completed_by_their_own_classes() -> None:
    got = done("vessel", text={"width": 32, "guess": 0}, eye={"model_type": "river", "guess": 0})
    assert got.config["width"] == 32
    assert got.unknown == frozenset()
    text, eye = got.config["text"], got.config["eye"]
    assert isinstance(text, dict)
    assert isinstance(eye, dict)
    assert (text["head"], text["model_type"], eye["head"], "patch" in eye) == (4, "river", 8, False)


def vessel(given: JsonObject, **more: Json) -> Completed:
    outer = Completion([ConfigClass.model_validate_json(json.dumps({**VESSEL, **more}))])
    return complete({"model_type": "vessel", **given}, lambda kind: outer if kind == "vessel" else class_of(kind))


def test_a_level_of_one_class_only_is_of_that_class_whatever_type_it_names() -> None:
    eye = vessel({"eye": {"model_type": "river"}}, typed=[]).config["eye"]
    assert eye == {"model_type": "river", "patch": 14}


@pytest.mark.parametrize(
    ("given", "eye"),
    [({}, None), ({"eye": None}, None), ({"eye": {}}, {"model_type": "eye", "patch": 14}), ({"eye": 1}, 1)],
)
def test_a_level_of_which_the_default_is_null_is_there_only_where_it_is_given(given: JsonObject, eye: Json) -> None:
    assert vessel(given, defaults={"eye": None}).config["eye"] == eye


def test_a_level_may_be_given_under_another_name() -> None:
    got = vessel({"text": {"width": 16}, "words": {"width": 32}}, called={"text": "words"}, flat=None)
    text = got.config["text"]
    assert isinstance(text, dict)
    assert text["width"] == 32


@pytest.mark.parametrize(
    ("said", "given", "patch"),
    [
        ({"fixed": {"eye.patch": "same(text.layers)"}}, {"eye": {"patch": 7}}, 4),
        ({"derived": {"eye.patch": "same(text.layers)"}}, {"eye": {"patch": 7}}, 7),
        ({"derived": {"eye.patch": "same(text.layers)"}}, {"eye": {}}, 4),
        ({"fixed": {"eye.patch": "opaque()"}}, {"eye": {"patch": 7}}, None),
        ({"spoils": {"eye": ["eye.patch"]}}, {"text": {}}, 14),
        ({"spoils": {"eye": ["eye.patch"]}}, {"eye": {"patch": 7}}, None),
        ({"spoils": {"eye.patch": ["eye.patch"]}}, {"eye": {}}, 14),
        ({"spoils": {"eye.patch": ["eye.patch"]}}, {"eye": {"patch": 7}}, None),
        ({"fixed": {"eye.deeper.patch": "same(text.layers)"}}, {"eye": {"patch": 7}}, 7),
    ],
)
def test_a_class_may_change_what_is_in_its_levels(said: JsonObject, given: JsonObject, patch: int | None) -> None:
    got = vessel(given, **said)
    eye = got.config["eye"]
    assert isinstance(eye, dict)
    assert eye.get("patch") == patch
    assert ("eye.patch" in got.unknown) is (patch is None)


def test_a_level_that_is_not_given_is_made_of_the_outer_fields_where_its_class_does_so() -> None:
    got = done("vessel", width=32, patch=7, stray=1)
    text, eye = got.config["text"], got.config["eye"]
    assert isinstance(text, dict)
    assert (text["width"], text["head"], "stray" in text) == (32, 4, False)
    assert eye == {"model_type": "eye", "patch": 14}
    assert got.unknown == {"text.guess"}


@pytest.mark.parametrize(
    ("config", "everything"),
    [
        ({}, False),
        ({"model_type": "brook"}, False),
        ({"model_type": "brook", "auto_map": {"AutoModel": "m.M"}}, False),
        ({"auto_map": {"AutoConfig": "c.C"}}, False),
        ({"model_type": "river", "guess": 1, "auto_map": {"AutoConfig": "c.C"}}, False),
        ({"model_type": "brook", "auto_map": {"AutoConfig": "c.C"}}, True),
    ],
)
def test_a_class_that_only_the_checkpoint_has_leaves_everything_unknown(config: JsonObject, everything: bool) -> None:
    got = complete(config, class_of)
    assert ("whatever" in got.unknown) is everything
    if "river" not in config.values():
        assert got.config is config


@pytest.mark.parametrize(("filled", "width"), [([], 64), (["text"], 8)])
def test_what_a_class_gives_a_level_may_stand_beside_what_is_given(filled: list[str], width: int) -> None:
    part: JsonObject = {**VESSEL, "flat": None, "defaults": {"text": {"width": 8}}, "filled": list(filled)}
    outer = Completion([ConfigClass.model_validate_json(json.dumps(part))])
    known = {"vessel": outer, "river": class_of("river")}
    for given, wanted in (({}, 8), ({"text": {"layers": 2}}, width), ({"text": {"width": 32}}, 32)):
        text = complete({"model_type": "vessel", **given}, known.get).config["text"]
        assert isinstance(text, dict)
        assert text["width"] == wanted


@pytest.mark.parametrize(("filled", "width"), [([], 64), (["text"], 16)])
def test_the_outer_fields_may_go_into_a_level_that_is_given(filled: list[str], width: int) -> None:
    part: JsonObject = {**VESSEL, "filled": list(filled)}
    outer = Completion([ConfigClass.model_validate_json(json.dumps(part))])
    known = {"vessel": outer, "river": class_of("river")}.get
    text = complete({"model_type": "vessel", "width": 16, "text": {"layers": 2}}, known).config["text"]
    assert isinstance(text, dict)
    assert (text["width"], text["layers"]) == (width, 2)


def test_what_is_worked_out_of_something_unknown_below_is_unknown() -> None:
    part: JsonObject = {**VESSEL, "derived": {"guess": "same(text.guess)", "depth": "same(text.deep)"}}
    outer = Completion([ConfigClass.model_validate_json(json.dumps(part))])
    got = complete({"model_type": "vessel"}, {"vessel": outer, "river": class_of("river")}.get)
    assert got.unknown == {"text.guess", "guess"}
    assert got.config["depth"] == 3


def test_parts_of_a_class_add_up() -> None:
    later = ConfigClass(added="1.1", defaults={"more": 1}, fixed={"sum": "total(more, layers)"})
    both = Completion([ConfigClass.model_validate_json(json.dumps(RIVER)), later])
    assert complete({"model_type": "river"}, lambda kind: both).config["sum"] == 5


class Code:
    """An engine whose outer level gets the inner one's fields."""

    def text_config_of(self, config: JsonObject) -> JsonObject:
        text = config.get("text")
        return {**text, "shared": 1} if isinstance(text, dict) else config

    def outer_config_of(self, config: JsonObject, text: JsonObject) -> JsonObject:
        return {**text, **config}


def test_levels_know_what_is_unknown_in_each() -> None:
    levels = levels_of(done("vessel"), Code())
    assert levels.text.unknown == {"guess"}
    assert levels.outer.unknown == {"text.guess", "guess"}
    assert levels.outer.config["heads"] == 8
    flat = levels_of(done("river"), Code())
    assert flat.outer is flat.text


@pytest.mark.parametrize(
    ("text", "fields", "value"),
    [
        ("same(a)", {"a": 3}, 3),
        ("same(=null)", {}, None),
        ("either(a, b)", {"a": 0, "b": 2}, 0),
        ("either(a, b)", {"b": 2}, 2),
        ("ratio(a, b)", {"a": 7, "b": 2}, 3),
        ("ratio_up(a, =2)", {"a": 7}, 4),
        ("total(a, =-1)", {"a": 7}, 6),
        ("product(a, =2)", {"a": 7}, 14),
        ("where(a, b, =0)", {"a": True, "b": 5}, 5),
        ("where(a, b, =0)", {"a": False, "b": 5}, 0),
        ("where(a, b)", {"b": 5}, None),
        ("all_layers(a, ='x')".replace("'", '"'), {"a": 2}, ["x", "x"]),
        ("every(a, =2, =1, =0)", {"a": 5}, [0, 1, 0, 1, 0]),
        ("every_and_last(a, =2, =1, =0)", {"a": 5}, [0, 1, 0, 1, 1]),
        ("every_and_last(a, =2, =1, =0)", {"a": 0}, []),
        ("every_from_first(a, =2, =1, =0)", {"a": 3}, [1, 0, 1]),
        ("first_layers(a, =1, =1, =0)", {"a": 3}, [1, 0, 0]),
        ("window_layers(a, w, s)", {"a": 2, "w": None, "s": 0}, ["full_attention", "full_attention"]),
        ("window_layers(a, w, s)", {"a": 2, "w": 8, "s": 1}, ["full_attention", "sliding_attention"]),
        ("window_every_other(a, w, s)", {"a": 2, "w": False, "s": 2}, ["full_attention", "full_attention"]),
        ("window_every_other(a, w, s)", {"a": 2, "w": True, "s": 2}, ["sliding_attention", "full_attention"]),
        ("listed_layers(a, b, =1, =0)", {"a": 3, "b": [1]}, [0, 1, 0]),
        ("marked_layers(b, =0, =7, =8)", {"b": [0, 1]}, [7, 8]),
        ("letters(b)", {"b": "M*-E"}, ["mamba", "attention", "mlp", "moe"]),
        ("length(b)", {"b": [1, 2]}, 2),
        ("window_halved(a, b)", {"a": False, "b": 8}, 8),
        ("window_halved(a, b)", {"a": True, "b": 8}, 5),
        ("ending(b, =9)", {"b": [1, 2]}, [1, 9]),
        ("places(b, =1)", {"b": [1, 0, 1]}, [0, 2]),
        ("layers_by_step(a, =2)", {"a": 5}, [1, 3]),
    ],
)
def test_a_formula_gives_its_value(text: str, fields: JsonObject, value: Json) -> None:
    assert formula(text).value(fields.get) == value


def test_every_formula_is_tried_above() -> None:
    marks = test_a_formula_gives_its_value.pytestmark  # type: ignore[attr-defined]
    tried = {text.partition("(")[0] for text, _, _ in marks[0].args[1]}
    assert tried == FORMULAS.keys() - {"opaque"}


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("ratio(a, b)", {"a": 7}),
        ("ratio(a, b)", {"a": 7, "b": 0}),
        ("ratio(a, b)", {"a": True, "b": 1}),
        ("all_layers(a, =1)", {"a": 10**9}),
        ("places(b, =1)", {"b": 3}),
        ("letters(b)", {"b": "MX"}),
        ("opaque()", {}),
    ],
)
def test_a_formula_without_what_it_needs_has_no_value(text: str, fields: JsonObject) -> None:
    with pytest.raises(Unworkable):
        formula(text).value(fields.get)


@pytest.mark.parametrize("text", ["", "same", "same(a", "no_such(a)", "same(=)"])
def test_what_is_no_formula_is_told_apart(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        formula(text)
