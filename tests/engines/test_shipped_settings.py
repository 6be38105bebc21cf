"""The shipped settings of every release can be asked for on a command line, and read back."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from archcap.engines import Options, support
from archcap.load import load_registry

ROOT = Path(__file__).parents[2]
SGLANG = load_registry(ROOT).engines["sglang"]
RELEASES = list(SGLANG.engine.releases)


def options(release):
    spans = {name: span for name, setting in SGLANG.settings.items() if (span := setting.at(release)) is not None}
    loose = {
        name: found
        for name, all_spans in SGLANG.engine.loose_flags.items()
        if (found := next((span for span in all_spans if span.holds(release)), None)) is not None
    }
    return Options(release, spans, loose, SGLANG.settings)


OPTIONS = {release: options(release) for release in RELEASES}
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
PLAIN = st.text("abcXYZ019./_-=:{ ", min_size=1, max_size=12).map(str.strip).filter(lambda text: text[:1] not in "-{")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
ITEMS = {"int": st.integers(-99, 10**6), "float": st.floats(0, 1e6), "str": PLAIN,
         "any": PLAIN | st.dictionaries(TEXT, JSON, max_size=2)}  # fmt: skip


def values(span):
    """Values a flag of the span can say."""
    if span.type == "bool":
        says_no = any(not isinstance(flag, str) and flag.value is False for flag in span.flags)
        return st.sampled_from([True, False] if says_no else [True])
    if span.parser == "json" or span.type == "struct":
        return st.dictionaries(TEXT, JSON, max_size=3)
    if span.words in ("*", "+") or span.many:
        return st.lists(ITEMS[span.item or "str"], min_size=span.words != "*", max_size=4)
    own = [getattr(flag, "choices", ()) for flag in span.flags if getattr(flag, "has_value", True)]
    if span.choices or all(own):
        return st.sampled_from(span.choices or own[0])
    numbers = {"int": st.integers(-(10**6), 10**9), "float": st.floats(allow_nan=False, allow_infinity=False)}
    unset = ("", "None") if span.parser == "nullable" else ()
    return numbers.get(span.type, TEXT.filter(lambda text: text not in unset))


@st.composite
def launches(draw):
    release = draw(st.sampled_from(RELEASES))
    spans = {name: span for name, span in OPTIONS[release].spans.items() if span.flags}
    names = draw(st.lists(st.sampled_from(sorted(spans)), unique=True, max_size=8))
    return release, {name: draw(values(spans[name])) for name in names}


@given(launches())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_what_a_command_asks_for_is_what_it_was_made_from(launch):
    release, wanted = launch
    code = support("sglang", release)
    command = code.format_command(wanted, OPTIONS[release].spans, SGLANG.engine.launch)
    assert "no flag for" not in command.rpartition("  # ")[2]
    assert code.parse_command([command], OPTIONS[release]).settings == wanted


@pytest.mark.parametrize("release", RELEASES)
def test_every_spelling_of_every_release_is_read_as_its_setting(release):
    code = support("sglang", release)
    for name, span in OPTIONS[release].spans.items():
        for flag in span.flags:
            spelling = flag if isinstance(flag, str) else flag.name
            taken = span.type != "bool" if isinstance(flag, str) else flag.has_value
            words = [spelling, a_word(flag, span)] if taken else [spelling]
            assert list(code.parse_command(words, OPTIONS[release]).settings) == [name]


def a_word(flag, span):
    choices = (() if isinstance(flag, str) else flag.choices) or span.choices
    return "1" if span.parser == "json" or not choices else str(choices[0])
