"""Checks of meaning rather than form: what loads, yet misleads a reader or can never matter.

One small file per check below `checks/`. Knows loaded data and the rules' own checker; knows no wording beyond its
messages and no layout.
"""

from archcap.lint.checks import CHECKS
from archcap.lint.run import lint

__all__ = ["CHECKS", "lint"]
