"""House rules too small for a linter's plug-in: modules explain themselves, functions and files stay short."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted([*(ROOT / "registry/archcap").rglob("*.py"), *(ROOT / "service").rglob("*.py"), ROOT / "hatch_build.py"])
FILES = [path for path in FILES if "_built" not in path.parts]
LONGEST_FUNCTION, LONGEST_FILE = 60, 600


def named(path):
    return str(path.relative_to(ROOT))


def functions(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


@pytest.mark.parametrize("path", FILES, ids=named)
def test_a_module_says_what_it_is_for(path):
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", FILES, ids=named)
def test_functions_and_files_stay_short(path):
    lines = path.read_text(encoding="utf-8").count("\n")
    assert lines <= LONGEST_FILE
    long = [one.name for one in functions(path) if one.end_lineno - one.lineno >= LONGEST_FUNCTION]
    assert long == []


def test_most_functions_are_about_ten_lines():
    lengths = sorted(one.end_lineno - one.lineno + 1 for path in FILES for one in functions(path))
    assert lengths[len(lengths) * 9 // 10] < 30
