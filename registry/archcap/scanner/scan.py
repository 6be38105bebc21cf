"""One release of an engine, scanned: what `capctl scan` shows and `merge` joins over releases.

Puts the parts together; what they look for stands in the vocabulary and in the engine's scan settings.
"""

from __future__ import annotations

import gc
from collections.abc import Mapping, Sequence
from pathlib import Path

from archcap.model.vocabulary import Vocabulary
from archcap.scanner.cache import Indexer, Store
from archcap.scanner.config import ScanConfig
from archcap.scanner.drafts import scan_drafts
from archcap.scanner.lists import ScannedList, scan_lists
from archcap.scanner.modules import Modules, SourceFile, module_name
from archcap.scanner.points import Point, PointScan
from archcap.scanner.probes import Evidence, Missing, Probes
from archcap.scanner.results import keep_result, kept_result, result_key
from archcap.scanner.scan_record import Scan, ScannedArchitecture
from archcap.scanner.settings import ScannedSettings, scan_settings
from archcap.scanner.source import Source, open_source
from archcap.scanner.specs import scan_specs
from archcap.scanner.static import Evaluator
from archcap.scanner.structure import Entry, Structure, entries


def scan_source(path: Path, vocabulary: Vocabulary, config: ScanConfig, cache: Path | None = None) -> Scan:
    """Scan an engine's source: a tree, a wheel or an sdist.

    Args:
        path: where it lies.
        vocabulary: the capabilities, with their probes.
        config: how this engine's source is laid out.
        cache: folder in which indexes of files are kept by their content; None keeps none.
    Raises:
        RequestError: *path* holds no such source.
    """
    return scan_files(open_source(path, config.package), vocabulary, config, cache)


def scan_files(source: Source, vocabulary: Vocabulary, config: ScanConfig, cache: Path | None = None) -> Scan:
    """Scan an opened source, or return what is kept of it.

    The garbage collector rests meanwhile, for syntax trees hold no cycles.
    """
    paused = gc.isenabled()
    gc.disable()
    try:
        return _scan(source, vocabulary, config, Store(cache))
    finally:
        if paused:
            gc.enable()


def _scan(source: Source, vocabulary: Vocabulary, config: ScanConfig, store: Store) -> Scan:
    scan = Scan(config.engine, source.where, source.metadata)
    indexer = Indexer(store)
    files, searched = source_files(source, config, indexer)
    readable = _readable(searched, scan)
    key = result_key(source, searched, vocabulary, config) if readable else None
    kept = kept_result(store, key, files, source.where) if key is not None else None
    if kept is not None:
        return kept
    prepare(searched, config, indexer, scan)
    _facts(scan, Modules(config.package, files, searched), vocabulary, config)
    indexer.save()
    if key is not None:
        found = set(map(id, searched))
        keep_result(store, key, scan, [f for f in files.values() if f.was_read and id(f) not in found])
    return scan


def _facts(scan: Scan, modules: Modules, vocabulary: Vocabulary, config: ScanConfig) -> None:
    """Find everything there is to find, in the order in which one thing needs another."""
    evaluator = Evaluator(modules, config.predicates)
    structure = Structure(modules, evaluator)
    found = entries(modules, evaluator, config.models_package, config.entry_list)
    points = PointScan(modules, evaluator, frozenset(found.found), config.configs_package)
    scan.unresolved += [Missing(*one) for one in found.unresolved]
    scan.specs = scan_specs(modules, evaluator)
    scan.unresolved += [Missing(*one) for one in scan.specs.unresolved]
    scan.settings = scan_settings(modules, evaluator, config.settings_record, config.settings_parser)
    scan.unresolved += [Missing(*one) for one in scan.settings.unresolved if not config.expected(one[2])]
    scan.points = without_values(points.all(config.models_folder), scan.settings)
    scan.lists = scan_lists(modules, evaluator, points, config, _words(scan.settings))
    _architectures(scan, structure, found.found, config)
    probes = Probes(modules, evaluator, structure, found.found, scan.specs, points, config)
    scan.unresolved += probes.unknown_bases()
    scan.drafts = scan_drafts(probes, config.draft_rewrites)
    _aliases(scan, probes, config)
    _support(scan, probes, vocabulary)


def without_values(points: Sequence[Point], settings: ScannedSettings) -> list[Point]:
    """Return points without those that compare a setting's value, though what holds it is called a model type.

    A value is known by its company: what one function compares with one subject are three names or more, and nearly
    all of them are choices of one setting.
    """
    compared: dict[tuple[str, str, str], set[str]] = {}
    for one in points:
        if one.key == "model_type":
            compared.setdefault((one.file, one.owner, one.subject), set()).update(one.names)
    choices = [{c for c in s.choices if isinstance(c, str)} for s in settings.settings.values() if s.choices]
    values = {
        place
        for place, names in compared.items()
        if len(names) >= _COMPANY and any(len(names & own) >= _NEARLY * len(names) for own in choices)
    }
    return [one for one in points if one.key != "model_type" or (one.file, one.owner, one.subject) not in values]


_COMPANY = 3
_NEARLY = 0.9


def _words(settings: ScannedSettings) -> frozenset[str]:
    """Return the texts that settings may have as values; none of them is a model type."""
    values = (v for s in settings.settings.values() for v in (*s.choices, s.default))
    return frozenset(v for v in values if isinstance(v, str))


def source_files(
    source: Source, config: ScanConfig, indexer: Indexer
) -> tuple[dict[str, SourceFile], list[SourceFile]]:
    """Return all files of a source by module, and those that are searched for facts."""
    files: dict[str, SourceFile] = {}
    searched: list[SourceFile] = []
    for path in source.names:
        module, package = module_name(path)
        files[module] = SourceFile(module, path, package, source.read, indexer)
        if config.searched(path):
            searched.append(files[module])
    return files, searched


def _readable(searched: list[SourceFile], scan: Scan) -> bool:
    """Read the files that are searched; those that cannot be read are noted in *scan*."""
    for file in searched:
        try:
            file.content  # noqa: B018
        except OSError as error:
            scan.unknown.append(Missing(file.path, 1, error.strerror or str(error)))
    scan.files = len(searched)
    return not scan.unknown


def prepare(searched: list[SourceFile], config: ScanConfig, indexer: Indexer, scan: Scan) -> None:
    """Look at every file that is searched; those that are no Python are noted in *scan*."""
    models = {f.hash: f.content for f in searched if f.path.startswith(config.models_folder)}
    indexer.prepare(models, deep=True)
    indexer.prepare({f.hash: f.content for f in searched if not f.path.startswith(config.models_folder)})
    for file in searched:
        error = indexer.error(file.hash)
        if error is not None:
            scan.unknown.append(Missing(file.path, *error))


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
