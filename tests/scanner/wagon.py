"""A small invented engine, "wagon": the files of a release as text, and how to scan them."""

from __future__ import annotations

from textwrap import dedent

from archcap.model.vocabulary import Absence, Capability, Group, Probe, Stage, Vocabulary
from archcap.scanner.config import ScanConfig
from archcap.scanner.scan import scan_files
from archcap.scanner.scan_record import Scan
from archcap.scanner.source import Metadata, Source, from_texts

CONFIG = ScanConfig(
    predicates={"is_steam": False},
    external={"torch.nn.Module": (), "transformers.PreTrainedModel": ("get_input_embeddings",)},
    engine="wagon",
    package="wagon",
    models_package="core.models",
    settings_record="core.args.Args",
    drafts=("Draft$",),
    overrides=("register_for",),
    flags_file=("--config",),
)


def vocabulary(**probes: Probe) -> Vocabulary:
    """Return a vocabulary with one capability per probe."""
    return Vocabulary(
        groups={"all": Group(title="All", meaning="Everything.")},
        capabilities={
            name: Capability(
                title=name,
                group="all",
                meaning=name,
                absence=Absence(stage=Stage.INIT, effect="none"),
                probes={"wagon": probe},
            )
            for name, probe in probes.items()
        },
    )


def source(files: dict[str, str | bytes], version: str = "1.0") -> Source:
    """Return a source with the given files below the package."""
    content = {path: text if isinstance(text, bytes) else dedent(text).encode() for path, text in files.items()}
    return from_texts("wagon", {"__init__.py": b"", **content}, "here", Metadata(version=version))


def scan(files: dict[str, str | bytes], config: ScanConfig = CONFIG, version: str = "1.0", **probes: Probe) -> Scan:
    """Scan the given files with the given probes."""
    return scan_files(source(files, version), vocabulary(**probes), config)


def having(scanned: Scan, capability: str) -> list[str]:
    """Return the architectures that have *capability*, in order."""
    return [name for name, one in scanned.architectures.items() if capability in one.support]
