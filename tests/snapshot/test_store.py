"""The snapshot at hand follows the YAML, is written whole or not at all, and is there where nothing can be written."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from archcap.errors import ArchcapError, DataError, RequestError
from archcap.snapshot import Snapshot, store
from archcap.snapshot.files import exclusive, sweep, write_atomically
from tests import mini
from tests.snapshot import toy

PACKAGE = str(Path(store.__file__).parents[2])


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "archcap"


@pytest.fixture
def root(tmp_path: Path, cache: Path) -> Path:
    """Return a copy of the invented registry whose files are old enough for their times to be trusted."""
    copied = mini.copy_to(tmp_path / "root")
    age(copied)
    return copied


def age(root: Path, seconds: float = 3600.0) -> None:
    then = time.time() - seconds
    for path in root.rglob("*.yaml"):
        os.utime(path, (then, then))


def opened_anew(root: Path) -> Snapshot:
    """Open *root* as another process would."""
    store._folders.clear()
    return store.open_registry(root)


def rename_beta(root: Path, title: str) -> None:
    path = root / "registry/hardware.yaml"
    path.write_text(path.read_text().replace("title: Beta", f"title: {title}"))


def kept(cache: Path) -> Path:
    (folder,) = cache.iterdir()
    return folder


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Count how often the YAML is read."""
    done: list[Path] = []
    compile_yaml = store._compile

    def counted(root: Path) -> bytes:
        done.append(root)
        return compile_yaml(root)

    monkeypatch.setattr(store, "_compile", counted)
    return done


# -- following the YAML ------------------------------------------------------------------


def test_a_folder_is_built_once_and_kept(root: Path, builds: list[Path]) -> None:
    first = store.open_registry(root)
    assert first.digest == toy.snapshot().digest
    assert store.open_registry(root) is first
    assert opened_anew(root).digest == first.digest
    assert builds == [root]


@pytest.mark.parametrize("anew", [False, True])
def test_a_changed_fact_is_seen(root: Path, builds: list[Path], anew: bool) -> None:
    first = store.open_registry(root)
    rename_beta(root, "Gamma")
    again = opened_anew(root) if anew else store.open_registry(root)
    assert again.hardware["beta"].title == "Gamma"
    assert again.digest != first.digest
    assert len(builds) == 2


@pytest.mark.parametrize("anew", [False, True])
def test_a_change_of_equal_size_in_the_same_instant_is_seen(root: Path, anew: bool) -> None:
    path = root / "registry/hardware.yaml"
    before = path.stat()
    for old, new in (("Beta", "Bota"), ("Bota", "Bita"), ("Bita", "Bata")):
        path.write_text(path.read_text().replace(f"title: {old}", f"title: {new}"))
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        found = opened_anew(root) if anew else store.open_registry(root)
        assert found.hardware["beta"].title == new


def test_a_file_added_or_removed_is_seen(root: Path) -> None:
    first = store.open_registry(root)
    path = root / "registry/checkpoints/other.yaml"
    path.write_text("checkpoints:\n  other/x: {architecture: StoneForCausalLM, source: none, config: {}}\n")
    second = store.open_registry(root)
    assert sorted(second.checkpoints) == ["acme/river-8b", "acme/stone-2b", "other/x"]
    path.unlink()
    assert store.open_registry(root).digest == first.digest


def test_touched_files_are_not_built_again(root: Path, builds: list[Path]) -> None:
    store.open_registry(root)
    age(root, 7200)
    opened_anew(root)
    age(root, 1800)
    store.open_registry(root)
    assert builds == [root]


def test_notes_that_are_no_data_do_not_count(root: Path, builds: list[Path]) -> None:
    store.open_registry(root)
    (root / "registry/engines/toy/README.md").write_text("x")
    opened_anew(root)
    assert builds == [root]


def test_broken_yaml_is_told_and_mended_yaml_is_read(root: Path) -> None:
    first = store.open_registry(root)
    path = root / "registry/hardware.yaml"
    good = path.read_text()
    path.write_text(good + "\t")
    for _ in range(2):
        with pytest.raises(DataError):
            store.open_registry(root)
    path.write_text(good)
    assert store.open_registry(root).digest == first.digest


def test_a_file_that_changes_while_it_is_read_is_not_kept_as_read(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compile_yaml = store._compile

    def change_meanwhile(folder: Path) -> bytes:
        data = compile_yaml(folder)
        rename_beta(folder, "Late")
        return data

    monkeypatch.setattr(store, "_compile", change_meanwhile)
    assert store.open_registry(root).hardware["beta"].title == "Beta"
    monkeypatch.setattr(store, "_compile", compile_yaml)
    assert store.open_registry(root).hardware["beta"].title == "Late"


# -- what is kept may be damaged ------------------------------------------------------------


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


DAMAGE: list[tuple[str, Callable[[Path], Any]]] = [
    ("snapshot cut", lambda folder: cut(folder / store.SNAPSHOT)),
    ("snapshot gone", lambda folder: (folder / store.SNAPSHOT).unlink()),
    ("snapshot of something else", lambda folder: (folder / store.SNAPSHOT).write_bytes(b"{}")),
    ("note cut", lambda folder: cut(folder / store.NOTE)),
    ("note gone", lambda folder: (folder / store.NOTE).unlink()),
    ("note of another shape", lambda folder: (folder / store.NOTE).write_text("[1]")),
    ("note of another snapshot", lambda folder: (folder / store.NOTE).write_text(
        json.dumps(json.loads((folder / store.NOTE).read_text()) | {"snapshot": "sha256:0"})
    )),
]  # fmt: skip


@pytest.mark.parametrize("damage", [row[1] for row in DAMAGE], ids=[row[0] for row in DAMAGE])
def test_damage_to_what_is_kept_costs_a_build_and_nothing_else(
    root: Path, cache: Path, builds: list[Path], damage: Callable[[Path], Any]
) -> None:
    first = store.open_registry(root)
    damage(kept(cache))
    assert opened_anew(root).digest == first.digest
    assert len(builds) == 2
    assert opened_anew(root).digest == first.digest
    assert len(builds) == 2


# -- nothing can be written ---------------------------------------------------------------


def no_space(*args: Any, **more: Any) -> Any:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    ("module", "name"),
    [(os, "replace"), (os, "fsync"), (tempfile, "mkstemp"), (os, "mkdir"), (os, "chmod")],
    ids=["rename", "sync", "create", "folder", "mode"],
)
def test_a_full_disk_costs_keeping_not_answering(
    root: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, module: Any, name: str
) -> None:
    monkeypatch.setattr(module, name, no_space)
    assert store.open_registry(root).digest == toy.snapshot().digest
    monkeypatch.undo()
    files = [path for path in cache.rglob("*") if path.is_file()] if cache.exists() else []
    assert {path.name for path in files} <= {store.LOCK}


def test_a_full_disk_leaves_the_old_snapshot_in_place(
    root: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.open_registry(root)
    before = {path.name: path.read_bytes() for path in kept(cache).iterdir()}
    rename_beta(root, "Gamma")
    monkeypatch.setattr(os, "replace", no_space)
    assert opened_anew(root).hardware["beta"].title == "Gamma"
    assert {path.name: path.read_bytes() for path in kept(cache).iterdir()} == before


def test_a_folder_that_cannot_be_made_costs_nothing(root: Path, cache: Path, builds: list[Path]) -> None:
    cache.parent.mkdir()
    cache.write_text("a file where a folder should be")
    assert store.open_registry(root).digest == toy.snapshot().digest
    assert store.open_registry(root).digest == toy.snapshot().digest
    assert builds == [root]  # kept in memory


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="permissions do not bind this user")
def test_a_read_only_cache_costs_nothing(root: Path, cache: Path) -> None:
    cache.mkdir(parents=True)
    cache.chmod(0o500)
    assert store.open_registry(root).digest == toy.snapshot().digest


KILLED = """
import os, sys
from pathlib import Path
from archcap.snapshot import store
replace, left = os.replace, int(sys.argv[2])
def die(*args):
    global left
    if left == 0:
        os._exit(9)
    left -= 1
    replace(*args)
os.replace = die
store.open_registry(sys.argv[1])
"""


@pytest.mark.parametrize("renames", [0, 1])
def test_a_writer_that_is_killed_leaves_nothing_wrong_behind(root: Path, cache: Path, renames: int) -> None:
    assert run(KILLED, str(root), str(renames)).wait() == 9
    names = [path.name for path in kept(cache).iterdir()]
    assert any(name.endswith(".tmp") for name in names)
    assert store.NOTE not in names
    assert store.open_registry(root).digest == toy.snapshot().digest


def test_leftovers_of_killed_writers_are_swept_once_they_are_old(tmp_path: Path) -> None:
    for name, seconds in ((".snapshot.json.a.tmp", 7200), (".snapshot.json.b.tmp", 60), ("kept.tmp", 7200)):
        (tmp_path / name).write_text("x")
        os.utime(tmp_path / name, (time.time() - seconds,) * 2)
    sweep(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".snapshot.json.b.tmp", "kept.tmp"]


# -- several at once --------------------------------------------------------------------------


def run(script: str, *words: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": PACKAGE}
    command = [sys.executable, "-c", script, *words]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


OPEN = """
import sys, time
from archcap.snapshot import store
compile_yaml = store._compile
def told(root):
    print("built")
    time.sleep(0.3)
    return compile_yaml(root)
store._compile = told
while time.time() < float(sys.argv[2]):
    time.sleep(0.001)
found = store.open_registry(sys.argv[1])
found.verify()
print(found.digest)
"""


def test_processes_that_start_together_build_once_and_agree(root: Path) -> None:
    start = str(time.time() + 3)
    started = [run(OPEN, str(root), start) for _ in range(4)]
    said = [process.communicate(timeout=120)[0].split() for process in started]
    assert {words[-1] for words in said} == {toy.snapshot().digest}
    assert sum(words.count("built") for words in said) == 1


def test_threads_that_start_together_get_one_snapshot(root: Path, builds: list[Path]) -> None:
    found: list[Snapshot] = []
    threads = [threading.Thread(target=lambda: found.append(store.open_registry(root))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(snapshot) for snapshot in found}) == 1
    assert builds == [root]


HOLD = """
import sys, time
from pathlib import Path
from archcap.snapshot.files import exclusive
with exclusive(Path(sys.argv[1]), 5) as held:
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_lock_is_one_processs_and_dies_with_it(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    holder = run(HOLD, str(path))
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with exclusive(path, 0.1) as held:
        assert held is False
    holder.kill()
    holder.wait()
    with exclusive(path, 5) as held:
        assert held is True


def test_a_builder_that_waits_too_long_builds_for_itself(
    root: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.open_registry(root)
    rename_beta(root, "Gamma")
    holder = run(HOLD, str(kept(cache) / store.LOCK))
    assert holder.stdout is not None
    holder.stdout.readline()
    monkeypatch.setattr(store, "LOCK_TIMEOUT_S", 0.1)
    try:
        assert opened_anew(root).hardware["beta"].title == "Gamma"
    finally:
        holder.kill()
        holder.wait()


def test_a_file_is_written_with_the_mode_any_file_gets(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a", b"x")
    (tmp_path / "b").write_bytes(b"x")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode


# -- which one ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_the_environment_names_another_registry(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    file = tmp_path / "snapshot.json"
    file.write_bytes(toy.data())
    monkeypatch.setenv(store.ENVIRONMENT, str(root if kind == "folder" else file))
    assert store.default().digest == toy.snapshot().digest
    assert store.default() is store.default()


def test_a_snapshot_file_that_is_replaced_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "snapshot.json"
    write_atomically(file, toy.data())
    first = store.open_registry(file)
    raw: Any = first.raw("hardware")
    raw["hardware"]["beta"]["title"] = "Gamma"
    write_atomically(file, first.with_part_replaced("hardware", raw).to_bytes())
    assert store.open_registry(file).hardware["beta"].title == "Gamma"


def test_a_registry_that_is_not_there_is_misuse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(store.ENVIRONMENT, str(tmp_path / "nowhere"))
    with pytest.raises(RequestError) as caught:
        store.default()
    assert caught.value.code == "no-registry"
    assert str(caught.value).startswith(f"{tmp_path}/nowhere cannot be opened: no such file or directory; name a")


def test_a_file_that_is_no_snapshot_says_so(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(ArchcapError) as caught:
        store.open_registry(tmp_path / "x.json")
    assert caught.value.code == "no-snapshot"


def test_a_folder_without_a_registry_is_told_file_by_file(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError) as caught:
        store.open_registry(tmp_path / "empty")
    assert {problem.file for problem in caught.value.problems} == {"capabilities.yaml", "registry"}


def test_an_installed_package_uses_what_it_carries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(store.ENVIRONMENT, raising=False)
    monkeypatch.setattr(store, "checkout_root", lambda: None)
    monkeypatch.setattr(store, "BUILT", tmp_path)
    with pytest.raises(ArchcapError) as caught:
        store.default()
    assert caught.value.code == "no-registry"
    (tmp_path / store.SNAPSHOT).write_bytes(toy.data())
    assert store.default().digest == toy.snapshot().digest


def test_a_checkout_is_known_by_its_vocabulary() -> None:
    root = store.checkout_root()
    assert root is not None
    assert (root / "capabilities.yaml").is_file()
    assert (root / "registry" / "archcap" / "snapshot" / "store.py").samefile(store.__file__)


def test_what_a_link_leads_to_is_written_and_no_device_is_replaced(tmp_path: Path) -> None:
    place, link = tmp_path / "place", tmp_path / "link"
    place.write_bytes(b"old")
    link.symlink_to(place)
    write_atomically(link, b"new")
    assert (place.read_bytes(), link.is_symlink()) == (b"new", True)
    device = tmp_path / "null"
    device.symlink_to(os.devnull)
    write_atomically(device, b"gone")
    assert Path(os.devnull).is_char_device()
    with pytest.raises(OSError, match="directory"):
        write_atomically(tmp_path, b"x")
