"""`capctl validate --fix` and `--scan`: what is mended in place, and what only a scan shows to be needless."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.mini import copy_to, edit, find


@pytest.fixture
def mini(tmp_path: Path) -> Path:
    return copy_to(tmp_path / "mini")


def test_what_takes_no_judgment_is_mended_in_place_and_the_rest_is_said(capctl, mini):
    edit(mini, "architectures/river.yaml", '      extra_buffer: "<=0.9"', '      extra_buffer: "0.9"  # Old.')
    edit(mini, "names/facts.yaml", "  heads: {", "  heeds: {type: int, meaning: Nothing.}\n  heads: {")
    ran = capctl("validate", mini, "--fix")
    path = find(mini, "architectures/river.yaml")
    assert '      extra_buffer: "<=0.9"  # Old.\n' in path.read_text(encoding="utf-8")
    assert f"capctl: mended {path}\n" in ran.err
    assert ran.code == 0
    assert [line.rpartition(" ")[2] for line in ran.out.splitlines()] == ["[unused-names]"]
    assert not [other for other in path.parent.iterdir() if other.name.startswith(".")]


def test_sound_data_is_not_written(capctl, mini):
    before = {path: path.stat().st_mtime_ns for path in mini.rglob("*.yaml")}
    ran = capctl("validate", mini, "--fix")
    assert (ran.code, ran.err) == (0, "capctl: the registry is sound\n")
    assert {path: path.stat().st_mtime_ns for path in mini.rglob("*.yaml")} == before


def test_data_that_does_not_load_is_said_and_left(capctl, mini):
    edit(mini, "architectures/stone.yaml", "    role: draft\n", "    role: drafter\n")
    before = find(mini, "architectures/stone.yaml").read_text(encoding="utf-8")
    ran = capctl("validate", mini, "--fix")
    assert ran.code == 2
    assert "drafter" in ran.out
    assert find(mini, "architectures/stone.yaml").read_text(encoding="utf-8") == before


def unsound(mini: Path) -> Path:
    edit(mini, "architectures/river.yaml", '      extra_buffer: "<=0.9"', '      extra_buffer: "0.9"')
    return find(mini, "architectures/river.yaml")


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o644])
def test_a_mended_file_keeps_its_mode_and_its_line_ends(capctl, mini, mode):
    path = unsound(mini)
    lines = path.read_bytes().replace(b"\n", b"\r\n")
    path.write_bytes(lines)
    path.chmod(mode)
    assert capctl("validate", mini, "--fix").code == 0
    assert path.read_bytes() == lines.replace(b'extra_buffer: "0.9"', b'extra_buffer: "<=0.9"')
    assert path.stat().st_mode & 0o777 == mode


def test_what_a_link_leads_to_is_mended(capctl, mini, tmp_path):
    path = unsound(mini)
    target = path.rename(tmp_path / "elsewhere.yaml")
    path.symlink_to(target)
    assert capctl("validate", mini, "--fix").code == 0
    assert path.is_symlink()
    assert '      extra_buffer: "<=0.9"' in target.read_text(encoding="utf-8")


def test_a_read_only_file_is_said_and_nothing_is_changed(capctl, mini):
    path = unsound(mini)
    before = {one: one.read_bytes() for one in mini.rglob("*.yaml")}
    path.chmod(0o444)
    ran = capctl("validate", mini, "--fix")
    assert f"cannot use {path}: it is read-only and cannot be written" in ran.is_one_clear_line()
    assert {one: one.read_bytes() for one in mini.rglob("*.yaml")} == before


def test_a_file_that_cannot_be_replaced_is_named_and_no_temporary_one(capctl, mini, monkeypatch):
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", "/tmp/.river.yaml.abc.tmp")

    path = unsound(mini)
    monkeypatch.setattr("tempfile.mkstemp", full)
    assert f"cannot use {path}: No space left" in capctl("validate", mini, "--fix").is_one_clear_line()


@pytest.fixture
def written(registry: Path, tmp_path: Path) -> Path:
    """A wagon registry in which a person wrote what the source says as well."""
    root = Path(shutil.copytree(registry, tmp_path / "registry"))
    path = root / "registry" / "engines" / "wagon" / "architectures" / "coal.yaml"
    text = path.read_text(encoding="utf-8")
    assert text.count('      steam: "<=1.0"\n') == 2
    said = '      steam: {added: "<=1.0", source: "wagon#7"}\n'
    path.write_text(text.replace('      steam: "<=1.0"\n', said, 1), encoding="utf-8")
    return root


def test_what_people_wrote_and_the_source_says_is_needless(capctl, written, source):
    assert capctl("validate", written).out == ""
    words = ("validate", written, "--scan", source, "--engine", "wagon")
    ran = capctl(*words)
    assert "the scanner finds the same" in ran.out
    ran = capctl(*words, "--fix")
    assert (ran.code, ran.out) == (0, "")
    text = (written / "registry" / "engines" / "wagon" / "architectures" / "coal.yaml").read_text(encoding="utf-8")
    assert '      steam: {added: "<=1.0"}\n' in text


def test_what_people_wrote_and_the_source_does_not_say_stays(capctl, written, source):
    models = source / "wagon" / "core" / "models" / "coal.py"
    models.write_text(models.read_text(encoding="utf-8").replace("make_steam", "make_smoke"), encoding="utf-8")
    assert capctl("validate", written, "--scan", source, "--engine", "wagon").out == ""


def test_sources_of_some_releases_only_are_one_clear_line(capctl, written, source):
    engine = written / "registry" / "engines" / "wagon" / "engine.yaml"
    text = engine.read_text(encoding="utf-8")
    engine.write_text(text.replace("releases:\n", "releases:\n  '1.1': {note: later}\n"), encoding="utf-8")
    ran = capctl("validate", written, "--scan", source, "--engine", "wagon")
    assert "no source of 1.1" in ran.is_one_clear_line()
