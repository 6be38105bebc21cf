"""The commands: tokens, the database, serving as a process, and what they say when something is missing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from archcap.cli import main
from archcap_service.settings import read_settings
from archcap_service.store import migrations
from tests.service.conftest import MINI

CAPCTL = "import sys; from tests.cli import toy_engine; sys.modules['archcap.engines.toy'] = toy_engine; "
CAPCTL += "from archcap.cli import main; sys.exit(main())"


@pytest.fixture
def database(url, monkeypatch):
    monkeypatch.setenv("ARCHCAP_DATABASE_URL", url)


@pytest.fixture
def embedded(sqlite_url, monkeypatch):
    monkeypatch.setenv("ARCHCAP_DATABASE_URL", sqlite_url)


def test_tokens_are_made_listed_and_revoked(database, capsys):
    assert main(["db", "upgrade"]) == 0
    capsys.readouterr()
    assert main(["token", "create", "ci", "--scope", "write", "--days", "2"]) == 0
    made = capsys.readouterr()
    text = made.out.strip()
    assert text.startswith("acap_")
    assert "shown this once" in made.err
    assert main(["token", "create", "ci"]) == 2
    assert "is a token 'ci' already" in capsys.readouterr().err
    assert main(["token", "list", "--format", "json"]) == 0
    listed = capsys.readouterr().out
    [row] = json.loads(listed)
    assert (row["name"], row["scopes"], row["revoked"]) == ("ci", "read write", None)
    assert text.split("_", 2)[2] not in listed
    assert main(["token", "revoke", "ci"]) == 0
    assert main(["token", "revoke", "ci"]) == 2
    assert main(["token", "create", "ci"]) == 0, "the name is free again"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["token", "create"], "needs a name"),
        (["token", "create", "x", "--scope", "root"], "unknown scope 'root'"),
        (["token", "create", "a\nb"], "name is 1 to 80"),
        (["db", "downgrade"], "needs --to VERSION"),
        (["db", "import"], "needs a PATH or --shipped"),
        (["db", "export"], "needs a folder"),
        (["serve", "--port", "65536"], "--port: expected a port from 0 to 65535, not '65536'"),
        (["serve", "--port", "99999999"], "--port: expected a port from 0 to 65535, not '99999999'"),
        (["serve", "--port=-1"], "--port: expected a port from 0 to 65535, not '-1'"),
        (["serve", "--port", "http"], "--port: expected a port from 0 to 65535, not 'http'"),
        (["serve", "--fd=-1"], "--fd: expected a whole number from 0, not '-1'"),
        (["serve", "--fd", "4000"], "--fd: no socket was inherited as 4000"),
        (["serve", "--fd", "99999999999999"], "--fd: no socket was inherited as 99999999999999"),
        (["token", "create", "a", "--days", "nan"], "--days: expected a number of days above 0"),
        (["token", "create", "a", "--days", "inf"], "--days: expected a number of days above 0"),
        (["token", "create", "a", "--days", "0"], "--days: expected a number of days above 0"),
        (["token", "create", "a", "--days=-3"], "--days: expected a number of days above 0"),
    ],
)
def test_misuse_is_one_line(embedded, words, says, capsys):
    assert main(["db", "upgrade"]) == 0
    capsys.readouterr()
    assert main(words) == 2
    err = capsys.readouterr().err
    assert says in err
    assert err.count("\n") == 1


def test_the_database_says_where_it_is(database, capsys):
    assert main(["db", "status"]) == 0
    assert "run capctl db upgrade" in capsys.readouterr().err
    main(["db", "upgrade"])
    assert main(["db", "status"]) == 0
    said = capsys.readouterr().err
    assert f"version {migrations.newest()}, revision 1 with 0 overrides over the shipped registry" in said


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("ARCHCAP_MAX_DEPTH", "lots", "ARCHCAP_MAX_DEPTH: "),
        ("ARCHCAP_MAX_DEPTH", "7", "ARCHCAP_MAX_DEPTH: "),
        ("ARCHCAP_POLL_S", "nan", "ARCHCAP_POLL_S: "),
        ("ARCHCAP_SHUTDOWN_S", "-1", "ARCHCAP_SHUTDOWN_S: "),
        ("ARCHCAP_LOG_FORMAT", "xml", "ARCHCAP_LOG_FORMAT: "),
        ("ARCHCAP_DATABASE_URL", "mysql://me:hunter2@host/db", "names mysql, which is not supported"),
        ("ARCHCAP_DATABASE_URL", "nonsense hunter2", "is no database URL"),
    ],
)
def test_a_wrong_setting_is_named_without_its_secret(monkeypatch, capsys, name, value, says):
    monkeypatch.setenv(name, value)
    assert main(["db", "status"]) == 2
    err = capsys.readouterr().err
    assert says in err
    assert "hunter2" not in err


def test_settings_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("ARCHCAP_CORS_ORIGINS", "https://a.example, https://b.example")
    monkeypatch.setenv("ARCHCAP_PROTECT_READS", "true")
    settings = read_settings()
    assert settings.cors_origins == ("https://a.example", "https://b.example")
    assert settings.protect_reads


def serve(*words, **env):
    return subprocess.Popen(
        [sys.executable, "-c", CAPCTL, "--registry", str(MINI), "serve", "--port", "0", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **env},
    )  # fmt: skip


def test_a_process_serves_until_it_is_told_to_stop(embedded):
    running = serve()
    try:
        line = running.stdout.readline()
        assert line.startswith("archcap serves on http://127.0.0.1:"), running.stderr.read()
        with urllib.request.urlopen(line.split()[-1] + "/v1/engines", timeout=10) as answer:
            assert json.load(answer)["engines"][0]["engine"] == "toy"
        running.send_signal(signal.SIGTERM)
        _, err = running.communicate(timeout=20)
    finally:
        running.kill()
    assert running.returncode in (0, -signal.SIGTERM)
    rows = [json.loads(row) for row in err.splitlines()]
    assert {"revision taken over", "Application shutdown complete."} <= {row["message"] for row in rows}


def test_a_shared_database_is_not_upgraded_behind_its_owners_back(postgres):
    running = serve(ARCHCAP_DATABASE_URL=postgres.create("nobody_upgraded"))
    out, err = running.communicate(timeout=30)
    assert (running.returncode, out) == (2, "")
    assert "run `capctl db upgrade` once" in err


def test_a_taken_port_is_one_line(embedded):
    first = serve()
    try:
        port = first.stdout.readline().strip().rsplit(":", 1)[1]
        second = serve("--port", port)
        _, err = second.communicate(timeout=30)
    finally:
        first.terminate()
        first.communicate(timeout=20)
    assert second.returncode == 2
    assert f"capctl: cannot listen on 127.0.0.1:{port}" in err
    assert "Traceback" not in err
