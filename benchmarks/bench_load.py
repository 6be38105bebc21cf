"""What loading the shipped registry costs beside parsing its YAML, and what opening its snapshot costs.

`yaml.load` with CSafeLoader of the same bytes, in the same process and in turns, is the yardstick: loading parses,
checks duplicates and traps, validates, and checks across files.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

import yaml

from archcap.load import check_registry
from archcap.load.files import Finder
from archcap.snapshot import Snapshot, build
from benchmarks import Row

ROOT = Path(__file__).parents[1]
TURNS = 5
RELEASES = 3


def cpu_ms(call: Callable[[], object]) -> float:
    """Return the CPU time of one call, after collecting what earlier ones left."""
    gc.collect()
    start = time.process_time()
    call()
    return (time.process_time() - start) * 1000


def parse(contents: list[bytes]) -> None:
    for content in contents:
        yaml.load(content, yaml.CSafeLoader)


def in_turns(*calls: Callable[[], object]) -> list[float]:
    """Return the median of each call, measured in turns so that all meet the same noise."""
    taken = [[cpu_ms(call) for call in calls] for _ in range(TURNS)]
    return [median(column) for column in zip(*taken, strict=True)]


def rows() -> Iterator[Row]:
    files = [file.path for file in Finder(ROOT).find().files]
    contents = [path.read_bytes() for path in files]
    plain, whole = in_turns(lambda: parse(contents), lambda: check_registry(ROOT))
    size = sum(map(len, contents)) / 1e6
    yield Row(f"yaml.load of {len(files)} files, {size:.2f} MB", plain, "ms")
    yield Row("load and validate the whole registry", whole, "ms")
    yield Row("load and validate / yaml.load", whole / plain, "x", 2.0)
    loaded = check_registry(ROOT)
    if loaded.registry is None:
        print(f"  the registry has {len(loaded.problems)} problems: no snapshot to measure", file=sys.stderr)
        return
    registry = loaded.registry
    yield Row("build a snapshot of the records", median(cpu_ms(lambda: build(registry)) for _ in range(3)), "ms")
    yield from snapshot_rows(build(registry))


def snapshot_rows(data: bytes) -> Iterator[Row]:
    whole = Snapshot.open(data)
    newest = whole.release(whole.engine_names[0], whole.releases(whole.engine_names[0])[-1])
    wanted = next(iter(newest.architectures), "none")

    def first_view() -> object:
        snapshot = Snapshot.open(data)
        engine = snapshot.engine_names[0]
        view = snapshot.release(engine, snapshot.releases(engine)[-1])
        return view.defaults, view.names, view.capabilities_of(wanted), view.architectures.get(wanted), len(view.lists)

    def all_architectures() -> object:
        snapshot = Snapshot.open(data)
        engine = snapshot.engine_names[0]
        return [snapshot.release(engine, release).capability_set("any") for release in snapshot.releases(engine)]

    def everything() -> object:
        return Snapshot.open(data).registry

    def parsed() -> object:
        return json.loads(data)

    calls = (lambda: Snapshot.open(data), first_view, all_architectures, everything, parsed)
    opened, view, matrix, records, plain = in_turns(*calls)
    yield Row(f"open a snapshot of {len(data) / 1e6:.2f} MB", opened, "ms", 40.0)
    yield Row("open it and look at one architecture of a release", view, "ms", 40.0)
    yield Row("open it and find what every architecture has in each release", matrix, "ms")
    yield Row("open it and make all records", records, "ms")
    yield Row("json.loads of the same bytes", plain, "ms")
    yield from lookup_rows(data)


def lookup_rows(data: bytes) -> Iterator[Row]:
    snapshot = Snapshot.open(data)
    engine = snapshot.engine_names[0]
    view = snapshot.release(engine, snapshot.releases(engine)[-1])
    if not view.architectures:
        return
    name = next(iter(view.architectures))
    capability = next(iter(view.capabilities))
    nested = {one: dict.fromkeys(view.capabilities_of(one)[0], True) for one in view.architectures}
    held = view.capability_set(capability)

    def dict_lookups() -> None:
        for _ in range(200_000):
            nested[name].get(capability)

    def set_lookups() -> None:
        for _ in range(200_000):
            name in held  # noqa: B015

    def view_lookups() -> None:
        for _ in range(200_000):
            capability in view.capabilities_of(name)[0]  # noqa: B015

    plain, by_set, by_view = in_turns(dict_lookups, set_lookups, view_lookups)
    yield Row("capability set / nested dict look-up", by_set / plain, "x", 3.0)
    yield Row("capabilities of an architecture / nested dict look-up", by_view / plain, "x", 3.0)
    yield Row("process: import, open the checkout's snapshot, one release", median(processes()), "ms")


def processes() -> Iterator[float]:
    script = (
        "import time; from archcap.snapshot import store; s = store.default(); e = s.engine_names[0]; "
        "v = s.release(e, s.releases(e)[-1]); v.defaults; len(v.architectures); print(time.process_time() * 1000)"
    )
    for _ in range(RELEASES):
        yield float(subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout)
