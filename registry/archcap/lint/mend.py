"""Mends what checks know how to mend, file by file, until nothing is left that they do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from archcap.lint.check import Scanned
from archcap.lint.edit import edited
from archcap.lint.run import Found, engine_functions, findings
from archcap.load import check_registry

_ROUNDS = 20
"""Mending one thing can bring up another; a registry that needs more rounds than this goes round in circles."""


@dataclass
class Mended:
    """What was mended: the files that changed, and the checks' findings that are gone."""

    files: set[Path] = field(default_factory=set)
    findings: int = 0


def mend(
    root: Path,
    write: Callable[[Mapping[Path, str]], object],
    scanned: Scanned | None = None,
    functions: Callable[[str], Iterable[str]] = engine_functions,
) -> Mended:
    """Mend the registry's files and return what was done.

    Args:
        root: the folder that holds capabilities.yaml and registry/.
        write: replaces files' texts, each whole or not at all; the texts keep the line ends of the files.
        scanned: what the scanner found.
        functions: gives the names of an engine's pure functions.
    """
    done = Mended()
    for _ in range(_ROUNDS):
        by_file: dict[str, list[Found]] = {}
        for one in findings(check_registry(root), scanned, functions):
            if one.fixes:
                by_file.setdefault(one.problem.file, []).append(one)
        before = len(done.files), done.findings
        _mend_files({root / name: found for name, found in by_file.items()}, write, done)
        if (len(done.files), done.findings) == before:
            break
    return done


def _mend_files(files: Mapping[Path, list[Found]], write: Callable[[Mapping[Path, str]], object], done: Mended) -> None:
    texts: dict[Path, str] = {}
    for path, found in files.items():
        text = path.read_bytes().decode()
        made, applied = edited(text, [one.fixes for one in found])
        if applied:
            texts[path] = made
            done.findings += sum(one.fixes in applied for one in found)
    write(texts)
    done.files.update(texts)
