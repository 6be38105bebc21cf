"""What scanning an engine's source costs beside parsing the same files with `ast.parse`, and what the cache saves.

Wants two trees of an engine that the registry knows, named by `ARCHCAP_BENCH_SOURCES=OLDER:NEWER`; the engine's source
is not part of this repository. Parsing and scanning take turns in one process.
"""

from __future__ import annotations

import ast
import gc
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median

from archcap.scanner.config import load_config
from archcap.scanner.scan import scan_source
from archcap.scanner.source import open_source
from archcap.snapshot import store
from benchmarks import Row

ROOT = Path(__file__).parents[1]
ENVIRONMENT = "ARCHCAP_BENCH_SOURCES"
TURNS = 3


def cpu_s(call: Callable[[], object]) -> float:
    gc.collect()
    start = time.process_time()
    call()
    return time.process_time() - start


def rows() -> Iterator[Row]:
    named = os.environ.get(ENVIRONMENT, "").split(":")
    if len(named) != 2:
        print(f"  no sources: name two trees by {ENVIRONMENT}=OLDER:NEWER", file=sys.stderr)
        return
    older, newer = map(Path, named)
    snapshot = store.default()
    config = load_config(ROOT / "registry" / "engines" / snapshot.engine_names[0] / "scan.yaml")
    source = open_source(newer, config.package)
    names = [name for name in source.names if config.searched(name)]

    def parse() -> None:
        for name in names:
            ast.parse(source.read(name))

    def scan(path: Path, cache: Path | None) -> object:
        return scan_source(path, snapshot.vocabulary, config, cache)

    taken: list[tuple[float, ...]] = []
    for _ in range(TURNS):
        with tempfile.TemporaryDirectory() as folder:
            plain, cold = cpu_s(parse), cpu_s(partial(scan, newer, None))
            scan(older, Path(folder))
            again = partial(scan, newer, Path(folder))
            taken.append((plain, cold, cpu_s(again), cpu_s(again)))
    plain, cold, following, unchanged = (median(column) for column in zip(*taken, strict=True))
    yield Row(f"ast.parse of {len(names)} files", plain, "s")
    yield Row("cold scan of them / ast.parse", cold / plain, "x", 1.3)
    yield Row("scan with the release before in the cache / ast.parse", following / plain, "x", 0.6)
    yield Row("scan of an unchanged source", unchanged, "s", 0.5)
