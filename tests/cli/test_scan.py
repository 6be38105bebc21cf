"""`capctl scan`: what a source says, and what it takes to write it down."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from archcap.snapshot.store import checkout_root

MODEL = '''
class WagonForCausalLM:
    def forward(self, input_ids, positions, pp_proxy_tensors=None):
        return None

EntryClass = WagonForCausalLM
'''


@pytest.fixture
def source(tmp_path: Path) -> Path:
    root = tmp_path / "sglang"
    (root / "srt" / "models").mkdir(parents=True)
    (root / "__init__.py").write_text("")
    (root / "version.py").write_text('__version__ = "0.5.99"\n')
    (root / "srt" / "models" / "wagon.py").write_text(MODEL)
    return tmp_path


@pytest.fixture
def shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCHCAP_REGISTRY", str(checkout_root()))


@pytest.mark.usefixtures("shipped")
def test_a_source_tree_says_its_release_and_what_its_classes_have(capctl, source):
    ran = capctl("scan", source, "--engine", "sglang", "--format", "json")
    (only,) = json.loads(ran.out)
    assert ran.code == 0
    assert only["release"] == "0.5.99"
    assert only["architectures"]["WagonForCausalLM"] == ["pipeline_parallel"]


@pytest.mark.usefixtures("shipped")
def test_writing_wants_the_source_of_every_release(capctl, source):
    ran = capctl("scan", source, "--engine", "sglang", "--write")
    assert "0.5.9" in ran.is_one_clear_line()


@pytest.mark.usefixtures("shipped")
def test_a_folder_without_the_engine_is_one_clear_line(capctl, tmp_path):
    ran = capctl("scan", tmp_path, "--engine", "sglang")
    assert str(tmp_path) in ran.is_one_clear_line()


def test_an_engine_without_scan_settings_cannot_be_scanned(capctl, source):
    ran = capctl("--registry", Path(__file__).parent.parent / "mini", "scan", source, "--engine", "toy")
    assert "scan.yaml" in ran.is_one_clear_line()
