"""Whole registries in the database, and out again as YAML."""

from __future__ import annotations

import pytest

from archcap.cli import main
from archcap.load import load_registry
from archcap.snapshot import Snapshot, build
from archcap_service.store.audit import Actor
from archcap_service.store.registries import Registries
from archcap_service.store.revisions import Revisions
from tests.mini import copy_to, edit
from tests.service.conftest import MINI, STATEMENT, TOY, migrated

ME = Actor("me")


@pytest.fixture
def database(url):
    made = migrated(url)
    yield made
    made.close()


def test_a_registry_comes_out_as_it_went_in_and_shares_parts(database, snapshot, tmp_path):
    root = copy_to(tmp_path / "other")
    edit(root, "architectures/river.yaml", 'pipeline: "0.10"', 'pipeline: "0.11"')
    other = Snapshot.open(build(load_registry(root)))
    registries = Registries(database)
    numbers = [registries.save(one, ME) for one in (snapshot, other, snapshot)]
    assert numbers == [1, 2, 1]
    assert registries.load(1).to_bytes() == snapshot.to_bytes()
    assert registries.load(2).to_bytes() == other.to_bytes()
    with database.engine.connect() as connection:
        parts = connection.exec_driver_sql("SELECT count(*) FROM parts").scalar_one()
    assert parts == len({one.digest_of(path) for one in (snapshot, other) for path in one.parts})


def test_yaml_to_database_to_yaml_keeps_the_digest(url, tmp_path, monkeypatch, capsys, snapshot):
    migrated(url).close()
    monkeypatch.setenv("ARCHCAP_DATABASE_URL", url)
    assert main(["db", "import", str(MINI)]) == 0
    assert main(["db", "export", str(tmp_path / "out")]) == 0, capsys.readouterr().err
    assert Snapshot.open(build(load_registry(tmp_path / "out"))).digest == snapshot.digest
    assert main(["db", "export", str(tmp_path / "out")]) == 2
    assert "is not empty" in capsys.readouterr().err
    assert main(["validate", str(tmp_path / "out")]) == 0, capsys.readouterr().out


def test_an_imported_registry_answers_and_the_shipped_one_comes_back(serving, url, tmp_path, monkeypatch):
    service = serving(url)
    write = service.token("write")
    assert service.client.post("/v1/overrides", json=STATEMENT, headers=write).status_code == 201
    root = copy_to(tmp_path / "other")
    edit(root, "architectures/river.yaml", 'pipeline: "0.10"', 'pipeline: "0.11"')
    monkeypatch.setenv("ARCHCAP_DATABASE_URL", url)

    def holders(release):
        service.edge._replica.refresh()
        return service.client.get(f"{TOY}/{release}/capabilities/pipeline").json()["architectures"]

    assert "RiverForCausalLM" in holders("0.10")
    assert main(["db", "import", str(root)]) == 0
    assert "RiverForCausalLM" not in holders("0.10")
    assert "RiverForCausalLM" in holders("0.9"), "overrides stay"
    assert service.client.get("/v1/snapshot").json()["registry"] == "imported"
    assert main(["db", "import", "--shipped"]) == 0
    assert "RiverForCausalLM" in holders("0.10")
    answer = service.client.post("/v1/revisions/3/restore", headers=write).json()
    assert (answer["revision"]["registry"], answer["revision"]["overrides"]) == (1, [1])
    assert "RiverForCausalLM" not in holders("0.10")


def test_a_lost_part_is_damage_not_an_answer(database, snapshot):
    registries = Registries(database)
    number = registries.save(snapshot, ME)
    Revisions(database).use_registry(number, ME, "imported")
    with database.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM registry_parts WHERE path = 'engines/toy/families/river'")
    with pytest.raises(Exception, match="does not fit its digest"):
        registries.load(number)
