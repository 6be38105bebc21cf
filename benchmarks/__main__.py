"""Run all benchmarks, or those named: `python -m benchmarks [NAME]...`; `--check` exits 1 when a budget is missed."""

import sys
from importlib import import_module
from pathlib import Path


def main(words):
    check = "--check" in words
    wanted = {word for word in words if not word.startswith("-")}
    missed = 0
    for path in sorted(Path(__file__).parent.glob("bench_*.py")):
        name = path.stem.removeprefix("bench_")
        if wanted and name not in wanted:
            continue
        print(name, flush=True)
        for row in import_module(f"benchmarks.{path.stem}").rows():
            missed += not row.kept
            budget = "" if row.budget is None else f"{'>=' if row.at_least else '<='} {row.budget:g} {row.unit}"
            said = "" if row.kept else "MISSED"
            print(f"  {row.what:<58} {row.value:>10.3f} {row.unit:<3} {budget:<14} {said}".rstrip(), flush=True)
    return 1 if check and missed else 0


sys.exit(main(sys.argv[1:]))
