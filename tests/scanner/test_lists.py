"""Collections of names: named ones, tests in code, registered overrides; and how they are followed over releases."""

import pytest

from archcap.scanner.merge import merge
from tests.scanner.wagon import CONFIG, scan

MODELS = "class AForCausalLM: pass\nclass BForCausalLM: pass\nEntryClass = [AForCausalLM, BForCausalLM]\n"


def lists(rules: str, path: str = "core/rules.py"):
    return scan({"core/models/one.py": MODELS, path: rules}).lists


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('WORDS = {"auto", "steam"}', None),
        ('ARCHS = {"AForCausalLM"}', ["AForCausalLM"]),
        ('ARCHS = frozenset(("AForCausalLM", "GoneForCausalLM"))', ["AForCausalLM", "GoneForCausalLM"]),
        ('ARCHS = {"AForCausalLM": {"dtype": "x"}}', ["AForCausalLM"]),
        ('ARCHS = ["AForCausalLM"]\nARCHS.append("BForCausalLM")', ["AForCausalLM", "BForCausalLM"]),
        ('ARCHS = {"AForCausalLM"} | {"BForCausalLM"}', ["AForCausalLM", "BForCausalLM"]),
        ("from wagon.core.models.one import AForCausalLM\nARCHS = [AForCausalLM]", ["AForCausalLM"]),
    ],
)
def test_module_level_collections_of_architectures_are_lists(text, names):
    found = lists(text + "\n").get("core.rules.ARCHS")
    assert (None if found is None else list(found.names)) == names


def test_a_list_knows_the_line_of_each_name():
    found = lists('ARCHS = {\n    # why\n    "BForCausalLM",\n    "AForCausalLM",\n}\n')["core.rules.ARCHS"]
    assert (found.line, found.names) == (1, {"BForCausalLM": 3, "AForCausalLM": 4})


def test_a_class_may_hold_a_list():
    assert list(lists('class Args:\n    ONLY = ("AForCausalLM",)\n')) == ["core.rules.Args.ONLY"]


@pytest.mark.parametrize(
    ("test", "kind", "names"),
    [
        ('backend == "steam"', None, None),
        ("arch in ARCHS", None, None),
        ('arch == "AForCausalLM"', "architecture", ["AForCausalLM"]),
        ('arch in ("AForCausalLM", "GoneForCausalLM")', "architecture", ["AForCausalLM", "GoneForCausalLM"]),
        ('"AForCausalLM" in config.architectures', "architecture", ["AForCausalLM"]),
        ('config.model_type == "a_text"', "model_type", ["a_text"]),
        ('config.model_type in ("a_text", "auto")', "model_type", ["a_text"]),
    ],
)
def test_tests_in_code_are_lists_of_their_own(test, kind, names):
    found = lists(f'ARCHS = {{"AForCausalLM"}}\ndef f(arch, backend, config):\n    return {test}\n')
    one = found.get("core/rules.py:f#1")
    assert (None if one is None else (one.kind, list(one.names))) == (None if kind is None else (kind, names))


def test_a_function_registered_for_architectures_is_a_list():
    text = 'GROUP = ("BForCausalLM",)\n@register_for("AForCausalLM", *GROUP)\ndef _a_overrides(args): ...\n'
    assert list(lists(text)["model_override:a_overrides"].names) == ["AForCausalLM", "BForCausalLM"]


def test_lists_of_the_models_package_itself_are_left_alone():
    assert lists('ARCHS = {"AForCausalLM"}\n', "core/models/two.py") == {}


def merged(**rules: tuple[str, str]):
    """Return the lists of several releases, each given as (path, text)."""
    scans = {}
    for number, (path, text) in enumerate(rules.values(), 1):
        scans[f"1.{number}"] = scan({"core/models/one.py": MODELS, path: text}, CONFIG, f"1.{number}")
    return merge(scans, CONFIG).lists


def test_a_name_comes_and_goes_by_release():
    found = merged(
        a=("core/rules.py", 'ARCHS = {"AForCausalLM"}\n'),
        b=("core/rules.py", 'ARCHS = {"AForCausalLM", "BForCausalLM"}\n'),
        c=("core/rules.py", 'ARCHS = {"BForCausalLM"}\n'),
    )
    assert found["core.rules.ARCHS"]["names"] == {
        "AForCausalLM": {"added": "<=1.1", "removed": "1.3"},
        "BForCausalLM": "1.2",
    }


def test_a_collection_that_moves_keeps_one_list_with_both_places():
    text = 'ARCHS = {"AForCausalLM"}\n'
    found = merged(a=("core/rules.py", text), b=("core/new/sets.py", text))
    assert found == {
        "core.new.sets.ARCHS": {
            "source": {"1.1": "core/rules.py:ARCHS", "1.2": "core/new/sets.py:ARCHS"},
            "names": {"AForCausalLM": "<=1.1"},
        }
    }


def test_two_collections_of_one_name_in_one_release_stay_apart():
    both = 'ARCHS = {"AForCausalLM"}\n'
    files = {"core/models/one.py": MODELS, "core/a.py": both, "core/b.py": both}
    assert sorted(merge({"1.1": scan(files)}, CONFIG).lists) == ["core.a.ARCHS", "core.b.ARCHS"]


def test_tests_in_code_are_matched_by_their_names_when_another_comes_before():
    old = 'def f(arch):\n    return arch == "AForCausalLM"\n'
    new = 'def f(arch):\n    if arch == "BForCausalLM":\n        return 1\n    return arch == "AForCausalLM"\n'
    found = merged(a=("core/rules.py", old), b=("core/rules.py", new))
    assert found["core/rules.py:f#1"]["names"] == {"BForCausalLM": "1.2"}
    assert found["core/rules.py:f#2"]["names"] == {"AForCausalLM": "<=1.1"}
