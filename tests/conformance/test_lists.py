"""Choosing answers and keeping lists, on invented ones."""

import random
from collections import Counter

import pytest

from archcap.verify.answers import Answer, Raised
from archcap.verify.launches import Launch, Subject
from tests.conformance import agreed, corpus

STONE, PEBBLE = Subject({"architectures": ["Stone"], "size": 1}), Subject({"architectures": ["Pebble"], "size": 2})


def launch(name, subject=STONE, gpu="h100", release="1", **settings):
    return Launch(f"{subject.architecture}|{gpu}|{name}", "sglang", release, gpu, subject, settings)


def ok(**changed):
    return Answer("ok", changed, dict.fromkeys(changed, "a_step"))


def refused(function):
    return Answer("error", error=Raised("ValueError", f"args.py:{function}", 3, "resolve", "no"))


ALIKE = [(launch(f"alike{number}", tp_size=number), ok(page_size=1)) for number in range(30)]


def test_one_of_many_answers_that_are_alike_is_enough():
    assert len(corpus.choose(ALIKE, 0)) == 1


def test_others_fill_the_corpus_up():
    assert len(corpus.choose(ALIKE, 12)) == 12
    assert len(corpus.choose(ALIKE, 99)) == len(ALIKE)


@pytest.mark.parametrize(
    "other",
    [
        (launch("device", gpu="b200"), ok(page_size=1)),
        (launch("architecture", PEBBLE), ok(page_size=1)),
        (launch("release", release="2"), ok(page_size=1)),
        (launch("value"), ok(page_size=64)),
        (launch("writer"), Answer("ok", {"page_size": 1}, {"page_size": "another_step"})),
        (launch("refusal"), refused("check")),
    ],
    ids=lambda row: row[0].id if isinstance(row, tuple) else None,
)
def test_whatever_is_the_only_one_of_its_kind_is_chosen(other):
    assert other in corpus.choose([*ALIKE, other], 0)


def test_values_that_say_nothing_are_no_kind():
    rows = [(launch(str(seed), seed=seed), ok(random_seed=seed)) for seed in range(9)]
    assert len(corpus.choose(rows, 0)) == 1


def test_the_choice_does_not_depend_on_the_order():
    rows = [*ALIKE, (launch("x", PEBBLE), refused("check"))]
    mixed = rows[:]
    random.Random(5).shuffle(mixed)
    assert corpus.choose(rows, 9) == corpus.choose(mixed, 9)


def test_what_is_written_is_read_back_and_written_alike_again(tmp_path):
    rows = [
        (launch("a", tp_size=2), ok(page_size=1, random_seed=4, sizes=list(range(40)))),
        (launch("b", PEBBLE), refused("check")),
        (launch("c", release="2"), ok()),
    ]
    corpus.write(rows, tmp_path)
    assert corpus.releases(tmp_path) == ["1", "2"]
    back = [row for release in ("1", "2") for row in corpus.rows(release, tmp_path)]
    assert {one.id for one, _ in back} == {one.id for one, _ in rows}
    told = {one.id: answer for one, answer in back}
    assert told["Stone|h100|a"].changed["page_size"] == 1
    assert told["Stone|h100|a"].changed["sizes"].startswith("ints[40]")
    assert "random_seed" not in told["Stone|h100|a"].changed
    assert told["Pebble|h100|b"].error.function == "check"
    first = {path.name: path.read_bytes() for path in tmp_path.rglob("*.*") if path.is_file()}
    corpus.write(back, tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.rglob("*.*") if path.is_file()} == first


def test_configurations_are_kept_once_and_never_mixed_up(tmp_path):
    other = Subject({"architectures": ["Stone"], "size": 7})
    rows = [(launch(str(number), subject), ok()) for number, subject in enumerate([STONE, STONE, other])]
    corpus.write(rows, tmp_path)
    assert len(list((tmp_path / "configs").glob("*.json"))) == 2
    sizes = Counter(one.subject.config["size"] for one, _ in corpus.rows("1", tmp_path))
    assert sizes == {1: 2, 7: 1}


def standing(wrong=(), verdicts=(), seen=("a", "b", "c")):
    return agreed.Standing("1", Counter(seen), Counter(wrong), list(verdicts))


@pytest.mark.parametrize(
    ("now", "listed", "still_open", "says"),
    [
        (standing(), ["a", "b", "c"], [], ""),
        (standing(wrong=["c"]), ["a", "b"], [], ""),
        (standing(wrong=["c"], verdicts=["x"]), ["a", "b"], ["x"], ""),
        (standing(wrong=["b"]), ["a", "b", "c"], [], "settings that agreed and do not any more"),
        (standing(), ["a", "b"], [], "settings that agree everywhere and are not on the list"),
        (standing(verdicts=["x"]), ["a", "b", "c"], [], "launches whose verdict agreed and does not any more"),
        (standing(), ["a", "b", "c"], ["x"], "launches that agree and are still on the open list"),
    ],
)
def test_a_standing_is_held_to_the_lists(now, listed, still_open, says):
    now.examples = {"b": "…", "x": "…"}
    verdict = agreed.judge(now, listed, still_open)
    assert bool(verdict) == bool(says)
    assert says in str(verdict)


def test_lists_grow_and_never_give_way(tmp_path):
    agreed.start(standing(wrong=["b"], verdicts=["x", "y"]), tmp_path)
    assert (agreed.agreed_of("1", tmp_path), agreed.open_of("1", tmp_path)) == (["a", "c"], ["x", "y"])
    assert agreed.grow(standing(wrong=["a"], verdicts=["y", "z"]), tmp_path) == (["b"], ["x"])
    assert (agreed.agreed_of("1", tmp_path), agreed.open_of("1", tmp_path)) == (["a", "b", "c"], ["y"])
    agreed.grow(standing(), tmp_path)
    assert not (tmp_path / "open" / "1.txt").exists()
