"""One release of an engine, scanned: what `capctl scan` shows and `merge` joins over releases.

Puts the parts together; what they look for stands in the vocabulary and in the engine's scan settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from archcap.model.vocabulary import Vocabulary
from archcap.scanner.config import ScanConfig
from archcap.scanner.index import index_file
from archcap.scanner.lists import ScannedList, scan_lists
from archcap.scanner.modules import Modules, SourceFile, module_name
from archcap.scanner.probes import Evidence, Missing, Probes
from archcap.scanner.settings import ScannedSettings, scan_settings
from archcap.scanner.source import Metadata, Source, open_source
from archcap.scanner.specs import Specs, scan_specs
from archcap.scanner.static import Evaluator
from archcap.scanner.structure import Entry, Structure, entries


@dataclass(frozen=True, slots=True)
class ScannedArchitecture:
    """An entry class in one release."""

    name: str
    file: str
    line: int
    module: str
    """Below the models' package."""
    role: str
    wraps: str | None
    body: str | None
    support: dict[str, Evidence]


@dataclass
class Scan:
    """What the source of one release says.

    `unknown` names the files nothing is known of; facts that could stand there are neither true nor false.
    """

    engine: str
    where: str
    metadata: Metadata
    files: int
    architectures: dict[str, ScannedArchitecture] = field(default_factory=dict)
    settings: ScannedSettings = field(default_factory=ScannedSettings)
    lists: dict[str, ScannedList] = field(default_factory=dict)
    specs: Specs = field(default_factory=Specs)
    unresolved: list[Missing] = field(default_factory=list)
    unknown: list[Missing] = field(default_factory=list)

    @property
    def release(self) -> str | None:
        """The version the source says it is."""
        return self.metadata.version


def scan_source(path: Path, vocabulary: Vocabulary, config: ScanConfig) -> Scan:
    """Scan an engine's source: a tree, a wheel or an sdist.

    Args:
        path: where it lies.
        vocabulary: the capabilities, with their probes.
        config: how this engine's source is laid out.
    Raises:
        RequestError: *path* holds no such source.
    """
    return scan_files(open_source(path, config.package), vocabulary, config)


def scan_files(source: Source, vocabulary: Vocabulary, config: ScanConfig) -> Scan:
    """Scan a source that is already read."""
    modules = load_modules(source, config)
    scan = Scan(config.engine, source.where, source.metadata, len(source.files))
    scan.unknown = [Missing(f, line, why) for f, (line, why) in sorted(modules.broken.items())]
    scan.unknown += [Missing(f, 1, why) for f, why in sorted(source.unreadable.items())]
    evaluator = Evaluator(modules)
    structure = Structure(modules, evaluator)
    found = entries(modules, evaluator, config.models_package, config.entry_list)
    scan.unresolved += [Missing(*one) for one in found.unresolved]
    scan.specs = scan_specs(modules, evaluator)
    scan.unresolved += [Missing(*one) for one in scan.specs.unresolved]
    scan.settings = scan_settings(modules, evaluator, config.settings_record, config.settings_parser)
    words = {c for s in scan.settings.settings.values() for c in (*s.choices, s.default) if isinstance(c, str)}
    scan.lists = scan_lists(modules, evaluator, found.found, config, frozenset(words))
    scan.unresolved += [Missing(*one) for one in scan.settings.unresolved if not config.expected(one[2])]
    _architectures(scan, structure, found.found, config)
    probes = Probes(modules, evaluator, structure, found.found, scan.specs, config.models_package)
    _aliases(scan, probes, config)
    _support(scan, probes, vocabulary)
    return scan


def load_modules(source: Source, config: ScanConfig) -> Modules:
    """Index the files of *source* that the engine's scan settings do not leave out."""
    files: dict[str, SourceFile] = {}
    for path, content in source.files.items():
        if not path.startswith(config.leave_out):
            module, package = module_name(path)
            files[module] = SourceFile(module, path, content, index_file(content), package)
    return Modules(config.package, files)


def _architectures(scan: Scan, structure: Structure, found: Mapping[str, Entry], config: ScanConfig) -> None:
    prefix = config.models_package + "."
    for name, entry in sorted(found.items()):
        body, wraps = structure.body_of_entry(entry.symbol), structure.wraps(entry.symbol, found)
        scan.architectures[name] = ScannedArchitecture(
            name,
            structure.modules.file(entry.symbol).path,
            entry.line,
            entry.module.removeprefix(prefix),
            config.role(name),
            None if wraps is None else f"{wraps.name}@{wraps.module.removeprefix(prefix)}",
            None if body is None else f"{body.name}@{body.module.removeprefix(prefix)}",
            {},
        )


def _aliases(scan: Scan, probes: Probes, config: ScanConfig) -> None:
    """Add the lists that had no name yet in this release, as their probes find them."""
    for alias in config.aliases:
        if alias.id in scan.lists:
            continue
        found = {n: e for n, e in probes.evaluate(alias.probe).found.items() if e.when is None}
        if found:
            first = min(found.values(), key=lambda e: e.line)
            names = {n: e.line for n, e in sorted(found.items())}
            scan.lists[alias.id] = ScannedList(alias.id, "architecture", first.file, first.line, names, first.file)


def _support(scan: Scan, probes: Probes, vocabulary: Vocabulary) -> None:
    places = {key: {n: Evidence(one.file, line) for n, line in one.names.items()} for key, one in scan.lists.items()}
    for capability, described in vocabulary.capabilities.items():
        probe = described.probes.get(scan.engine)
        if probe is None:
            continue
        findings = probes.evaluate(probe, places)
        scan.unresolved += [m._replace(reason=f"{capability}: {m.reason}") for m in findings.unresolved]
        for name, evidence in findings.found.items():
            scan.architectures[name].support[capability] = evidence
