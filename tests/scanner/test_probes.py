"""Every form of probe, the near miss before the hit."""

import pytest

from archcap.model.vocabulary import BranchProbe, CallProbe, Probe, RegisteredProbe
from tests.scanner.wagon import having, scan

ENTRIES = "\nEntryClass = [AForCausalLM, BForCausalLM]\n"
TWO = "class AForCausalLM: pass\nclass BForCausalLM: pass" + ENTRIES
MODULE = "core/models/one.py"


def classes(body_of_a: str, before: str = "", bases: str = "") -> str:
    return f"{before}\nclass AForCausalLM{bases}:\n{body_of_a}\nclass BForCausalLM: pass{ENTRIES}"


@pytest.mark.parametrize(
    ("case", "text", "found"),
    [
        ("another name", classes("    def captures(self): ..."), []),
        ("a function of the module", classes("    pass", "def capture(self): ..."), []),
        ("own method", classes("    def capture(self): ..."), ["AForCausalLM"]),
        ("inherited", classes("    pass", "class M:\n    def capture(self): ...", "(M)"), ["AForCausalLM"]),
        (
            "mixed in second",
            classes("    pass", "class L: pass\nclass M:\n    def capture(self): ...", "(L, M)"),
            ["AForCausalLM"],
        ),
        (
            "assigned in the body",
            classes("    capture = M.capture", "class M:\n    def capture(self): ..."),
            ["AForCausalLM"],
        ),
        ("of a base outside the engine", classes("    pass", "from torch import M", "(M)"), []),
        (
            "passed on by __getattr__",
            classes(
                "    def __init__(self):\n        self.inner = M()\n    def __getattr__(self, name):\n"
                "        return getattr(self.inner, name)",
                "class M:\n    def capture(self): ...",
            ),
            ["AForCausalLM"],
        ),
        (
            "__getattr__ that passes on to something else",
            classes(
                "    def __init__(self):\n        self.inner = M()\n        self.other = L()\n"
                "    def __getattr__(self, name):\n"
                "        return getattr(self.other, name)",
                "class L: pass\nclass M:\n    def capture(self): ...",
            ),
            [],
        ),
    ],
)
def test_a_method_counts_where_the_class_has_it(case, text, found):
    assert having(scan({MODULE: text}, cap=Probe(method="capture")), "cap") == found


def test_a_base_in_another_file_is_followed():
    files = {
        "core/models/base.py": "class Base:\n    def capture(self): ...\n",
        MODULE: classes("    pass", "from .base import Base as B", "(B)"),
    }
    found = scan(files, cap=Probe(method="capture"))
    assert found.architectures["AForCausalLM"].support["cap"][:2] == ("core/models/base.py", 2)


def test_delegates_that_disagree_are_reported():
    text = classes(
        "    def __init__(self, v):\n        cls = _T[v]\n        made = cls()\n        self.inner = made\n"
        "    def __getattr__(self, name):\n        return getattr(self.inner, name)",
        "class L: pass\nclass M:\n    def capture(self): ...\n_T = {1: L, 2: M}",
    )
    found = scan({MODULE: text}, cap=Probe(method="capture"))
    assert having(found, "cap") == []
    assert [m.reason for m in found.unresolved] == [
        "cap: AForCausalLM delegates to several classes, and not all have it"
    ]


@pytest.mark.parametrize(
    ("case", "body", "found"),
    [
        ("a local variable", "    def __init__(self):\n        start = 1", []),
        ("an attribute of something else", "    def __init__(self, other):\n        other.start = 1", []),
        ("in the class body", "    start = 1", ["AForCausalLM"]),
        ("a property", "    @property\n    def start(self): ...", ["AForCausalLM"]),
        ("in the constructor", "    def __init__(self):\n        self.start = 1", ["AForCausalLM"]),
        (
            "among several",
            "    def __init__(self):\n        self.layers, self.start, self.end = make()",
            ["AForCausalLM"],
        ),
        ("in a branch", "    def __init__(self):\n        if 1:\n            self.start = 1", ["AForCausalLM"]),
    ],
)
def test_an_attribute_counts_where_the_class_sets_it(case, body, found):
    assert having(scan({MODULE: classes(body)}, cap=Probe(attribute="start")), "cap") == found


@pytest.mark.parametrize(
    ("case", "body", "found"),
    [
        ("another method", "    def backward(self, proxy=None): ...", []),
        ("any keyword", "    def forward(self, **kwargs): ...", []),
        ("mentioned in the body", "    def forward(self):\n        proxy = 1", []),
        ("positional", "    def forward(self, x, proxy): ...", ["AForCausalLM"]),
        ("keyword only", "    def forward(self, *, proxy=None): ...", ["AForCausalLM"]),
    ],
)
def test_a_parameter_counts_where_the_method_takes_it(case, body, found):
    assert having(scan({MODULE: classes(body)}, cap=Probe(parameter="forward.proxy")), "cap") == found


@pytest.mark.parametrize(
    ("case", "body", "found"),
    [
        ("a part that takes it", "self.x = M()\n        self.forward = self.x.forward", ["AForCausalLM"]),
        ("a part that lacks it", "self.x = L()\n        self.forward = self.x.forward", []),
        ("a part of a part", "self.x = K()\n        self.forward = self.x.forward", ["AForCausalLM"]),
        ("another method of the part", "self.x = M()\n        self.step = self.x.forward", []),
        ("a part that nobody makes", "self.forward = self.x.forward", []),
        ("itself", "self.x = AForCausalLM()\n        self.forward = self.x.forward", []),
    ],
)
def test_a_method_may_be_taken_from_a_part(case, body, found):
    parts = (
        "class L:\n    def forward(self): ...\nclass M:\n    def forward(self, proxy): ...\n"
        "class K:\n    def __init__(self):\n        self.y = M()\n        self.forward = self.y.forward"
    )
    text = classes(f"    def __init__(self):\n        {body}", parts)
    assert having(scan({MODULE: text}, cap=Probe(parameter="forward.proxy")), "cap") == found


def test_a_base_class_counts_directly_and_from_afar():
    text = classes("    pass", "class Rail: pass\nclass Mid(Rail): pass", "(Mid)")
    assert having(scan({MODULE: text}, cap=Probe(base="core.models.one.Rails")), "cap") == []
    assert having(scan({MODULE: text}, cap=Probe(base="core.models.one.Rail")), "cap") == ["AForCausalLM"]


SETS = """
_OTHERS = {"BForCausalLM"}
_ARCHS = frozenset({"AForCausalLM", "GoneForCausalLM"})
_JOINED = [*_OTHERS, *_ARCHS]
class Args:
    ARCHS = ("AForCausalLM",)
"""


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("core.rules._MISSING", []),
        ("core.rules._OTHERS", ["BForCausalLM"]),
        ("core.rules._ARCHS", ["AForCausalLM"]),
        ("core.rules._JOINED", ["AForCausalLM", "BForCausalLM"]),
        ("core.rules.Args.ARCHS", ["AForCausalLM"]),
        (("core.old._ARCHS", "core.rules._ARCHS"), ["AForCausalLM"]),
    ],
)
def test_membership_in_a_collection_counts(path, found):
    files = {MODULE: TWO, "core/rules.py": SETS}
    assert having(scan(files, cap=Probe(set=path)), "cap") == found


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ('return "AForCausalLM"', []),
        ('return arch == "A"', []),
        ('return arch == "AForCausalLM"', ["AForCausalLM"]),
        ('return "AForCausalLM" in config.architectures', ["AForCausalLM"]),
        ('return arch in ("AForCausalLM", "Gone")', ["AForCausalLM"]),
        ('return arch in [*EXTRA, "AForCausalLM"]', ["AForCausalLM", "BForCausalLM"]),
        ('names = ["AForCausalLM"]\n    return any(n in archs for n in names)', ["AForCausalLM"]),
        ('return arch.startswith("AFor")', ["AForCausalLM"]),
        ('table = {"AForCausalLM": 1}\n    return table.get(arch)', ["AForCausalLM"]),
        ('return bool(set(archs) & {"AForCausalLM"})', ["AForCausalLM"]),
        ('match arch:\n        case "AForCausalLM":\n            return True', ["AForCausalLM"]),
    ],
)
def test_names_that_a_function_compares_count(body, found):
    files = {MODULE: TWO, "core/rules.py": f'EXTRA = ["BForCausalLM"]\ndef test(arch, archs, config):\n    {body}\n'}
    assert having(scan(files, cap=Probe(named_in="core.rules.test")), "cap") == found


BRANCH = """
class Args:
    def adjust(self):
        arch = self.hf_config.architectures[0]
        if arch in ["AForCausalLM"]:
            {body}
        elif arch == "BForCausalLM":
            self.other()
"""


@pytest.mark.parametrize(
    ("body", "found", "when"),
    [
        ("self.other()", [], None),
        ("self.cache(deny=True)", [], None),
        ("self.cache(deny=False)", ["AForCausalLM"], None),
        ("self.cache()", ["AForCausalLM"], None),
        (
            "has = any(t == 'm' for t in getattr(self.hf_config, 'kinds', []))\n            if has:\n"
            "                self.cache()",
            ["AForCausalLM"],
            'any(t == "m" for t in hf.get("kinds", []))',
        ),
        ("if self.paged:\n                self.cache()", ["AForCausalLM"], None),
        ("from wagon.core.hooks import prepare\n            prepare(self, arch)", ["AForCausalLM"], None),
    ],
)
def test_a_branch_that_names_an_architecture_counts_by_what_it_calls(body, found, when):
    files = {
        MODULE: TWO,
        "core/rules.py": BRANCH.format(body=body),
        "core/hooks.py": "def prepare(args, arch):\n    args.cache(arch=arch)\n",
    }
    scanned = scan(files, cap=Probe(branch=BranchProbe(calls="cache", unless={"deny": True})))
    assert having(scanned, "cap") == found
    assert [scanned.architectures[n].support["cap"].when for n in found] == [when for _ in found]


@pytest.mark.parametrize(
    ("value", "wanted", "found"),
    [
        ("Kind.OTHER", "Kind.LATENT", []),
        ("enums.Kind.LATENT", "Kind.LATENT", ["AForCausalLM"]),
        ("1", None, ["AForCausalLM"]),
    ],
)
def test_a_branch_counts_by_what_it_assigns(value, wanted, found):
    files = {MODULE: TWO, "core/rules.py": BRANCH.format(body=f"self.kind = {value}")}
    assert having(scan(files, cap=Probe(branch=BranchProbe(assigns="kind", value=wanted))), "cap") == found


def test_a_fallback_branch_counts_only_where_the_named_places_are_missing():
    probe = Probe(set="core.sets._ARCHS", branch=BranchProbe(calls="cache", fallback=True))
    old = {MODULE: TWO, "core/rules.py": BRANCH.format(body="self.cache()")}
    new = {**old, "core/sets.py": '_ARCHS = {"BForCausalLM"}\n'}
    assert having(scan(old, cap=probe), "cap") == ["AForCausalLM"]
    assert having(scan(new, cap=probe), "cap") == ["BForCausalLM"]


LAYERS = """
class Model:
    def __init__(self, config):
        self.layers = {call}
class AForCausalLM:
    def __init__(self, config):
        self.model = Model(config)
class BForCausalLM: pass
"""


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ("make_layers(config)", []),
        ("other_layers(config, rank=1)", []),
        ("make_layers(config, rank=1)", ["AForCausalLM"]),
        ("make_ranked(config)", ["AForCausalLM"]),
    ],
)
def test_a_call_of_the_body_counts_with_its_arguments(call, found):
    probe = Probe(call=(CallProbe(calls="make_layers", passes=("rank",)), CallProbe(calls="make_ranked")), asks="body")
    assert having(scan({MODULE: LAYERS.format(call=call) + ENTRIES}, cap=probe), "cap") == found


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("    def load(self):\n        return started", []),
        ("    def other(self):\n        return self.start", []),
        ("    def load(self):\n        return self.start", ["AForCausalLM"]),
        ("    def load(self):\n        return hasattr(self.model, 'start')", ["AForCausalLM"]),
    ],
)
def test_a_name_that_a_method_reads_counts(body, found):
    assert having(scan({MODULE: classes(body)}, cap=Probe(reads="load.start")), "cap") == found


def test_helpers_that_name_their_architectures_register_them():
    helpers = """
        from wagon.core.models.one import AForCausalLM, BForCausalLM
        class Helper: pass
        class Unrelated:
            models = [BForCausalLM]
        class ForA(Helper):
            models = [m for m in [AForCausalLM] if m is not None]
    """
    probe = Probe(registered=RegisteredProbe(base="core.helpers.Helper", attribute="models"))
    assert having(scan({MODULE: TWO, "core/helpers.py": helpers}, cap=probe), "cap") == ["AForCausalLM"]


SPECS = """
from dataclasses import dataclass
@dataclass
class Spec:
    config_class: type
    arch_names: list
    hybrid: bool = True
    buffered: bool = False
def register(spec): ...
class AConfig: ...
"""


@pytest.mark.parametrize(
    ("call", "field", "found"),
    [
        ("", "hybrid", []),
        ('Spec(AConfig, arch_names=["AForCausalLM"])', "hybrid", []),
        ('register(Spec(config_class=AConfig, arch_names=["AForCausalLM"]))', "buffered", []),
        ('register(Spec(config_class=AConfig, arch_names=["AForCausalLM"]))', "hybrid", ["AForCausalLM"]),
        ('register(Spec(config_class=AConfig, arch_names=["AForCausalLM"], hybrid=False))', "hybrid", []),
        (
            'register(Spec(config_class=AConfig, arch_names=["AForCausalLM"], buffered=True))',
            "buffered",
            ["AForCausalLM"],
        ),
    ],
)
def test_registered_specs_count_by_their_fields_and_defaults(call, field, found):
    files = {MODULE: TWO, "core/specs.py": SPECS + call + "\n"}
    assert having(scan(files, cap=Probe(or_spec=field)), "cap") == found


@pytest.mark.parametrize(
    ("decorator", "found"), [("@other", []), ("@capable", ["AForCausalLM"]), ("@marks.capable()", ["AForCausalLM"])]
)
def test_a_decorator_of_the_class_counts(decorator, found):
    text = f"{decorator}\nclass AForCausalLM: pass\nclass BForCausalLM: pass{ENTRIES}"
    assert having(scan({MODULE: text}, cap=Probe(decorator="core.marks.capable")), "cap") == found


def test_membership_in_a_scanned_list_counts():
    files = {MODULE: TWO, "core/rules.py": 'def test(arch):\n    return arch in ("AForCausalLM", "GoneForCausalLM")\n'}
    assert having(scan(files, cap=Probe(list="core/rules.py:test#1")), "cap") == ["AForCausalLM"]


@pytest.mark.parametrize(
    ("case", "text", "found"),
    [
        ("another class", "BForCausalLM.capture = 1", ["BForCausalLM"]),
        ("another name", "AForCausalLM.captures = 1", []),
        ("the class itself", "AForCausalLM.capture = staticmethod(f)", ["AForCausalLM"]),
        ("in a loop", "for c in (AForCausalLM, BForCausalLM):\n    c.capture = f", ["AForCausalLM", "BForCausalLM"]),
    ],
)
def test_what_is_given_to_a_class_after_its_statement_counts(case, text, found):
    assert having(scan({MODULE: f"{TWO}\n{text}\n"}, cap=Probe(method="capture")), "cap") == found


@pytest.mark.parametrize(
    ("base", "found", "reasons"),
    [
        ("from torch.nn import Module as Base", [], []),
        ("from transformers import PreTrainedModel as Base", ["AForCausalLM"], []),
        ("from steam import Base", [], ["AForCausalLM is made of steam.Base, which is outside the source"]),
    ],
)
def test_bases_from_outside_count_for_what_is_said_of_them(base, found, reasons):
    scanned = scan({MODULE: classes("    pass", base, "(Base)")}, cap=Probe(method="get_input_embeddings"))
    assert having(scanned, "cap") == found
    assert [m.reason for m in scanned.unresolved] == reasons
