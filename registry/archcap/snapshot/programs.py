"""Finds or makes the compiled rules of a release.

A module below `archcap._built` is used when it says that it was generated from the same rules by the same generator;
otherwise it is generated again, and where it cannot be kept the rules are compiled in this process. Only the package's
own folder is ever imported from. Knows no file but those modules.
"""

from __future__ import annotations

import py_compile
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from importlib import import_module, invalidate_caches
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from archcap import rules
from archcap.errors import DataError
from archcap.rules.run import Function, Program
from archcap.snapshot.canonical import canonical, leaf_digest, node_digest
from archcap.snapshot.files import BUILT, write_atomically
from archcap.snapshot.lazy import section

if TYPE_CHECKING:
    from archcap.snapshot.snapshot import Snapshot

__all__ = ["BUILT", "PACKAGE", "generator_digest", "module_name", "program_of", "rules_digest", "source_of"]

PACKAGE = "archcap._built"
_STAMP = "COMPILED_FROM"
_RULE_PARTS = ("settings", "names", "defines", "pipeline")

_programs: dict[tuple[str, str, str, tuple[str, ...]], Program] = {}


def module_name(engine: str, release: str) -> str:
    """Return the name of the module that holds the compiled rules of a release."""
    return "rules_" + "".join(letter if letter.isalnum() else "_" for letter in f"{engine}_{release}")


def rules_digest(snapshot: Snapshot, engine: str) -> str:
    """Return the digest over everything an engine's compiled rules depend on, the generator included.

    Of lists that is their ids and kinds: what is in them is looked up when the rules run.
    """
    base = f"engines/{engine}/"
    paths = [base + part for part in _RULE_PARTS]
    paths += [path for path in snapshot.parts if path.startswith(base + "steps/") or path == base + "known_issues"]
    leaves = [(path, snapshot.digest_of(path)) for path in (*paths, "vocabulary")]
    lists = section(snapshot.raw(base + "lists"), "lists")
    kinds = canonical({name: section(lists, name).get("kind") for name in lists})
    return node_digest([*leaves, ("lists", leaf_digest(kinds)), ("generator", generator_digest())])


@lru_cache(maxsize=1)
def generator_digest() -> str:
    """Return the digest over the code that generates and runs compiled rules."""
    hashed = sha256()
    for path in sorted(Path(rules.__path__[0]).glob("*.py")):
        hashed.update(path.name.encode() + b"\n" + path.read_bytes())
    return "sha256:" + hashed.hexdigest()


def source_of(snapshot: Snapshot, engine: str, release: str, functions: Mapping[str, Function]) -> str:
    """Return the module's text for one release, stamped with what it was generated from."""
    with _rules_files(engine):
        text = rules.source_of_release(snapshot.registry_of(engine), snapshot.vocabulary, release, functions)
    return f'{text.rstrip()}\n\n{_STAMP} = "{rules_digest(snapshot, engine)}"\n'


def program_of(snapshot: Snapshot, engine: str, release: str, functions: Mapping[str, Function]) -> Program:
    """Return the compiled rules of a release; the same object for the same rules.

    Snapshots that differ in facts only share it.
    """
    digest = rules_digest(snapshot, engine)
    key = (engine, release, digest, tuple(sorted(functions)))
    if key not in _programs:
        module = _built_module(engine, release, digest) or _kept(snapshot, engine, release, functions, digest)
        _programs[key] = (
            rules.load_program(module, functions)
            if module is not None
            else _compiled(snapshot, engine, release, functions)
        )
    return _programs[key]


def _compiled(snapshot: Snapshot, engine: str, release: str, functions: Mapping[str, Function]) -> Program:
    with _rules_files(engine):
        return rules.compile_release(snapshot.registry_of(engine), snapshot.vocabulary, release, functions)


@contextmanager
def _rules_files(engine: str) -> Iterator[None]:
    """Name the files of broken rules as the registry does, instead of by their stems."""
    try:
        yield
    except DataError as error:
        folder = f"registry/engines/{engine}/rules"
        bare = [problem for problem in error.problems if problem.file and "/" not in problem.file]
        named = {problem: replace(problem, file=f"{folder}/{problem.file}.yaml") for problem in bare}
        raise DataError(named.get(problem, problem) for problem in error.problems) from error


def _kept(
    snapshot: Snapshot, engine: str, release: str, functions: Mapping[str, Function], digest: str
) -> ModuleType | None:
    """Generate the module where the snapshot's may be kept and return it; None when they may not or cannot."""
    if snapshot.modules != BUILT:
        return None
    path = BUILT / f"{module_name(engine, release)}.py"
    try:
        write_atomically(path, source_of(snapshot, engine, release, functions).encode())
        # Times of one second and sizes do not tell two generated modules apart: bytecode is bound to the source's hash.
        py_compile.compile(str(path), doraise=True, invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH)
    except OSError:
        return None
    invalidate_caches()
    return _built_module(engine, release, digest)


def _built_module(engine: str, release: str, digest: str) -> ModuleType | None:
    """Return the ready-made module, or None when there is none or it was generated from something else."""
    name = f"{PACKAGE}.{module_name(engine, release)}"
    try:
        module = import_module(name)
    except Exception:  # absent, or another version's and so anything can happen: it is generated again
        return None
    if getattr(module, _STAMP, None) == digest:
        return module
    sys.modules.pop(name, None)
    invalidate_caches()
    return None
