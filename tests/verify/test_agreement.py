"""The figures, the groups, the report: on answers of the invented engine and on recorded ones."""

import gzip
import json
import shlex

import pytest

from archcap.cli import main
from archcap.verify.compare import compact, same
from tests.verify.conftest import launch, lines


def recorded(settings, name="stone", gpu="cuda-sm90", **answer):
    told = {"outcome": "ok", "changed": {}, "writer": {}, **answer}
    return {**launch(settings, name, gpu), "release": "0.5.23", "draft_config": None, "ms": 1.0, **told}


def good(settings, **other):
    """Return the answer that the rules give too."""
    long = list(range(1, 15))
    changed = {"attention_backend": "fa3", "page_size": 64, "uses_pages": True, "mem_fraction_static": 0.9}
    given = {"graph_sizes": compact(long), **changed, **other}
    return recorded(settings, changed={name: value for name, value in given.items() if settings.get(name) != value})


def raised(settings, where):
    error = {"type": "ValueError", "where": f"sglang/srt/server_args.py:{where}", "line": 1, "stage": "resolve"}
    return recorded(settings, outcome="error", error=error)


@pytest.fixture
def compare(verify, tmp_path):
    """Return a function that compares recorded answers and returns the run and its report."""

    def run(*rows, words=(), packed=False):
        path = tmp_path / ("r.jsonl.gz" if packed else "r.jsonl")
        path.write_bytes(gzip.compress(lines(*rows)) if packed else lines(*rows))
        ran = verify("--recorded", path, "--report", tmp_path / "report.json", *words)
        place = tmp_path / "report.json"
        return ran, json.loads(place.read_text()) if place.exists() else None

    return run


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        (1, 2, False),
        (0.1 + 0.2, 0.3, True),
        (0.817, 0.8171, False),
        (1.0, 1, True),
        (0.5, None, False),
        (0.5, "auto", False),
        (0.5, [0.5], False),
        ("a", "a", True),
        (list(range(13)), compact(list(range(13))), True),
        (list(range(13)), list(range(1, 14)), False),
        (list(range(12)), list(range(12)), True),
        ({"a": list(range(20))}, {"a": compact(list(range(20)))}, True),
    ],
)
def test_values_are_the_same_up_to_rounding_and_short_form(one, other, alike):
    assert same(one, other) is alike


def test_short_lists_and_lists_of_other_things_are_not_shortened():
    assert compact(list(range(12))) == list(range(12))
    assert compact([str(number) for number in range(20)]) == [str(number) for number in range(20)]


def test_answers_that_agree_in_everything_end_well(compare):
    ran, report = compare(good({}), good({"tp_size": 8}), raised({"tp_size": 9}, "check_tp"), packed=True)
    assert ran.code == 0, ran.out
    assert [report["agreement"][name]["percent"] for name in ("verdict", "recall", "source", "launches")] == [100.0] * 4
    assert report["differences"] == []


def test_a_setting_that_differs_is_grouped_by_step_and_architecture(compare):
    rows = [
        recorded({"page_size": page}, name, changed={"page_size": 1}, writer={"page_size": "choose_page"})
        for page in (2, 4) for name in ("stone", "stone", "pebble")
    ]  # fmt: skip
    ran, report = compare(*rows, words=("--fields", "page_size"))
    assert ran.code == 1
    (one,) = report["differences"]
    assert (one["kind"], one["setting"], one["step"], one["launches"]) == ("setting", "page_size", "choose_page", 6)
    assert [(part["architecture"], part["launches"]) for part in one["architectures"]] == [
        ("StoneForCausalLM", 4), ("PebbleForCausalLM", 2),
    ]  # fmt: skip
    assert "page_size, decided by choose_page (6 launches)" in ran.out
    assert "StoneForCausalLM (4): engine 1, ours 2" in ran.out


@pytest.mark.parametrize(
    ("row", "kind", "says"),
    [
        (
            raised({"page_size": 0}, "choose_page"),
            "missed",
            "only the engine refuses, in sglang/srt/server_args.py:choose_page",
        ),
        (recorded({"tp_size": 99}), "invented", "only we refuse, by sizes.fit"),
        (raised({"speculative_algorithm": "EAGLE"}, "check_draft"), "elsewhere", "both refuse, the engine in sglang"),
        (recorded({"tp_siz": 8}), "unanswered", "we have no answer: "),
    ],
)
def test_a_verdict_that_differs_says_how(compare, row, kind, says):
    ran, report = compare(row)
    assert [one["kind"] for one in report["differences"]] == [kind]
    assert says in ran.out
    assert ran.code == 1


def test_the_command_that_is_printed_shows_our_side_of_it(compare, capsys):
    _, report = compare(recorded({"page_size": 2}, changed={"page_size": 4}), words=("--fields", "page_size"))
    words = shlex.split(report["differences"][0]["architectures"][0]["command"])
    assert words[:2] == ["capctl", "explain"]
    assert main(words[1:]) == 0
    assert "page_size is 2" in capsys.readouterr().out


def test_where_no_file_holds_the_configuration_the_report_holds_the_request(compare):
    row = recorded({"page_size": 2}, changed={"page_size": 4})
    row["config"] = {"architectures": ["StoneForCausalLM"]}
    _, report = compare(row, words=("--fields", "page_size"))
    request = report["differences"][0]["architectures"][0]["request"]
    assert request["config"] == row["config"]
    assert (request["settings"], request["hardware"]["gpu"]) == ({"page_size": 2}, "h100")


def test_a_setting_only_we_change_counts_as_one_that_differs(compare):
    _, report = compare(recorded({"page_size": 2}, changed={"uses_pages": True}))
    assert {one["setting"] for one in report["differences"]} == {"attention_backend", "mem_fraction_static"}
    assert all(one["step"].startswith("our ") for one in report["differences"])


def test_the_worst_setting_is_one_that_varies_and_is_seen_often(compare):
    rows = [good({"tp_size": size}, page_size=size) for size in range(1, 9)] * 3
    _, report = compare(*rows)
    assert report["agreement"]["worst"]["setting"] == "page_size"
    _, report = compare(*rows[:19])
    assert report["agreement"]["worst"] is None


def test_values_that_say_nothing_are_not_compared(compare):
    ran, _ = compare(good({}, random_seed=7, model_path="<model>"))
    assert ran.code == 0


def test_a_few_launches_may_be_allowed_to_disagree(compare):
    rows = [good({}), good({"tp_size": 2}, page_size=1), good({"tp_size": 4}, page_size=1)]
    assert compare(*rows, words=("--max-disagreements", "2"))[0].code == 0
    assert compare(*rows, words=("--max-disagreements", "1"))[0].code == 1


def test_a_limit_takes_the_same_launches_every_time(compare):
    rows = [good({"tp_size": size, "page_size": page}) for size in (1, 2, 4) for page in (16, 32, 64)]
    _, first = compare(*rows, words=("--limit", "4"))
    _, again = compare(*reversed(rows), words=("--limit", "4"))
    assert first == again
    assert first["launches"]["compared"] == 4


def test_other_releases_and_platforms_are_left_out_when_one_is_named(compare):
    older = {**good({}), "release": "0.5.19"}
    ran, report = compare(good({}), older, words=("--engine", "sglang@0.5.19"))
    assert report["releases"] == {"0.5.19": 1}
    assert "note: 1 recorded answers are of other releases or platforms" in ran.out
    _, report = compare(good({}), older)
    assert report["releases"] == {"0.5.23": 1, "0.5.19": 1}
    ran, _ = compare(good({}), words=("--platforms", "mi300x"))
    assert "no recorded answer is left to compare" in ran.err


def test_an_engine_that_lacks_libraries_is_noticed(compare):
    row = raised({"tp_size": 9}, "check_tp")
    row["error"]["type"] = "ModuleNotFoundError"
    ran, report = compare(row, good({}))
    assert report["notes"] == [
        "1 launches ended in an ImportError: does the interpreter have all that the engine needs?"
    ]
    assert report["notes"][0] in ran.out


def test_differences_are_cut_off_where_asked(compare):
    ran, report = compare(recorded({}), words=("--show", "1"))
    assert f"{len(report['differences']) - 1} more differences" in ran.out


def test_a_report_may_be_the_only_result(compare):
    ran, _ = compare(good({}), words=("--report", "-"))
    assert json.loads(ran.out)["launches"]["compared"] == 1


def test_the_report_names_what_it_was_made_from(compare):
    _, report = compare(good({}))
    assert report["snapshot"].startswith("sha256:")
    assert (report["engine"], report["releases"], report["platforms"]) == ("sglang", {"0.5.23": 1}, {"h100": 1})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"nonsense\n", "line 1 is no JSON"),
        (lines([1]), "line 1 holds a list"),
        (lines(good({}), {"id": "x"}), "line 2 describes no launch"),
        (lines({**launch({}), "release": "0.5.23"}), "line 1 has no proper outcome"),
        (lines({**good({}), "outcome": "error"}), "line 1 has no proper error"),
        (lines({**good({}), "changed": 3}), "line 1 has no proper changed"),
        (lines({**good({}), "config": "configs/other.json"}), "names configs/other.json, which is not below"),
        (lines({**good({}), "config": 3}), "line 1 names no configuration"),
    ],
)
def test_a_file_of_something_else_is_one_clear_line(verify, tmp_path, text, says):
    path = tmp_path / "r.jsonl"
    path.write_bytes(text)
    assert says in verify("--recorded", path).is_one_clear_line()


def test_a_packed_file_that_breaks_off_is_one_clear_line(verify, tmp_path):
    path = tmp_path / "r.jsonl.gz"
    path.write_bytes(gzip.compress(lines(good({})))[:-9])
    assert "cannot be unpacked" in verify("--recorded", path).is_one_clear_line()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "which launches?; give one of --grid, --random, --launches, --recorded"),
        (["--grid", "--random", "3"], "--grid and --random do not go together"),
        (["--grid"], "which interpreter has the engine?"),
        (["--random", "0"], "expected at least 1"),
        (["--random", "many"], "expected a whole number from 0, not 'many'"),
        (["--recorded", "/no/such.jsonl"], "there is no file /no/such.jsonl"),
        (["--recorded", "x", "--python", "y"], "--python does not go with --recorded"),
        (["--grid", "--python", "python3", "--engine", "sglang@0.4"], "sglang has no release '0.4'"),
        (["--grid", "--python", "python3", "--engine-source", "/no/such"], "there is no folder /no/such"),
        (["--grid", "--python", "python3", "--platforms", "h1000"], "unknown device 'h1000'"),
        (
            ["--grid", "--python", "python3", "--settings", "pagesize"],
            "no values to try for 'pagesize'; did you mean page_size?",
        ),
        (["--grid", "--python", "python3", "--settings", "model_path"], "no rule reads it, or it takes free text"),
        (["--grid", "--python", "python3", "--fields", ","], "expected names separated by commas"),
    ],
)
def test_misuse_is_one_clear_line(verify, words, says):
    assert says in verify(*words, folder=None).is_one_clear_line()


def test_a_folder_without_configurations_is_one_clear_line(verify, tmp_path):
    words = ("--grid", "--python", "python3")
    assert "holds no *.json" in verify(*words, folder=tmp_path).is_one_clear_line()
    assert "there is no folder" in verify(*words, folder=tmp_path / "none").is_one_clear_line()
