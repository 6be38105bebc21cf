"""Settings as the engine declares them: type, default, choices and every spelling of a flag."""

import pytest

from archcap.scanner.settings_yaml import span
from tests.scanner.wagon import CONFIG, scan

HEAD = """
import argparse, dataclasses
from typing import Annotated as A, Dict, List, Literal, Optional, Union
from wagon.core.choices import CHOICES, OPEN, Kind
class Arg: ...
"""
CHOICES = """
from enum import Enum
CHOICES = ["auto", "steam", "diesel"]
OPEN = ["x", "y"]
def add_open(more):
    OPEN.extend(more)
class Kind(Enum):
    ONE = "one"
    TWO = "two"
class Names:
    LEFT = "left"
    RIGHT = "right"
    ALL = (LEFT, RIGHT)
TABLE = {"a": 1, "b": 2}
"""


def settings(fields: str, registrations: str = "pass", extra: str = ""):
    text = HEAD + "class Args:\n"
    text += "".join(f"    {line}\n" for line in fields.split("\n"))
    text += "    @staticmethod\n    def add_cli_args(parser):\n"
    text += "".join(f"        {line}\n" for line in registrations.split("\n")) + extra
    found = scan({"core/args.py": text, "core/choices.py": CHOICES})
    return found.settings


def one(fields: str, registrations: str = "pass", extra: str = ""):
    return span(next(iter(settings(fields, registrations, extra).settings.values())))


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("x: int", {"type": "int"}),
        ("x: int = 3", {"type": "int", "default": 3}),
        ("x: Optional[int] = None", {"type": "int", "optional": True}),
        ("x: int | None = None", {"type": "int", "optional": True}),
        ("x: bool = False", {"type": "bool", "default": False}),
        ("x: float = 0.5", {"type": "float", "default": 0.5}),
        ("x: Union[int, float] = 1", {"type": "number", "default": 1}),
        ("x: Optional[Union[str, Dict]] = None", {"type": "any", "optional": True}),
        ("x: Dict[str, int] = None", {"type": "struct"}),
        ("x: List[float] = dataclasses.field(default_factory=list)", {"type": "list", "default": [], "item": "float"}),
        ("x: Optional[list[str]] = None", {"type": "list", "optional": True, "item": "str"}),
        ("x: Literal['a', 'b'] = 'a'", {"type": "str", "default": "a", "choices": ["a", "b"]}),
        ("x: Optional[Literal[1, 2]] = None", {"type": "int", "optional": True, "choices": [1, 2]}),
        ("x: Literal[None, 'a'] = None", {"type": "str", "optional": True, "choices": ["a"]}),
        ("x: int = 10 * 1000", {"type": "int", "default": 10000}),
        ("x: str = CHOICES[1]", {"type": "str", "default": "steam"}),
        ("x: str = Kind.ONE.value", {"type": "str", "default": "one"}),
    ],
)
def test_types_and_defaults_come_from_the_annotation(field, expected):
    assert one(field) == expected


@pytest.mark.parametrize(
    ("arg", "expected"),
    [
        ('"The help."', {"flags": ["--x"]}),
        ('Arg(help="h")', {"flags": ["--x"]}),
        ('Arg(help="h", no_cli=True)', {}),
        ('Arg(cli_name="--exes", aliases=["--ex"])', {"flags": ["--exes", "--ex"]}),
        ("Arg(choices=CHOICES)", {"sentinel": "auto", "choices": ["auto", "steam", "diesel"], "flags": ["--x"]}),
        ("Arg(choices=OPEN)", {"choices": ["x", "y"], "open_choices": True, "flags": ["--x"]}),
        ("Arg(choices=OPEN + ['z'])", {"choices": ["x", "y", "z"], "open_choices": True, "flags": ["--x"]}),
        ("Arg(type_parser=json.loads)", {"parser": "json", "flags": ["--x"]}),
        ("Arg(type_parser=human_readable_int)", {"parser": "si_int", "flags": ["--x"]}),
        ("Arg(type_parser=nullable_str)", {"parser": "nullable", "flags": ["--x"]}),
        ('Arg(nargs="?", const="")', {"words": "?", "const": "", "flags": ["--x"]}),
        ('Arg(nargs="*")', {"words": "*", "many": True, "flags": ["--x"]}),
    ],
)
def test_flags_come_from_what_the_annotation_carries(arg, expected):
    assert one(f"x: A[str, {arg}]") == {"type": "str", **expected}


def test_a_list_takes_several_words_unless_a_parser_reads_one():
    assert one('x: A[List[int], "h"]')["many"] is True
    assert "many" not in one("x: A[List[int], Arg(type_parser=json.loads)]")


def test_a_yes_or_no_option_has_both_spellings():
    found = one("x: A[bool, Arg(action=argparse.BooleanOptionalAction)] = True")
    assert found["flags"] == ["--x", {"name": "--no-x", "value": False, "has_value": False}]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ('("--y", type=str)', {}),
        ('("--x", type=str, default=Args.x)', {"flags": ["--x"]}),
        ('("--ex", "--x", type=str, dest="x")', {"flags": ["--ex", "--x"]}),
        ('("--x", choices=[k.value for k in Kind])', {"choices": ["one", "two"], "flags": ["--x"]}),
        ('("--x", choices=[k.name.lower() for k in Kind])', {"choices": ["one", "two"], "flags": ["--x"]}),
        ('("--x", choices=list(TABLE.keys()))', {"choices": ["a", "b"], "flags": ["--x"]}),
        ('("--x", choices=Names.ALL)', {"choices": ["left", "right"], "flags": ["--x"]}),
        ('("--x", choices=more)', {"choices": ["p", "q"], "flags": ["--x"]}),
    ],
)
def test_flags_registered_by_hand_complete_the_field(call, expected):
    extra = "from wagon.core.choices import Names, TABLE\n"
    assert one("x: str = None", f'more = ["p", "q"]\nparser.add_argument{call}', extra) == {"type": "str", **expected}


@pytest.mark.parametrize(
    ("call", "flag"),
    [
        (
            '("--old", action=DeprecatedAliasStoreAction, dest="x", new_flag="--x")',
            {"name": "--old", "replaced_by": "--x"},
        ),
        (
            '("--old", action=DeprecatedStoreTrueAction, dest="x")',
            {"name": "--old", "value": True, "has_value": False},
        ),
        (
            '("--old", action=DeprecatedStoreConstAction, dest="x", const_value="steam")',
            {"name": "--old", "value": "steam", "has_value": False},
        ),
        (
            '("--old", action=DeprecatedStoreConstAction, dest="x", nargs=None, choices=["s"], const_value="steam")',
            {"name": "--old", "value": "steam", "choices": ["s"]},
        ),
    ],
)
def test_retired_spellings_say_what_they_write(call, flag):
    assert one('x: A[str, "h"] = None', f"parser.add_argument{call}")["flags"] == ["--x", flag]


@pytest.mark.parametrize(
    ("call", "effect", "says"),
    [
        ('("--old", action=DeprecatedAction)', "ignored", None),
        ('("--old", action=DeprecatedAction, help="Gone: use --x instead.")', "ignored", "use --x"),
        ('("--old", action=DeprecatedAction, error_message="Gone. Use --x.")', "refused", "use --x"),
    ],
)
def test_flags_that_write_nothing_are_loose(call, effect, says):
    found = settings('x: A[str, "h"] = None', f"parser.add_argument{call}").loose["--old"]
    assert (found.effect, found.says) == (effect, says)


def test_destinations_that_the_record_renames_are_followed():
    extra = "    @classmethod\n    def from_cli_args(cls, args):\n        args.x_size = args.exes_size\n"
    found = one("x_size: int = 1", 'parser.add_argument("--exes-size", "--x-size", type=int)', extra)
    assert found["flags"] == ["--exes-size", "--x-size"]


def test_fields_collected_from_namespaces_belong_to_the_record():
    files = {
        "core/args.py": "from wagon.core.fields import Track\nclass Args: ...\n_INPUT_NAMESPACES = [Track]\n",
        "core/fields.py": 'from typing import Annotated as A\nclass Track:\n    _NS_PATH = "rail.track"\n'
        '    x: A[int, "h"] = 4\n',
    }
    found = scan(files).settings.settings["x"]
    assert (found.file, found.line, found.group, found.default) == ("core/fields.py", 4, "rail.track", 4)


def test_leaves_of_a_structured_setting_are_listed():
    extra = "class Phase:\n    size: int = 1\nclass GraphConfig:\n    up: Phase\n    down: Phase\n    name: str = ''\n"
    assert one("x: GraphConfig = None", extra=extra)["fields"] == ["up.size", "down.size", "name"]


def test_a_value_that_only_running_would_tell_is_reported():
    found = settings("x: bool = dataclasses.field(default_factory=lambda: on_steam())")
    assert [(path, text) for path, _, text in found.unresolved] == [("core/args.py", "x: default: call of on_steam")]


def test_a_record_that_is_missing_has_no_settings():
    assert scan({"core/other.py": "x = 1\n"}, CONFIG).settings.settings == {}


def test_a_function_of_another_file_is_read_for_what_it_returns():
    files = {
        "core/args.py": "from wagon.core.far import names\nclass Args:\n"
        "    x: list = dataclasses.field(default_factory=lambda: names())\n",
        "core/far.py": 'def names():\n    """Say them."""\n    return ["a"]\n\n\ndef other():\n    return 1\n',
    }
    assert scan(files).settings.settings["x"].default == ["a"]


def test_a_default_that_depends_on_the_machine_is_that_of_the_usual_one_and_reported():
    found = settings("x: bool = dataclasses.field(default_factory=lambda: is_steam())")
    assert found.settings["x"].default is False
    assert [text for _, _, text in found.unresolved] == ["x: default depends on the machine (is_steam)"]
