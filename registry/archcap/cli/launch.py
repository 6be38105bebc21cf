"""Turns a command's words into a request: options, pasted launch command, files.

Shared by every command that asks about a launch. Whether the names exist and the values fit is the resolver's to say.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from archcap.cli.command import Parser, Session, key_value
from archcap.cli.files import read_config, read_flags, read_text
from archcap.engines import Launch, Options, support
from archcap.engines.shell import with_start
from archcap.errors import RequestError
from archcap.model.base import Json, JsonObject
from archcap.model.reading import request_of
from archcap.model.releases import nearest, version
from archcap.model.request import Request
from archcap.resolver.wording import nearest_release
from archcap.snapshot import ReleaseView
from archcap.suggest import nearest_names


def add_launch_options(parser: Parser, source: bool = True) -> None:
    """Declare everything that describes a launch; *source*: and the source that may answer instead of a release."""
    engine = parser.add_argument_group("engine")
    engine.add_argument("--engine", metavar="NAME[@RELEASE]", help="as in sglang@0.5.18; else its newest release")
    if source:
        add_source_option(engine)
    subject = parser.add_argument_group("what is launched (at most one)")
    subject.add_argument("--config", metavar="FILE|DIR|-", help="config.json, the checkpoint's folder, or - for stdin")
    subject.add_argument("--checkpoint", metavar="ID", help="a checkpoint the registry knows, as in org/name")
    subject.add_argument("--architecture", metavar="NAME", help="the class; beside --config, instead of its own")
    subject.add_argument("--draft-config", metavar="FILE|DIR", help="the draft checkpoint's; implies a draft path")
    subject.add_argument("--transformers", action="store_true",
                         help="complete config.json by the transformers library installed here")  # fmt: skip
    machine = parser.add_argument_group("hardware")
    machine.add_argument("--gpu", metavar="ID", help="as in h200; see capctl list hardware")
    machine.add_argument("--gpus", metavar="N", type=int, help="GPUs per node")
    machine.add_argument("--nodes", metavar="N", type=int, help="number of nodes")
    launch = parser.add_argument_group("launch")
    launch.add_argument("--set", metavar="NAME=VALUE", type=key_value, action="append", default=[], dest="settings",
                        help="a setting under the engine's own name; JSON where it parses, else text")  # fmt: skip
    launch.add_argument("--env", metavar="NAME=VALUE", type=key_value, action="append", default=[])
    launch.add_argument("--assume", metavar="NAME=VALUE", type=key_value, action="append", default=[],
                        help="something about the machine; answers list what they assumed")  # fmt: skip
    launch.add_argument("--command", metavar="FILE|-", help="a file that holds the launch command")
    launch.add_argument("--peer", metavar="COMMAND|FILE|JSON",
                        help="the other server of a prefill and decode pair: how it is launched")  # fmt: skip
    parser.epilog = "A launch command may follow --, as in: -- python -m sglang.launch_server --model-path x --tp 8"


def add_source_option(group: argparse._ActionsContainer) -> None:
    """Declare the option that lets a command answer from an engine's source."""
    group.add_argument("--engine-source", metavar="PATH", type=Path,
                       help="a fork, a checkout or a wheel: its facts, the nearest release's rules")  # fmt: skip


def use_source(args: argparse.Namespace, session: Session) -> None:
    """Let the session answer from the source that *args* name, if any; the notes say so.

    Raises:
        RequestError: the path holds no source of the engine, or the source does not say which release it is.
    """
    if args.engine_source is not None:
        from archcap.cli.sources import answer_from

        args.engine, session.notes = answer_from(args.engine_source, args.engine, session)


@dataclass(frozen=True, slots=True)
class Asked:
    """A request with what was noted while it was put together, and the flags that a pasted command uses."""

    request: Request
    notes: tuple[str, ...]
    flags: Mapping[str, str | None] = field(default_factory=dict)


def asked(args: argparse.Namespace, session: Session, fixes: bool = False) -> Asked:
    """Return the request that *args* and the pasted command describe.

    Raises:
        RequestError: something is given twice, missing, unreadable, or two places disagree.
    """
    engine, release = engine_release(args.engine, session)
    view = view_of(engine, release, session)
    launch = _pasted(args, session, view)
    settings = {**launch.settings, **{name: _value(text) for name, text in args.settings}}
    subject, notes = _subject(args, settings, view, session)
    request: JsonObject = {
        "engine": engine,
        "release": release,
        **subject,
        "settings": settings,
        "env": {**launch.env, **dict(args.env)},
        "assumptions": {name: _value(text) for name, text in args.assume},
        "fixes": fixes,
    }
    hardware = _hardware(args, settings, view)
    if hardware:
        request["hardware"] = hardware
    if args.peer is not None:
        from archcap.cli.pair import peer_of

        request["peer"], more = peer_of(args.peer, request, view, options_of, session)
        notes = (*notes, *more)
    return Asked(request_of(request), (*launch.notes, *notes), launch.flags)


def engine_release(text: str | None, session: Session) -> tuple[str, str]:
    """Split `sglang@0.5.18`; without a release the newest known one is meant.

    Raises:
        RequestError: there is no engine, or it is unknown.
    """
    known = session.snapshot.engine_names
    example = f"as in --engine {known[0]}@{session.snapshot.releases(known[0])[-1]}"
    if not text:
        raise RequestError("usage", "which engine and release?", example)
    engine, at, release = text.partition("@")
    if engine not in known:
        near = nearest_names(engine, known, 1) or list(known)
        raise RequestError("unknown-engine", f"unknown engine {engine!r}", f"did you mean {near[0]}? {example}")
    if at and not release:
        raise RequestError("usage", f"{text!r} ends before the release", example)
    return engine, release or session.snapshot.releases(engine)[-1]


def named_view(text: str, session: Session) -> ReleaseView:
    """Return the release that answers for `NAME[@RELEASE]`, and say so when it is another one.

    Raises:
        RequestError: as `engine_release` and `view_of`.
    """
    engine, release = engine_release(text, session)
    view = view_of(engine, release, session)
    say_nearest(release, view, session)
    return view


def say_nearest(release: str, view: ReleaseView, session: Session) -> None:
    """Say that another release than *release* answers, where that is so and the answer itself has no place for it."""
    if version(release) != version(view.release):
        session.console.say(f"capctl: {nearest_release(release, view.release)}")


def view_of(engine: str, release: str, session: Session) -> ReleaseView:
    """Return the release that answers for *release*.

    Raises:
        RequestError: `unknown-release`, when it is no release number.
    """
    known = session.snapshot.releases(engine)
    try:
        return session.snapshot.release(engine, nearest(release, known))
    except ValueError:
        raise RequestError(
            "unknown-release", f"{release!r} is no release of {engine}", f"known are {known[0]} to {known[-1]}"
        ) from None


def options_of(view: ReleaseView) -> Options:
    """Return what the release's command line takes."""
    loose = {
        name: span
        for name, spans in view.engine.loose_flags.items()
        if (span := next((one for one in spans if one.holds(view.release)), None)) is not None
    }
    return Options(view.release, view.spans, loose, view.settings)


def _pasted(args: argparse.Namespace, session: Session, view: ReleaseView) -> Launch:
    words = session.pasted
    if args.command is not None:
        if words is not None:
            raise RequestError("usage", "a launch command is given twice", "give --command or the words after --")
        words = [with_start(read_text(args.command), view.engine.launch)]
    if words is None:
        return Launch({})
    return support(view.engine.engine, view.release).parse_command(words, options_of(view), read_flags)


def _value(text: str) -> Json:
    """Read a value given on the command line: JSON where it parses, else the text itself."""
    try:
        value: Json = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return text
    return value


def _no_constant(word: str) -> float:
    raise ValueError(word)


def _read(place: str, args: argparse.Namespace, session: Session) -> JsonObject:
    """Return a configuration, completed by the installed library where that is asked for; the answer's notes say so."""
    config = read_config(place)
    if args.transformers:
        from archcap.cli.installed import completed_by_transformers

        config, note = completed_by_transformers(config)
        session.notes = tuple(dict.fromkeys((*session.notes, note)))
    return config


def _subject(
    args: argparse.Namespace, settings: Mapping[str, Json], view: ReleaseView, session: Session
) -> tuple[JsonObject, tuple[str, ...]]:
    """Return the keys that say what is launched, and where it was found when nobody said it outright."""
    if args.config is not None and args.checkpoint is not None:
        raise RequestError("usage", "--config and --checkpoint both say what is launched", "give one of them")
    if args.checkpoint is not None and args.architecture is not None:
        raise RequestError("usage", "--checkpoint and --architecture both say what is launched", "give one of them")
    stdin = [name for name in ("config", "draft_config", "command") if getattr(args, name) == "-"]
    if len(stdin) > 1:
        raise RequestError("usage", "standard input can be only one of them", f"- is given for {', '.join(stdin)}")
    subject: JsonObject = {}
    notes: list[str] = []
    if args.config is not None:
        subject["config"] = _read(args.config, args, session)
    elif args.checkpoint is not None:
        subject["checkpoint"] = args.checkpoint
    elif args.architecture is None:
        subject, note = _named_by(settings.get(view.engine.config_setting), view, session)
        notes.append(note)
    if args.architecture is not None:
        subject["architecture"] = args.architecture
    if args.draft_config is not None:
        subject["draft_config"] = _read(args.draft_config, args, session)
    return subject, tuple(notes)


def _named_by(path: Json, view: ReleaseView, session: Session) -> tuple[JsonObject, str]:
    """Find what is launched by the launch's own path: a folder that is here, or a checkpoint the registry knows."""
    name = view.engine.config_setting
    if isinstance(path, str) and path:
        if path in session.snapshot.checkpoints:
            return {"checkpoint": path}, f"{name} names a checkpoint the registry knows"
        if (Path(path) / "config.json").is_file():
            return {"config": read_config(path)}, f"the configuration is read from {path}"
    what = f" {path!r} is not here and no checkpoint the registry knows" if path else ""
    raise RequestError(
        "usage",
        f"what is launched?{what}",
        "give --config with the checkpoint's config.json or folder, --checkpoint, or at least --architecture",
    )


def _hardware(args: argparse.Namespace, settings: Mapping[str, Json], view: ReleaseView) -> JsonObject:
    """Return the hardware asked for; flags and hardware must agree on the number of nodes."""
    hardware: JsonObject = {}
    if args.gpu is not None:
        hardware["gpu"] = args.gpu
    if args.gpus is not None:
        hardware["count"] = args.gpus
    flagged = settings.get(view.engine.nodes_setting or "")
    flagged = flagged if isinstance(flagged, int) else None
    nodes = args.nodes if args.nodes is not None else flagged
    if args.nodes is not None and flagged is not None and flagged != args.nodes:
        problem = f"--nodes {args.nodes} and {view.engine.nodes_setting} {flagged} disagree"
        raise RequestError("nodes-disagree", problem, "give the same number in both places")
    if nodes is not None and (hardware or args.nodes is not None):
        hardware["nodes"] = nodes
    return hardware

