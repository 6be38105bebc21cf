"""Start-up of `capctl`, and its batches."""

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from benchmarks import Row

ROOT = Path(__file__).parents[1]
CAPCTL = Path(sys.executable).with_name("capctl")
BATCH = 4000


def spent(*command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([str(word) for word in command], check=False, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


def launches():
    config = json.loads((ROOT / "examples/configs/qwen3_5-moe-text.json").read_text())
    for number in range(BATCH):
        settings = {"tp_size": 8, "dcp_size": 1 + number % 2, "chunked_prefill_size": 2048 + number % 64}
        yield json.dumps(
            {
                "id": number,
                "engine": "sglang",
                "release": "0.5.18",
                "config": config,
                "hardware": {"gpu": ("h200", "b200")[number % 2], "count": 8},
                "settings": settings,
            }
        )


def rows():
    bare = median(spent(sys.executable, "-c", "pass") for _ in range(21))
    version = median(spent(CAPCTL, "--version") for _ in range(21))
    yield Row("bare python -c pass, CPU", bare, "ms")
    yield Row("capctl --version, CPU", version, "ms")
    yield Row("capctl --version / bare python", version / bare, "x", 3)
    text = "\n".join(launches()).encode()
    start = time.perf_counter()
    ran = subprocess.run([str(CAPCTL), "resolve", "--batch", "-"], input=text, capture_output=True, check=False)
    seconds = time.perf_counter() - start
    answered = sum(b'"verdict"' in line for line in ran.stdout.splitlines())
    assert answered == BATCH, ran.stderr[-500:]
    yield Row(f"--batch of {BATCH} launches, start-up included", BATCH / seconds, "/s", 1000, at_least=True)
