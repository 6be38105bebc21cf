"""Places that names decide: a setting's value is none, whatever what holds it is called."""

from __future__ import annotations

import pytest

from tests.scanner.wagon import scan

ARGS = """
import dataclasses

@dataclasses.dataclass
class Args:
    whistle: str = "high"

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--whistle", choices=["high", "low", "steam", "coal"])
"""
MODELS = "class AForCausalLM: pass\nEntryClass = AForCausalLM\n"


def model_types(*tests: str) -> list[tuple[str, ...]]:
    body = "".join(f"    if {test}: return {at}\n" for at, test in enumerate(tests))
    rules = f"def blow(config, model_type):\n{body}"
    found = scan({"core/models/one.py": MODELS, "core/args.py": ARGS, "core/rules.py": rules}).points
    return [one.names for one in found if one.key == "model_type"]


@pytest.mark.parametrize(
    "tests",
    [
        ('config.model_type in ("coal_text", "wood", "steam")',),
        ('config.model_type == "coal"',),
        ('config.model_type in ("coal", "steam")',),
        ('config.model_type in ("high", "low", "wood")',),
    ],
)
def test_what_is_compared_with_model_types_is_a_place(tests):
    assert len(model_types(*tests)) == 1


@pytest.mark.parametrize(
    "tests",
    [
        ('model_type in ("high", "low", "steam")',),
        ('model_type == "high"', 'model_type == "low"', 'model_type == "coal"'),
    ],
)
def test_what_is_compared_with_the_choices_of_one_setting_is_none(tests):
    assert model_types(*tests) == []


def test_another_subject_of_the_same_function_stays():
    tests = ('model_type in ("high", "low", "steam")', 'config.model_type == "coal"')
    assert model_types(*tests) == [("coal",)]
