"""Which classes a release serves under which architecture name."""

import pytest

from tests.scanner.wagon import scan

CLASSES = "class OneForCausalLM: ...\nclass TwoForCausalLM: ...\n"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (CLASSES, []),
        (CLASSES + "Entry = [OneForCausalLM]\n", []),
        (CLASSES + "EntryClass = OneForCausalLM\n", ["OneForCausalLM"]),
        (CLASSES + "EntryClass = [OneForCausalLM, TwoForCausalLM]\n", ["OneForCausalLM", "TwoForCausalLM"]),
        (
            CLASSES + "EntryClass = [OneForCausalLM]\nEntryClass.append(TwoForCausalLM)\n",
            ["OneForCausalLM", "TwoForCausalLM"],
        ),
        (
            CLASSES + "EntryClass = [OneForCausalLM]\nEntryClass += [TwoForCausalLM]\n",
            ["OneForCausalLM", "TwoForCausalLM"],
        ),
        ("class A: ...\nclass BForCausalLM(A): pass\nEntryClass = [BForCausalLM]\n", ["BForCausalLM"]),
    ],
)
def test_entry_classes_are_those_the_list_names(text, names):
    assert list(scan({"core/models/one.py": text}).architectures) == names


def test_an_entry_class_may_be_imported_from_elsewhere():
    found = scan(
        {
            "core/models/common/parts.py": "class OneForCausalLM:\n    def capture(self): ...\n",
            "core/models/common/__init__.py": "from .parts import *\n",
            "core/models/one.py": "from wagon.core.models.common import OneForCausalLM\nEntryClass = OneForCausalLM\n",
        }
    )
    one = found.architectures["OneForCausalLM"]
    assert (one.module, one.file) == ("one", "core/models/common/parts.py")


def test_a_list_that_only_running_would_tell_is_reported_and_not_guessed():
    found = scan({"core/models/one.py": CLASSES + "EntryClass = make_entries()\n"})
    assert found.architectures == {}
    assert [(m.file, m.line, m.reason) for m in found.unresolved] == [
        ("core/models/one.py", 3, "EntryClass: call of make_entries")
    ]


def test_modules_of_sub_packages_list_no_entries():
    assert scan({"core/models/deep/one.py": CLASSES + "EntryClass = OneForCausalLM\n"}).architectures == {}


@pytest.mark.parametrize(("name", "role"), [("DraftForCausalLM", "target"), ("OneForCausalLMDraft", "draft")])
def test_drafts_are_told_by_their_name(name, role):
    found = scan({"core/models/one.py": f"class {name}: ...\nEntryClass = {name}\n"})
    assert found.architectures[name].role == role


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        (b"class A:\n    pass\n  def b(self): ...\n", 3, "unindent does not match any outer indentation level"),
        (b"x = 1\ny = (\n", 2, "'(' was never closed"),
        (b"x = '\xff\xfe'\n", 1, "unicode"),
        (b"# -*- coding: no-such-coding -*-\n", 1, "unknown encoding"),
        (b"x = '\x00'\n", 1, "null bytes"),
    ],
)
def test_an_unreadable_file_makes_absence_unknown(content, line, reason):
    found = scan({"core/models/one.py": content, "core/models/two.py": CLASSES + "EntryClass = TwoForCausalLM\n"})
    assert list(found.architectures) == ["TwoForCausalLM"]
    assert [(m.file, m.line) for m in found.unknown] == [("core/models/one.py", line)]
    assert reason in found.unknown[0].reason


def test_a_readable_source_leaves_nothing_unknown():
    assert scan({"core/models/one.py": CLASSES}).unknown == []
