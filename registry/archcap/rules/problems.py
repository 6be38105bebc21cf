"""Problems of rules with the place a reader finds them at. Knows no check."""

from __future__ import annotations

from archcap.errors import Problem
from archcap.model.registry import EngineRegistry
from archcap.rules.lower import Place


def problem_of(reg: EngineRegistry, place: Place, note: str = "") -> Problem:
    """Return the problem at *place*; *note* says in which releases."""
    flaw = place.flaw
    file = reg.step_files.get(place.step, "") if place.step is not None else ""
    path = place.path if place.step is None else f"steps.{place.step}" + (f".{place.path}" if place.path else "")
    return Problem(file, None, path, flaw.message + note, flaw.expected, flaw.suggestion, flaw.hint)
