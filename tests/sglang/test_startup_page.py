"""docs/startup-checks.md names rules: each name, or family of names, is a rule of the release the page is about."""

import re
from fnmatch import fnmatch
from pathlib import Path

from archcap.resolver.outcome import CHOICE, UNREGISTERED
from archcap.snapshot.store import default

PAGE = Path(__file__).parents[2] / "docs" / "startup-checks.md"


def named():
    stated, _, others = PAGE.read_text(encoding="utf-8").partition("## Not rules")
    assert others
    rows = [line for line in stated.splitlines() if line.startswith("| ") and "`" in line]
    return sorted({name for line in rows for name in re.findall(r"`([^`]+)`", line.rsplit("|", 2)[1])})


def test_every_rule_the_page_names_is_there():
    known = {one.id for one in default().release("sglang", "0.5.23").program.statements} | {CHOICE, UNREGISTERED}
    assert len(named()) >= 40
    assert [name for name in named() if not any(fnmatch(rule, name) for rule in known)] == []
