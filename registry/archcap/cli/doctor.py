"""`capctl doctor`: what this installation is, and whether it is sound."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from archcap import __version__
from archcap.cli import FOUND, OK
from archcap.cli.command import Parser, Session
from archcap.cli.console import table
from archcap.errors import ArchcapError
from archcap.model.codec import dumps

SUMMARY = "check this installation"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        what: the thing.
        fine: whether it is as it should be.
        says: what it is.
        hint: what to do when it is not fine.
    """

    what: str
    fine: bool
    says: str
    hint: str | None = None


def configure(parser: Parser) -> None:
    """Declare the options."""
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace, session: Session) -> int:
    """Look at everything, write it, and say by the exit code whether all is fine."""
    findings = [_guarded(what, look, session) for what, look in _LOOKS.items()]
    if args.format == "json":
        session.console.write_bytes(dumps([{**asdict(one)} for one in findings], indent=2))
    else:
        for line in _lines(findings, session):
            session.console.write(line)
    return OK if all(one.fine for one in findings) else FOUND


def _lines(findings: list[Finding], session: Session) -> Iterator[str]:
    console = session.console
    rows = [("ok" if one.fine else "bad", one.what, one.says) for one in findings]
    for one, line in zip(findings, table(rows), strict=True):
        mark, rest = line[:3], line[3:]
        yield console.paint(mark.rstrip(), "green" if one.fine else "red") + " " * (3 - len(mark.rstrip())) + rest
        if not one.fine and one.hint:
            yield f"     {one.hint}"


def _guarded(what: str, look: Callable[[Session], Finding], session: Session) -> Finding:
    try:
        return look(session)
    except ArchcapError as error:
        first = str(error).splitlines()[0]
        return Finding(what, False, first, error.hint or "capctl validate says more")
    except OSError as error:
        return Finding(what, False, str(error), "check the path and its permissions")


def _version(session: Session) -> Finding:
    return Finding("archcap", True, f"{__version__} in {Path(__file__).parents[1]}")


def _python(session: Session) -> Finding:
    fine = sys.version_info >= (3, 11)
    return Finding("python", fine, f"{platform.python_version()} {sys.executable}", "archcap needs 3.11 or newer")


def _libraries(session: Session) -> Finding:
    from importlib.metadata import version

    import yaml

    says = ", ".join(f"{name} {version(name)}" for name in ("pydantic", "PyYAML", "packaging"))
    fast = hasattr(yaml, "CSafeLoader")
    hint = "PyYAML lacks its C loader: reading YAML takes ten times as long; install libyaml, then PyYAML again"
    return Finding("libraries", fast, says + ("" if fast else ", without libyaml"), hint)


def _snapshot(session: Session) -> Finding:
    snapshot = session.snapshot
    known = ", ".join(f"{engine} {snapshot.releases(engine)[0]} to {snapshot.releases(engine)[-1]}"
                      for engine in snapshot.engine_names)  # fmt: skip
    return Finding("snapshot", True, f"{_origin(session)}: {known}")


def _origin(session: Session) -> str:
    from archcap.snapshot import store

    named = session.registry or os.environ.get(store.ENVIRONMENT)
    if named:
        return f"from {named}"
    root = store.checkout_root()
    return f"built from the checkout {root}" if root else "the one in the package"


def _digest(session: Session) -> Finding:
    session.snapshot.verify()
    return Finding("digest", True, f"{session.snapshot.digest}, every part fits it")


def _rules(session: Session) -> Finding:
    from archcap.cli.build import unready
    from archcap.snapshot import store

    if session.registry or os.environ.get(store.ENVIRONMENT):
        return Finding("compiled rules", True, "compiled in memory when asked for")
    stale = [f"{engine} {release}" for engine, release in unready(session.snapshot)]
    if not stale:
        return Finding("compiled rules", True, "ready for every release")
    first = ", ".join(stale[:3]) + (", …" if len(stale) > 3 else "")
    return Finding("compiled rules", False, f"missing for {first}", "capctl build --cache makes them")


def _cache(session: Session) -> Finding:
    from archcap.snapshot import programs, store

    root = None if session.registry or os.environ.get(store.ENVIRONMENT) else store.checkout_root()
    folder = programs.BUILT if root else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    place = next(parent for parent in (folder, *folder.parents) if parent.exists())
    hint = "what is built is built again each time; make it writable or set XDG_CACHE_HOME"
    return Finding("cache", os.access(place, os.W_OK), str(folder), hint)


def _data(session: Session) -> Finding:
    from archcap.cli.validate import problems_of
    from archcap.snapshot.store import ENVIRONMENT, checkout_root

    named = session.registry or os.environ.get(ENVIRONMENT)
    root = Path(named) if named else checkout_root()
    if root is None or not root.is_dir():
        return Finding("registry data", True, "compiled; there is no YAML to check")
    errors = sum(one.severity == "error" for one in problems_of(root))
    says = "sound" if not errors else f"{errors} problem{'s' if errors != 1 else ''}"
    return Finding("registry data", not errors, f"{root}: {says}", "capctl validate lists them")


_LOOKS: dict[str, Callable[[Session], Finding]] = {
    "archcap": _version,
    "python": _python,
    "libraries": _libraries,
    "snapshot": _snapshot,
    "digest": _digest,
    "compiled rules": _rules,
    "cache": _cache,
    "registry data": _data,
}
