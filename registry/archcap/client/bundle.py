"""The slices that the package carries: what answers when nothing else does. Knows no network."""

from __future__ import annotations

import os
import time

from archcap.client.deadline import Refused
from archcap.client.facts import Facts, read_facts
from archcap.client.versions import nearest

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "_built", "slices")
"""Where a wheel has them, and where `capctl build --cache` puts them in a checkout."""
_SUFFIX = ".json"


def bundled(engine: str, release: str) -> tuple[Facts, float]:
    """Return the facts of *release*, or of the nearest one there is, and the seconds since they were installed.

    Raises:
        Refused: the package carries none for the engine, or they cannot be read.
    """
    if not engine or "/" in engine or engine.startswith("."):
        raise Refused(f"the package carries nothing for {engine}")
    place = os.path.join(FOLDER, engine)
    try:
        known = [name.removesuffix(_SUFFIX) for name in os.listdir(place) if name.endswith(_SUFFIX)]
        found = nearest(release, known)
        if found is None:
            raise Refused(f"the package carries nothing for {engine}")
        path = os.path.join(place, found + _SUFFIX)
        with open(path, "rb") as stream:
            age_s = time.time() - os.fstat(stream.fileno()).st_mtime
            return read_facts(stream.read(), engine, release), age_s
    except OSError:
        raise Refused(f"the package carries nothing for {engine}") from None
