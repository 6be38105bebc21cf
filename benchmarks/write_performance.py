"""Measures the service and writes docs/performance.md: `make bench-service`. Exits 1 when a budget is missed."""

from __future__ import annotations

import json
import os
import platform
import sys
from pathlib import Path

from benchmarks import Row
from benchmarks.bench_service import BASE, prepared, rows, service, story
from benchmarks.load import Load, request, run

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "performance.md"
ENDURANCE_S = float(os.environ.get("ARCHCAP_BENCH_ENDURANCE_S", "60"))
START, END = "<!-- measured:begin -->", "<!-- measured:end -->"


def endurance() -> dict[str, Load]:
    """Ask for a minute over 64 connections; no answer may be wrong or missing."""
    with service() as (port, pid):
        kinds = prepared(port)
        kinds["POST resolve, story 1"] = request(
            "POST", f"{BASE}/resolve", body=json.dumps({**story(), "id": 1}).encode()
        )
        return {name: run(port, pid, data, ENDURANCE_S / len(kinds), 64) for name, data in kinds.items()}


def table(measured: list[Row]) -> list[str]:
    lines = ["| measured | | budget | |", "|---|---|---|---|"]
    for row in measured:
        budget = "" if row.budget is None else f"{'at least' if row.at_least else 'at most'} {row.budget:g} {row.unit}"
        kept = "" if row.budget is None else ("kept" if row.kept else "**missed**")
        shown = f"{row.value:,.0f}" if row.value >= 100 else f"{row.value:.2f}"
        lines.append(f"| {row.what} | {shown} {row.unit} | {budget} | {kept} |")
    return lines


def endured(loads: dict[str, Load]) -> list[str]:
    lines = [
        "| 64 connections | requests | per second | median | 99th percentile | wrong or missing |",
        "|---|---|---|---|---|---|",
    ]
    for name, one in loads.items():
        times = f"{one.percentile(0.5):.1f} ms | {one.percentile(0.99):.1f} ms"
        lines.append(f"| {name} | {one.requests:,} | {one.per_second:,.0f} | {times} | {one.wrong} |")
    return lines


def main() -> int:
    measured, loads = list(rows()), endurance()
    machine = f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}"
    where = f"{machine}; load before the run {os.getloadavg()[0]:.1f}."
    text = "\n".join([START, "", where, "", *table(measured), "", *endured(loads), "", END])
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(START)
    PAGE.write_text(before + text + rest.partition(END)[2], encoding="utf-8")
    print(text)
    return 0 if all(row.kept for row in measured) and not any(one.wrong for one in loads.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
