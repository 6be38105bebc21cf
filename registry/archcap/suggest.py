"""Nearest names: what somebody probably meant by a name nobody knows.

Pure; knows only strings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher

_ENOUGH = 0.6
_LONGEST, _SHORT = 200, 6
_DASHES = str.maketrans("-. ", "___")


def nearest_names(word: str, known: Iterable[str], n: int = 3) -> list[str]:
    """Return up to *n* of the *known* names that *word* may stand for, the likeliest first.

    Upper and lower case, dashes and underscores count as equal; ties keep alphabetical order. Where none is near, a
    short word may stand for the beginning of a longer name.

    Args:
        word: what was written.
        known: the valid names.
        n: how many to return at most.
    """
    names = sorted(set(known))
    if word in names:
        return [word]
    folded = _fold(word[:_LONGEST])
    texts = {name: _fold(name) for name in names}
    near = _near(folded, texts)
    if not near and 1 < len(folded) <= _SHORT:
        starts = {name: text[: len(folded)] for name, text in texts.items() if text[:2] == folded[:2]}
        near = _near(folded, starts)
    return near[:n]


def _near(word: str, texts: Mapping[str, str]) -> list[str]:
    """Return the names whose texts are like *word*, the likeliest first."""
    scored = [(score, name) for name, text in texts.items() if (score := _likeness(word, text)) >= _ENOUGH]
    return [name for _, name in sorted(scored, key=lambda pair: (-pair[0], pair[1]))]


def nearest_name(word: str, known: Iterable[str]) -> str | None:
    """Return the likeliest of the *known* names, or None when none is near."""
    return next(iter(nearest_names(word, known, 1)), None)


def one_of(names: Sequence[str], limit: int = 12) -> str:
    """Return *names* as prose for "expected …", cut after *limit* names."""
    if not names:
        return "nothing"
    if len(names) == 1:
        return names[0]
    shown = ", ".join(names[:limit])
    return f"one of {shown}" + (f" … ({len(names)} in all)" if len(names) > limit else "")


def _fold(name: str) -> str:
    return name.lower().lstrip("-").translate(_DASHES)


def _likeness(word: str, name: str) -> float:
    """Return 0 … 1; bounds that are cheap to compute rule most names out first."""
    matcher = SequenceMatcher(None, name, word, autojunk=False)
    if matcher.real_quick_ratio() < _ENOUGH or matcher.quick_ratio() < _ENOUGH:
        return 0.0
    ratio = matcher.ratio()
    return min(1.0, ratio + 0.1) if name.startswith(word) or word.startswith(name) else ratio
