"""`capctl siblings`: from the registry, from a source, and what a change under review forgot."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.wagon_engine import edit, line_of


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=anybody", "-c", "user.email=anybody@example.org")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def checkout(registry: Path, tmp_path: Path) -> Path:
    folder = Path(shutil.copytree(registry.parent / "source", tmp_path / "checkout"))
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "as it was")
    return folder


@pytest.fixture
def siblings(capctl, registry):
    def run(*words):
        return capctl("--registry", registry, "siblings", "--engine", "wagon", *words)

    return run


def test_the_registry_s_twins_that_differ_are_told_with_what_to_do(siblings):
    ran = siblings()
    assert ran.code == 0
    assert "CoalTextForCausalLM lacks long_train (long trains); CoalForCausalLM has it" in " ".join(ran.out.split())
    assert "Add CoalTextForCausalLM to core.defaults._LONG_TRAINS, beside CoalForCausalLM." in " ".join(ran.out.split())


@pytest.mark.parametrize("number", ["-1", "-5", "1.5", "many"])
def test_what_is_no_number_of_suspicions_is_one_line(siblings, number):
    assert len(json.loads(siblings("--first", "1", "--format", "json").out)) == 1
    assert "--first: expected a whole number from 0" in siblings(f"--first={number}").is_one_clear_line()


def test_a_release_that_is_not_known_is_answered_by_the_nearest(siblings):
    known = siblings()
    ran = siblings("--engine", "wagon@99")
    assert (ran.code, ran.out) == (0, known.out)
    assert "99" in ran.err.splitlines()[0]
    assert "is no release of wagon" in siblings("--engine", "wagon@latest").is_one_clear_line()


@pytest.mark.parametrize(("form", "code"), [("text", 0), ("json", 0), ("markdown", 0), ("github", 1), ("sarif", 1)])
def test_suspicions_fail_only_what_is_a_check(siblings, form, code):
    assert siblings("--format", form).code == code


def test_a_source_gives_lines_on_both_sides(siblings, checkout):
    found = json.loads(siblings("--source", checkout, "--format", "json").out)
    (one,) = [one for one in found if one["what"] == "long_train"]
    assert one["lacking"] == [{"name": "CoalTextForCausalLM", "file": "core/models/coal.py",
                               "line": line_of(checkout, "core/models/coal.py", "class CoalText")}]  # fmt: skip
    line = line_of(checkout, "core/defaults.py", '"CoalForCausalLM",')
    assert one["having"][0]["line"] == line
    place = f"core/defaults.py:{line}"
    assert one["patch"] == f"Add CoalTextForCausalLM to core.defaults._LONG_TRAINS ({place}), beside CoalForCausalLM."


def test_a_change_that_adds_a_twin_to_one_of_two_lists_is_told_with_its_line(siblings, checkout):
    edit(checkout, "core/models/wood.py", "EntryClass = WoodForCausalLM",
         "class WoodTextForCausalLM(WoodForCausalLM):\n    def make_steam(self): ...\n\n"
         "EntryClass = [WoodForCausalLM, WoodTextForCausalLM]")  # fmt: skip
    edit(checkout, "core/models/wood.py", "    pass", "    def __init__(self):\n        self.layers = []")
    ran = siblings("--source", checkout, "--since", "HEAD", "--format", "github")
    line = line_of(checkout, "core/models/wood.py", "class WoodTextForCausalLM")
    assert ran.code == 1
    assert f"::warning file=core/models/wood.py,line={line}," in ran.out
    assert "WoodTextForCausalLM lacks long_train" in ran.out


UNRELATED = {
    "a comment": ("core/defaults.py", "def brakes", "# Stops.\ndef brakes"),
    "a default": ("core/args.py", "page_size: int = 1", "page_size: int = 2"),
    "a new flag": ("core/args.py", '    speed: str = "slow"', '    speed: str = "slow"\n    bell: bool = False'),
    "another value": ("core/defaults.py", "return 2", "return 3"),
    "a new function": ("core/defaults.py", "def brakes", "def bell():\n    return 1\n\n\ndef brakes"),
    "a new file": ("version.py", "__version__", "BUILD = 1\n__version__"),
    "a renamed argument": ("core/defaults.py", "def brakes(config)", "def brakes(config, hard=False)"),
    "a method that all have": ("core/models/coal.py", "class CoalForCausalLM:", "class CoalForCausalLM:\n    x = 1\n"),
    "an import": ("core/args.py", "import dataclasses", "import dataclasses\nimport os"),
    "a docstring": ("core/models/wood.py", "    pass", '    """Burns."""'),
}


@pytest.mark.parametrize("name", UNRELATED)
def test_an_unrelated_change_says_nothing(siblings, checkout, name):
    edit(checkout, *UNRELATED[name])
    ran = siblings("--source", checkout, "--since", "HEAD")
    assert (ran.code, ran.out) == (0, "")


def test_a_commit_that_is_none_is_one_clear_line(siblings, checkout):
    assert "name a commit" in siblings("--source", checkout, "--since", "nowhere").is_one_clear_line()


def test_a_folder_in_no_repository_is_one_clear_line(siblings, registry):
    ran = siblings("--source", registry.parent / "source", "--since", "HEAD")
    assert "name a commit" in ran.is_one_clear_line()


def test_since_wants_a_source(siblings):
    assert "--source" in siblings("--since", "HEAD").is_one_clear_line()


def test_sarif_has_both_sides(siblings, checkout):
    (run,) = json.loads(siblings("--source", checkout, "--format", "sarif").out)["runs"]
    (one,) = [r for r in run["results"] if "long_train" in r["message"]["text"]]
    assert one["ruleId"] == "siblings/sibling"
    assert one["relatedLocations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "core/defaults.py"


@pytest.fixture
def own_registry(registry: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(registry, tmp_path / "registry"))


def accept(root: Path, what: str) -> None:
    path = root / "registry" / "engines" / "wagon" / "architectures" / "coal.yaml"
    head, tail = path.read_text(encoding="utf-8").split("  CoalTextForCausalLM:\n")
    words = f"    accepted: [{{capability: {what}, reason: It draws short ones., source: wagon#3}}]\n"
    path.write_text(f"{head}  CoalTextForCausalLM:\n{words}{tail}", encoding="utf-8")


def test_what_is_accepted_is_left_out_unless_asked_for(capctl, own_registry):
    accept(own_registry, "long_train")
    ask = ("--registry", own_registry, "siblings", "--engine", "wagon")
    assert "long_train" not in capctl(*ask).out
    assert "long_train" in capctl(*ask, "--ignore-accepted").out
    assert capctl("validate", own_registry).code == 0


def test_an_acceptance_that_accepts_nothing_is_an_error(capctl, own_registry):
    accept(own_registry, "steam")
    ran = capctl("validate", own_registry)
    assert ran.code == 2
    assert "CoalTextForCausalLM is not suspected of lacking steam; remove it" in ran.out


def test_learning_writes_weights_and_says_what_they_are_worth(capctl, own_registry):
    ran = capctl("--registry", own_registry, "siblings", "--engine", "wagon", "--learn")
    assert ran.code == 0
    assert ran.out.startswith("release")
