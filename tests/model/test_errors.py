"""Errors carry a code and a hint and print on one line each; near names are found whatever their spelling."""

from __future__ import annotations

import pickle

import pytest

from archcap.errors import ArchcapError, DataError, Problem, RequestError
from archcap.suggest import nearest_name, nearest_names, one_of

PROBLEMS = [
    (Problem("f.yaml", 3, "a.b", "unknown key", suggestion="c"), 'f.yaml:3: a.b: unknown key; did you mean "c"?'),
    (Problem("f.yaml", None, "", "the file is empty", hint="fill it"), "f.yaml: the file is empty; fill it"),
    (Problem("f.yaml", 1, "a", 'found "x"', "one of y, z"), 'f.yaml:1: a: expected one of y, z, found "x"'),
    (Problem("", None, "a", "is wrong"), "a: is wrong"),
    (Problem("f", 1, "", "two\nlines"), "f:1: two lines"),
]


@pytest.mark.parametrize(("problem", "said"), PROBLEMS)
def test_a_problem_is_one_line(problem: Problem, said: str) -> None:
    assert str(problem) == said


def test_a_data_error_prints_every_problem_and_counts_them() -> None:
    error = DataError(problem for problem, _ in PROBLEMS)
    assert str(error).splitlines() == [said for _, said in PROBLEMS]
    assert (error.code, error.message) == ("bad-data", "5 problems in the registry's data")
    assert DataError(error.problems[:1]).message == "1 problem in the registry's data"


@pytest.mark.parametrize("error", [DataError([PROBLEMS[0][0]]), RequestError("a", "b", "c"), ArchcapError("a", "b")])
def test_errors_cross_process_boundaries(error: ArchcapError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.code, again.hint) == (type(error), str(error), error.code, error.hint)


def test_an_error_prints_its_hint() -> None:
    assert str(RequestError("code", "it is wrong", "do this")) == "it is wrong; do this"
    assert str(RequestError("code", "it is wrong")) == "it is wrong"


KNOWN = ["page_size", "tp_size", "pp_size", "mamba_ssm_dtype", "disable_radix_cache", "h200", "Qwen3MoeForCausalLM"]


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("page_size", "page_size"),
        ("page-size", "page_size"),
        ("--page-size", "page_size"),
        ("pagesize", "page_size"),
        ("PAGE_SIZ", "page_size"),
        ("H200", "h200"),
        ("qwen3moeforcausallm", "Qwen3MoeForCausalLM"),
        ("disable_radix", "disable_radix_cache"),
        ("zzz", None),
        ("", None),
    ],
)
def test_the_nearest_name_is_found_or_none_is_offered(word: str, found: str | None) -> None:
    assert nearest_name(word, KNOWN) == found


def test_near_names_come_likeliest_first_and_in_a_stable_order() -> None:
    assert nearest_names("tp_siz", KNOWN) == nearest_names("tp_siz", reversed(KNOWN))
    assert nearest_names("tp_siz", KNOWN, n=2) == ["tp_size", "pp_size"]


def test_an_endless_word_is_answered_at_once() -> None:
    assert nearest_names("x" * 1_000_000, KNOWN) == []


def test_a_long_list_of_names_is_cut() -> None:
    assert one_of([]) == "nothing"
    assert one_of(["a"]) == "a"
    assert one_of(["a", "b", "c"], limit=2) == "one of a, b … (3 in all)"


@pytest.mark.parametrize(
    ("word", "near"), [("tpp", ["tp_size"]), ("--tpp", ["tp_size"]), ("ppp", ["pp_size"]), ("xtp", []), ("t", [])]
)
def test_a_short_word_may_be_the_beginning_of_a_name(word: str, near: list[str]) -> None:
    assert nearest_names(word, ("tp_size", "pp_size", "tokenizer_mode")) == near
