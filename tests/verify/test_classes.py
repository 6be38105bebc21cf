"""What configuration classes do is found out by asking them, written down, and held to them."""

import json
import sys

import pytest
import yaml

from archcap.model.config_classes import ConfigClass
from archcap.resolver.complete import Completion
from archcap.snapshot import store
from archcap.verify import class_file
from archcap.verify.class_check import check
from archcap.verify.class_levels import across
from archcap.verify.classes import work_out
from archcap.verify.sparse import counts
from tests.verify.conftest import REGISTRY

_LIBRARY = """
import copy
__version__ = "5.0.0"


class PretrainedConfig:
    model_type = ""
    attribute_map = {}

    def __init__(self, **kwargs):
        self.dtype = None
        for name, value in kwargs.items():
            setattr(self, self.attribute_map.get(name, name), value)

    def __getattr__(self, name):
        own = type(self).attribute_map.get(name)
        if own is None:
            raise AttributeError(name)
        return getattr(self, own)

    @classmethod
    def from_dict(cls, given):
        return cls(**{cls.attribute_map.get(name, name): value for name, value in copy.deepcopy(given).items()})

    def to_dict(self):
        plain = lambda value: value.to_dict() if isinstance(value, PretrainedConfig) else value
        return {"model_type": self.model_type, **{name: plain(value) for name, value in vars(self).items()}}


class StoneConfig(PretrainedConfig):
    model_type = "stone"
    attribute_map = {"width": "hidden_size"}

    def __init__(
        self, hidden_size=64, num_hidden_layers=4, num_attention_heads=8, num_key_value_heads=None, head_dim=None,
        sliding_window=32, use_sliding_window=False, layer_types=None, kinds=None, ballast=None, secret=None, **kwargs
    ):
        interval = kwargs.pop("interval", 2)
        recipe = kwargs.pop("recipe", None)
        pace = kwargs.pop("pace", None)
        if hidden_size % 2:
            raise ValueError("an odd size")
        self.hidden_size = hidden_size
        self.num_hidden_layers = num_hidden_layers
        self.num_attention_heads = num_attention_heads
        self.num_key_value_heads = num_attention_heads if num_key_value_heads is None else num_key_value_heads
        self.head_dim = hidden_size // num_attention_heads if head_dim is None else head_dim
        self.use_sliding_window = use_sliding_window
        self.sliding_window = sliding_window if use_sliding_window else None
        self.layer_types = layer_types or [
            "sliding" if (at + 1) % interval else "full" for at in range(num_hidden_layers)
        ]
        self.odd = (hidden_size * 7 + num_hidden_layers * 13) % 11
        self.cooked = (recipe or 0) * 7 % 5
        self.stride = pace or 4
        super().__init__(**kwargs)


class VesselConfig(PretrainedConfig):
    model_type = "vessel"

    def __init__(self, text_config=None, tied=False, **kwargs):
        inner = kwargs if text_config is None else text_config
        self.text_config = StoneConfig(**{k: v for k, v in inner.items() if k != "model_type"})
        self.tied = tied
        super().__init__()


class FleetConfig(PretrainedConfig):
    model_type = "fleet"

    def __init__(self, words=None, eye_config=None, ear_config=None, tied=True, span=5, **kwargs):
        super().__init__(**kwargs)
        self.ear_config = None if ear_config is None else EyeConfig(**ear_config)
        self.text_config = StoneConfig(**(words or {}))
        eye = dict(eye_config or {})
        made = StoneConfig if eye.pop("model_type", "") == "siglip_vision_model" else EyeConfig
        self.eye_config = made(**eye)
        self.eye_config.span = span
        if "deep" in eye:
            self.eye_config.deep = eye["deep"] * 7 % 5
        self.tied = tied
        self.span = span


class EyeConfig(PretrainedConfig):
    model_type = "eye"
    attribute_map = {"wide": "width"}

    def __init__(self, width=8, deep=3, span=1, **kwargs):
        self.width = width
        self.deep = deep
        self.span = span
        super().__init__(**kwargs)


class PickyConfig(PretrainedConfig):
    model_type = "picky"

    def __init__(self, needed, **kwargs):
        super().__init__(**kwargs)
"""
_AUTO = """
from transformers import EyeConfig, FleetConfig, PickyConfig, StoneConfig, VesselConfig
CONFIG_MAPPING = {one.model_type: one for one in (StoneConfig, VesselConfig, FleetConfig, EyeConfig, PickyConfig)}
"""
_MODELS = """
MODEL_FOR_CAUSAL_LM_MAPPING_NAMES = {
    "stone": "StoneForCausalLM", "vessel": "VesselForCausalLM", "picky": ("StoneForCausalLM",)
}
"""
KNOWN = {"hidden_size": 64, "num_hidden_layers": 4, "num_attention_heads": 8, "use_sliding_window": False}


@pytest.fixture(scope="module")
def engine(source, tmp_path_factory):
    """The invented engine beside an invented library of configuration classes."""
    library = tmp_path_factory.mktemp("library")
    for name, text in (
        ("__init__", _LIBRARY), ("models/__init__", ""), ("models/auto/__init__", ""),
        ("models/auto/configuration_auto", _AUTO), ("models/auto/modeling_auto", _MODELS),
    ):  # fmt: skip
        place = library / "transformers" / f"{name}.py"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return ["--python", sys.executable, "--engine-source", str(source), "--extra-path", str(library)]


@pytest.fixture(scope="module")
def found(engine, tmp_path_factory):
    place = tmp_path_factory.mktemp("found") / "found.json"
    for release in ("0.5.19", "0.5.23"):
        assert class_file.main(["ask", "--engine", f"sglang@{release}", *engine, "--found", str(place)]) == 0
    return place


@pytest.fixture(scope="module")
def stone(found):
    classes = json.loads(found.read_text())["classes"]
    return next(value for key, value in classes.items() if " stone " in key)


def test_only_types_of_the_releases_architectures_are_asked(found):
    known = json.loads(found.read_text())["releases"]
    assert [sorted(types) for types in known.values()] == [["picky", "stone"]] * 2


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("defaults", {**KNOWN, "sliding_window": 32, "cooked": 0}),
        ("assumed", {"interval": 2, "pace": 4}),
        ("derived", {
            "head_dim": "ratio(hidden_size, num_attention_heads)", "num_key_value_heads": "same(num_attention_heads)",
            "layer_types": 'every(num_hidden_layers, interval, ="full", ="sliding")', "stride": "same(pace)",
        }),
        ("fixed", {"sliding_window": "where(use_sliding_window, sliding_window)"}),
        ("spoils", {"recipe": ["cooked"]}),
        ("aliases", {"width": "hidden_size"}),
        ("dropped", ["kinds", "ballast", "secret"]),
        ("unknown", ["odd"]),
    ],
)  # fmt: skip
def test_what_a_class_does_is_found_out(stone, part, said):
    assert stone[part] == said


def test_what_nobody_could_work_out_is_told(stone, found):
    assert stone["open"] == {"odd": "no formula fits"}
    classes = json.loads(found.read_text())["classes"]
    assert [value for key, value in classes.items() if " picky " in key] == [{"none": True}]


def written(found, tmp_path):
    out = tmp_path / "config_classes.yaml"
    assert class_file.main(["write", "--found", str(found), "--out", str(out)]) == 0
    return yaml.safe_load(out.read_text())["config_classes"]


def test_what_holds_in_all_releases_is_written_once(found, tmp_path):
    said = json.loads(found.read_text())
    assert [list(one) for one in written(found, tmp_path)["stone"]] == [
        ["defaults", "assumed", "derived", "nulls", "fixed", "aliases", "spoils", "dropped", "unknown"]
    ]
    key = next(key for key in said["classes"] if " stone " in key)
    later = json.loads(json.dumps(said["classes"][key]))
    later["defaults"]["num_hidden_layers"] = 6
    del later["fixed"]["sliding_window"]
    said["classes"]["later stone"] = later
    said["releases"]["0.5.23"]["stone"] = "later stone"
    (tmp_path / "found.json").write_text(json.dumps(said))
    window = "where(use_sliding_window, sliding_window)"
    both, before, after = written(tmp_path / "found.json", tmp_path)["stone"]
    assert "num_hidden_layers" not in both["defaults"]
    assert before == {"removed": "0.5.23", "defaults": {"num_hidden_layers": 4}, "fixed": {"sliding_window": window}}
    assert after == {"added": "0.5.23", "defaults": {"num_hidden_layers": 6}}


def test_a_check_counts_every_field_and_names_the_wrong_ones(engine, found, tmp_path, capsys):
    snapshot = store.default()
    parts = [ConfigClass.model_validate_json(json.dumps(one)) for one in written(found, tmp_path)["stone"]]
    parts.append(ConfigClass(defaults={"wrong": 1}))
    args = class_file.parser().parse_args(["check", "--engine", "sglang@0.5.23", *engine])
    with class_file.process_of(args, snapshot) as process:
        ask = class_file.asker(process, "stone")
        tally = check("stone", ask, lambda kind: Completion(parts), 40, "s")
    assert (tally.configs, dict(tally.wrong)) == (40, {"wrong": 40})
    assert set(tally.unknown) == {"odd"}
    assert "None, ours 1" in tally.examples["wrong"]
    assert class_file.main(["check", "--engine", "sglang@0.5.23", *engine, "--count", "5", "stone"]) == 1
    assert "1 classes, 5 configurations: " in capsys.readouterr().out


def test_misuse_is_one_line(tmp_path, capsys):
    args = ["ask", "--engine", "sglang@0.5.23", "--python", str(tmp_path / "no"), "--found", str(tmp_path / "f")]
    assert class_file.main(args) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_class_that_is_not_there_takes_nothing(engine):
    args = class_file.parser().parse_args(["check", "--engine", "sglang@0.5.23", *engine])
    with class_file.process_of(args, store.default()) as process:
        assert class_file.asker(process, "brook")([{}, {"hidden_size": 2}]) == [None, None]


def test_a_level_made_of_the_outer_fields_is_found_out(engine):
    args = class_file.parser().parse_args(["check", "--engine", "sglang@0.5.23", *engine])
    with class_file.process_of(args, store.default()) as process:
        described = process.classes({"type": "vessel", "configs": []})
        made = work_out("vessel", described, class_file.asker(process, "vessel"))
    assert made is not None
    assert (made.config_class.levels, made.config_class.flat) == ({"text_config": "stone"}, "text_config")
    assert made.config_class.defaults == {"tied": False}


@pytest.fixture(scope="module")
def fleet(engine):
    """What is found out of a class with two levels, of its levels, and of it across them."""
    args = class_file.parser().parse_args(["check", "--engine", "sglang@0.5.23", *engine])
    with class_file.process_of(args, store.default()) as process:
        made = {}
        for kind in ("fleet", "stone", "eye"):
            described = process.classes({"type": kind, "configs": []})
            made[kind] = work_out(kind, described, class_file.asker(process, kind)).config_class
        known = {kind: Completion([one]) for kind, one in made.items()}
        made["across"] = across("fleet", made["fleet"], known.get, class_file.asker(process, "fleet"))
    return made


def test_levels_under_another_name_and_of_other_classes_are_found_out(fleet):
    one = fleet["fleet"]
    assert one.levels == {"text_config": "stone", "eye_config": "eye", "ear_config": "eye"}
    assert one.defaults["ear_config"] is None
    assert (one.called, one.typed) == ({"text_config": "words"}, ("eye_config",))


def test_what_a_class_changes_in_its_levels_is_found_out(fleet):
    assert fleet["across"].fixed == {"eye_config.span": "same(span)"}
    assert fleet["across"].spoils == {"eye_config.deep": ("eye_config.deep",)}
    assert fleet["across"].derived == {}


def test_a_class_without_levels_changes_none(fleet):
    assert across("stone", fleet["stone"], lambda kind: None, lambda asked: [{} for _ in asked]) == ConfigClass()


@pytest.mark.parametrize(
    ("name", "can_matter"),
    [("head_dim", True), ("layer_types", True), ("rms_norm_eps", False), ("pad_token_id", False), ("_private", False)],
)
def test_fields_that_no_launch_depends_on_are_left_out(name, can_matter):
    assert counts(name) is can_matter


def test_the_registry_these_tests_ask_for_has_no_classes_of_its_own():
    assert not (REGISTRY / "registry/engines/sglang/config_classes.yaml").exists()
