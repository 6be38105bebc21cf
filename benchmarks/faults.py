"""What the service does when things break: kill -9 during writes, the database away under load, replicas' delay.

Minutes long, so no test: `python -m benchmarks.faults [kill] [away] [replicas] [hostile]`. Exits 1 when a promise is
broken.
"""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import quantiles

from tests.service.pg import Server, binaries

from archcap_service.store.audit import Actor
from archcap_service.store.database import Database
from archcap_service.store.migrations import upgrade
from archcap_service.store.revisions import Revisions
from archcap_service.store.tokens import Tokens
from benchmarks.load import once, request

ROOT = Path(__file__).parents[1]
SERVE = "import sys; from archcap.cli import main; sys.exit(main(['serve', '--port', sys.argv[1]]))"
CAPABILITY = "/v1/engines/sglang/releases/0.5.18/capabilities/mamba_radix_cache"
ROUNDS = int(os.environ.get("ARCHCAP_FAULT_ROUNDS", "20"))
AWAY_S = float(os.environ.get("ARCHCAP_FAULT_AWAY_S", "30"))
OVERRIDES = int(os.environ.get("ARCHCAP_FAULT_OVERRIDES", "200"))
ARCHITECTURE = "Qwen3_5MoeForCausalLM"


def statement(number: int) -> dict[str, object]:
    return {
        "engine": "sglang", "releases": "0.5.18", "architecture": ARCHITECTURE, "capability": "mamba_radix_cache",
        "value": number % 2 == 1, "reason": f"number {number}",
    }  # fmt: skip


class Replica:
    """One process of the service."""

    def __init__(self, url: str, port: int = 0) -> None:
        env = {**os.environ, "ARCHCAP_DATABASE_URL": url, "ARCHCAP_LOG_LEVEL": "error"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVE, str(port)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            cwd=ROOT, env=env,
        )  # fmt: skip
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the service did not start"
        self.base = line.split()[-1]
        self.port = int(self.base.rsplit(":", 1)[1])

    def ask(self, method: str, path: str, token: str = "", body: object = None, **headers: str) -> tuple[int, bytes]:
        data = json.dumps(body).encode() if body is not None else None
        asked = urllib.request.Request(
            self.base + path, data, {**headers, "content-type": "application/json"}, method=method
        )
        if token:
            asked.add_header("authorization", f"Bearer {token}")
        try:
            with urllib.request.urlopen(asked, timeout=10) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=40)


def token_of(url: str) -> str:
    database = Database(url)
    upgrade(database)
    _, text = Tokens(database).create(f"faults {time.monotonic_ns()}", ["write"], None, Actor("faults"))
    database.close()
    return text


@contextmanager
def databases() -> Iterator[tuple[Server, list[str]]]:
    found = binaries()
    assert found is not None, "there is no PostgreSQL"
    server, folder = Server(found), tempfile.mkdtemp(prefix="archcap-faults-")
    try:
        yield server, [f"sqlite:///{folder}/faults.db", server.create("faults")]
    finally:
        server.close()
        shutil.rmtree(folder, ignore_errors=True)


def kill(url: str) -> list[str]:
    """Kill the service again and again while it writes; every acknowledged override must be there, whole."""
    token, acknowledged, broken = token_of(url), [], []
    for round_number in range(ROUNDS):
        replica = Replica(url)
        stop = threading.Event()

        def write(replica: Replica = replica, stop: threading.Event = stop) -> None:
            number = 0
            while not stop.is_set():
                number += 1
                try:
                    status, body = replica.ask("POST", "/v1/overrides", token, statement(number))
                except (OSError, http.client.HTTPException):
                    return
                if status == 201:
                    acknowledged.append(json.loads(body)["override"]["id"])

        writers = [threading.Thread(target=write) for _ in range(3)]
        for writer in writers:
            writer.start()
        before, patience = len(acknowledged), time.monotonic() + 20
        while len(acknowledged) < before + 3 and time.monotonic() < patience:
            time.sleep(0.005)
        time.sleep(0.013 * (round_number % 9))  # somewhere within a write
        replica.kill()
        stop.set()
        for writer in writers:
            writer.join()
    database = Database(url)
    revisions = Revisions(database)
    stored = revisions.current()
    held = set(stored.revision.overrides)
    broken += [f"override {one} was acknowledged and is lost" for one in acknowledged if one not in held]
    number, known = stored.revision.id, {one.id for one in stored.overrides}
    if len(held) != number - 1 or known != held:
        broken.append(f"{len(held)} overrides in revision {number}: something is half there")
    database.close()
    said = f"{len(acknowledged)} overrides acknowledged, {len(held)} held, {len(broken)} broken"
    print(f"  {ROUNDS} kills during writes: {said}", flush=True)
    return broken


def away(server: Server, url: str) -> list[str]:
    """Stop the database under load; reads must go on without one failure, writes be refused, and all recover."""
    token = token_of(url)
    replica = Replica(url)
    replica.ask("POST", "/v1/overrides", token, statement(1))
    stop, counts, failed = threading.Event(), [0] * 4, []
    story = json.loads((ROOT / "examples/configs/qwen3_5-moe-text.json").read_text())
    body = json.dumps({"config": story, "hardware": {"gpu": "h200", "count": 8}}).encode()
    asked = [
        request("GET", CAPABILITY),
        request("GET", "/v1/overrides"),
        request("POST", "/v1/engines/sglang/releases/0.5.18/resolve", body=body),
        request("GET", "/v1/revisions"),
    ]

    def read(which: int) -> None:
        while not stop.is_set():
            answer = once(replica.port, asked[which])
            counts[which] += 1
            if b" 200 " not in answer[:20]:
                failed.append(answer[:80])

    readers = [threading.Thread(target=read, args=(which,)) for which in range(4)]
    for reader in readers:
        reader.start()
    time.sleep(1)
    server.stop()
    refused, until = [], time.monotonic() + AWAY_S
    while time.monotonic() < until:
        refused.append(replica.ask("POST", "/v1/overrides", token, statement(2))[0])
        time.sleep(0.5)
    ready = json.loads(replica.ask("GET", "/readyz")[1])
    server.start()
    back = time.monotonic()
    while replica.ask("POST", "/v1/overrides", token, statement(3))[0] != 201 and time.monotonic() < back + 30:
        time.sleep(0.1)
    recovered = time.monotonic() - back
    stop.set()
    for reader in readers:
        reader.join()
    replica.stop()
    broken = [f"a read failed: {one!r}" for one in failed[:5]]
    broken += [f"a write was answered {one}" for one in set(refused) if one != 503]
    broken += [] if ready["status"] == "degraded" else [f"/readyz said {ready['status']}"]
    broken += [] if recovered < 30 else ["it did not recover"]
    said = f"{sum(counts)} reads, {len(failed)} failed; {len(refused)} writes refused"
    print(f"  database away for {AWAY_S:g} s: {said}; writing again after {recovered:.1f} s", flush=True)
    return broken


def replicas(url: str) -> list[str]:
    """Write overrides on one replica and wait for each on another."""
    token = token_of(url)
    first, second = Replica(url), Replica(url)
    asked = request("GET", CAPABILITY)
    for replica in (first, second):
        once(replica.port, asked)
    taken: list[float] = []
    connection = socket.create_connection(("127.0.0.1", second.port))
    for number in range(1, OVERRIDES + 1):
        status, _ = first.ask("POST", "/v1/overrides", token, statement(number))
        start, wanted = time.perf_counter(), number % 2 == 1
        assert status == 201
        while (ARCHITECTURE.encode() + b'"' in ask(connection, asked)) != wanted:
            if time.perf_counter() - start > 10:
                return [f"override {number} never arrived"]
        taken.append((time.perf_counter() - start) * 1000)
    connection.close()
    first.stop()
    second.stop()
    parts = quantiles(taken, n=100)
    said = f"p50 {parts[49]:.1f} ms, p99 {parts[98]:.1f} ms, worst {max(taken):.1f} ms"
    print(f"  override on another replica, {OVERRIDES} times: {said}", flush=True)
    return [] if parts[49] <= 50 and parts[98] <= 250 else ["too slow"]


def ask(connection: socket.socket, data: bytes) -> bytes:
    connection.sendall(data)
    got = b""
    while True:
        got += connection.recv(1 << 16)
        head, gap, body = got.partition(b"\r\n\r\n")
        if gap and len(body) >= int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]):
            return got


HOSTILE = [
    ("a body of 10 MB", "POST", "/resolve", b'{"config": "' + b"x" * 10_000_000 + b'"}'),
    ("10,000 levels", "POST", "/resolve", b'{"config": ' + b"[" * 10_000 + b"]" * 10_000 + b"}"),
    ("10,000 levels of objects", "POST", "/resolve", b'{"a":' * 10_000 + b"1" + b"}" * 10_000),
    ("invalid UTF-8", "POST", "/resolve", b'{"config": {"\xff\xfe": 1}}'),
    ("a path with ..", "GET", "/../../../../../etc/passwd", b""),
    ("an SQL fragment", "GET", "/architectures/'%3B%20DROP%20TABLE%20overrides%3B%20--", b""),
    ("a body of 10 MB without a token", "POST", "/v1/overrides", b"x" * 10_000_000),
]


def hostile(url: str) -> list[str]:
    """Send what nobody should; each must be a documented 4xx within 100 ms."""
    token_of(url)
    replica, broken = Replica(url), []
    once(replica.port, request("GET", CAPABILITY))
    once(replica.port, request("POST", "/v1/engines/sglang/releases/0.5.18/resolve", body=b"{}"))
    for what, method, path, body in HOSTILE:
        whole = path if path.startswith("/v1") else "/v1/engines/sglang/releases/0.5.18" + path
        best, answer = 10.0, b""
        for _ in range(3):
            start = time.perf_counter()
            try:
                answer = once(replica.port, request(method, whole, body=body))
            except ConnectionError as error:
                answer = repr(error).encode()
            best = min(best, time.perf_counter() - start)
        status = answer[9:12].decode()
        print(f"  {what:<34} {status} in {best * 1000:.1f} ms")
        if not status.startswith("4") or best > 0.1 or b"problem+json" not in answer:
            broken.append(f"{what}: {answer[:120]!r} after {best * 1000:.0f} ms")
    replica.stop()
    return broken


def main(words: list[str]) -> int:
    wanted = set(words) or {"kill", "away", "replicas", "hostile"}
    broken: list[str] = []
    with databases() as (server, (sqlite, postgres)):
        acts = {
            "hostile": lambda: hostile(sqlite),
            "replicas": lambda: replicas(server.create("replicas")),
            "away": lambda: away(server, server.create("away")),
            "kill": lambda: kill(sqlite) + kill(postgres),
        }
        for name, act in acts.items():
            if name in wanted:
                print(name, flush=True)
                broken += act()
    for one in broken:
        print(f"BROKEN: {one}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
