"""What the documentation points at exists: pages, headings, files, modules."""

from __future__ import annotations

import importlib
import importlib.util
import re

import pytest

from tests.docs.pages import ROOT, Page, pages

_TOPS = ("registry/", "service/", "docs/", "tests/", "examples/", "migrations/", "benchmarks/")
_FILES = re.compile(r"^(?:capabilities\.yaml|pyproject\.toml|Makefile|hatch_build\.py|[A-Z]+\.md|LICENSE)$")
_PLACEHOLDER = re.compile(r"[<>*{}…]|\bNN-")
_MODULE = re.compile(r"^archcap(?:_service)?(?:\.[A-Za-z_][A-Za-z0-9_]*)*$")


def by_name(page: Page) -> str:
    return page.name


@pytest.mark.parametrize("page", pages(), ids=by_name)
def test_every_relative_link_leads_to_a_page_and_a_heading_of_it(page: Page) -> None:
    broken = []
    for target in page.links():
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.path.parent / path).resolve() if path else page.path
        if not file.exists() or (anchor and anchor not in Page(file).anchors()):
            broken.append(target)
    assert not broken


@pytest.mark.parametrize("page", pages(), ids=by_name)
def test_every_path_in_backticks_exists(page: Page) -> None:
    named = [span for span in page.spans() if span.startswith(_TOPS) or _FILES.match(span)]
    missing = [span for span in named if not _PLACEHOLDER.search(span) and not (ROOT / span).exists()]
    assert not missing


@pytest.mark.parametrize("page", pages(), ids=by_name)
def test_every_module_in_backticks_can_be_imported(page: Page) -> None:
    missing = [span for span in page.spans() if _MODULE.match(span) and not _exists(span)]
    assert not missing


def _exists(name: str) -> bool:
    """Return whether *name* is a module or a name in one."""
    module, _, attribute = name.rpartition(".")
    try:
        if importlib.util.find_spec(name) is not None:
            return True
        return bool(module) and hasattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError:
        return False


def test_the_checks_see_what_is_wrong() -> None:
    assert not _exists("archcap.no_such_module")
    assert _exists("archcap.model.registry")
    assert _exists("archcap.load.load_registry")
    assert "capabilitiesyaml" in Page(ROOT / "docs" / "registry-format.md").anchors()
