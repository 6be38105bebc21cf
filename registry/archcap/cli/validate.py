"""`capctl validate`: everything that is wrong with the registry's data, by file and line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from archcap.cli import FOUND, MISUSE, OK
from archcap.cli.command import Parser, Session
from archcap.errors import Problem, RequestError
from archcap.model.codec import dumps

if TYPE_CHECKING:
    from archcap.lint.check import Scanned

SUMMARY = "check the registry's data"


def configure(parser: Parser) -> None:
    """Declare the options."""
    parser.add_argument("path", metavar="PATH", nargs="?", type=Path,
                        help="the folder that holds capabilities.yaml and registry/; else this checkout")  # fmt: skip
    parser.add_argument("--fix", action="store_true", help="mend what takes no judgment; comments stay")
    parser.add_argument("--scan", metavar="SOURCE", nargs="+", type=Path, default=[],
                        help="the sources of all releases of one engine: what they say needs no person to say it")
    parser.add_argument("--engine", metavar="NAME", help="whose sources --scan names")  # fmt: skip
    parser.add_argument("--strict", action="store_true", help="warnings count as findings")
    parser.add_argument("--format", choices=("text", "json", "github"), default="text")


def run(args: argparse.Namespace, session: Session) -> int:
    """Check and write what was found.

    Returns:
        0 when the data is sound, 2 when it cannot be used; 1 when `--strict` is given and there are warnings.
    """
    root = registry_root(args.path or session.registry)
    scanned = _scanned(args, replace(session, registry=root)) if args.scan else None
    if args.fix:
        _mend(root, scanned, session)
    problems = problems_of(root, scanned)
    errors = any(problem.severity == "error" for problem in problems)
    _write(problems, args.format, session)
    if args.format == "text" and not errors:
        session.console.say(f"capctl: the registry is sound{_warned(problems)}")
    return MISUSE if errors else FOUND if problems and args.strict else OK


def _mend(root: Path, scanned: Scanned | None, session: Session) -> None:
    from archcap.lint.mend import mend
    from archcap.scanner.write import write_texts

    done = mend(root, write_texts, scanned)
    for path in sorted(done.files):
        session.console.say(f"capctl: mended {path}")


def _scanned(args: argparse.Namespace, session: Session) -> Scanned:
    """Return what the sources of all releases of an engine say of its architectures."""
    from archcap.cli.scan import scans_of_all
    from archcap.cli.sources import config_of
    from archcap.scanner.records import plain_support

    engine = args.engine or session.default_engine
    return {engine: plain_support(scans_of_all(args.scan, config_of(engine, session), session))}


def problems_of(root: Path, scanned: Scanned | None = None) -> list[Problem]:
    """Return everything that is wrong with the data below *root*, in the order of files and lines.

    Args:
        root: the folder that holds capabilities.yaml and registry/.
        scanned: what the scanner found, for what people wrote beside it.
    """
    from archcap.lint import lint
    from archcap.load import check_registry

    loaded = check_registry(root)
    return list(dict.fromkeys([*loaded.problems, *lint(loaded, scanned)]))


def registry_root(given: Path | None) -> Path:
    """Return the folder of the registry's YAML: the one given, else this checkout.

    Raises:
        RequestError: `no-registry`.
    """
    from archcap.snapshot.store import checkout_root

    root = given or checkout_root()
    if root is None:
        hint = "name the folder that holds capabilities.yaml and registry/"
        raise RequestError("no-registry", "this installation carries a compiled registry, no data to check", hint)
    if not (root / "capabilities.yaml").is_file():
        what = f"{root} holds no capabilities.yaml" if root.is_dir() else f"there is no folder {root}"
        raise RequestError("no-registry", what, "name the folder that holds capabilities.yaml and registry/")
    return root


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
