"""Releases in the order of PEP 440, without the library for it. Tests hold it to that library."""

from __future__ import annotations

import re
from collections.abc import Iterable

_PRE = {"a": "a", "alpha": "a", "b": "b", "beta": "b", "c": "rc", "rc": "rc", "pre": "rc", "preview": "rc"}
_VERSION = (
    r"v?(?:(?P<epoch>\d+)!)?(?P<release>\d+(?:\.\d+)*)"
    r"(?:[-_.]?(?P<pre>alpha|a|beta|b|preview|pre|c|rc)[-_.]?(?P<pre_n>\d+)?)?"
    r"(?P<post>-(?P<post_1>\d+)|[-_.]?(?:post|rev|r)[-_.]?(?P<post_2>\d+)?)?"
    r"(?P<dev>[-_.]?dev[-_.]?(?P<dev_n>\d+)?)?"
    r"(?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?"
)
Key = tuple[object, ...]


def key(text: str) -> Key | None:
    """Return what *text* is ordered by, None when it is no version."""
    match = re.fullmatch(_VERSION, text.strip().lower(), re.ASCII)
    if match is None:
        return None
    numbers = [int(part) for part in match["release"].split(".")]
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers.pop()
    post = -1 if match["post"] is None else int(match["post_1"] or match["post_2"] or 0)
    # A development release of no pre- and no post-release comes before all pre-releases, a plain one after them.
    early = match["dev"] is not None and not match["pre"] and post < 0
    pre = ("",) if early else (_PRE[match["pre"]], int(match["pre_n"] or 0)) if match["pre"] else ("z",)
    dev = (1, 0) if match["dev"] is None else (0, int(match["dev_n"] or 0))
    local = tuple((1, int(part), "") if part.isdigit() else (0, 0, part)
                  for part in re.split(r"[-_.]", match["local"] or "") if part)  # fmt: skip
    return int(match["epoch"] or 0), tuple(numbers), pre, post, dev, bool(local), local


def nearest(release: str, known: Iterable[str]) -> str | None:
    """Return the same release under *known*, else the last before it, else the first; None when nothing is known.

    Something that is no version at all is answered by the last.
    """
    ordered = sorted((one for one in known if key(one) is not None), key=lambda one: key(one) or ())
    if release in ordered or not ordered:
        return release if ordered else None
    at = key(release)
    if at is None:
        return ordered[-1]
    before = [one for one in ordered if (key(one) or ()) <= at]
    return before[-1] if before else ordered[0]
