"""`capctl verify`: the rules held to the engine's own resolution, on a grid, on random or on given launches."""

from __future__ import annotations

import argparse
import contextlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from archcap.cli import FOUND, OK, UNKNOWN
from archcap.cli.command import Parser, Session
from archcap.cli.files import opened
from archcap.cli.launch import engine_release
from archcap.cli.numbers import count, positive
from archcap.errors import RequestError
from archcap.model.base import JsonObject
from archcap.model.reading import read_object
from archcap.verify.agreement import Agreement
from archcap.verify.launches import LABELS, Configs, Launch, Subject
from archcap.verify.report import Verification, report_of
from archcap.verify.verification import compared, limited

if TYPE_CHECKING:
    from archcap.snapshot import ReleaseView
    from archcap.verify.answers import Answer
    from archcap.verify.engine_process import Environment, NotRun
    from archcap.verify.generate import Space

SUMMARY = "compare the rules with the engine's own resolution"
PLATFORMS = ("h100", "b200", "mi300x")
"""Devices where none are named: one of each kind of attention defaults."""

_IMPORTS = ("ImportError", "ModuleNotFoundError")


def configure(parser: Parser) -> None:
    """Declare the options."""
    engine = parser.add_argument_group("engine")
    engine.add_argument("--engine", metavar="NAME[@RELEASE]", help="as in sglang@0.5.23; else its newest release")
    engine.add_argument("--python", metavar="FILE", type=Path, help="the interpreter that has what the engine needs")
    engine.add_argument("--engine-source", metavar="DIR", type=Path, help="the folder that holds the engine's package")
    engine.add_argument("--extra-path", metavar="DIR", type=Path, action="append", default=[],
                        help="a folder that the engine's interpreter looks in first")  # fmt: skip
    engine.add_argument("--timeout", metavar="SECONDS", type=positive, default=120, help="for one launch (120)")
    what = parser.add_argument_group("launches (one of the first four)")
    what.add_argument("--grid", action="store_true", help="every configuration, device and value of each setting")
    what.add_argument("--random", metavar="N", type=positive, help="N random combinations")
    what.add_argument("--launches", metavar="FILE|-", help="launches, or requests, as JSON lines")
    what.add_argument("--recorded", metavar="FILE", type=Path, action="append", default=[],
                      help="answers recorded earlier (.jsonl, .jsonl.gz); needs no engine")  # fmt: skip
    what.add_argument("--seed", metavar="S", type=int, default=0, help="another one, other random launches")
    what.add_argument("--settings", metavar="A,B", type=_names, default=(),
                      help="only these; a grid combines them with each other")  # fmt: skip
    what.add_argument("--configs", metavar="DIR", type=Path,
                      help="configurations, drafts in its folder draft; else the known checkpoints")  # fmt: skip
    what.add_argument("--platforms", metavar="A,B", type=_names, default=(),
                      help=f"devices, as in h100 or cuda-sm90 ({','.join(PLATFORMS)})")  # fmt: skip
    what.add_argument("--limit", metavar="N", type=positive, help="no more than N of them, always the same ones")
    kept = parser.add_argument_group("answers")
    kept.add_argument("--resume", metavar="FILE", type=Path, help="keep the engine's answers here and reuse them")
    result = parser.add_argument_group("result")
    result.add_argument("--fields", metavar="A,B", type=_names, default=(), help="compare only these settings")
    result.add_argument("--report", metavar="FILE|-", help="write everything as JSON")
    result.add_argument("--show", metavar="N", type=count, default=20, help="differences to print (20)")
    result.add_argument("--max-disagreements", metavar="N", type=count, default=0,
                        help="launches that may disagree before the exit code is 1 (0)")  # fmt: skip


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise argparse.ArgumentTypeError("expected names separated by commas")
    return names


def run(args: argparse.Namespace, session: Session) -> int:
    """Verify, write and say how it went: 0 they agree, 1 they do not, 3 nobody disagrees but some were not run."""
    _refuse_nonsense(args)
    verification = _recorded(args, session) if args.recorded else _live(args, session)
    _write(verification, args, session)
    if verification.agreement.disagreeing > args.max_disagreements:
        return FOUND
    return UNKNOWN if verification.not_run else OK


def _refuse_nonsense(args: argparse.Namespace) -> None:
    """Say which options do not go together."""
    named = {
        "--grid": args.grid, "--random": args.random, "--launches": args.launches, "--recorded": args.recorded
    }  # fmt: skip
    given = [option for option, value in named.items() if value]
    if len(given) != 1:
        said = f"{' and '.join(given)} do not go together" if given else "which launches?"
        raise RequestError("usage", said, f"give one of {', '.join(named)}")
    if args.recorded:
        live = {"--python": args.python, "--engine-source": args.engine_source, "--resume": args.resume}
        for option, value in live.items():
            if value is not None:
                said = f"{option} does not go with --recorded"
                raise RequestError("usage", said, "answers that are recorded need no engine")
    elif args.python is None:
        raise RequestError("usage", "which interpreter has the engine?", "give --python, or --recorded for no engine")


# -- answers recorded earlier --------------------------------------------------------------------


def _recorded(args: argparse.Namespace, session: Session) -> Verification:
    from archcap.verify.answers import recorded

    engine, release = _engine(args, session)
    nodes = session.snapshot.engine(engine).nodes_setting
    configs = Configs(args.configs)
    rows = [row for path in args.recorded for row in recorded(path, engine, configs, nodes)]
    found = [row for row in rows if release in (None, row[0].release)]
    found = [row for row in found if not args.platforms or row[0].gpu in _gpus(args, session)]
    left_out = len(rows) - len(found)
    notes = (f"{left_out} recorded answers are of other releases or platforms",) if left_out else ()
    found = limited(found, args.limit, lambda row: row[0].id)
    if not found:
        raise RequestError("no-launches", "no recorded answer is left to compare", "see --engine and --platforms")
    return _verified(engine, iter(found), len(found), args, session, notes=notes)


def _engine(args: argparse.Namespace, session: Session) -> tuple[str, str | None]:
    """Return engine and release; None as release where the lines themselves may say it."""
    engine, release = engine_release(args.engine or session.default_engine, session)
    return engine, release if "@" in (args.engine or "") else None


# -- the engine itself ---------------------------------------------------------------------------


def _live(args: argparse.Namespace, session: Session) -> Verification:
    from archcap.verify.answers import kept_in
    from archcap.verify.engine_process import Engine
    from archcap.verify.verification import Run

    name, release = engine_release(args.engine or session.default_engine, session)
    releases = session.snapshot.releases(name)
    if release not in releases:
        hint = f"known releases: {releases[0]} to {releases[-1]}"
        raise RequestError("unknown-release", f"{name} has no release {release!r}", hint)
    launches = limited(list(_launches(args, name, release, session)), args.limit, lambda one: one.id)
    environment = _environment(args)
    engine = Engine(name, release, releases, environment)
    with contextlib.ExitStack() as stack:
        kept = stack.enter_context(kept_in(args.resume)) if args.resume is not None else None
        running = Run(engine, environment, session.snapshot, kept)
        done = _verified(name, running.answers(launches), len(launches), args, session)
    notes = [f"the engine calls itself {engine.version}"] if engine.version not in (None, release) else []
    notes += done.notes
    return Verification(
        done.engine, done.releases, done.platforms, done.snapshot, done.agreement, engine.version, done.not_run,
        running.reused, done.only, notes,
    )  # fmt: skip


def _environment(args: argparse.Namespace) -> Environment:
    from archcap.verify.engine_process import Environment

    for folder in [args.engine_source, *args.extra_path]:
        if folder is not None and not folder.is_dir():
            raise RequestError("no-file", f"there is no folder {folder}", "check the path")
    source = None if args.engine_source is None else args.engine_source.resolve()
    paths = tuple(path.resolve() for path in args.extra_path)
    python = args.python if args.python.parent == Path() else args.python.absolute()
    return Environment(python, source, paths, launch_timeout_s=float(args.timeout))


def _launches(args: argparse.Namespace, engine: str, release: str, session: Session) -> Iterator[Launch]:
    from archcap.verify.generate import grid, random_launches

    if args.launches is not None:
        return _given(args, engine, release, session)
    space = _space(args, engine, release, session)
    return random_launches(space, args.random, args.seed) if args.random else grid(space, args.settings)


def _given(args: argparse.Namespace, engine: str, release: str, session: Session) -> Iterator[Launch]:
    """Yield the launches of a file; where a line names no device it runs on each that was asked for."""
    from archcap.verify.answers import launch_of

    configs = Configs(args.configs)
    nodes = session.snapshot.engine(engine).nodes_setting
    gpus = _gpus(args, session)
    with opened(args.launches) as lines:
        for number, line in enumerate(lines, 1):
            if line.isspace():
                continue
            place = f"{args.launches} line {number}"
            value: JsonObject = {"id": f"line {number}", **read_object(line, place), "release": release}
            if "platform" in value or "hardware" in value:
                yield launch_of(value, place, engine, configs, nodes)
                continue
            for gpu in gpus:
                yield launch_of({**value, "platform": gpu, "id": f"{value['id']}|{gpu}"}, place, engine, configs, nodes)


def _space(args: argparse.Namespace, engine: str, release: str, session: Session) -> Space:
    from archcap.verify.generate import Space
    from archcap.verify.values import values_of

    snapshot = session.snapshot
    view = snapshot.release(engine, release)
    registry = snapshot.registry_of(engine)
    values = values_of(registry, view.spans)
    for name in args.settings:
        if name not in values:
            raise RequestError("unknown-setting", f"there are no values to try for {name!r}", _known(name, view))
    chosen = {name: values[name] for name in args.settings or values}
    targets, drafts = Configs(args.configs).all() if args.configs is not None else _checkpoints(view, session)
    known = view.engine
    return Space(
        engine, release, targets, drafts, _gpus(args, session), chosen, registry.settings,
        known.draft_method_setting, known.nodes_setting,
    )  # fmt: skip


def _known(name: str, view: ReleaseView) -> str:
    from archcap.suggest import nearest_name

    near = nearest_name(name, list(view.spans))
    return f"did you mean {near}?" if near and near != name else "no rule reads it, or it takes free text"


def _checkpoints(view: ReleaseView, session: Session) -> tuple[tuple[Subject, ...], tuple[Subject, ...]]:
    """Return the known checkpoints whose architecture the release has."""
    known = session.snapshot.checkpoints
    targets = tuple(
        Subject(checkpoint.config, checkpoint=name)
        for name, checkpoint in sorted(known.items())
        if checkpoint.architecture in view.architectures
    )
    if not targets:
        raise RequestError("no-config", "the registry knows no checkpoint of this release", "give --configs")
    return targets, ()


def _gpus(args: argparse.Namespace, session: Session) -> tuple[str, ...]:
    """Return the ids of the devices asked for."""
    known = session.snapshot.hardware
    names = tuple(LABELS.get(name, name) for name in args.platforms or PLATFORMS)
    unknown = [name for name in names if name not in known]
    if unknown and args.platforms:
        raise RequestError("unknown-hardware", f"unknown device {unknown[0]!r}", "see capctl list hardware")
    return names


# -- comparing and writing -------------------------------------------------------------------------


def _verified(
    engine: str,
    answers: Iterator[tuple[Launch, Answer | NotRun]],
    total: int,
    args: argparse.Namespace,
    session: Session,
    notes: tuple[str, ...] = (),
) -> Verification:
    """Compare every answer as it comes."""
    from archcap.cli.progress import Progress
    from archcap.verify.engine_process import NotRun

    agreement = Agreement()
    imports = 0
    not_run: list[NotRun] = []
    releases: Counter[str] = Counter()
    platforms: Counter[str] = Counter()
    with Progress(session.console.err, total, "launches") as progress:
        for launch, answer in answers:
            if isinstance(answer, NotRun):
                not_run.append(answer)
            else:
                agreement.add(compared(launch, answer, session.snapshot, frozenset(args.fields)))
                imports += answer.error is not None and answer.error.type in _IMPORTS
                releases[launch.release] += 1
                platforms[launch.gpu] += 1
            progress.step(f"{agreement.disagreeing} disagree")
    if imports:
        notes += (f"{imports} launches ended in an ImportError: does the interpreter have all that the engine needs?",)
    digest = session.snapshot.digest
    return Verification(
        engine, releases, platforms, digest, agreement, None, not_run, only=args.fields, notes=notes
    )  # fmt: skip


def _write(verification: Verification, args: argparse.Namespace, session: Session) -> None:
    from archcap.cli.verify_text import render
    from archcap.model.codec import dumps

    if args.report == "-":
        session.console.write_bytes(dumps(report_of(verification), indent=2))
        return
    if args.report is not None:
        from archcap.snapshot.files import write_atomically

        place = Path(args.report)
        if not place.parent.is_dir():
            raise RequestError("no-file", f"there is no folder {place.parent}", "make it first")
        write_atomically(place, dumps(report_of(verification), indent=2) + b"\n")
    session.console.write(render(verification, args.show, session.console))
