"""A small invented engine on disk, "wagon", with a registry that was scanned from it."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import yaml

from archcap.model.vocabulary import Vocabulary
from archcap.scanner.config import load_config
from archcap.scanner.scan import scan_source
from archcap.scanner.write import write_engine

RELEASE = "1.0"

VOCABULARY = {
    "groups": {"all": {"title": "All", "meaning": "Everything."}},
    "capabilities": {
        "steam": {
            "title": "steam",
            "group": "all",
            "type": "boolean",
            "meaning": "The entry class makes steam.",
            "absence": {"stage": "init", "effect": "error"},
            "probes": {"wagon": {"method": "make_steam"}},
        },
        "long_train": {
            "title": "long trains",
            "group": "all",
            "type": "boolean",
            "meaning": "It draws long trains.",
            "absence": {"stage": "init", "effect": "silent"},
            "probes": {"wagon": {"set": "core.defaults._LONG_TRAINS"}},
        },
    },
}

SCAN = {
    "engine": "wagon",
    "package": "wagon",
    "models_package": "core.models",
    "settings_record": "core.args.Args",
    "overrides": ["register_for"],
    "flags_file": ["--config"],
    "drafts": ["Draft$"],
    "draft_rewrites": {
        "function": "core.config.Config.rewrite_draft",
        "depth": "draft_layers",
        "levels": {"outer": "hf", "inner": "text"},
    },
}

ENGINE = {
    "engine": "wagon",
    "title": "Wagon",
    "package": "wagon",
    "launch": ["wagon", "serve"],
    "config_setting": "page_size",
    "releases": {RELEASE: {"note": "the first"}},
}

FILES = {
    "__init__.py": "",
    "version.py": f'__version__ = "{RELEASE}"\n',
    "core/models/coal.py": """
        class CoalModel:
            def __init__(self):
                self.layers = []

            def make_steam(self): ...

        class CoalForCausalLM:
            def __init__(self):
                self.model = CoalModel()

            def make_steam(self): ...

        class CoalTextForCausalLM(CoalForCausalLM):
            pass

        EntryClass = [CoalForCausalLM, CoalTextForCausalLM]
        """,
    "core/models/wood.py": """
        class WoodForCausalLM:
            pass

        EntryClass = WoodForCausalLM
        """,
    "core/models/draft.py": """
        class CoalDraft:
            pass

        EntryClass = CoalDraft
        """,
    "core/defaults.py": """
        _LONG_TRAINS = frozenset(
            {
                "CoalForCausalLM",
                "WoodForCausalLM",
            }
        )

        def brakes(config):
            if config.architectures[0] in ("CoalForCausalLM", "CoalTextForCausalLM"):
                return 2
            return 1
        """,
    "core/horn.py": """
        def horn(config):
            return config.model_type in ("coal", "slow")
        """,
    "core/config.py": """
        class Config:
            def rewrite_draft(self):
                if self.is_draft and self.outer.architectures[0] in ["CoalForCausalLM", "CoalTextForCausalLM"]:
                    self.outer.architectures[0] = "CoalDraft"
                    self.outer.draft_layers = 1
                    self.inner.draft_layers = 1
                if self.is_draft and self.outer.architectures[0] == "WoodForCausalLM":
                    self.outer = self.inner
                    self.outer.architectures = ["CoalDraft"]
                    self.outer.draft_layers = 2
        """,
    "core/args.py": """
        import dataclasses

        @dataclasses.dataclass
        class Args:
            page_size: int = 1
            speed: str = "slow"

            @staticmethod
            def add_cli_args(parser):
                parser.add_argument("--page-size", type=int)
                parser.add_argument("--speed", choices=["slow", "fast"])
        """,
}


def lay_out(folder: Path) -> Path:
    """Write the engine's package below *folder*."""
    for name, text in FILES.items():
        path = folder / "wagon" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).lstrip("\n"), encoding="utf-8")
    return folder


def line_of(folder: Path, file: str, text: str) -> int:
    """Return the first line of a file of the package that holds *text*."""
    lines = (folder / "wagon" / file).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def edit(folder: Path, file: str, old: str, new: str) -> None:
    """Change one place of a file of the package."""
    path = folder / "wagon" / file
    text = path.read_text(encoding="utf-8")
    assert text.count(old) >= 1, (file, old)
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def make_registry(root: Path, source: Path) -> Path:
    """Write a registry below *root*, scanned from *source*."""
    engine = root / "registry" / "engines" / "wagon"
    engine.mkdir(parents=True)
    for path, value in (
        (root / "capabilities.yaml", VOCABULARY),
        (root / "registry" / "hardware.yaml", {"hardware": {}}),
        (engine / "engine.yaml", ENGINE),
        (engine / "scan.yaml", SCAN),
    ):
        path.write_text(yaml.safe_dump(value, sort_keys=False), encoding="utf-8")
    (engine / "rules").mkdir()
    (engine / "rules" / "pipeline.yaml").write_text("pipeline: []\n", encoding="utf-8")
    config = load_config(engine / "scan.yaml")
    vocabulary = Vocabulary.model_validate(VOCABULARY, strict=False)
    write_engine(engine, {RELEASE: scan_source(source, vocabulary, config)}, config)
    family = engine / "architectures" / "coal.yaml"
    text = family.read_text(encoding="utf-8")
    draft = "    draft: [{added: '<=1.0', architecture: CoalDraft, depth: 1, levels: [hf, text]}]\n"
    family.write_text(text.replace("    support:", f"{draft}    support:"), encoding="utf-8")
    wood = engine / "architectures" / "wood.yaml"
    draft = draft.replace("depth: 1", "depth: 2")
    wood.write_text(wood.read_text(encoding="utf-8").replace("    support:", f"{draft}    support:"), encoding="utf-8")
    return root
