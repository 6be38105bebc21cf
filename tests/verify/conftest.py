"""`capctl verify` on an invented engine that calls itself sglang."""

import io
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from archcap.cli import main
from tests.verify.engine import write_engine

REGISTRY = Path(__file__).parent / "registry"
STONE = {"architectures": ["StoneForCausalLM"], "model_type": "stone", "num_hidden_layers": 2}
PEBBLE = {"architectures": ["PebbleForCausalLM"], "model_type": "stone", "num_hidden_layers": 1}


@dataclass
class Ran:
    """What a run of capctl left behind."""

    code: int
    out: str
    err: str

    def is_one_clear_line(self):
        """Fail unless the run is misuse told in one line."""
        assert self.code == 2, (self.code, self.out, self.err)
        assert self.out == ""
        assert self.err.startswith("capctl: ")
        assert self.err.count("\n") == 1
        assert "Traceback" not in self.err
        assert "internal error" not in self.err
        return self.err


@pytest.fixture(scope="module", autouse=True)
def own_registry(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("ARCHCAP_REGISTRY", str(REGISTRY))
        patch.delenv("ARCHCAP_DEBUG", raising=False)
        yield


@pytest.fixture(scope="session")
def source(tmp_path_factory):
    return write_engine(tmp_path_factory.mktemp("engine"))


@pytest.fixture(scope="session")
def configs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data") / "configs"
    (folder / "draft").mkdir(parents=True)
    for name, config in (("stone", STONE), ("pebble", PEBBLE), ("draft/small", STONE)):
        (folder / f"{name}.json").write_text(json.dumps(config))
    return folder


@pytest.fixture
def verify(capsys, monkeypatch, configs):
    """Return a function that runs `capctl verify` with words."""

    def run(*words, stdin=b"", folder=configs):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        given = [] if folder is None else ["--configs", folder]
        code = main(["verify", *(str(word) for word in [*given, *words])])
        ran = capsys.readouterr()
        return Ran(code, ran.out, ran.err)

    return run


@pytest.fixture
def live(verify, source):
    """Return a function that runs `capctl verify` with the invented engine."""

    def run(*words, python=sys.executable, source=source, **options):
        engine = ["--engine", "sglang@0.5.23", "--python", python, "--engine-source", source]
        return verify(*engine, *words, **options)

    return run


def lines(*values):
    """Return *values* as JSON lines."""
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def launch(settings, name="stone", gpu="h100", **more):
    """Return a launch as a line of a launches file."""
    return {"id": f"{name} {settings}", "config": f"configs/{name}.json", "platform": gpu, "flags": settings, **more}
