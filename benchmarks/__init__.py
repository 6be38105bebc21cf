"""Measures the budgets of the design: `make bench`. One module per subject, found by its name `bench_*.py`.

A module has `rows()`, which yields `Row`s. Ratios are taken within one run, so that a slow machine is no failure.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median, quantiles


@dataclass(frozen=True)
class Row:
    """One measured budget.

    Attributes:
        what: what was measured.
        value: the measurement.
        unit: of value and budget, as in `ms`, `x`, `/s`.
        budget: what is promised; None when nothing is.
        at_least: whether the budget is a lower bound.
    """

    what: str
    value: float
    unit: str
    budget: float | None = None
    at_least: bool = False

    @property
    def kept(self) -> bool:
        """Whether the budget is kept."""
        if self.budget is None:
            return True
        return self.value >= self.budget if self.at_least else self.value <= self.budget


def milliseconds(call: Callable[[], object], times: int, warm: int = 20) -> tuple[float, float]:
    """Return median and 99th percentile of *times* calls, in CPU milliseconds of this process."""
    for _ in range(warm):
        call()
    taken = []
    for _ in range(times):
        start = time.process_time()
        call()
        taken.append((time.process_time() - start) * 1000)
    return median(taken), quantiles(taken, n=100)[98]
