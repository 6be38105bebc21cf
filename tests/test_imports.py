"""Imports go one way: the contract in pyproject.toml is executed, and shown to bite."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def contract(cwd):
    code = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    return subprocess.run([sys.executable, "-c", code], cwd=cwd, capture_output=True, text=True, check=False)


def test_the_import_contract_is_kept():
    ran = contract(ROOT)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "0 broken" in ran.stdout


def test_a_resolver_that_knows_an_engine_or_a_client_that_knows_a_record_breaks_the_contract(tmp_path):
    package = tmp_path / "registry" / "archcap"
    for name in (
        "model",
        "rules",
        "engines",
        "resolver",
        "cli",
        "client",
        "lint",
        "load",
        "scanner",
        "siblings",
        "snapshot",
        "verify",
    ):
        (package / name).mkdir(parents=True)
        (package / name / "__init__.py").write_text("")
    for name in ("__init__", "errors", "suggest"):
        (package / f"{name}.py").write_text("")
    service = tmp_path / "service" / "archcap_service"
    service.mkdir(parents=True)
    (service / "__init__.py").write_text("")
    (package / "resolver" / "__init__.py").write_text("import archcap.engines\n")
    (package / "client" / "__init__.py").write_text("import pydantic\nimport archcap.model\n")
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
    code = (
        f"import sys; sys.path[:0] = [{str(package.parent)!r}, {str(service.parent)!r}]; "
        "from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    )
    ran = subprocess.run([sys.executable, "-I", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "archcap.resolver -> archcap.engines" in ran.stdout
    assert "archcap.client -> archcap.model" in ran.stdout
    assert "archcap.client -> pydantic" in ran.stdout
