import pytest

from archcap.engines import Options
from archcap.engines.flags import flags_file_words, format_flags, parse_flags, shell_text
from archcap.errors import RequestError
from archcap.model.engine import Flag, LooseFlag, Setting, SettingSpan

SPANS = {
    "tp_size": SettingSpan(type="int", default=1, flags=("--tensor-parallel-size", "--tp-size")),
    "page_size": SettingSpan(type="int", optional=True, flags=("--page-size",)),
    "fraction": SettingSpan(type="float", optional=True, flags=("--fraction",)),
    "backend": SettingSpan(type="str", default="auto", choices=("auto", "fast"), flags=("--backend",)),
    "cache": SettingSpan(type="bool", default=False, flags=("--cache",)),
    "strict": SettingSpan(
        type="bool", optional=True, flags=("--strict", Flag(name="--no-strict", has_value=False, value=False))
    ),
    "sizes": SettingSpan(type="list", item="int", many=True, flags=("--sizes",)),
    "prefixes": SettingSpan(type="list", item="str", words="*", many=True, flags=("--prefixes",)),
    "adapters": SettingSpan(type="list", item="any", words="*", many=True, flags=("--adapters",)),
    "checksum": SettingSpan(type="str", optional=True, words="?", const="", flags=("--checksum",)),
    "tokens": SettingSpan(type="int", parser="si_int", flags=("--tokens",)),
    "labels": SettingSpan(type="struct", optional=True, parser="json", flags=("--labels",)),
    "path": SettingSpan(type="str", optional=True, default="p", parser="nullable", flags=("--path",)),
    "graph": SettingSpan(
        type="str", default="full", choices=("full", "breakable", "off"),
        flags=(
            Flag(name="--enable-breakable", has_value=False, value="breakable", replaced_by="--graph=breakable"),
            Flag(name="--old-graph", choices=("full",), replaced_by="--graph"),
            "--graph",
        ),
    ),
    "kernel": SettingSpan(
        type="bool", default=False,
        flags=("--kernel", Flag(name="--kernel-backend", value=True, choices=("amd",), replaced_by="--kernel")),
    ),
    "hidden": SettingSpan(type="bool", default=False),
}  # fmt: skip
LOOSE = {
    "--ratio": LooseFlag(effect="ignored", says="use --fraction"),
    "--gone": LooseFlag(effect="refused", says="use --backend"),
    "--flags-file": LooseFlag(effect="flags_file", words=1),
}
LATER = {"later": Setting(spans=(SettingSpan(type="int", added="2.0", flags=("--later",)),))}
OPTIONS = Options("1.0", SPANS, LOOSE, LATER)


def parse(*words):
    return parse_flags(words, OPTIONS, "toy").settings


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        ("--tp-size 8", {"tp_size": 8}),
        ("--tensor-parallel-size=8", {"tp_size": 8}),
        ("--tp 8", {"tp_size": 8}),
        ("--tp-size 8 --tp-size 4", {"tp_size": 4}),
        ("--page-size -1", {"page_size": -1}),
        ("--page-size=-1", {"page_size": -1}),
        ("--fraction .5", {"fraction": 0.5}),
        ("--backend unheard-of", {"backend": "unheard-of"}),
        ("--cache", {"cache": True}),
        ("--strict", {"strict": True}),
        ("--no-strict", {"strict": False}),
        ("--sizes 1 2 4 --cache", {"sizes": [1, 2, 4], "cache": True}),
        ("--prefixes", {"prefixes": []}),
        ("--prefixes /a /b", {"prefixes": ["/a", "/b"]}),
        ("--checksum", {"checksum": ""}),
        ("--checksum --cache", {"checksum": "", "cache": True}),
        ("--checksum abc", {"checksum": "abc"}),
        ("--tokens 25.6k", {"tokens": 25600}),
        ("--tokens 2Ki", {"tokens": 2048}),
        ("--tokens 17", {"tokens": 17}),
        ("--path None", {"path": None}),
        ("--graph off", {"graph": "off"}),
        ("--enable-breakable", {"graph": "breakable"}),
        ("--old-graph full", {"graph": "full"}),
        ("--kernel-backend amd", {"kernel": True}),
        ("", {}),
    ],
)
def test_flags_are_read_as_argparse_reads_them(words, settings):
    assert parse(*words.split()) == settings


def test_items_that_look_like_json_are_json():
    assert parse("--adapters", "x=/p", '{"a": 1}') == {"adapters": ["x=/p", {"a": 1}]}
    assert parse("--labels", '{"a": "b"}') == {"labels": {"a": "b"}}


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        ("--tp-sizes 8", "unknown-flag", "did you mean --tp-size"),
        ("--later 8", "unknown-flag", "it is there from 2.0"),
        ("--zzzzzz", "unknown-flag", "toy 1.0 has no flag --zzzzzz"),
        ("--p 8", "ambiguous-flag", "--page-size, --prefixes, --path"),
        ("--tp-size x", "wrong-flag-value", "--tp-size takes a whole number, not 'x'"),
        ("--tp-size $TP", "wrong-flag-value", "put the variable's value in its place"),
        ("--tp-size", "wrong-flag-value", "expected one argument"),
        ("--cache=1", "wrong-flag-value", "--cache"),
        ("--sizes 1 x", "wrong-flag-value", "--sizes takes a whole number, not 'x'"),
        ("--sizes", "wrong-flag-value", "expected at least one argument"),
        ("--fraction half", "wrong-flag-value", "takes a number, not 'half'"),
        ("--tokens 1.5Ki", "wrong-flag-value", "a whole number before Ki"),
        ("--tokens 1K", "wrong-flag-value", "takes a whole number"),
        ("--labels {", "wrong-flag-value", "takes JSON"),
        ("--old-graph off", "wrong-flag-value", "takes full"),
        ("--kernel-backend nvidia", "wrong-flag-value", "takes amd"),
        ("--gone", "retired-flag", "use --backend"),
        ("--tp-size 8 9", "stray-word", "'9' belongs to no flag"),
        ("model --tp-size 8", "stray-word", "'model' belongs to no flag"),
        ("--help", "asks-for-help", "drop --help"),
    ],
)
def test_what_the_parser_cannot_read_is_one_clear_line(words, code, says):
    with pytest.raises(RequestError) as caught:
        parse(*words.split())
    assert caught.value.code == code
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_deprecated_and_ignored_flags_are_noted():
    notes = parse_flags(["--enable-breakable", "--ratio", "--flags-file", "x"], OPTIONS, "toy").notes
    assert notes == (
        "--enable-breakable is deprecated in toy 1.0; use --graph=breakable",
        "--ratio does nothing in toy 1.0; use --fraction",
        "toy 1.0 reads a flags file only when spelled `--flags-file FILE`; it is ignored",
    )


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"tp_size": 8, "cache": True}, "--tp-size 8 --cache"),
        ({"cache": False, "page_size": None}, ""),
        ({"strict": False}, "--no-strict"),
        ({"page_size": -1, "backend": "-x"}, "--page-size=-1 --backend=-x"),
        ({"backend": "a b"}, "--backend 'a b'"),
        ({"sizes": [1, 2], "prefixes": []}, "--sizes 1 2 --prefixes"),
        ({"prefixes": ["-x"]}, "--prefixes=-x"),
        ({"labels": {"a": 1}}, """--labels '{"a":1}'"""),
        ({"path": None}, "--path None"),
        ({"graph": "breakable"}, "--graph breakable"),
        ({"kernel": True}, "--kernel"),
        ({"checksum": ""}, "--checksum"),
        ({"hidden": True}, "  # no flag for hidden=true"),
        ({"sizes": []}, "  # no flag for sizes=[]"),
        ({"unheard_of": 1}, "  # no flag for unheard_of=1"),
    ],
)
def test_settings_are_spelled_as_flags(settings, text):
    assert shell_text(*format_flags(settings, SPANS)) == text


def test_a_flags_file_stands_for_the_words_the_engine_makes_of_it():
    content = {"tp-size": 8, "cache": True, "strict": False, "sizes": [1, 2], "prefixes": [], "labels": {"a": 1}}
    words = ["--tp-size", "8", "--cache", "--sizes", "1", "2", "--labels"]
    assert flags_file_words(content, SPANS, nested_json=True) == [*words, '{"a": 1}']
    assert flags_file_words(content, SPANS, nested_json=False) == [*words, "{'a': 1}"]
    assert flags_file_words({"backend": True}, SPANS, nested_json=True) == ["--backend", "true"]
