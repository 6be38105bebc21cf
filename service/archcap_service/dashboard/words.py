"""The words that pages use for verdicts, severities, stages and support. Knows values; knows no page."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from markupsafe import Markup, escape

from archcap.cli.text import value_text
from archcap.model.base import Json
from archcap.model.vocabulary import Absence
from archcap.snapshot.compare import Holding

VERDICTS = {
    "ok": "Starts as asked.",
    "adjusted": "Starts, but not with everything that was asked for.",
    "unsafe": "Starts, and a known crash or wrong output follows.",
    "refused": "Does not start.",
    "unknown": "Cannot be decided with what is given.",
}
STAGES = {
    "parse": "when its command line is read",
    "resolve": "when its settings are resolved",
    "load": "while the checkpoint is loaded",
    "init": "after loading, before serving",
    "request": "while it serves",
}
SEVERITIES = {
    "error": "stops the launch", "unsafe": "crash or wrong output", "silent": "off without a word",
    "warning": "warning", "info": "note",
}  # fmt: skip
ORIGINS = {
    "user": "asked for", "config": "configuration", "hardware": "hardware", "default": "default",
    "env": "environment", "assumption": "assumed", "registry": "registry", "rule": "rule", "peer": "the peer",
    "unknown": "unknown",
}  # fmt: skip
EVIDENCE = {"source": "read in the source", "verified": "verified by running it", "report": "reported"}
EFFECTS = {
    "error": "The engine stops", "unsafe": "A crash or wrong output follows", "silent": "It is off without a word",
    "degrade": "It does less", "none": "Nothing breaks",
}  # fmt: skip
STATES = {"yes": "yes", "conditional": "if", "partial": "part", "unvalidated": "untried", "no": "no"}


def absence_words(absence: Absence) -> str:
    """Return what the absence of a capability causes, and when."""
    effect = EFFECTS[absence.effect]
    return effect if absence.effect == "none" else f"{effect} {STAGES[absence.stage.value]}"


def value_words(value: Json) -> str:
    """Return a value in one short phrase."""
    return value_text(value)


def layer_runs(value: Json) -> str:
    """Return layer numbers as runs, as in `0-3, 7`."""
    numbers = [one for one in value if isinstance(one, int)] if isinstance(value, list) else []
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs) or "none"


def holding_words(held: Sequence[Holding]) -> str:
    """Return what an architecture has of a capability in a few words."""
    words = []
    for one in held:
        value = "" if one.value is True else value_text([*one.value] if isinstance(one.value, tuple) else one.value)
        state = "" if one.state == "yes" else one.state
        where = f"on {one.platform}" if one.platform else ""
        when = f"when {one.when}" if one.when else ""
        words.append(" ".join(part for part in (state, value, where, when) if part) or "yes")
    return ", ".join(words) or "no"


def plural(count: int, word: str, words: str | None = None) -> str:
    """Return a number with its noun, as in `1 rule`, `3 rules`."""
    return f"{count:,} {word if count == 1 else words or word + 's'}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def breakable(text: str) -> Markup:
    """Return a name, escaped, that may be broken behind `_`, `.` and `/`, and before a capital."""
    parts = re.split(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[_./])(?=[A-Za-z0-9])", text)
    return Markup("<wbr>").join(escape(part) for part in parts)


def lookup(table: Mapping[str, str]) -> Callable[[str], str]:
    """Return a filter that reads *table*; what is not in it stays as it is."""
    return lambda key: table.get(key, key)


FILTERS: Mapping[str, Callable[..., Any]] = {
    "value": value_words, "runs": layer_runs, "holdings": holding_words, "plural": plural, "breakable": breakable,
    "verdict_words": lookup(VERDICTS), "stage_words": lookup(STAGES), "severity_words": lookup(SEVERITIES),
    "origin_words": lookup(ORIGINS), "evidence_words": lookup(EVIDENCE), "absence": absence_words,
    "state_words": lookup(STATES),
}  # fmt: skip
