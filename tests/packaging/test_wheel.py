"""What is built is what is installed: the wheel carries its registry, and works far from the checkout."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "CHANGELOG.md", "capabilities.yaml")
SOURCES = (*FILES, "registry", "service", "migrations")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "_built", ".*")


def run(*command, cwd, **env):
    clean = {key: value for key, value in os.environ.items() if not key.startswith("ARCHCAP_")}
    ran = subprocess.run(
        [str(word) for word in command], cwd=cwd, capture_output=True, text=True, env={**clean, **env}, check=False
    )
    return ran


def done(*command, cwd, **env):
    ran = run(*command, cwd=cwd, **env)
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-2000:]
    return ran


def copied(target, data=None):
    """Copy what a build reads; *data* stands in for the registry's own."""
    target.mkdir(parents=True)
    for name in SOURCES:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, target / name, ignore=LEFT_OUT)
        else:
            shutil.copy2(source, target / name)
    if data is not None:
        shutil.copy2(data / "capabilities.yaml", target / "capabilities.yaml")
        for path in (target / "registry").iterdir():
            if path.name != "archcap":
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        shutil.copytree(data / "registry", target / "registry", dirs_exist_ok=True)
        shutil.copy2(ROOT / "tests/cli/toy_engine.py", target / "registry/archcap/engines/toy.py")
    return target


def built(sources, out, *what):
    done(sys.executable, "-m", "build", "--no-isolation", *what, "--outdir", out, sources, cwd=sources)
    return {path.suffix: path for path in out.iterdir()}


def contents(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("RECORD")}


def installed(wheel, folder):
    """Install *wheel* into a new environment that finds its dependencies, and nothing of the checkout."""
    done(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder.parent)
    python = folder / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python)
    done(*pip, "install", "--quiet", "--no-index", "--no-deps", wheel, cwd=folder)
    site = next((folder / "lib").glob("python*/site-packages"))
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "bin"


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A wheel of the invented registry, built through its sdist."""
    folder = tmp_path_factory.mktemp("small")
    return built(copied(folder / "sources", ROOT / "tests" / "mini"), folder / "dist")


def test_the_wheel_holds_both_packages_and_the_built_registry(small):
    names = set(contents(small[".whl"]))
    assert {"archcap/py.typed", "archcap/cli/__init__.py", "archcap_service/__init__.py"} <= names
    assert {"archcap/_built/__init__.py", "archcap/_built/snapshot.json", "archcap/_built/rules_toy_0_10.py"} <= names
    assert not [name for name in names if name.endswith((".pyc", ".yaml")) or name.startswith(("registry", "tests"))]
    entry_points = next(text for name, text in contents(small[".whl"]).items() if name.endswith("entry_points.txt"))
    assert b"capctl = archcap.cli:main" in entry_points


def test_a_wheel_from_the_sdist_is_the_wheel_from_the_checkout(small, tmp_path):
    straight = built(copied(tmp_path / "sources", ROOT / "tests" / "mini"), tmp_path / "dist", "--wheel")
    assert contents(straight[".whl"]) == contents(small[".whl"])
    assert straight[".whl"].read_bytes() == small[".whl"].read_bytes()


def test_broken_data_builds_no_wheel_and_says_why(tmp_path):
    sources = copied(tmp_path / "sources", ROOT / "tests" / "mini")
    settings = sources / "registry/engines/toy/settings.yaml"
    settings.write_text(settings.read_text().replace("draft_depth: {", "page_size: {"))
    ran = run(sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", tmp_path, sources, cwd=tmp_path)
    assert ran.returncode != 0
    assert "no wheel is built" in ran.stdout + ran.stderr
    assert "settings.yaml" in ran.stdout + ran.stderr


def test_an_installed_wheel_answers_from_its_own_registry(small, tmp_path):
    bin_folder = installed(small[".whl"], tmp_path / "venv")
    where = done(bin_folder / "python", "-c", "import archcap; print(archcap.__file__)", cwd=tmp_path).stdout
    assert str(tmp_path) in where
    assert done(bin_folder / "capctl", "list", "engines", cwd=tmp_path).stdout == "toy  Toy\n"
    doctor = json.loads(done(bin_folder / "capctl", "doctor", "--format", "json", cwd=tmp_path).stdout)
    says = {one["what"]: one for one in doctor}
    assert says["snapshot"]["says"].startswith("the one in the package")
    assert says["compiled rules"]["fine"]


def test_the_shipped_registry_answers_far_from_the_checkout(tmp_path):
    sources = copied(tmp_path / "sources")
    wheel = built(sources, tmp_path / "dist", "--wheel")[".whl"]
    bin_folder = installed(wheel, tmp_path / "venv")
    config = shutil.copy2(ROOT / "examples/configs/qwen3_5-moe-text.json", tmp_path / "config.json")
    words = ("resolve", "--engine", "sglang@0.5.18", "--config", config, "--gpu", "h200", "--gpus", "8")
    words += ("--set", "tp_size=8", "--format", "json")
    main = ("-c", "import sys; from archcap.cli import main; sys.exit(main())")
    here = run(sys.executable, *main, *words, cwd=tmp_path, PYTHONPATH=str(sources / "registry"))
    there = run(bin_folder / "capctl", *words, cwd=tmp_path)
    assert there.returncode == here.returncode
    assert json.loads(there.stdout) == json.loads(here.stdout)
