"""The page of suspicions. `python -m tests.docs.suspects SOURCE` writes docs/suspects-RELEASE.md from a source.

Places are in the source alone. All else on the page is in the registry as well, which is how it is held current.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
from pathlib import Path

from archcap.cli import main
from archcap.cli.siblings import markdown
from archcap.load import load_registry
from archcap.siblings import suspects_of_registry
from archcap.siblings.facts import facts_of_registry
from tests.docs.pages import ROOT

ENGINE, RELEASE = "sglang", "0.5.23"
FIRST = 100
PAGE = ROOT / "docs" / f"suspects-{RELEASE}.md"
_COMMAND = re.compile(r"^Written by `.*?`\.", re.MULTILINE)
_PLACE = re.compile(r" \([\w./-]+\.py:\d+\)")
_SIDES = re.compile(r"^- \*\*(?:Lacks|Has) it:\*\* .*(?:\n|$)", re.MULTILINE)


def of_registry() -> str:
    """Return what the registry has for the page: everything but places."""
    registry = load_registry(ROOT)
    engine = registry.engines[ENGINE]
    facts = facts_of_registry(engine, registry.vocabulary, RELEASE)
    found = suspects_of_registry(engine, registry.vocabulary, RELEASE)[:FIRST]
    return without_places(markdown(found, facts, engine.engine.title))


def without_places(page: str) -> str:
    """Return a page without what only a source knows."""
    return _COMMAND.sub("", _PLACE.sub("", _SIDES.sub("", page))).strip()


def write(source: Path) -> int:
    """Write the page anew from the source of the release; return the command's exit code."""
    words = ["siblings", "--registry", str(ROOT), "--engine", f"{ENGINE}@{RELEASE}", "--source", str(source)]
    with io.StringIO() as said, contextlib.redirect_stdout(said):
        code = main([*words, "--first", str(FIRST), "--format", "markdown"])
        page = said.getvalue()
    if code == 0:
        PAGE.write_text(page, encoding="utf-8")
    return code


if __name__ == "__main__":
    sys.exit(write(Path(sys.argv[1])))
