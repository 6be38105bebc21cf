"""Starts the worker out of its folder: `python path/to/archcap_worker`."""

import importlib
import os
import sys


def _package() -> str:
    """Make the folder importable under its own name, whatever else the engine's Python has, and return the name."""
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[0] = os.path.dirname(folder)
    name = os.path.basename(folder)
    importlib.import_module(f"{name}.serve")
    del sys.path[0]
    return name


if __name__ == "__main__":
    sys.exit(importlib.import_module(f"{_package()}.serve").main())
