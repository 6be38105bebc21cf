"""What an answer costs: the first founding story on the shipped data, its fixes, and an invented release of 800 rules.

An answer is the whole `Resolution`: rules run with their trace, findings with causes, settings with their origin.
"""

import json
import statistics
import time
from pathlib import Path

from tests.resolver.toy import ToyCode
from tests.rules.toy import registry, vocabulary

from archcap.model.codec import to_json
from archcap.model.hardware import Gpu
from archcap.model.registry import Registry
from archcap.model.request import Request
from archcap.resolver import resolve
from archcap.snapshot import build
from archcap.snapshot.programs import BUILT
from archcap.snapshot.snapshot import Snapshot
from archcap.snapshot.store import SNAPSHOT, default
from benchmarks import Row, milliseconds
from benchmarks.bench_rules import SETTINGS, TYPES, Shape

CONFIG = json.loads((Path(__file__).parent.parent / "examples/configs/qwen3_5-moe-text.json").read_text())


def story(release, fixes=False):
    return Request(
        engine="sglang",
        release=release,
        config=CONFIG,
        hardware={"gpu": "h200", "count": 8},
        settings={"tp_size": 8, "dcp_size": 2},
        fixes=fixes,
    )


def invented():
    """Return a snapshot of 800 drawn rules and a launch that gives a seventh of the settings."""
    shape = Shape(3)
    told = {"checkpoint_facts": {"do": [{"fact": dict(shape.facts)}]}}
    engine = registry(
        {"steps": {**told, **shape.steps()}},
        settings={f"s{n}": TYPES[n % 3] for n in range(SETTINGS)},
        facts={name: {"type": "bool", "meaning": "m"} for name in shape.facts},
        architectures={"RiverForCausalLM": {"releases": [{"added": "1.0"}]}},
    )
    card = Gpu(title="Card", vendor="nobody", platform="cuda", arch="sm90", compute=(9, 0))
    whole = Registry(vocabulary=vocabulary(), hardware={"card": card}, engines={engine.engine.engine: engine})
    snapshot = Snapshot.open(build(whole), code=lambda engine, release: ToyCode())
    given = {name: value for name, value in list(shape.raw.items())[::7] if value is not None}
    launch = Request(
        engine=engine.engine.engine, release="1.0", config={"architectures": ["RiverForCausalLM"]},
        hardware={"gpu": "card"}, settings=given,
    )  # fmt: skip
    return snapshot, launch


def rows():
    resolve(story("0.5.18"), default())  # in a fresh checkout this compiles the rules
    start = time.process_time()
    snapshot = Snapshot.open((BUILT / SNAPSHOT).read_bytes(), modules=BUILT)
    resolve(story("0.5.18"), snapshot)
    yield Row("snapshot load to first answer, CPU", (time.process_time() - start) * 1e3, "ms", 100)
    for release in ("0.5.18", "0.5.23"):
        request = story(release)
        median, last = milliseconds(lambda request=request: resolve(request, snapshot), 600, warm=100)
        yield Row(f"story 1 on {release}, median", median, "ms", 0.5)
        yield Row(f"story 1 on {release}, 99th percentile", last, "ms", 1.5)
    answer = resolve(story("0.5.18"), snapshot)
    yield Row("its JSON, median", milliseconds(lambda: to_json(answer), 600)[0], "ms")
    times = []
    for _ in range(15):
        start = time.process_time()
        resolve(story("0.5.18", fixes=True), snapshot)
        times.append((time.process_time() - start) * 1e3)
    yield Row("story 1 on 0.5.18 with its fixes, median", statistics.median(times), "ms", 150)
    drawn, launch = invented()
    assert resolve(launch, drawn).settings
    median, last = milliseconds(lambda: resolve(launch, drawn), 400, warm=100)
    yield Row("800 invented statements with the answer, median", median, "ms", 0.5)
    yield Row("800 invented statements with the answer, 99th percentile", last, "ms", 1.5)
