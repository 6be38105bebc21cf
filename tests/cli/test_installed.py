"""`--transformers`: the library installed here completes config.json, its own classes only, and the answer says so."""

from __future__ import annotations

import json
import sys
from types import ModuleType

import pytest

from archcap.cli import main
from archcap.cli.installed import completed_by_transformers
from archcap.errors import RequestError

CONFIG = {"architectures": ["RiverForCausalLM"], "model_type": "river", "auto_map": {"AutoConfig": "evil.Config"}}


class RiverConfig:
    def __init__(self, **given):
        if given.get("layers") == 0:
            raise ValueError("no layers\nat all")
        self.fields = {"layers": 4, **given}

    @classmethod
    def from_dict(cls, given):
        return cls(**given)

    def to_json_string(self, use_diff):
        assert use_diff is False
        return json.dumps(self.fields)


@pytest.fixture
def library(monkeypatch):
    names = ("transformers", "transformers.models", "transformers.models.auto")
    auto = "transformers.models.auto.configuration_auto"
    for name in (*names, auto):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    sys.modules["transformers"].__version__ = "9.9"
    sys.modules[auto].CONFIG_MAPPING = {"river": RiverConfig}


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(
    ("config", "layers", "note"),
    [
        (CONFIG, 4, "config.json is completed by the installed transformers 9.9"),
        ({**CONFIG, "layers": 6}, 6, "config.json is completed by the installed transformers 9.9"),
        (
            {**CONFIG, "model_type": "brook"}, None,
            "the installed transformers 9.9 has no class of model_type 'brook': "
            "config.json is completed by the registry",
        ),
    ],
)  # fmt: skip
def test_only_the_librarys_own_classes_complete_a_configuration(config, layers, note):
    done, said = completed_by_transformers(config)
    assert (done.get("layers"), said) == (layers, note)
    assert config.get("layers") in (None, 6), "what was given is left alone"


@pytest.mark.usefixtures("library")
def test_a_configuration_that_the_class_refuses_is_misuse():
    with pytest.raises(RequestError, match=r"refuses config\.json: ValueError: no layers"):
        completed_by_transformers({**CONFIG, "layers": 0})


def test_without_the_library_one_line_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(RequestError) as caught:
        completed_by_transformers(CONFIG)
    assert caught.value.code == "no-transformers"


@pytest.mark.usefixtures("library")
def test_the_answer_names_the_library(tmp_path, capsys):
    place = tmp_path / "config.json"
    place.write_text(json.dumps({"architectures": ["RiverForCausalLM"]} | {"model_type": "river"}))
    asked = ["resolve", "--engine", "toy@0.11", "--config", str(place)]
    assert main([*asked, "--transformers", "--no-fixes", "--format", "json"]) != 2, capsys.readouterr().err
    assert "config.json is completed by the installed transformers 9.9" in json.loads(capsys.readouterr().out)["notes"]
    assert main([*asked, "--transformers", "--all-releases"]) == 2
    assert main(["resolve", "--batch", str(place), "--transformers"]) == 2
