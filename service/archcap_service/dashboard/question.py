"""A question of the launch check: the form's fields, the link that repeats it, and the request it stands for.

Reads what people paste; opens no file, whatever a command names.
"""

from __future__ import annotations

import json
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from archcap.cli.launch import options_of
from archcap.engines import Launch
from archcap.engines.shell import with_start
from archcap.errors import RequestError
from archcap.model.base import Json, JsonObject, Record
from archcap.model.codec import dumps
from archcap.model.reading import read_object, request_of
from archcap.model.request import Request
from archcap.resolver.diagnose import gist
from archcap.snapshot import ReleaseView, Snapshot
from archcap_service.bodies import check_depth
from archcap_service.dashboard.render import link
from archcap_service.documents import release_view

LONGEST_LINK = 7000
"""Proxies commonly pass a request line of 8 KiB."""
MOST_BYTES = 2 * 1024 * 1024


class Question(Record):
    """What the form holds, as text; everything may be empty but the engine and its release."""

    engine: str
    release: str
    command: str = ""
    checkpoint: str = ""
    architecture: str = ""
    config: str = ""
    draft_config: str = ""
    gpu: str = ""
    count: str = ""
    nodes: str = ""
    log: str = ""

    @property
    def blank(self) -> bool:
        """Whether nothing has been asked yet."""
        return not (self.command.strip() or self.checkpoint or self.architecture or self.config.strip())


@dataclass(frozen=True, slots=True)
class Understood:
    """A question as the resolver takes it.

    Attributes:
        request: the request.
        launch: what the pasted command says.
        view: the release that answers.
    """

    request: Request
    launch: Launch
    view: ReleaseView


def from_fields(fields: Mapping[str, str], snapshot: Snapshot, engine: str) -> Question:
    """Return the question of a form or a query; what is left out is empty, the release is the newest.

    Raises:
        RequestError: `unknown-engine`.
    """
    said = {name: fields[name].replace("\r\n", "\n") for name in Question.model_fields if fields.get(name)}
    engine = said.get("engine", engine)
    return Question.model_validate({"release": snapshot.releases(engine)[-1], **said, "engine": engine})


def encoded(question: Question, marks: tuple[str, ...] = ()) -> str:
    """Return *question* as one short word for a link.

    Args:
        question: what is asked.
        marks: what a line that launches the engine holds; given, a log is cut down to what a diagnosis reads.
    """
    held = question.model_dump(exclude_defaults=True)
    for name in ("config", "draft_config"):
        if name in held:
            held[name] = _tight(held[name])
    if marks and "log" in held:
        held["log"] = gist(held["log"], marks)
    return urlsafe_b64encode(zlib.compress(dumps(held), 9)).rstrip(b"=").decode()


def decoded(word: str) -> Question:
    """Return the question that `encoded` made a word of.

    Raises:
        RequestError: `bad-link`.
    """
    try:
        packed = urlsafe_b64decode(word.encode("ascii") + b"=" * (-len(word) % 4))
        reader = zlib.decompressobj()
        data = reader.decompress(packed, MOST_BYTES)
        if reader.unconsumed_tail or not reader.eof:
            raise ValueError("too large, or cut off")
        return Question.model_validate_json(data)
    except (ValueError, zlib.error, ValidationError):
        raise RequestError("bad-link", "this link is damaged or cut off", "paste the launch again") from None


def _tight(text: str) -> str:
    """Return JSON text without its spaces; any other text as it is."""
    try:
        return json.dumps(json.loads(text), separators=(",", ":"), ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


def spaced(text: str) -> str:
    """Return JSON text laid out to be read; any other text as it is."""
    try:
        return json.dumps(json.loads(text), indent=1, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


def question_link(question: Question, page: str = "check") -> str | None:
    """Return the link that repeats *question*; None when it is longer than proxies pass."""
    path = link(page, q=encoded(question))
    return path if len(path) <= LONGEST_LINK else None


def understood(question: Question, snapshot: Snapshot, max_depth: int) -> Understood:
    """Return the request that *question* stands for.

    Raises:
        RequestError: what was pasted cannot be read, names something nobody knows, or says nothing of what is launched.
    """
    view, _ = release_view(snapshot, question.engine, question.release)
    launch = _launch(question.command, view)
    request: JsonObject = {
        "engine": question.engine,
        "release": question.release,
        **_subject(question, launch, view, snapshot, max_depth),
        "settings": launch.settings,
        "env": {**launch.env},
        "fixes": True,
    }
    if question.draft_config.strip():
        request["draft_config"] = _config(question.draft_config, "the draft's config.json", max_depth)
    hardware = _hardware(question, launch, view)
    if hardware:
        request["hardware"] = hardware
    return Understood(request_of(request), launch, view)


def _launch(command: str, view: ReleaseView) -> Launch:
    text = command.strip()
    if not text:
        return Launch({})
    return view.code.parse_command([with_start(text, view.engine.launch)], options_of(view))


def _subject(question: Question, launch: Launch, view: ReleaseView, snapshot: Snapshot, max_depth: int) -> JsonObject:
    if question.config.strip():
        config = _config(question.config, "config.json", max_depth)
        return {"config": config, "architecture": question.architecture or None}
    if question.checkpoint:
        return {"checkpoint": question.checkpoint}
    if question.architecture:
        return {"architecture": question.architecture}
    path = launch.settings.get(view.engine.config_setting)
    if isinstance(path, str) and path in snapshot.checkpoints:
        return {"checkpoint": path}
    what = f" {path!r} is no checkpoint the registry knows." if path else ""
    hint = "paste its config.json, or pick a known checkpoint"
    raise RequestError("usage", f"It is not said what is launched.{what}", hint)


def _config(text: str, name: str, max_depth: int) -> JsonObject:
    data = text.encode("utf-8", "surrogatepass")
    check_depth(data, max_depth)
    return read_object(data, name)


def _hardware(question: Question, launch: Launch, view: ReleaseView) -> JsonObject:
    """Return the hardware; the command and the form must agree on the number of nodes."""
    hardware: JsonObject = {}
    if question.gpu:
        hardware["gpu"] = question.gpu
    for field in ("count", "nodes"):
        number = getattr(question, field).strip()
        if number:
            hardware[field] = _number(number, field)
    flagged = launch.settings.get(view.engine.nodes_setting or "")
    if isinstance(flagged, int) and hardware and hardware.setdefault("nodes", flagged) != flagged:
        said = f"the form says {hardware['nodes']} nodes and the command {flagged}"
        raise RequestError("nodes-disagree", said, "give the same number in both places, or in one")
    return hardware


def _number(text: str, field: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 6):
        what = "GPUs per node" if field == "count" else "nodes"
        raise RequestError("bad-request", f"{what}: {text[:20]!r} is no whole number", "give a number from 1 on")
    return int(text)


def changed(question: Question, seen: Understood, changes: Mapping[str, Json], release: str | None,
            snapshot: Snapshot) -> Question:  # fmt: skip
    """Return *question* with a fix made: its command rewritten, its release another where the fix says so."""
    at = release or question.release
    view, _ = release_view(snapshot, question.engine, at)
    settings = {name: value for name, value in seen.launch.settings.items() if name not in changes}
    settings |= {name: value for name, value in changes.items() if value is not None}
    command = view.code.format_command(settings, view.spans, view.engine.launch)
    env = "".join(f"{name}={value} " for name, value in seen.launch.env.items())
    return question.model_copy(update={"command": env + command, "release": at})
