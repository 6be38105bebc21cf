"""The page of suspicions says what the registry says."""

from __future__ import annotations

from tests.docs.suspects import PAGE, of_registry, without_places

PART = """\
Written by `capctl siblings --engine wagon@1.0 --first 1 --format markdown`. The likeliest stand first.

- **What to do:** Give Coal (core/coal.py:7) the method steam, as Wood has it (core/wood.py:12).
- **Lacks it:** Coal in core/coal.py:7
- **Has it:** Wood in core/wood.py:12
"""


def test_places_are_left_out_and_nothing_else() -> None:
    said = "The likeliest stand first.\n\n- **What to do:** Give Coal the method steam, as Wood has it."
    assert without_places(PART) == said


def test_the_page_of_suspicions_is_the_registry_s() -> None:
    held = without_places(PAGE.read_text(encoding="utf-8"))
    assert held == of_registry(), "write it again: python -m tests.docs.suspects SOURCE"
