"""What the client costs an engine: CPU until its first answer, and many ranks that start at once."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from timeit import repeat

from archcap.client import Client
from benchmarks import Row
from benchmarks.bench_cli import spent
from benchmarks.bench_service import service

RANKS, TURNS = 64, 15
ASK = (
    "from archcap.client import Client\n"
    "client = Client('sglang', '0.5.18')\n"
    "assert 'JetNemotronForCausalLM' in client.capability_set('mamba_radix_cache')\n"
    "import sys; sys.stdout.write(client.source.kind)"
)

LOOK_UPS = (
    "nested['mamba_radix_cache']['JetNemotronForCausalLM']",
    "'JetNemotronForCausalLM' in names",
    "client.supports('JetNemotronForCausalLM', 'mamba_radix_cache')",
)


def cpu(code, ready=None):
    taken = []
    for _ in range(TURNS):
        if ready is not None:
            ready()
        taken.append(spent(sys.executable, "-c", code))
    return median(taken)


def at_once(code):
    start = time.perf_counter()
    ran = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for _ in range(RANKS)
    ]
    said = [one.communicate()[0] for one in ran]
    return time.perf_counter() - start, said


def looked_up():
    client = Client("sglang", "0.5.18", "")
    names, nested = client.capability_set("mamba_radix_cache"), {"mamba_radix_cache": {"JetNemotronForCausalLM": True}}
    names_of = {"client": client, "names": names, "nested": nested}
    taken = [min(repeat(ask, globals=names_of, number=5_000, repeat=60)) for ask in LOOK_UPS]
    for ask, seconds in zip(LOOK_UPS[1:], taken[1:], strict=True):
        yield Row(f"{ask.split('(')[0]} / a nested dict look-up", seconds / taken[0], "x", 3)


def rows():
    with tempfile.TemporaryDirectory(prefix="archcap-bench-client-") as folder, service() as (port, _):
        cache = Path(folder, "cache")
        os.environ.update(ARCHCAP_URL=f"http://127.0.0.1:{port}", ARCHCAP_CACHE_DIR=str(cache))
        try:
            yield from measured(cache)
        finally:
            del os.environ["ARCHCAP_URL"], os.environ["ARCHCAP_CACHE_DIR"]


def measured(cache):
    def forget():
        shutil.rmtree(cache, ignore_errors=True)

    def confirm():
        for path in cache.glob("*.slice"):
            os.utime(path)

    yield from looked_up()
    bare = cpu("pass")
    yield Row("bare python -c pass, CPU", bare, "ms")
    spent(sys.executable, "-c", ASK)  # the service has made the slice from here on
    from_service = cpu(ASK, forget)
    from_cache = cpu(ASK, confirm)
    yield Row("first answer from the service / bare python, CPU", from_service / bare, "x", 7)
    yield Row("first answer from the cache / bare python, CPU", from_cache / bare, "x", 7)
    yield Row(f"{RANKS} bare pythons at once", at_once("pass")[0], "s")
    forget()
    seconds, said = at_once(ASK)
    yield Row(f"{RANKS} processes at once, empty cache, one worker", seconds, "s", 2.5)
    yield Row("of them served by the service or its answer", RANKS - said.count("bundle"), "", RANKS, at_least=True)
    yield Row("of them asked the service", said.count("service"), "", 1)
