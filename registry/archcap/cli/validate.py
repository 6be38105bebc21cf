"""`capctl validate`: everything that is wrong with the registry's data, by file and line."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from archcap.cli import FOUND, MISUSE, OK
from archcap.cli.command import Parser, Session
from archcap.errors import Problem, RequestError
from archcap.model.codec import dumps

if TYPE_CHECKING:
    from archcap.load.parts import EngineParts, RegistryParts
    from archcap.model.registry import Registry

SUMMARY = "check the registry's data"
_PATH = re.compile(r"\[\d+\]|[\w-]+")


def configure(parser: Parser) -> None:
    """Declare the options."""
    parser.add_argument("path", metavar="PATH", nargs="?", type=Path,
                        help="the folder that holds capabilities.yaml and registry/; else this checkout")  # fmt: skip
    parser.add_argument("--strict", action="store_true", help="warnings count as findings")
    parser.add_argument("--format", choices=("text", "json", "github"), default="text")


def run(args: argparse.Namespace, session: Session) -> int:
    """Check and write what was found.

    Returns:
        0 when the data is sound, 1 when checks found something, 2 when it cannot be used.
    """
    root = _root(args.path or session.registry)
    broken, found = problems_of(root)
    _write([*broken, *found], args.format, session)
    serious = [one for one in found if args.strict or one.severity == "error"]
    if args.format == "text" and not broken and not serious:
        session.console.say(f"capctl: the registry is sound{_warned(found)}")
    return MISUSE if broken else FOUND if serious else OK


def problems_of(root: Path) -> tuple[list[Problem], list[Problem]]:
    """Return what makes the data below *root* unusable, and what the checks find besides.

    Args:
        root: the folder that holds capabilities.yaml and registry/.
    """
    from archcap.lint import lint
    from archcap.load import check_registry

    loaded = check_registry(root)
    rules = [] if loaded.registry is None else list(_rules(loaded.registry, loaded.parts))
    broken = [*loaded.problems, *(problem for problem in rules if problem.severity == "error")]
    return _once(broken), _once([*(problem for problem in rules if problem.severity != "error"), *lint(loaded)])


def _root(given: Path | None) -> Path:
    from archcap.snapshot.store import checkout_root

    root = given or checkout_root()
    if root is None:
        hint = "name the folder that holds capabilities.yaml and registry/"
        raise RequestError("no-registry", "this installation carries a compiled registry, no data to check", hint)
    if not (root / "capabilities.yaml").is_file():
        what = f"{root} holds no capabilities.yaml" if root.is_dir() else f"there is no folder {root}"
        raise RequestError("no-registry", what, "name the folder that holds capabilities.yaml and registry/")
    return root


def _rules(registry: Registry, parts: RegistryParts) -> Iterable[Problem]:
    """Yield what is wrong with any engine's rules, at its line."""
    from archcap.engines import support
    from archcap.resolver.inputs import gpu_facts
    from archcap.rules import check_engine

    hardware = {"count", "nodes"}.union(*(gpu_facts(found) for found in registry.hardware.items()))
    for name, engine in registry.engines.items():
        functions = support(name).functions
        for problem in check_engine(engine, registry.vocabulary, functions, hardware, registry.checkpoints):
            yield _placed(problem, parts.engines[name])


def _placed(problem: Problem, parts: EngineParts) -> Problem:
    """Return a rule's problem with its file as a reader opens it, and its line."""
    steps = [str(one) for one in _PATH.findall(problem.path)]
    path = [int(one[1:-1]) if one[0] == "[" else one.strip(".") for one in steps]
    for document in parts.documents.get("rules", ()):
        stem = document.name.rpartition("/")[2].removesuffix(".yaml")
        if stem == problem.file or (not problem.file and document.locate(path).rest == ()):
            return replace(problem, file=document.name, line=document.locate(path).line)
    return problem


def _once(problems: Iterable[Problem]) -> list[Problem]:
    return list(dict.fromkeys(problems))


def _write(problems: Sequence[Problem], form: str, session: Session) -> None:
    console = session.console
    if form == "json":
        console.write_bytes(dumps([{**asdict(problem)} for problem in problems], indent=2))
    for problem in problems if form == "text" else ():
        check = f" [{problem.check}]" if problem.check else ""
        mark = "" if problem.severity == "error" else console.paint("warning: ", "yellow")
        console.write(f"{mark}{problem}{check}")
    for problem in problems if form == "github" else ():
        console.write(_annotation(problem))


def _annotation(problem: Problem) -> str:
    """Return the line that makes GitHub show the problem beside its line."""
    place = f"file={_escaped(problem.file)}" + (f",line={problem.line}" if problem.line else "")
    title = f",title={_escaped(problem.check)}" if problem.check else ""
    bare = str(replace(problem, file="", line=None))
    text = bare.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return f"::{problem.severity} {place}{title}::{text}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace(":", "%3A").replace(",", "%2C")


def _warned(found: Sequence[Problem]) -> str:
    number = len(found)
    return f", with {number} warning{'s' if number != 1 else ''}" if number else ""
