import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archcap.engines.shell import launch_of, with_start
from archcap.errors import RequestError


def start(words):
    return words.index("engine") + 1 if "engine" in words else None


def taken(*words):
    return launch_of(words, start, "engine FLAGS")


@pytest.mark.parametrize(
    ("words", "env", "rest"),
    [
        (["engine", "--a", "1"], {}, ["--a", "1"]),
        (["A=1", "engine", "--a"], {"A": "1"}, ["--a"]),
        (["env", "A=1", "B=x=y", "nohup", "engine"], {"A": "1", "B": "x=y"}, []),
        (["docker", "run", "-e", "A=1", "--env=B=2", "-eC=3", "--shm-size=32g", "image", "engine"],
         {"A": "1", "B": "2", "C": "3"}, []),
        (["engine", "A=1"], {}, ["A=1"]),
        (["--a", "1"], {}, ["--a", "1"]),
    ],
)  # fmt: skip
def test_words_are_split_at_what_starts_the_engine(words, env, rest):
    assert taken(*words) == (env, rest)


@pytest.mark.parametrize(
    ("text", "env", "rest"),
    [
        ("engine --a 1", {}, ["--a", "1"]),
        ("engine \\\n  --a 1 \\\r\n  --b 'x y'", {}, ["--a", "1", "--b", "x y"]),
        ("export A=1\nB=2\nengine --a\nsleep 5", {"A": "1", "B": "2"}, ["--a"]),
        ("A=1 other\nengine --a", {}, ["--a"]),
        ("A=1 && B=2 engine --a && other", {"A": "1", "B": "2"}, ["--a"]),
        ("engine --a 1 > log 2>&1 &", {}, ["--a", "1"]),
        ("engine --a 1 2>&1 | tee log", {}, ["--a", "1"]),
        ("# how to start it\nengine --a 1 # one\n", {}, ["--a", "1"]),
        ("engine --a x#1", {}, ["--a", "x#1"]),
        ("engine --a <model path> --b", {}, ["--a", "<model path>", "--b"]),
        ("""engine --a '{"k": [1, "<x>"]}'""", {}, ["--a", '{"k": [1, "<x>"]}']),
        ("engine --a ''", {}, ["--a", ""]),
        ("engine --a $MODEL", {}, ["--a", "$MODEL"]),
        ("engine --a ';' --b '>' --c '# x'", {}, ["--a", ";", "--b", ">", "--c", "# x"]),
        ("engine --a \\; --b x\\ y", {}, ["--a", ";", "--b", "x y"]),
        ("engine --a \"x\\\"y\\\\z\\n\" --b x'y z'\"w\"", {}, ["--a", 'x"y\\z\\n', "--b", "xy zw"]),
        ("engine --a=<model> >log --b", {}, ["--a=<model>", "--b"]),
        ("engine --a 'two\nlines'", {}, ["--a", "two\nlines"]),
        ("(cd /x && engine --a)", {}, ["--a"]),
        ("engine --a 8>log", {}, ["--a"]),
        ("engine &> log --a", {}, ["--a"]),
    ],
)
def test_text_is_split_as_a_shell_would(text, env, rest):
    assert taken(text) == (env, rest)


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8), max_size=5))
def test_what_a_shell_quotes_is_read_as_it_was(words):
    assert taken(shlex.join(["engine", "--a", *words])) == ({}, ["--a", *words])


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("engine --a 1", "engine --a 1"),
        ("", ""),
        ("other -a", "other -a"),
        ("--a 1", "run engine --a 1"),
        (" \n-a\n", "run engine -a"),
    ],
)
def test_flags_alone_get_what_starts_the_engine_in_front(text, whole):
    assert with_start(text, ["run", "engine"]) == whole


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([], "no-launch"),
        ([""], "no-launch"),
        (["   \n "], "no-launch"),
        (["other", "--a"], "no-launch"),
        (["other --a 1"], "no-launch"),
        (["engine --a 'x"], "bad-command"),
        (["engine --a\nengine --b"], "many-launches"),
        (["engine --a " + "x" * 300_000], "bad-command"),
    ],
)
def test_what_is_no_launch_is_refused_with_a_code(words, code):
    with pytest.raises(RequestError) as caught:
        taken(*words)
    assert caught.value.code == code
    assert caught.value.hint
