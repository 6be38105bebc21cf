"""Every effect of the engine's argument resolution is a statement or named with a reason, and the page says so."""

import pytest

from archcap.snapshot import store
from tests.coverage.effects import RELEASE, effects, stated, unstated
from tests.coverage.page import page

SHARE = 0.95
EFFECTS = 1_349


@pytest.fixture(scope="module")
def root():
    found = store.checkout_root()
    assert found is not None
    return found


@pytest.fixture(scope="module")
def found(root):
    return stated(store.open_registry(root).release("sglang", RELEASE).program)


def test_the_list_holds_every_effect_that_was_read_off_the_source():
    assert len(effects()) == EFFECTS


def test_nineteen_of_twenty_effects_are_statements(found):
    assert sum(found.values()) >= SHARE * EFFECTS


def test_what_no_statement_says_is_named_with_a_reason(found):
    left = [effect for effect, said in found.items() if not said]
    assert [effect for effect in left if not any(row.covers(effect) for row in unstated())] == []


def test_every_reason_is_needed(found):
    rest = [effect for effect, said in found.items() if not said]
    unneeded = [(row.function, row.names) for row in unstated() if not any(row.covers(effect) for effect in rest)]
    assert not unneeded


def test_reasons_are_sentences():
    assert [row.function for row in unstated() if not row.why.endswith(".")] == []


def test_the_page_says_what_is_counted(root, found):
    assert (root / "docs" / "coverage.md").read_text(encoding="utf-8") == page(found), "run: make coverage"
