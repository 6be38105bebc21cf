"""The plug-in on an invented package of the engine's shape: what it tells, what it adds, what it leaves alone."""

from __future__ import annotations

import importlib
import importlib.util
import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from archcap.client import bundle, sglang
from archcap.client.facts import read_facts
from archcap.client.sglang import process
from archcap.client.sglang.collections import Place, names_in, places
from archcap.client.sglang.compare import compare
from archcap.client.sglang.extend import extend
from archcap.client.sglang.preflight import lines
from archcap.client.sglang.watch import when_imported
from tests.client import servers

FILES = {
    "__init__.py": "",
    "version.py": '__version__ = "1.2"',
    "srt/__init__.py": "",
    "srt/sets.py": (
        '_HYBRID = frozenset({"AModel", "BModel"})\nNONE = ()\nGROWING = {"AModel"}\nROW = ["AModel"]\n'
        'PAIR = ("AModel",)\nTABLE = {"AModel": 1}\nCOUNT = 3\n\n\nclass Arguments:\n    KINDS = ("AModel",)\n'
    ),
    "srt/user.py": "from sglang.srt.sets import _HYBRID, NONE\nKNOWN = _HYBRID\nOTHER = ()\n",
    "srt/late.py": 'LATE = frozenset({"AModel"})\n',
    "srt/broken.py": "raise RuntimeError('as it may')",
}
LISTS = {
    "srt.sets._HYBRID": ["AModel", "BModel"], "srt.sets.GROWING": ["AModel"], "srt.sets.ROW": ["AModel"],
    "srt.sets.PAIR": ["AModel"], "srt.sets.TABLE": ["AModel"], "srt.sets.Arguments.KINDS": ["AModel"],
    "srt.late.LATE": ["AModel"], "srt.sets.NONE": [],
}  # fmt: skip


@pytest.fixture(autouse=True)
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An installed engine of version 1.2, of which one module of sets is loaded."""
    root = tmp_path / "engine" / "sglang"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    monkeypatch.syspath_prepend(str(root.parent))
    finders = list(sys.meta_path)
    for name in ("sglang", "sglang.version", "sglang.srt.sets", "sglang.srt.user"):
        importlib.import_module(name)
    yield root
    sys.meta_path[:] = finders
    for name in [name for name in sys.modules if name.partition(".")[0] == "sglang"]:
        del sys.modules[name]


def facts(release: str = "1.2", **changes: Any) -> bytes:
    whole = {
        "schema": 1, "engine": "sglang", "release": release, "releases": ["1.1", "1.2"], "capabilities": ["hybrid"],
        "architectures": {name: {"has": ["hybrid"]} for name in ("AModel", "BModel")}, "lists": LISTS,
        "collections": {"hybrid": ["srt.old._HYBRID", "srt.sets._HYBRID"]}, "stated": [],
    }  # fmt: skip
    return servers.signed({**whole, **changes})


def override(name: str = "CModel", value: bool = True, number: int = 3, **about: str) -> dict[str, object]:
    return {
        "capability": "hybrid",
        "name": name,
        "value": value,
        "source": f"override {number}",
        "note": "Ours.",
        **about,
    }


def place(ref: str, *capabilities: str) -> Place:
    return Place(ref, capabilities, sys.modules["sglang"].__path__)


def loaded(name: str) -> ModuleType:
    return sys.modules[f"sglang.{name}"]


def carry(data: bytes, release: str = "1.2") -> None:
    folder = Path(bundle.FOLDER, "sglang")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{release}.json").write_bytes(data)


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [f"{one.levelname.lower()} {one.getMessage()}" for one in caplog.records if one.name == "archcap"]


def load(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, mode: str = "") -> list[str]:
    caplog.set_level(logging.DEBUG, "archcap")
    caplog.clear()
    if mode:
        monkeypatch.setenv("ARCHCAP_MODE", mode)
    sglang.load()
    return told(caplog)


def differences(found: list[str]) -> list[str]:
    return [line for line in found if "differs from the registry in" not in line]


def test_a_set_that_agrees_says_nothing(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    carry(facts())
    found = load(monkeypatch, caplog)
    assert len(found) == 1
    assert found[0].startswith(
        "info archcap audit: sglang 1.2 differs from the registry in 0 names, nothing was changed"
    )
    assert "answers from bundle, age" in found[0]


def test_audit_tells_and_changes_nothing(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    carry(facts(stated=[override()]))
    found = load(monkeypatch, caplog)
    assert differences(found) == ["warning archcap: registry adds CModel to _HYBRID (override #3, reason: Ours.)"]
    assert "CModel" not in loaded("srt.sets")._HYBRID
    assert found[-1].startswith("warning archcap audit: sglang 1.2 differs from the registry in 1 names, nothing")


def test_extend_adds_also_where_others_took_it(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    carry(facts(stated=[override()]))
    found = load(monkeypatch, caplog, "extend")
    assert differences(found) == ["warning archcap: registry adds CModel to _HYBRID (override #3, reason: Ours.)"]
    assert {"AModel", "BModel", "CModel"} == loaded("srt.sets")._HYBRID
    assert loaded("srt.user")._HYBRID is loaded("srt.user").KNOWN is loaded("srt.sets")._HYBRID
    assert loaded("srt.user").OTHER == ()


def test_off_looks_at_nothing(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    carry(facts(stated=[override()]))
    monkeypatch.setattr(process, "running_version", lambda: pytest.fail("looked"))
    assert load(monkeypatch, caplog, "off") == []


def test_a_mode_that_is_none_is_said_and_audit_is_taken(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    carry(facts(stated=[override()]))
    found = load(monkeypatch, caplog, "extends")
    assert "warning ARCHCAP_MODE=extends is none of off, audit, extend: audit is taken" in found
    assert "CModel" not in loaded("srt.sets")._HYBRID


def test_a_release_nobody_knows_is_compared_and_not_extended(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    carry(facts("1.1", releases=["1.1"], stated=[override()]), "1.1")
    found = load(monkeypatch, caplog, "extend")
    assert "warning archcap: nothing is extended, because sglang 1.2 is not known" in found
    assert "CModel" not in loaded("srt.sets")._HYBRID


def test_a_failure_is_logged_once_and_goes_no_further(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    carry(facts())
    monkeypatch.setattr("archcap.client.sglang.plugin.compare", lambda *_: 1 / 0)
    failed = "error archcap: the plug-in failed and is left out: ZeroDivisionError: division by zero"
    assert load(monkeypatch, caplog) == [failed]


def test_strict_ends_the_process(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    carry(facts())
    monkeypatch.setenv("ARCHCAP_STRICT", "1")
    monkeypatch.setenv("ARCHCAP_URL", "http://127.0.0.1:9")
    with pytest.raises(SystemExit, match=r"archcap: bundle, .*refused"):
        load(monkeypatch, caplog)


def test_a_module_loaded_later_is_looked_at_then(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    said = [override(list="srt.late.LATE", capability="")]
    carry(facts(stated=said))
    assert differences(load(monkeypatch, caplog, "extend")) == []
    late = importlib.import_module("sglang.srt.late")
    assert {"AModel", "CModel"} == late.LATE
    assert told(caplog)[-1] == "warning archcap: registry adds CModel to LATE (override #3, reason: Ours.)"
    assert type(late.__loader__).__name__ == type(late.__spec__.loader).__name__ == "SourceFileLoader"


def test_a_module_that_fails_fails_as_it_would(caplog: pytest.LogCaptureFixture) -> None:
    calls: list[int] = []
    when_imported("sglang.srt.broken", lambda: calls.append(1))
    when_imported("sglang.srt.absent", lambda: calls.append(2))
    with pytest.raises(RuntimeError, match="as it may"):
        importlib.import_module("sglang.srt.broken")
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("sglang.srt.absent")
    assert importlib.util.find_spec("sglang.srt.broken") is not None
    assert calls == []


def test_a_call_that_fails_fails_no_import(caplog: pytest.LogCaptureFixture) -> None:
    when_imported("sglang.srt.late", lambda: 1 / 0)  # type: ignore[arg-type,return-value]
    assert importlib.import_module("sglang.srt.late").LATE
    assert "sglang.srt.late could not be compared: ZeroDivisionError" in caplog.text


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"stated": [override("BModel", value=False, number=4)]},
         "registry denies BModel in _HYBRID, which is not taken out (override #4, reason: Ours.)"),
        ({"lists": {"srt.sets._HYBRID": ["AModel", "BModel", "DModel"]}},
         "the registry lists DModel in _HYBRID, this engine does not"),
        ({"architectures": {"AModel": {"has": ["hybrid"]}, "BModel": {"has": []}},
          "lists": {"srt.sets._HYBRID": ["AModel"]}},
         "this engine lists BModel in _HYBRID, the registry does not"),
    ],
)  # fmt: skip
def test_every_difference_has_its_line(changes: dict[str, Any], line: str) -> None:
    found = compare(place("srt.sets._HYBRID", "hybrid"), read_facts(facts(**changes), "sglang", "1.2"))
    assert found.differences == [line]
    assert found.adds == {}


def test_a_collection_that_is_gone_is_said_where_the_release_has_it() -> None:
    known = read_facts(facts(lists={"srt.sets.GONE": ["AModel"]}), "sglang", "1.2")
    gone = "the registry knows GONE, this engine has no such collection"
    assert compare(place("srt.sets.GONE"), known).differences == [gone]
    assert compare(place("srt.sets.NEVER"), known).differences == []
    assert compare(place("srt.sets.COUNT"), known).differences == ["COUNT is no collection of names here: int"]


def test_support_that_a_scan_saw_in_another_way_is_no_difference() -> None:
    known = facts(architectures={name: {"has": ["hybrid"]} for name in ("AModel", "BModel", "EModel")})
    assert compare(place("srt.sets._HYBRID", "hybrid"), read_facts(known, "sglang", "1.2")).differences == []


def test_a_later_statement_wins() -> None:
    said = [override(), override(value=False, number=4)]
    assert compare(place("srt.sets._HYBRID", "hybrid"), read_facts(facts(stated=said), "sglang", "1.2")).adds == {}


@pytest.mark.parametrize(
    ("ref", "after"),
    [("GROWING", {"AModel", "CModel"}), ("ROW", ["AModel", "CModel"]), ("PAIR", ("AModel", "CModel")),
     ("Arguments.KINDS", ("AModel", "CModel")), ("NONE", ("CModel",))],
)  # fmt: skip
def test_every_kind_of_collection_grows(ref: str, after: object) -> None:
    there = place(f"srt.sets.{ref}")
    assert extend(there, ["CModel"]) is None
    assert there.value() == after


def test_an_empty_tuple_is_replaced_by_name_only() -> None:
    assert loaded("srt.user").OTHER is loaded("srt.sets").NONE
    assert extend(place("srt.sets.NONE"), ["CModel"]) is None
    assert loaded("srt.user").NONE == ("CModel",)
    assert loaded("srt.user").OTHER == ()


def test_a_table_cannot_grow_and_says_so() -> None:
    assert extend(place("srt.sets.TABLE"), ["CModel"]) == "CModel cannot be added to TABLE: it is a dict"


def test_places_are_found_without_importing() -> None:
    known = read_facts(facts(stated=[override(list="srt.late.LATE"), override(list="some_list:a")]), "sglang", "1.2")
    found = {one.ref: one for one in places(known)}
    assert set(found) == {"srt.old._HYBRID", "srt.sets._HYBRID", "srt.late.LATE"}
    assert (found["srt.late.LATE"].module, found["srt.late.LATE"].exists) == ("sglang.srt.late", True)
    assert found["srt.old._HYBRID"].value() is None
    assert not Place("other.sets.X", (), sys.modules["sglang"].__path__).exists
    assert (place("srt.sets.Arguments.KINDS").module, place("srt.sets.Arguments.KINDS").path) == (
        "sglang.srt.sets", ("Arguments", "KINDS"),
    )  # fmt: skip
    assert "sglang.srt.late" not in sys.modules


@pytest.mark.parametrize(
    ("value", "names"),
    [({"A": 1}, {"A"}), ([Path, "A"], {"Path", "A"}), ("AB", None), (3, None), ([1], None), ((), set())],
)
def test_names_of_collections(value: object, names: set[str] | None) -> None:
    assert names_in(value) == names


def test_an_answer_is_told_line_by_line() -> None:
    answer = {
        "verdict": "refused", "engine": "sglang", "release": "1.2", "architecture": "AModel",
        "findings": [{"rule": "a.b", "severity": "error", "stage": "init", "message": "No.",
                      "causes": [{"text": "tp_size is 2", "depth": 0}, {"text": "asked", "depth": 1}]}],
        "fixes": [{"changes": {"tp_size": 1}, "release": "1.3", "verdict": "ok", "gives_up": "speed"}],
    }  # fmt: skip
    assert list(lines(answer)) == [
        "refused: AModel on sglang 1.2 does not start",
        "error at init: a.b: No.",
        "  ← tp_size is 2",
        "    ← asked",
        "fix 1: release 1.3 tp_size=1 (ok, gives up speed)",
    ]
