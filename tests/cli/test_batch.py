import io
import json
import sys

import pytest

from archcap.cli import main
from tests.cli.conftest import RIVER

GOOD = {"engine": "toy", "release": "0.10", "config": RIVER, "hardware": {"gpu": "alpha"}}


def lines(*requests):
    return "".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in requests)


def test_answers_come_in_order_with_their_ids(capctl):
    asked = [{**GOOD, "id": number} for number in range(5)] + [{**GOOD, "id": "last"}, GOOD]
    ran = capctl("resolve", "--batch", "-", stdin=lines(*asked))
    assert ran.code == 0
    assert [line.get("id", "none") for line in ran.lines] == [0, 1, 2, 3, 4, "last", "none"]
    assert list(ran.lines[0])[:2] == ["id", "verdict"]
    assert all(line["verdict"] == "ok" for line in ran.lines)


def test_a_refused_launch_is_an_answer(capctl):
    ran = capctl("resolve", "--batch", "-", stdin=lines({**GOOD, "settings": {"shard_size": 2}}))
    assert (ran.code, ran.lines[0]["verdict"]) == (0, "refused")


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        ("{", "bad-json"),
        ("[]", "bad-json"),
        ('{"id": "x", "id": "y"}', "bad-json"),
        ("[" * 10_000, "bad-json"),
        ({"id": "x"}, "bad-request"),
        ({**GOOD, "id": "x", "setings": {}}, "bad-request"),
        ({**GOOD, "id": "x", "engine": "tgi"}, "unknown-engine"),
        ({**GOOD, "id": "x", "settings": {"page_sise": 8}}, "unknown-setting"),
        ({**GOOD, "id": "x", "hardware": {"gpu": "alfa"}}, "unknown-hardware"),
        ({**GOOD, "id": "x", "config": {}}, "no-architecture"),
    ],
)
def test_a_bad_line_gets_an_error_in_its_place_and_the_others_their_answers(capctl, bad, code):
    ran = capctl("resolve", "--batch", "-", stdin=lines({**GOOD, "id": 1}, bad, {**GOOD, "id": 3}))
    assert ran.code == 2
    first, wrong, last = ran.lines
    assert (first["verdict"], last["verdict"]) == ("ok", "ok")
    assert set(wrong) == {"id", "error"}
    assert wrong["id"] == ("x" if isinstance(bad, dict) else None)
    assert wrong["error"]["code"] == code
    assert set(wrong["error"]) == {"code", "message", "hint"}
    assert ran.err.startswith("capctl: line 2: ")


def test_a_file_is_read_and_blank_lines_are_nothing(capctl, tmp_path):
    path = tmp_path / "launches.jsonl"
    path.write_text("\n" + lines(GOOD) + "  \n" + json.dumps(GOOD))
    assert len(capctl("resolve", "--batch", path).lines) == 2
    assert "there is no file" in capctl("resolve", "--batch", tmp_path / "none").is_one_clear_line()


def test_options_fill_what_a_line_leaves_out(capctl):
    bare = {"config": RIVER, "settings": {"shard_size": 2}}
    words = ("resolve", "--engine", "toy@0.10", "--gpu", "alpha", "--gpus", "4", "--fixes", "--batch", "-")
    ran = capctl(*words, stdin=lines(bare, {**bare, "release": "0.11", "fixes": False}))
    first, second = ran.lines
    assert (first["release"], second["release"]) == ("0.10", "0.11")
    assert first["fixes"]
    assert "fixes" not in second


def test_fixes_are_off_unless_a_line_asks(capctl):
    refused = {**GOOD, "settings": {"shard_size": 2}}
    ran = capctl("resolve", "--batch", "-", stdin=lines(refused, {**refused, "fixes": True}))
    assert ["fixes" in line for line in ran.lines] == [False, True]


@pytest.mark.parametrize("words", [("--config", "x"), ("--set", "a=1"), ("--", "x"), ("--format", "command")])
def test_what_describes_one_launch_does_not_go_with_a_batch(capctl, words):
    assert "does not go with --batch" in capctl("resolve", "--batch", "-", *words).is_one_clear_line()


def test_an_answer_is_written_before_the_next_line_is_read(capsys, monkeypatch):
    class Slow(io.RawIOBase):
        """Hands out one line per read and notes what was written by then."""

        def __init__(self):
            self.left = [lines({**GOOD, "id": number}).encode() for number in range(3)]
            self.written = []

        def __iter__(self):
            while self.left:
                self.written.append(capsys.readouterr().out.count("\n"))
                yield self.left.pop(0)

    slow = Slow()
    monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": slow}))
    assert main(["resolve", "--batch", "-"]) == 0
    assert slow.written == [0, 1, 1]


def test_infinite_numbers_do_not_break_the_line(capctl):
    infinite = float("inf")
    asked = {**GOOD, "config": {**RIVER, "limit": infinite}, "settings": {"memory_fraction": infinite}}
    ran = capctl("resolve", "--batch", "-", stdin=lines(asked))
    assert ran.lines[0]["settings"]["memory_fraction"]["value"] == "Infinity"
