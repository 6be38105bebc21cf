"""What the tests on the real engine need: its Python, its unpacked releases, the built wheel, a running service.

They run only where ARCHCAP_ENGINE_PYTHON and ARCHCAP_ENGINES say where those are: `make test-engine`, described in
docs/integrations/sglang.md.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from archcap.snapshot import store
from archcap.verify.devices import machine_of

ROOT = Path(__file__).parents[2]
PYTHON, ENGINES, PATHS = (f"ARCHCAP_ENGINE{part}" for part in ("_PYTHON", "S", "_PATHS"))
STORY = json.loads((ROOT / "examples/configs/qwen3_5-moe-text.json").read_text())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not (os.environ.get(PYTHON) and os.environ.get(ENGINES)):
        for item in items:
            if item.path.parent == Path(__file__).parent:
                item.add_marker(pytest.mark.skip(reason=f"{PYTHON} and {ENGINES} are not set: make test-engine"))


@pytest.fixture(scope="session")
def overlay(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with archcap as its wheel installs it, for the engine's Python to find."""
    folder = tmp_path_factory.mktemp("overlay")
    build = (sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(folder / "dist"), str(ROOT))
    subprocess.run(build, check=True, capture_output=True)
    wheel = next((folder / "dist").glob("*.whl"))
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target")
    subprocess.run([*pip, str(folder / "site"), str(wheel)], check=True)
    return folder / "site"


class Service:
    """A running service, and what is laid over its registry."""

    def __init__(self, url: str, token: str) -> None:
        self.url, self._token = url, token

    def overrides(self, *statements: dict[str, object]) -> None:
        for statement in statements:
            self._asked("POST", "/v1/overrides", statement)

    def clear(self) -> None:
        for one in self._asked("GET", "/v1/overrides")["overrides"]:
            self._asked("DELETE", f"/v1/overrides/{one['id']}")

    def _asked(self, method: str, path: str, body: dict[str, object] | None = None) -> Any:
        headers = {"authorization": f"Bearer {self._token}", "content-type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read()
        return json.loads(text) if text else None


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("service")
    env = {**os.environ, "ARCHCAP_DATABASE_URL": f"sqlite:///{folder}/archcap.db", "ARCHCAP_LOG_LEVEL": "warning"}
    capctl = Path(sys.executable).with_name("capctl")
    made = subprocess.run(
        [capctl, "token", "create", "tests", "--scope", "write"], env=env, capture_output=True, text=True
    )
    assert made.returncode == 0, made.stderr
    with subprocess.Popen([capctl, "serve", "--port", "0"], env=env, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url = next(word for word in server.stdout.readline().split() if word.startswith("http"))
        yield Service(url.rstrip("/"), made.stdout.split()[-1])
        server.terminate()


@pytest.fixture
def service(running: Service) -> Iterator[Service]:
    yield running
    running.clear()


class Engine:
    """The real engine of one release; every launch in a process of its own."""

    def __init__(self, release: str, overlay: Path, scratch: Path) -> None:
        self.release = release
        self._overlay, self._scratch = overlay, scratch
        self._paths = dict(part.split("=", 1) for part in os.environ.get(PATHS, "").split(",") if part)

    def resolve(
        self, gpu: str = "h200", then: tuple[str, ...] = (), plugin: bool = True, version: str = "", **given: Any
    ) -> Any:
        """Resolve a launch; upper-case names are environment variables, others settings; *version*: said to be."""
        scratch = self._scratch / f"{time.monotonic_ns():x}"
        scratch.mkdir()
        source = Path(os.environ[ENGINES]) / self.release
        known = store.default().hardware[gpu]
        question = {
            "worker": str(ROOT / "registry/archcap/verify"),
            "machine": machine_of(gpu, known, 8), "scratch": str(scratch), "version": version,
            "source": str(source), "paths": [self._paths[self.release]] if self.release in self._paths else [],
            "config": STORY, "then": then, "settings": {k: v for k, v in given.items() if not k.isupper()},
        }  # fmt: skip
        kept = {
            name: text for name, text in os.environ.items() if not name.startswith(("ARCHCAP_", "SGLANG_", "PYTHON"))
        }
        env = {**kept, "ARCHCAP_CACHE_DIR": str(scratch / "cache"), "ARCHCAP_TIMEOUT_S": "20"}
        env |= {name: text for name, text in given.items() if name.isupper()}
        env["PYTHONPATH"] = os.pathsep.join([*([str(self._overlay)] if plugin else []), str(source)])
        drive = [os.environ[PYTHON], str(Path(__file__).with_name("drive.py"))]
        ran = subprocess.run(drive, input=json.dumps(question), env=env, capture_output=True, text=True, timeout=300)
        assert ran.stdout, ran.stderr[-3000:]
        said = json.loads(ran.stdout)
        said["stderr"] = ran.stderr
        return said


@pytest.fixture(params=["0.5.18", "0.5.23"])
def engine(request: pytest.FixtureRequest, overlay: Path, tmp_path: Path) -> Engine:
    if not (Path(os.environ[ENGINES]) / request.param / "sglang").is_dir():
        pytest.skip(f"{ENGINES} holds no {request.param}")
    return Engine(request.param, overlay, tmp_path)


@pytest.fixture
def story_engine(overlay: Path, tmp_path: Path) -> Engine:
    """The release of story 1, in which both sets lack the architecture."""
    return Engine("0.5.18", overlay, tmp_path)
