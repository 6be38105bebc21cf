"""What only a process shows: start-up cost, closed pipes, installed commands, encodings."""

import json
import os
import resource
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

from archcap import __version__
from archcap.cli import COMMANDS
from archcap.cli.run import find, overview
from archcap.errors import RequestError

CAPCTL = [sys.executable, "-c", "import sys; from archcap.cli import main; sys.exit(main())"]


def spent(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def imported(*words):
    code = f"import sys; from archcap.cli import main; main({list(words)!r}); print(*sys.modules, file=sys.stderr)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(ran.stderr.split())


def test_the_version_is_told_without_loading_anything():
    said = subprocess.check_output([*CAPCTL, "--version"], text=True)
    expected = f"capctl {__version__}\n"
    assert said == expected
    bare = {"argparse", "pydantic", "yaml", "json", "importlib.metadata", "archcap.cli.run", "archcap.model"}
    assert imported("--version").isdisjoint(bare)


def test_help_of_a_command_loads_no_record_it_does_not_need():
    assert imported("list", "--help").isdisjoint({"yaml", "archcap.load", "archcap.cli.text"})


@pytest.mark.parametrize("tries", [11])
def test_the_version_costs_little_more_than_a_bare_interpreter(tries):
    bare = statistics.median(spent([sys.executable, "-c", "pass"]) for _ in range(tries))
    ours = statistics.median(spent([*CAPCTL, "--version"]) for _ in range(tries))
    assert ours <= 3 * bare + 0.01


def test_a_reader_that_leaves_is_no_failure():
    process = subprocess.Popen([*CAPCTL, "list", "settings"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert process.wait() in (0, 141)
    assert said == b""


def test_output_survives_a_terminal_that_knows_only_ascii(tmp_path):
    config = tmp_path / "config.json"
    river = {"architectures": ["RiverForCausalLM"], "model_type": "delta", "num_hidden_layers": 4, "state_layers": 2}
    config.write_text(json.dumps(river))
    mini = Path(__file__).parents[1] / "mini"
    words = ["--registry", str(mini), "list", "lists"]
    env = {**os.environ, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C", "XDG_CACHE_HOME": str(tmp_path)}
    ran = subprocess.run([*CAPCTL, *words], env=env, capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert b"internal error" not in ran.stderr


def test_every_command_says_in_one_line_what_it_is_for():
    for name, (_, summary) in COMMANDS.items():
        command = find(name)
        assert summary == command.SUMMARY
        assert name in overview()


class Extra:
    SUMMARY = "do something else"

    @staticmethod
    def configure(parser):
        parser.add_argument("--twice", action="store_true")

    @staticmethod
    def run(args, session):
        session.console.write("did it twice" if args.twice else "did it")
        return 0


class Point:
    name = "extra"

    def load(self):
        return Extra


class Broken:
    name = "broken"

    def load(self):
        raise ModuleNotFoundError("No module named 'fastapi'", name="fastapi")


def test_other_distributions_add_commands(capctl, monkeypatch):
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [Point(), Broken()])
    assert capctl("extra", "--twice").out == "did it twice\n"
    assert "do something else" in capctl("--help").out
    assert "(broken needs fastapi, which is not installed)" in capctl("--help").out
    assert "pip install 'archcap[service]'" in capctl("broken").is_one_clear_line()
    with pytest.raises(RequestError, match="did you mean extra"):
        find("extr")
