"""What people read: each layout is a golden file, reviewed as prose."""

import pytest

LAUNCH = ("--engine", "toy@0.10", "--gpu", "alpha", "--gpus", "8")


@pytest.mark.parametrize(
    ("name", "words", "code"),
    [
        ("resolve-refused", ["--set", "shard_size=2"], 1),
        ("resolve-unsafe", ["--set", "shard_size=2", "--set", "disable_cache=true"], 1),
        ("resolve-adjusted", ["--set", "draft_method=tree", "--set", "draft_path=d", "--set", "draft_depth=3"], 0),
        ("resolve-issue", ["--set", "attention=plain", "--set", 'tags=["a", "b", "c"]'], 1),
        ("resolve-ok", ["--set", "page_size=8"], 0),
        ("resolve-not-a-choice", ["--set", "attention=fest"], 1),
        ("resolve-env", ["--env", "TOY_LAYOUT=flat", "--set", "attention=plain"], 0),
    ],
)
def test_an_answer_is_laid_out_for_people(capctl, river, golden, name, words, code):
    ran = capctl("resolve", *LAUNCH, "--config", river, *words)
    assert ran.code == code
    assert ran.err == ""
    golden(f"{name}.txt", ran.out)


def test_a_pair_is_laid_out_with_both_servers(capctl, river, golden):
    peer = "python -m toy.serve --page-size 8 --disable-cache"
    ran = capctl("resolve", *LAUNCH, "--config", river, "--set", "page_size=1", "--peer", peer)
    assert (ran.code, ran.err) == (1, "")
    golden("resolve-pair.txt", ran.out)


def test_what_cannot_be_decided_is_said_with_what_it_needs(capctl, golden):
    ran = capctl("resolve", *LAUNCH, "--architecture", "RiverForCausalLM")
    assert ran.code == 3
    golden("resolve-unknown.txt", ran.out)


def test_the_nearest_release_answers_and_says_so(capctl, river, golden):
    ran = capctl("resolve", "--engine", "toy@0.99", "--config", river, "--gpu", "alpha")
    golden("resolve-nearest.txt", ran.out)


@pytest.mark.parametrize("setting", ["attention", "cache_mode", "graph_config.prefill.backend", "page_size", "tp_size"])
def test_a_value_is_explained_as_a_chain(capctl, river, golden, setting):
    words = ("--set", "pp_size=2", "--set", "tp_size=2")
    ran = capctl("explain", *LAUNCH, "--config", river, *words, "--setting", setting)
    assert (ran.code, ran.err) == (0, "")
    golden(f"explain-{setting}.txt", ran.out)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("all-releases", ["resolve", "--engine", "toy", "--architecture", "StoneForCausalLM", "--all-releases"]),
        ("list-architectures", ["list", "architectures", "--engine", "toy@0.11"]),
        ("list-settings", ["list", "settings", "--engine", "toy@0.9"]),
        ("list-lists", ["list", "lists"]),
        ("show-architecture", ["show", "architecture", "StoneForCausalLM", "--engine", "toy@0.10.post1"]),
        ("show-absent-architecture", ["show", "architecture", "StoneForCausalLM", "--engine", "toy@0.10"]),
        ("show-capability", ["show", "capability", "hidden_capture", "--engine", "toy@0.11"]),
        ("show-conditional", ["show", "capability", "window"]),
        ("show-setting", ["show", "setting", "cache_mode"]),
        ("show-step", ["show", "step", "cache_mode"]),
        ("list-known-issues", ["list", "known-issues", "--engine", "toy@0.10"]),
        ("show-known-issue", ["show", "known-issue", "shallow-trees"]),
        ("show-list", ["show", "list", "cache.buffered"]),
        ("show-hardware", ["show", "hardware", "alpha"]),
        ("show-release", ["show", "release", "0.11"]),
        ("diff", ["diff", "toy@0.10", "toy@0.11"]),
        ("diff-none", ["diff", "toy@0.11", "0.11"]),
        ("history", ["history", "RiverTextForCausalLM"]),
        ("history-one", ["history", "RiverForCausalLM", "max_depth"]),
        ("help", ["--help"]),
        ("help-resolve", ["resolve", "--help"]),
    ],
)
def test_each_command_is_laid_out_for_people(capctl, golden, monkeypatch, name, words):
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [])
    ran = capctl(*words)
    assert ran.err == ""
    golden(f"{name}.txt", ran.out)


def test_colour_is_for_terminals_that_want_it(capctl, river, monkeypatch):
    words = ("resolve", *LAUNCH, "--config", river)
    assert "\033[" not in capctl(*words).out
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert "\033[1;32mok\033[0m" in capctl(*words).out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\033[" not in capctl(*words).out
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert "\033[" not in capctl(*words).out
