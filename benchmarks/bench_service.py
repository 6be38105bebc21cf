"""Requests per second of the service beside a FastAPI hello on the same server: uvicorn, one worker, one core.

The client runs on the other core. Kinds of requests are measured in turns within one run and compared by medians, so
that a noisy machine moves all of them. CPU per request is the server's own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from benchmarks import Row
from benchmarks.load import Load, complete, once, request, run

ROOT = Path(__file__).parents[1]
TURNS = int(os.environ.get("ARCHCAP_BENCH_TURNS", "5"))
SECONDS = float(os.environ.get("ARCHCAP_BENCH_SECONDS", "1.5"))
CONNECTIONS = 16
BASE = "/v1/engines/sglang/releases/0.5.18"
HELLO = """
import sys, uvicorn
from fastapi import FastAPI
app = FastAPI()
@app.get("/hello")
async def hello() -> dict[str, str]:
    return {"hello": "world"}
config = uvicorn.Config(
    app, port=0, access_log=False, log_level="warning", server_header=False, http="httptools", loop="uvloop"
)
class Server(uvicorn.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets)
        print("on port", self.servers[0].sockets[0].getsockname()[1], flush=True)
Server(config).run()
"""


@contextmanager
def server(*command: str, env: dict[str, str] | None = None) -> Iterator[tuple[int, int]]:
    """Run a server on the first core and yield its port and process."""

    def pin() -> None:
        if hasattr(os, "sched_setaffinity") and (os.cpu_count() or 1) > 1:
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

    started = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=ROOT,
        preexec_fn=pin,
        env={**os.environ, **(env or {})},
    )
    try:
        assert started.stdout is not None
        line = started.stdout.readline()
        assert line, "the server did not start"
        yield int(line.split()[-1].rsplit(":", 1)[-1]), started.pid
    finally:
        started.terminate()
        started.wait(timeout=30)


@contextmanager
def service(**settings: str) -> Iterator[tuple[int, int]]:
    """Run the service on an empty database of its own."""
    with tempfile.TemporaryDirectory(prefix="archcap-bench-") as folder:
        env = {"ARCHCAP_DATABASE_URL": f"sqlite:///{folder}/bench.db", "ARCHCAP_LOG_LEVEL": "warning", **settings}
        with server(
            sys.executable,
            "-c",
            "import sys; from archcap.cli import main; sys.exit(main())",
            "serve",
            "--port",
            "0",
            env=env,
        ) as running:
            yield running


def story() -> dict[str, object]:
    config = json.loads((ROOT / "examples/configs/qwen3_5-moe-text.json").read_text())
    return {"config": config, "hardware": {"gpu": "h200", "count": 8}, "settings": {"tp_size": 8, "dcp_size": 2}}


def etag_of(port: int, path: str) -> str:
    head = once(port, request("GET", path)).split(b"\r\n\r\n")[0].decode()
    return next(line.split(": ", 1)[1] for line in head.split("\r\n") if line.lower().startswith("etag"))


def prepared(port: int) -> dict[str, bytes]:
    path = f"{BASE}/capabilities/mamba_radix_cache"
    for _ in range(2):
        once(port, request("GET", path))
        once(port, request("POST", f"{BASE}/resolve", body=json.dumps(story()).encode()))
    return {
        "GET capability": request("GET", path),
        "GET capability, 304": request("GET", path, {"if-none-match": etag_of(port, path)}),
        "POST resolve, repeated": request("POST", f"{BASE}/resolve", body=json.dumps(story()).encode()),
    }


def rows() -> Iterator[Row]:
    if hasattr(os, "sched_setaffinity") and (os.cpu_count() or 1) > 1:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with (
        server(sys.executable, "-c", HELLO) as hello,
        service() as remembering,
        service(ARCHCAP_ANSWER_CACHE_MIB="0") as computing,
    ):
        kinds = {name: (remembering, data) for name, data in prepared(remembering[0]).items()}
        prepared(computing[0])
        kinds["POST resolve, story 1"] = (
            computing,
            request("POST", f"{BASE}/resolve", body=json.dumps(story()).encode()),
        )
        kinds["FastAPI hello"] = (hello, request("GET", "/hello"))
        measured: dict[str, list[Load]] = {name: [] for name in kinds}
        for _ in range(TURNS):
            for name, ((port, pid), data) in kinds.items():
                measured[name].append(run(port, pid, data, SECONDS, CONNECTIONS))
        assert sum(one.wrong for loads in measured.values() for one in loads) == 0
    yield from report(measured)


BUDGETS = {
    "GET capability": 1.8,
    "GET capability, 304": 2.2,
    "POST resolve, story 1": 0.3,
    "POST resolve, repeated": 2.0,
}


def report(measured: dict[str, list[Load]]) -> Iterator[Row]:
    rates = {name: median(one.per_second for one in loads) for name, loads in measured.items()}
    cpu = {name: median(one.cpu_us for one in loads) for name, loads in measured.items()}
    hello, hello_cpu = rates["FastAPI hello"], cpu["FastAPI hello"]
    for name in measured:
        yield Row(name, rates[name], "/s")
        yield Row(f"{name}: CPU per request", cpu[name], "us")
    for name, budget in BUDGETS.items():
        yield Row(f"{name} / FastAPI hello, requests per second", rates[name] / hello, "x", budget, at_least=True)
        yield Row(f"{name} / FastAPI hello, by CPU per request", hello_cpu / cpu[name], "x")


__all__ = ["complete", "rows", "service", "time"]
