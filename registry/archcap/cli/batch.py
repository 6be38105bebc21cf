"""`capctl resolve --batch`: JSON lines of requests in, JSON lines of answers out, in order and as they come."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from io import BufferedReader

from archcap.cli import MISUSE, OK
from archcap.cli.bulk import Answer, answered, processors
from archcap.cli.command import Session
from archcap.cli.files import opened
from archcap.errors import ArchcapError, RequestError
from archcap.model.base import Json, JsonObject
from archcap.model.codec import dumps, to_json
from archcap.model.reading import read_object, request_of
from archcap.resolver import resolve

_ALONE = {"config": "--config", "checkpoint": "--checkpoint", "architecture": "--architecture",
          "draft_config": "--draft-config", "command": "--command", "settings": "--set", "env": "--env",
          "assume": "--assume", "peer": "--peer", "all_releases": "--all-releases",
          "transformers": "--transformers"}  # fmt: skip


def run_batch(args: argparse.Namespace, session: Session) -> int:
    """Answer every line; a bad line gets an error object in its place.

    `--engine`, the hardware options and `--fixes` fill what a line leaves out.

    Returns:
        0 when every line was answered, 2 when one could not be.
    """
    _refuse_single(args, session)
    defaults = _defaults(args, session)
    code = OK
    for answer, problem in _answers(args.batch, lambda line, number: _answer(line, number, defaults, session)):
        session.console.write_bytes(answer)
        if problem is not None:
            session.console.say(problem)
            code = MISUSE
    return code


def _answers(place: str, answer: Callable[[bytes, int], Answer]) -> Iterator[Answer]:
    """Yield the answers in order; more than one process works on them where many lines wait."""
    workers = processors()
    with opened(place) as lines:
        if workers > 1 and isinstance(lines, BufferedReader):
            yield from answered(lines, answer, workers)
        else:
            yield from (answer(line, number) for number, line in enumerate(lines, 1) if not line.isspace())


def _refuse_single(args: argparse.Namespace, session: Session) -> None:
    given = [option for name, option in _ALONE.items() if getattr(args, name)]
    given += ["a pasted command"] if session.pasted is not None else []
    given += ["--format command"] if args.format == "command" else []
    if given:
        raise RequestError("usage", f"{given[0]} does not go with --batch", "put it into the lines of the batch")


def _defaults(args: argparse.Namespace, session: Session) -> JsonObject:
    defaults: JsonObject = {}
    if args.engine is not None:
        from archcap.cli.launch import engine_release

        defaults["engine"], defaults["release"] = engine_release(args.engine, session)
    pairs = {"gpu": args.gpu, "count": args.gpus, "nodes": args.nodes}
    hardware: JsonObject = {name: value for name, value in pairs.items() if value is not None}
    if hardware:
        defaults["hardware"] = hardware
    if args.fixes is not None:
        defaults["fixes"] = args.fixes
    return defaults


def _answer(line: bytes, number: int, defaults: Mapping[str, Json], session: Session) -> Answer:
    """Return the line's answer, or its error object with what there is to say."""
    value: JsonObject = {}
    try:
        value = read_object(line, f"line {number}")
        answer = resolve(request_of({**defaults, **value}), session.snapshot)
        return to_json(replace(answer, notes=(*answer.notes, *session.notes)) if session.notes else answer), None
    except RequestError as error:
        body: JsonObject = {"code": error.code, "message": error.message, "hint": error.hint}
    except ArchcapError:
        raise  # the registry itself is broken: no line can be answered
    except Exception as error:
        body = {"code": "internal", "message": f"{type(error).__name__}: {error}", "hint": "please report it"}
    identity = value.get("id")
    head: JsonObject = {"id": identity} if isinstance(identity, (str, int)) else {"id": None}
    return dumps({**head, "error": body}), f"capctl: line {number}: {body['message']}"
