"""`capctl` in this process, on the invented registry."""

import io
import json
import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from archcap.cli import main
from tests.cli import toy_engine
from tests.cli.wagon_engine import lay_out, make_registry

MINI = Path(__file__).parents[1] / "mini"
GOLDEN = Path(__file__).parent / "golden"
RIVER = {
    "architectures": ["RiverForCausalLM"], "model_type": "delta", "num_hidden_layers": 4, "num_attention_heads": 4,
    "state_layers": 2,
}  # fmt: skip


@dataclass
class Ran:
    """What a run of capctl left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def lines(self):
        return [json.loads(line) for line in self.out.splitlines()]

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
def toy(tmp_path_factory):
    """Make the invented engine known, and keep its snapshot out of the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "archcap.engines.toy", toy_engine)
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("ARCHCAP_REGISTRY", str(MINI))
        patch.delenv("ARCHCAP_DEBUG", raising=False)
        yield


@pytest.fixture
def capctl(capsys, monkeypatch):
    """Return a function that runs capctl with words and standard input."""

    def run(*words, stdin=b""):
        text = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
        code = main([str(word) for word in words])
        ran = capsys.readouterr()
        return Ran(code, ran.out, ran.err)

    return run


@pytest.fixture
def river(tmp_path):
    """Return the path of a checkpoint's config.json."""
    path = tmp_path / "river" / "config.json"
    path.parent.mkdir()
    path.write_text(json.dumps(RIVER))
    return path


@pytest.fixture
def golden():
    """Return a function that compares text with a file of `golden/`; ARCHCAP_GOLDEN=write writes it instead."""

    def compare(name, text):
        path = GOLDEN / name
        text = re.sub(r"sha256:[0-9a-f]{64}", "sha256:…", text)
        if os.environ.get("ARCHCAP_GOLDEN") == "write":
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8")

    return compare


@pytest.fixture(scope="module")
def registry(tmp_path_factory):
    """A registry of the wagon engine, scanned from the source beside it."""
    folder = tmp_path_factory.mktemp("wagon")
    return make_registry(folder / "registry", lay_out(folder / "source"))


@pytest.fixture
def source(registry, tmp_path):
    """A copy of the wagon engine's source, to change."""
    return Path(shutil.copytree(registry.parent / "source", tmp_path / "source"))
