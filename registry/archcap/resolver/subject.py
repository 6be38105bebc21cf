"""What is launched: the release that answers, the architecture, its configuration, the user's settings.

Everything a request can get wrong is found here, before any rule runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from archcap.errors import RequestError
from archcap.model.base import Json, JsonObject
from archcap.model.engine import SettingSpan
from archcap.model.releases import held_when, nearest, version
from archcap.model.request import Request
from archcap.model.values import plain_record
from archcap.resolver.complete import Completed, Levels, levels_of
from archcap.resolver.knowledge import ReleaseView, SnapshotView
from archcap.resolver.pair import request_of_peer, said_of_peer
from archcap.suggest import nearest_names

_TYPES: dict[str, tuple[type, ...]] = {
    "bool": (bool,),
    "int": (int,),
    "float": (int, float),
    "number": (int, float),
    "str": (str,),
    "list": (list,),
    "struct": (dict,),
    "any": (object,),
}
_LONGEST = 60
DRAFT_PLACE, MODEL_PLACE = "<draft>", "<model>"


@plain_record
class Subject:
    """A checked request."""

    request: Request
    view: ReleaseView
    exact: bool
    """Whether the release asked for is the one that answers."""
    architecture: str | None
    config: Levels | None
    """The configuration as the engine sees it: completed by its class, then overridden."""
    draft_config: Levels | None
    settings: dict[str, Json]
    """What the user set, including what the request implies (a draft config implies a draft path)."""
    peer: Subject | None = None
    """The other server of a linked pair."""


def subject_of(request: Request, snapshot: SnapshotView) -> Subject:
    """Check *request* against what the registry knows.

    Raises:
        RequestError: an unknown engine, release spelling, checkpoint or setting; a value of another type.
    """
    view, exact = release_of(request.engine, request.release, snapshot)
    config = _config(request, snapshot)
    settings = _settings(request, view)
    seen = _seen(view, config, settings) if config is not None else None
    architecture = request.architecture or _architecture(request, seen.config if seen else None)
    draft = view.levels(request.draft_config) if request.draft_config is not None else None
    peer = _peer(request, view, snapshot) if request.peer is not None else None
    return Subject(request, view, exact, architecture, seen, draft, settings, peer)


def _peer(request: Request, view: ReleaseView, snapshot: SnapshotView) -> Subject:
    with said_of_peer():
        return subject_of(request_of_peer(request, view.engine.nodes_setting), snapshot)


def _seen(view: ReleaseView, config: JsonObject, settings: Mapping[str, Json]) -> Levels:
    levels = view.levels(config)
    effective = view.code.effective_config(levels.config, settings)
    if effective is levels.config:
        return levels
    return levels_of(Completed(effective, levels.outer.unknown), view.code)


def release_of(engine: str, release: str, snapshot: SnapshotView) -> tuple[ReleaseView, bool]:
    """Return the release that answers for *release*, and whether it is that one.

    Raises:
        RequestError: `unknown-engine`, or `unknown-release` when it is no version at all.
    """
    if engine not in snapshot.engine_names:
        raise unknown("engine", engine, snapshot.engine_names)
    known = snapshot.releases(engine)
    if release in known:
        return snapshot.release(engine, release), True
    try:
        at = nearest(release, known)
    except ValueError as error:
        raise RequestError("unknown-release", str(error), f"known releases: {known[0]} to {known[-1]}") from error
    return snapshot.release(engine, at), version(at) == version(release)


def _config(request: Request, snapshot: SnapshotView) -> JsonObject | None:
    if request.checkpoint is None:
        return request.config
    if request.checkpoint not in snapshot.checkpoints:
        raise unknown("checkpoint", request.checkpoint, snapshot.checkpoints)
    return snapshot.checkpoints[request.checkpoint].config


def _architecture(request: Request, config: JsonObject | None) -> str | None:
    if config is None:
        return None
    names = config.get("architectures")
    if isinstance(names, list) and names and isinstance(names[0], str):
        return names[0]
    raise RequestError(
        "no-architecture",
        "the configuration names no architecture",
        "give config.json's `architectures` or name one with --architecture",
    )


def _settings(request: Request, view: ReleaseView) -> dict[str, Json]:
    settings: dict[str, Json] = {}
    for name, value in request.settings.items():
        if type(value) is view.plain_types.get(name):
            settings[name] = value
            continue
        span = view.spans.get(name)
        if span is None:
            raise _unknown_setting(name, view)
        if value is None and span.default is None:
            continue
        settings[name] = _typed(name, value, span)
    draft = view.engine.draft_setting
    if request.draft_config is not None and draft is not None and settings.get(draft) is None:
        settings[draft] = DRAFT_PLACE
    _agree_on_nodes(request, view, settings)
    return settings


def _unknown_setting(name: str, view: ReleaseView) -> RequestError:
    setting = view.settings.get(name)
    if setting is None:
        return unknown("setting", name, view.spans)
    when = held_when(setting.spans, view.release)
    return RequestError("unknown-setting", f"{view.engine.engine} {view.release} has no setting {name!r}", when)


def _typed(name: str, value: Json, span: SettingSpan) -> Json:
    if value is None and span.optional:
        return value
    allowed = _TYPES[span.type]
    fits = isinstance(value, allowed) and not (
        isinstance(value, bool) and bool not in allowed and object not in allowed
    )
    if not fits:
        raise RequestError(
            "wrong-type",
            f"{name} takes {_article(span)}, not {_shown(value)}",
            f"choices: {', '.join(map(str, span.choices))}" if span.choices else f"default: {span.default!r}",
        )
    return value


def _shown(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def _article(span: SettingSpan) -> str:
    words = {"bool": "true or false", "int": "a whole number", "float": "a number", "number": "a number", "str": "text"}
    return words.get(span.type, f"a {span.type}")


def _agree_on_nodes(request: Request, view: ReleaseView, settings: Mapping[str, Json]) -> None:
    name = view.engine.nodes_setting
    asked = settings.get(name) if name else None
    nodes = request.hardware.nodes if request.hardware else None
    if asked is not None and nodes is not None and asked != nodes:
        raise RequestError(
            "nodes-disagree",
            f"{name} is {asked} but the hardware has {nodes} node(s)",
            "give the same number in both places",
        )


def unknown(kind: str, word: str, known: Iterable[str]) -> RequestError:
    """Return the error for a name nobody knows, with the nearest ones."""
    names = list(known)
    near = nearest_names(word, names)
    hint = f"did you mean {', '.join(near)}?" if near else f"{len(names)} are known"
    return RequestError(f"unknown-{kind}", f"unknown {kind} {word!r}", hint)
