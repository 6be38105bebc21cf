"""The operator's page names every setting, with its default, and every metric; the files it names are sound."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from archcap_service.settings import Settings

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| `ARCHCAP_([A-Z_]+)` \| ([^|]+) \|", PAGE, re.MULTILINE))


def test_the_page_names_the_settings_that_exist_and_no_others():
    assert {name.lower() for name in ROWS} == set(Settings.model_fields)


@pytest.mark.parametrize("name", [name for name in Settings.model_fields if name not in ("database_url", "registry")])
def test_the_page_says_a_settings_default(name):
    default = Settings.model_fields[name].default
    said = ROWS[name.upper()]
    assert said == ("none" if default == () else json.dumps(default).strip('"').removesuffix(".0"))


def test_the_page_names_the_metrics_that_exist(read_only):
    text = read_only.client.get("/metrics").text
    exist = {
        name for name in re.findall(r"^# TYPE (archcap_\w+) ", text, re.MULTILINE) if not name.endswith("_created")
    }
    assert set(re.findall(r"`(archcap_[a-z_]+)`", PAGE)) == exist


def test_the_compose_file_is_two_replicas_on_one_database_behind_a_front():
    compose = yaml.safe_load((ROOT / "service/compose.yaml").read_text(encoding="utf-8"))
    services = compose["services"]
    assert set(services) == {"database", "upgrade", "replica-1", "replica-2", "front"}
    for name in ("replica-1", "replica-2"):
        assert services[name]["environment"] == services["upgrade"]["environment"]
        assert services[name]["command"][0] == "serve"
    assert services["upgrade"]["command"] == ["db", "upgrade"]
    upstream = (ROOT / "service/nginx.conf").read_text(encoding="utf-8")
    assert re.findall(r"server (replica-\d):8000", upstream) == ["replica-1", "replica-2"]


def test_the_image_copies_what_the_build_needs():
    image = (ROOT / "service/Dockerfile").read_text(encoding="utf-8")
    copied = {word for line in re.findall(r"^COPY (?!--from)(.+) \S+$", image, re.MULTILINE) for word in line.split()}
    assert copied == {
        "pyproject.toml", "hatch_build.py", "README.md", "CHANGELOG.md", "LICENSE", "capabilities.yaml", "registry",
        "service", "migrations",
    }  # fmt: skip
    assert all((ROOT / name).exists() for name in copied)
