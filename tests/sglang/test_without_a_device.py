"""Launches of which the device is not said: what is unknown says so, and nothing unknown hides in an answer."""

from __future__ import annotations

import pytest

from archcap.cli import main
from archcap.model.request import Request
from archcap.resolver import resolve
from archcap.rules.run import Unknown
from archcap.snapshot.store import default

RELEASES = default().releases("sglang")
CHECKPOINTS = ("Qwen/Qwen3-8B", "deepseek-ai/DeepSeek-V3", "Qwen/Qwen3.6-35B-A3B")


def unknowns(value, path=""):
    if isinstance(value, Unknown):
        yield path
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from unknowns(part, f"{path}.{key}")
    elif isinstance(value, list | tuple):
        for part in value:
            yield from unknowns(part, f"{path}[]")


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("checkpoint", CHECKPOINTS)
def test_no_answer_holds_a_value_that_is_no_json(checkpoint, release):
    answer = resolve(Request(engine="sglang", release=release, checkpoint=checkpoint), default())
    held = {name: (one.value, one.default, one.requested) for name, one in answer.settings.items()}
    assert list(unknowns({"settings": held, "plan": answer.plan})) == []


@pytest.mark.parametrize("release", ["0.5.9", "0.5.18", "0.5.23"])
def test_it_is_answered_for_people(capsys, release):
    assert main(["resolve", "--engine", f"sglang@{release}", "--checkpoint", "Qwen/Qwen3-8B"]) == 3
    assert capsys.readouterr().out.startswith("unknown: Qwen3ForCausalLM")
