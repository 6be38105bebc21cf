"""Whatever is wrong with what was given: exit 2 and one clear line."""

import json

import pytest

LAUNCH = ("resolve", "--engine", "toy@0.10", "--gpu", "alpha")
DEEP = b'{"a":' * 10_000 + b"1" + b"}" * 10_000


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b" \n ", "is empty"),
        (b"<!DOCTYPE html><html></html>", "is a web page, not JSON; download the raw file"),
        (b"\x80\x02}q\x00", "is no text"),
        (b"PK\x03\x04\x00\x00", "is no text"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0", "Git LFS pointer"),
        (b"[1, 2]", "holds a list, not an object"),
        (b'"text"', "holds a string, not an object"),
        (b"null", "holds null, not an object"),
        (b"{'architectures': []}", "line 1, column 2"),
        (b'{"a": 1,\n "b": }', "line 2, column 7"),
        (b'{"a": 1, "a": 2}', "has the key 'a' twice"),
        (b'{"a": {"b": 1, "b": 2}}', "has the key 'b' twice"),
        (b'{"a": NaN}', "holds NaN"),
        (b'{"a": ' + b"9" * 5_000 + b"}", "thousands of digits"),
        (DEEP, "nested deeper than 100 levels"),
        (b'{"a":' * 200 + b"1" + b"}" * 200, "nested deeper than 100 levels"),
        (b'{"a": "' + b"x" * 50_000_000 + b'"}', "more than any configuration"),
        (b"{}", "names no architecture"),
        (b'{"architectures": []}', "names no architecture"),
    ],
    ids=range(20),
)
def test_a_file_that_is_no_configuration_is_named_as_what_it_is(capctl, tmp_path, content, says):
    path = tmp_path / "config.json"
    path.write_bytes(content)
    assert says in capctl(*LAUNCH, "--config", path).is_one_clear_line()
    assert says in capctl(*LAUNCH, "--config", "-", stdin=content).is_one_clear_line()


def test_infinity_is_read_because_published_configurations_hold_it(capctl, river):
    content = river.read_text().replace("}", ', "time_step_limit": [0.0, Infinity]}')
    assert capctl(*LAUNCH, "--config", "-", stdin=content).code == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "usage: capctl"),
        (("frobnicate",), "there is no command 'frobnicate'; see capctl --help"),
        (("resolv",), "did you mean resolve?"),
        (("--frob", "resolve"), "capctl has no option --frob before a command"),
        (("resolve", "--confg", "x"), "capctl resolve has no option --confg; did you mean --config?"),
        (("resolve", "--config"), "expected one argument"),
        (("resolve", "stray"), "does not know what to do with 'stray'"),
        (("resolve",), "which engine and release?; as in --engine toy@0.11"),
        ((*LAUNCH, "--architecture", "RiverForCausalLM", "--peer", "ls -l"), "the peer: 'ls -l' does not start"),
        ((*LAUNCH, "--architecture", "RiverForCausalLM", "--peer", "peer.sh"), "the peer: there is no file peer.sh"),
        ((*LAUNCH, "--architecture", "RiverForCausalLM", "--peer", "/"), "the peer: / is a folder"),
        ((*LAUNCH, "--architecture", "RiverForCausalLM", "--peer", "/dev/null/x"), "the peer: there is no file /dev/"),
        ((*LAUNCH, "--architecture", "RiverForCausalLM", "--peer", " "), "the peer: nothing is given; give its launch"),
        ((*LAUNCH, "--architecture", "RiverForCausalLM", "--peer", "{"), "the peer: its JSON"),
        (("resolve", "--engine", "toi@0.10"), "unknown engine 'toi'; did you mean toy?"),
        (("resolve", "--engine", "toy@"), "ends before the release"),
        (("resolve", "--engine", "toy@newest", "--architecture", "A"), "is no release of toy; known are 0.9 to 0.11"),
        (("resolve", "--engine", "toy"), "what is launched?; give --config"),
        ((*LAUNCH, "--config", "/nowhere/config.json"), "there is no file /nowhere/config.json"),
        ((*LAUNCH, "--checkpoint", "acme/rivver-8b"), "did you mean acme/river-8b"),
        ((*LAUNCH, "--checkpoint", "x", "--config", "y"), "--config and --checkpoint both say what is launched"),
        ((*LAUNCH, "--checkpoint", "x", "--architecture", "y"), "both say what is launched"),
        ((*LAUNCH, "--config", "-", "--draft-config", "-"), "standard input can be only one of them"),
        ((*LAUNCH, "--architecture", "RiverForCausalLM", "--set", "page_size"), "expected NAME=VALUE, not 'page_size'"),
        ((*LAUNCH, "--architecture", "RiverForCausalLM", "--gpus", "x"), "--gpus: invalid int value: 'x'"),
        ((*LAUNCH, "--architecture", "RiverForCausalLM", "--gpus", "0"), "hardware.count: it should be greater than"),
        ((*LAUNCH, "--architecture", "RiverForCausalLM", "--", "other"), "does not start the engine"),
        ((*LAUNCH, "--architecture", "RiverForCausalLM", "--"), "the launch command is empty"),
        ((*LAUNCH, "--architecture", "A", "--command", "/nowhere"), "there is no file /nowhere"),
        ((*LAUNCH, "--architecture", "A", "--command", "-", "--", "x"), "a launch command is given twice"),
        ((*LAUNCH, "--all-releases", "--architecture", "RiverForCausalLM", "--format", "command"), "no command form"),
        (("list", "architectures", "--with", "extra_bufer"), "'extra_bufer'; did you mean extra_buffer?"),
        (("list", "architectures", "--family", "rivr"), "unknown family 'rivr'; did you mean river?"),
        (("list", "settings", "--with", "x"), "settings cannot be filtered"),
        (("list", "things"), "invalid choice: 'things'"),
        (("list", "engines", "--", "x"), "takes no launch command after --"),
        (("show", "architecture", "RiverForCausal"), "did you mean RiverForCausalLM"),
        (("show", "hardware", "alfa"), "did you mean alpha"),
        (("diff", "toy@0.9", "sglang@0.5.18"), "unknown engine 'sglang'"),
        (("diff", "toy@main", "toy@0.9"), "main"),
        (("history", "RiverForCausal"), "did you mean RiverForCausalLM"),
        (("history", "RiverForCausalLM", "extra_bufer"), "extra_buffer"),
        (("build", "--slice", "toy@0.9"), "--slice needs a place to write to"),
        (("build", "--out", "/nowhere/at/all.json"), "there is no folder /nowhere/at"),
        (("--registry", "/nowhere", "list", "engines"), "/nowhere"),
        (("validate", "/nowhere"), "there is no folder /nowhere"),
        (("explain", "--engine", "toy", "--architecture", "RiverForCausalLM"), "missing: --setting"),
        (
            ("explain", "--engine", "toy", "--architecture", "RiverForCausalLM", "--setting", "page_size.leaf"),
            "unknown setting 'page_size.leaf'; did you mean page_size?",
        ),
    ],
)
def test_misuse_is_one_line_that_says_what_to_do(capctl, words, says):
    ran = capctl(*words)
    if not words:
        assert (ran.code, ran.err) == (2, "")
        assert says in ran.out
        return
    assert says in ran.is_one_clear_line()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--gpu", "alfa"], "unknown hardware 'alfa'; did you mean alpha"),
        (["--set", "page_sise=8"], "unknown setting 'page_sise'; did you mean page_size"),
        (["--set", "page_size=eight"], "page_size takes a whole number, not 'eight'"),
        (["--set", "page_size=true"], "page_size takes a whole number, not True"),
        (["--set", "page_size=8.5"], "page_size takes a whole number, not 8.5"),
        (["--set", "attention=3"], "attention takes text, not 3; choices: fast, plain, wide"),
        (["--set", "overlap=yes"], "overlap takes true or false, not 'yes'"),
        (["--assume", "fastkitt=false"], "unknown assumption 'fastkitt'; did you mean fastkit?"),
        (["--", "python", "-m", "toy.serve", "--page-sise", "8"], "toy 0.10 has no flag --page-sise; did you mean"),
        (["--", "python -m toy.serve --page-size eight"], "--page-size takes a whole number, not 'eight'"),
    ],
)
def test_unknown_names_and_wrong_types_are_told_with_the_nearest_or_the_type(capctl, river, words, says):
    assert says in capctl("resolve", "--engine", "toy@0.10", "--config", river, *words).is_one_clear_line()


def test_a_folder_without_config_says_what_it_lacks(capctl, tmp_path):
    assert f"there is no config.json in {tmp_path}" in capctl(*LAUNCH, "--config", tmp_path).is_one_clear_line()


def test_a_broken_registry_is_told_with_its_line_and_nothing_else(capctl, tmp_path):
    from tests.mini import copy_to, edit

    root = copy_to(tmp_path / "mini")
    line = edit(root, "settings.yaml", "draft_depth: {", "page_size: {")
    said = capctl("--registry", root, "list", "engines").is_one_clear_line()
    assert "settings.yaml" in said
    assert "page_size" in said
    assert f":{line}" in said or "twice" in said


def test_a_bug_is_one_line_that_asks_to_be_reported(capctl, monkeypatch):
    def broken(*_):
        raise KeyError("gone\nastray")

    monkeypatch.setattr("archcap.cli.list.rows_of", broken)
    ran = capctl("list", "engines")
    assert ran.code == 70
    assert ran.err.count("\n") == 1
    assert "internal error: KeyError" in ran.err
    assert "please report it" in ran.err
    monkeypatch.setenv("ARCHCAP_DEBUG", "1")
    assert "Traceback" in capctl("list", "engines").err


def test_what_interrupts_is_quiet(capctl, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("archcap.cli.list.rows_of", stop)
    ran = capctl("list", "engines")
    assert (ran.code, ran.out, ran.err) == (130, "", "")


def test_json_that_hides_in_values_is_read_and_the_rest_is_text(capctl, river):
    ran = capctl(*LAUNCH, "--config", river, "--format", "json", "--set", "tags=[1,", "--set", 'tags=["a","b"]')
    assert json.loads(ran.out)["settings"]["tags"]["requested"] == ["a", "b"]


@pytest.mark.parametrize(
    ("log", "says"),
    [("", "standard input is empty"), (" \n", "standard input is empty"), ("up", "standard input holds no traceback"),
     (b"\xff\xfe\x00", "standard input is no text")],
)  # fmt: skip
def test_a_log_that_holds_nothing_to_diagnose_is_called_by_its_name(capctl, log, says):
    ran = capctl("diagnose", "-", "--engine", "toy@0.10", "--architecture", "RiverForCausalLM", stdin=log)
    assert says in ran.is_one_clear_line()
