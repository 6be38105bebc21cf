"""YAML that reads differently from what it looks like is refused, with the line and the way to write it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archcap.load.scalars import Trap, resolve_plain
from archcap.load.strict_yaml import MAX_BYTES, MAX_DEPTH, DataPath, Document, show_path
from archcap.model.base import Json

PLAIN: list[tuple[str, Json]] = [
    ("", None), ("~", None), ("null", None), ("true", True), ("false", False),
    ("0", 0), ("-7", -7), ("42", 42), ("9223372036854775807", 9223372036854775807),
    ("0.9", 0.9), ("-0.5", -0.5), ("1.5e3", 1500.0), ("2.0", 2.0),
    ("0.5.18", "0.5.18"), ("0.10.post1", "0.10.post1"), ("1.2.3rc1", "1.2.3rc1"), ("90a", "90a"), ("sm90", "sm90"),
    ("-", "-"), ("--flag", "--flag"), ("-x", "-x"), ("...", "..."), ("0x", "0x"), ("1:90", "1:90"),
    ("yesterday", "yesterday"), ("one", "one"), ("nullable", "nullable"), ("trueish", "trueish"), ("x: ", "x: "),
    ("2026-1", "2026-1"), ("2026", 2026), ("=page_size // 2", "=page_size // 2"), ("1 + 1", "1 + 1"),
]  # fmt: skip

TRAPS: list[tuple[str, Json, str]] = [
    ("yes", True, 'write true, or "yes" for text'),
    ("No", False, 'write false, or "No" for text'),
    ("on", True, 'write true, or "on" for text'),
    ("OFF", False, 'write false, or "OFF" for text'),
    ("y", True, 'write true, or "y" for text'),
    ("n", False, 'write false, or "n" for text'),
    ("True", True, 'write true, or "True" for text'),
    ("FALSE", False, 'write false, or "FALSE" for text'),
    ("Null", None, 'write null, or "Null" for text'),
    ("010", "010", 'write 10, or "010" for text'),
    ("-007", "-007", 'write 7, or "-007" for text'),
    ("0o17", 15, "write 15"),
    ("0x1F", 31, "write 31"),
    ("0b101", 5, "write 5"),
    ("1_000", 1000.0, 'write 1000, or "1_000" for text'),
    ("+5", 5.0, 'write 5, or "+5" for text'),
    ("1e6", 1000000.0, 'write 1000000, or "1e6" for text'),
    (".5", 0.5, 'write 0.5, or ".5" for text'),
    ("5.", 5.0, 'write 5.0, or "5." for text'),
    ("01.5", 1.5, 'write 1.5, or "01.5" for text'),
    ("1:30", "1:30", 'write "1:30"'),
    ("190:20:30", "190:20:30", 'write "190:20:30"'),
    ("2026-11-29", "2026-11-29", 'write "2026-11-29"'),
    ("2026-11-29 18:00:00", "2026-11-29 18:00:00", 'write "2026-11-29 18:00:00"'),
    ("2026-11-29T18:00:00Z", "2026-11-29T18:00:00Z", 'write "2026-11-29T18:00:00Z"'),
    (".inf", ".inf", "leave the value out or give a finite number"),
    ("-.Inf", "-.Inf", "leave the value out or give a finite number"),
    (".nan", ".nan", "leave the value out or give a finite number"),
    ("1.0e999", "1.0e999", "write a number between -1e308 and 1e308"),
    ("9223372036854775808", "9223372036854775808", 'write "9223372036854775808"'),
]

REFUSED: list[tuple[str, bytes, list[str]]] = [
    ("empty", b"", ["f: the file is empty; restore its content or delete the file"]),
    ("comments only", b"# nothing\n", ["f: the file is empty; restore its content or delete the file"]),
    ("null", b"null\n", ["f: the file is empty; restore its content or delete the file"]),
    ("byte order mark", b"\xef\xbb\xbfa: 1\n", ["f:1: starts with a byte order mark; save it as UTF-8 without one"]),
    ("UTF-16", "a: 1\n".encode("utf-16"), ["f:1: is UTF-16; save it as UTF-8"]),
    ("UTF-16 without mark", "a: 1\n".encode("utf-16-le"), ["f:1: holds a control character; remove it"]),
    ("Latin-1", "a: 1\nb: é\n".encode("latin-1"), ["f:2: byte 0xe9 is not UTF-8; save the file as UTF-8"]),
    ("tab", b"a:\n\tb: 1\nc: 'x\ty'\n", [
        'f:2: holds a tab; indent with spaces, and write "\\t" inside quotes',
        'f:3: holds a tab; indent with spaces, and write "\\t" inside quotes',
    ]),
    ("control character", b"a: 1\nb: \x01\n", ["f:2: holds a control character; remove it"]),
    ("two documents", b"a: 1\n---\nb: 2\n", [
        "f:2: a second document starts here; keep one document per file: remove the ---",
    ]),
    ("anchor and alias", b"a: &x [1]\nb: *x\n", [
        "f:1: the anchor &x is not allowed; remove it and write values out",
        "f:2: the alias *x is not allowed; write the value out",
    ]),
    ("alias bomb", b"a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n", [
        "f:1: the anchor &a is not allowed; remove it and write values out",
        "f:2: the anchor &b is not allowed; remove it and write values out",
        "f:2: the alias *a is not allowed; write the value out",
        "f:3: the alias *b is not allowed; write the value out",
    ]),
    ("merge key", b"a: {b: 1}\nc:\n  <<: {b: 1}\n", ["f:3: c[\"<<\"]: merge keys are not allowed; write the keys out"]),
    ("custom tag", b"a: !x 1\n", ["f:1: the tag !x is not allowed; write the plain value"]),
    ("python tag", b"a: !!python/object/apply:os.system ['true']\n", [
        "f:1: the tag tag:yaml.org,2002:python/object/apply:os.system is not allowed; write the plain value",
    ]),
    ("core tag", b"a: !!str 1\n", ["f:1: the tag tag:yaml.org,2002:str is not allowed; write the plain value"]),
    ("bare tag", b"a: ! 1\n", ["f:1: the tag ! is not allowed; write the plain value"]),
    ("tag on a mapping", b"- !!set {a: null}\n", [
        "f:1: the tag tag:yaml.org,2002:set is not allowed; write the plain value",
    ]),
    ("duplicate key", b"a: 1\nb:\n  c: 1\n  c: 2\na: 3\n", [
        "f:4: b.c: the key is given twice, first in line 3; keep one of them",
        "f:5: a: the key is given twice, first in line 1; keep one of them",
    ]),
    ("duplicate key in another quoting", b"{a: 1, 'a': 2, \"\\x61\": 3}\n", [
        "f:1: a: the key is given twice, first in line 1; keep one of them",
    ]),
    ("number as key", b"a:\n  0.10: x\n  5: z\n", [
        'f:2: a["0.10"]: the key is no text; write "0.10":',
        'f:3: a.5: the key is no text; write "5":',
    ]),
    ("truth value as key", b"on: x\n", ['f:1: on: on is a truth value to some YAML readers; write "on":']),
    ("null as key", b"~: x\n", ['f:1: ["~"]: the key is no text; write "~":']),
    ("list as key", b"? [a]\n: 1\n", ["f:1: a list or mapping stands as a key; use text as the key"]),
    ("trap below a trap", b"a: [yes, 010]\n", [
        'f:1: a[0]: yes is a truth value to some YAML readers; write true, or "yes" for text',
        'f:1: a[1]: 010 is octal to some YAML readers and decimal to others; write 10, or "010" for text',
    ]),
    ("open list", b"a: [1, 2\n", [
        "f:2: a [ list is not closed or lacks a comma; close it, or quote text that holds , [ ] { }",
    ]),
    ("open mapping", b"a: {b: 1\n", [
        "f:2: a { mapping is not closed or lacks a comma; close it, or quote text that holds , [ ] { }",
    ]),
    ("open quote", b"a: 1\nb: 'x\nc: 2\n", [
        "f:2: a quote that opens here is never closed; close it; the file may be truncated",
    ]),
    ("cut in a key", b"a: 1\nsome_ke", ['f:2: a key without a colon; write "key: value"; the file may be truncated']),
    ("colon in text", b"a: b: c\n", ['f:1: ": " inside unquoted text starts a mapping; put the text in quotes']),
    ("at sign", b"a: @x\n", ["f:1: unquoted text cannot start with this character; put the text in quotes"]),
    ("wrong indentation", b"a:\n  b: 1\n c: 2\n", [
        "f:3: the line fits none of the blocks above it; check its indentation and the quotes before it",
    ]),
    ("list and mapping mixed", b"- a\nb: 1\n", [
        "f:2: a list and a mapping are mixed at one level; check the indentation",
    ]),
    ("undefined alias", b"a: *x\n", ["f:1: the alias *x is not allowed; write the value out"]),
]  # fmt: skip

ACCEPTED: list[tuple[str, bytes, Json]] = [
    ("multiplication is no alias", b"when: page_size *dcp_size == 1\n", {"when": "page_size *dcp_size == 1"}),
    ("an ampersand in text", b"a: salt & pepper\nb: '&x'\n", {"a": "salt & pepper", "b": "&x"}),
    ("unequal is no tag", b"when: a != b\nb: x !important\n", {"when": "a != b", "b": "x !important"}),
    ("emphasis in a note", b"note: |\n  it is *not* so\n  - *x\n", {"note": "it is *not* so\n- *x\n"}),
    ("an aliasless star in quotes", b"a: ' *x'\n", {"a": " *x"}),
    ("quoted traps", b"a: 'yes'\nb: \"0.10\"\n'on': 1\n", {"a": "yes", "b": "0.10", "on": 1}),
    ("Windows line ends", b"a: 1\r\nb: |\r\n  x\r\n", {"a": 1, "b": "x\n"}),
    ("no line end", b"a: 1", {"a": 1}),
    ("document start", b"---\na: 1\n...\n", {"a": 1}),
    ("Unicode", "a: größer – ≥ 😀\n".encode(), {"a": "größer – ≥ 😀"}),
    ("empty collections", b"a: {}\nb: []\nc:\n", {"a": {}, "b": [], "c": None}),
    ("same key at two levels", b"a: {a: {a: 1}}\n", {"a": {"a": {"a": 1}}}),
]


@pytest.mark.parametrize(("text", "value"), PLAIN)
def test_plain_scalars_mean_what_every_reader_takes_them_for(text: str, value: Json) -> None:
    found = resolve_plain(text)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(("text", "meant", "hint"), TRAPS)
def test_scalars_that_readers_disagree_on_are_refused(text: str, meant: Json, hint: str) -> None:
    found = resolve_plain(text)
    assert isinstance(found, Trap)
    assert (found.meant, found.hint) == (meant, hint)
    assert text in found.message


@pytest.mark.parametrize(("data", "said"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_misleading_documents_are_refused(data: bytes, said: list[str]) -> None:
    assert [str(problem) for problem in Document("f", data).problems] == said


@pytest.mark.parametrize(("data", "value"), [row[1:] for row in ACCEPTED], ids=[row[0] for row in ACCEPTED])
def test_near_misses_are_read(data: bytes, value: Json) -> None:
    document = Document("f", data)
    assert document.problems == ()
    assert document.value == value


@pytest.mark.parametrize("depth", [MAX_DEPTH, MAX_DEPTH + 1])
def test_nesting_is_bounded(depth: int) -> None:
    document = Document("f", b"[" * depth + b"]" * depth)
    assert [str(problem) for problem in document.problems] == (
        [] if depth <= MAX_DEPTH else [f"f: nests deeper than {MAX_DEPTH} levels; flatten it"]
    )


@pytest.mark.parametrize("indicator", [b"- ", b"[", b"? ", b"{a: "])
def test_hostile_nesting_ends_in_a_problem_not_in_a_crash(indicator: bytes) -> None:
    document = Document("f", indicator * 200_000)
    assert len(document.problems) == 1
    assert document.value is None


def test_hostile_nesting_beside_an_anchor_ends_in_a_problem() -> None:
    assert Document("f", b"a: &x 1\nb: " + b"[" * 200_000).problems


def test_a_file_over_the_bound_is_refused_unparsed() -> None:
    (problem,) = Document("f", b"#" * (MAX_BYTES + 1)).problems
    assert str(problem) == f"f: is {MAX_BYTES + 1} bytes, more than {MAX_BYTES}; split it"


def test_a_trap_stands_for_what_was_meant_so_that_checking_goes_on() -> None:
    assert Document("f", b"a: yes\nb: 0x10\nb: 2\n").value == {"a": True, "b": 16}


@pytest.mark.parametrize(
    ("path", "line", "found"),
    [
        (("a", "b"), 2, ("a", "b")),
        (("a", "c", 1, "d"), 4, ("a", "c", 1, "d")),
        (("a", "c", 7), 3, ("a", "c")),
        (("a", "spans", 0, "b"), 2, ("a", "b")),
        (("nowhere",), 1, ()),
    ],
)
def test_a_path_is_found_as_far_as_the_file_spells_it_out(path: DataPath, line: int, found: DataPath) -> None:
    located = Document("f", b"a:\n  b: 1\n  c: [x,\n    {d: 2}]\n").locate(path)
    assert (located.line, located.path) == (line, found)


def test_paths_are_shown_without_ambiguity() -> None:
    assert show_path(("releases", "0.5.9", "date")) == 'releases["0.5.9"].date'
    assert show_path(("steps", "x", "do", 2, "first", 0)) == "steps.x.do[2].first[0]"


FLOATS = st.floats(allow_nan=False, allow_infinity=False)
SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | FLOATS
LETTERS = st.characters(codec="utf-8", exclude_categories=("Cc", "Cs"), exclude_characters="\u2028\u2029\ufeff\x85")
TEXT = st.text(LETTERS)
VALUES = st.recursive(SCALARS | TEXT, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner), max_leaves=20)


@given(VALUES.filter(lambda value: value is not None))
def test_json_is_read_as_json(value: Json) -> None:
    document = Document("f", json.dumps(value, ensure_ascii=False).encode())
    spelt_out = {problem.message for problem in document.problems if "e" not in problem.message.split()[0]}
    assert spelt_out == set()  # JSON's 1e-07 is text to YAML 1.1 readers
    assert document.value == value


@given(st.binary(max_size=200))
def test_no_bytes_bring_the_reader_down(data: bytes) -> None:
    document = Document("f", data)
    assert document.problems or document.value is not None
