"""Every `capctl` command that the documentation shows is one that exists, and the marked ones do what is shown."""

from __future__ import annotations

import re

import pytest

from archcap.cli import main
from tests.docs.commands import Typed, actions, all_typed, known_commands, mentioned, parser_of, typed
from tests.docs.pages import ROOT, Fence, Page, fences

TYPED = list(all_typed())
RUN = [fence for fence in fences("console") if fence.mark == "run"]
REFERENCE = Page(ROOT / "docs" / "cli.md")


@pytest.mark.parametrize("command", TYPED, ids=lambda one: f"{one.place} {one.line[:60]}")
def test_a_command_in_a_console_block_parses(command: Typed) -> None:
    words = command.words
    own = words[: words.index("--")] if "--" in words else words
    parser_of(own[0]).read(own[1:])


@pytest.mark.parametrize(("page", "span"), list(mentioned()))
def test_a_command_in_running_text_exists(page: str, span: str) -> None:
    words = re.findall(r"[^\s\[\]|]+", span)[1:]
    options = {option for action in actions(words[0]) for option in action.option_strings}
    assert {word for word in words[1:] if word.startswith("--")} <= {*options, "--help", "--registry", "--"}


@pytest.mark.parametrize("fence", RUN, ids=lambda fence: fence.place)
def test_a_command_marked_run_does_what_is_shown(
    fence: Fence, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    for command in typed(fence):
        code = main(command.words)
        out = capsys.readouterr().out
        assert code == int(fence.arg or 0), out
        at = 0
        for line in (line.strip() for line in command.output):
            if line and line != "…":
                found = out.find(line, at)
                assert found >= 0, f"{line!r} is not in what {command.line} says:\n{out}"
                at = found + len(line)


def sections() -> dict[str, str]:
    """Return the text below each `## capctl NAME` of the reference."""
    parts = re.split(r"^## `?capctl ([a-z]+).*$", REFERENCE.text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_the_reference_has_every_command_once() -> None:
    headings = re.findall(r"^## capctl (\w+)$", REFERENCE.text, re.MULTILINE)
    assert sorted(headings) == sorted(set(headings))
    assert set(known_commands()) <= set(sections())


@pytest.mark.parametrize("name", known_commands())
def test_the_reference_names_the_options_that_exist_and_no_others(name: str) -> None:
    exist = {option for action in actions(name) for option in action.option_strings if option.startswith("--")}
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", sections()[name].split("Example")[0]))
    assert named - {"--help", "--registry"} == exist
