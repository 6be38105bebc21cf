"""The static export: every GET answer as a file, byte for byte what the service answers."""

from __future__ import annotations

import pytest

from archcap.cli import main
from tests.service.conftest import MINI, STATEMENT


def address(path, folder):
    """Return where the service answers what is in the file."""
    name = "/" + path.parent.relative_to(folder).as_posix()
    head, mark, pair = name.partition("/diff/")
    before, _, after = pair.partition("..")
    return f"{head}/diff?from={before}&to={after}" if mark else name


def test_every_file_is_the_services_answer(service, tmp_path, monkeypatch, capsys):
    service.client.post("/v1/overrides", json=STATEMENT, headers=service.token("write"))
    monkeypatch.setenv("ARCHCAP_DATABASE_URL", service.url)
    folder = tmp_path / "site"
    assert main(["--registry", str(MINI), "build", "--site", str(folder)]) == 0
    files = sorted(folder.rglob("index.json"))
    for path in files:
        answer = service.client.get(address(path, folder))
        assert (answer.status_code, answer.content) == (200, path.read_bytes()), path
    assert f"{len(files)} answers of {service.client.get('/v1/snapshot').json()['digest']}" in capsys.readouterr().err
    paths = {template for template in service.client.get("/openapi.json").json()["paths"] if template.startswith("/v1")}
    left_out = {
        "/v1/revisions", "/v1/revisions/{revision}", "/v1/audit", "/v1/overrides/{override}",
        "/v1/revisions/{revision}/restore",
    }  # fmt: skip
    assert len(paths - left_out) == 16


def test_without_a_database_it_is_the_registry_alone(read_only, tmp_path, capsys):
    folder = tmp_path / "site"
    assert main(["--registry", str(MINI), "build", "--site", str(folder), "--quiet"]) == 0
    for path in sorted(folder.rglob("index.json")):
        assert read_only.client.get(address(path, folder)).content == path.read_bytes(), path


def test_an_export_over_an_earlier_one_leaves_nothing_old(tmp_path, capsys):
    folder = tmp_path / "site"
    words = ["--registry", str(MINI), "build", "--site", str(folder), "--quiet"]
    assert main(words) == 0
    old = folder / "v1/engines/gone/releases/index.json"
    old.parent.mkdir(parents=True)
    old.write_text("{}")
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("index.json") if path != old}
    assert main(words) == 0
    assert not old.exists()
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("index.json")} == before


@pytest.mark.parametrize("name", ["index.html", "v1/notes.txt"])
def test_a_folder_with_other_files_is_left_alone(tmp_path, name, capsys):
    other = tmp_path / "site" / name
    other.parent.mkdir(parents=True)
    other.write_text("mine")
    assert main(["--registry", str(MINI), "build", "--site", str(tmp_path / "site")]) == 2
    assert "other files" in capsys.readouterr().err
    assert other.read_text() == "mine"
