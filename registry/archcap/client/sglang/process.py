"""What the plug-in asks of the process it runs in: the engine's version, and whether another process has spoken."""

from __future__ import annotations

import sys

from archcap.client.deadline import Refused

PACKAGE = "sglang"


def running_version() -> str:
    """Return the version of the engine that is running.

    Raises:
        Refused: nobody says.
    """
    for name in (f"{PACKAGE}.version", PACKAGE):
        found = getattr(sys.modules.get(name), "__version__", None)
        if isinstance(found, str) and found:
            return found
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(PACKAGE)
    except PackageNotFoundError:
        raise Refused("the running version of sglang is not known") from None


def told_already() -> bool:
    """Return whether a process above this one has logged the same: ranks need not repeat it."""
    from multiprocessing import parent_process

    return parent_process() is not None
