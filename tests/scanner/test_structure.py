"""What an entry class wraps, and the body that holds its layers."""

import pytest

from tests.scanner.wagon import scan

BODY = """
from torch import nn
class OneModel(nn.Module):
    def __init__(self, config):
        self.layers = nn.ModuleList([])
"""


def built(text: str, name: str = "OneForCausalLM", **others: str) -> tuple[str | None, str | None]:
    files = {"core/models/one.py": text + f"\nEntryClass = {name}\n"}
    files |= {f"core/models/{module}.py": body for module, body in others.items()}
    one = scan(files).architectures[name]
    return one.wraps, one.body


@pytest.mark.parametrize(
    ("case", "entry", "expected"),
    [
        ("nothing is built", "class OneForCausalLM:\n    pass", (None, None)),
        (
            "a vision tower is no decoder",
            "class OneForCausalLM:\n    def __init__(self):\n        self.visual = OneModel(1)",
            (None, None),
        ),
        (
            "built in the constructor",
            "class OneForCausalLM:\n    def __init__(self):\n        self.model = OneModel(1)",
            (None, "OneModel@one"),
        ),
        (
            "built through inheritance",
            "class Base:\n    def __init__(self):\n        self.model = OneModel(1)\nclass OneForCausalLM(Base): pass",
            (None, "OneModel@one"),
        ),
        (
            "built by a method that a subclass replaces",
            "class Other(OneModel):\n    def __init__(self):\n        self.layers = []\n"
            "class Base:\n    def __init__(self):\n        self.model = self.make()\n    def make(self):\n"
            "        return Other()\n"
            "class OneForCausalLM(Base):\n    def make(self):\n        return OneModel(1)",
            (None, "OneModel@one"),
        ),
        (
            "named by a class attribute",
            "class Base:\n    body_cls = None\n    def __init__(self):\n        self.model = self.body_cls(1)\n"
            "class OneForCausalLM(Base):\n    body_cls = OneModel",
            (None, "OneModel@one"),
        ),
        (
            "given as the default of a parameter",
            "class Base:\n    def __init__(self, config, cls=None):\n        self.model = cls(config)\n"
            "class OneForCausalLM(Base):\n    def __init__(self, config, cls=OneModel):\n"
            "        super().__init__(config, cls)",
            (None, "OneModel@one"),
        ),
        (
            "chosen by a condition",
            "class OneForCausalLM:\n    def __init__(self, c):\n        self.model = OneModel(c) if c else None",
            (None, "OneModel@one"),
        ),
        (
            "looked up in a table",
            "_BY_VERSION = {1: OneModel}\nclass OneForCausalLM:\n    def __init__(self, c):\n"
            "        cls = _BY_VERSION.get(c)\n        made = cls(c)\n        self.model = made",
            (None, "OneModel@one"),
        ),
    ],
)
def test_the_body_is_found_where_the_layers_are_made(case, entry, expected):
    assert built(BODY + entry) == expected


def test_a_subclass_of_the_body_in_its_own_file_is_the_same_body():
    text = (
        BODY + "class MoeModel(OneModel): pass\nclass OneForCausalLM:\n    def __init__(self):\n"
        "        self.model = MoeModel(1)"
    )
    assert built(text) == (None, "OneModel@one")


def test_a_subclass_of_the_body_in_another_file_is_a_body_of_its_own():
    text = "from wagon.core.models.base import OneModel\nclass MoeModel(OneModel): pass\n"
    text += "class OneForCausalLM:\n    def __init__(self):\n        self.model = MoeModel(1)"
    assert built(text, base=BODY) == (None, "MoeModel@one")


def test_an_entry_that_holds_another_entry_wraps_it():
    inner = (
        BODY + "class TextForCausalLM:\n    def __init__(self):\n        self.model = OneModel(1)\n"
        "EntryClass = TextForCausalLM"
    )
    text = (
        "class OneForConditionalGeneration:\n    def __init__(self):\n"
        "        from wagon.core.models.inner import TextForCausalLM\n"
        "        self.language_model = TextForCausalLM()"
    )
    assert built(text, "OneForConditionalGeneration", inner=inner) == ("TextForCausalLM@inner", "OneModel@inner")


def test_a_body_that_bears_an_architectures_name_is_wrapped():
    body = BODY.replace("OneModel", "OneForCausalLM")
    text = (
        "from wagon.core.models import inner\nclass OneForCausalLM:\n    body_cls = inner.OneForCausalLM\n"
        "    def __init__(self):\n        self.model = self.body_cls(1)"
    )
    assert built(text, inner=body) == ("OneForCausalLM@inner", "OneForCausalLM@inner")


def test_a_stack_of_layers_is_not_wrapped_though_an_entry_bears_its_name():
    text = BODY + "class OneForCausalLM:\n    def __init__(self):\n        self.model = OneModel(1)"
    assert built(text, other="class OneModel: pass\nEntryClass = OneModel\n") == (None, "OneModel@one")
