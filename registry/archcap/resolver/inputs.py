"""Turns a checked request into what a release's rules read."""

from __future__ import annotations

from collections.abc import Mapping

from archcap.errors import RequestError
from archcap.model.architectures import rewrite_for
from archcap.model.base import Json, JsonObject
from archcap.model.engine import EnvironmentVariable
from archcap.model.hardware import Gpu
from archcap.model.request import HardwareRequest
from archcap.resolver.complete import Levels
from archcap.resolver.knowledge import ReleaseView, SnapshotView
from archcap.resolver.subject import MODEL_PLACE, Subject, unknown
from archcap.rules import condition
from archcap.rules.run import ConfigView, Given, Inputs, PeerRun, Unknown

_Held = tuple[frozenset[str], dict[str, frozenset[str]]]
_TRUE, _FALSE = {"1", "true", "yes", "on", "y", "t"}, {"0", "false", "no", "off", "n", "f", ""}


def inputs_of(subject: Subject, snapshot: SnapshotView, peer: PeerRun | None = None) -> Inputs:
    """Return everything the rules may read.

    Args:
        subject: what is launched.
        snapshot: the registry as compiled.
        peer: what the other server of a linked pair came to.
    Raises:
        RequestError: unknown hardware, assumption or a value of the wrong type.
    """
    view, request = subject.view, subject.request
    hw = _hardware(request.hardware, snapshot)
    hf, text = _levels("config", subject.config)
    draft_hf, draft_text = _levels("draft config", subject.draft_config)
    raw = Given(subject.settings.copy(), view.defaults)
    if raw.get(view.engine.config_setting) is None:
        raw.own[view.engine.config_setting] = MODEL_PLACE
    inputs = Inputs(
        raw=raw,
        user=frozenset(subject.settings),
        hw=hw,
        assume=_assumptions(request.assumptions, view, hw),
        env=_environment(request.env, view),
        env_set=frozenset(request.env),
        hf=hf,
        text=text,
        draft_hf=draft_hf,
        draft_text=draft_text,
        architecture=subject.architecture,
        profile=None,
        capabilities=frozenset(),
        lists=view.lists,
        functions=view.code.functions,
        peer=peer,
    )
    return _with_architectures(inputs, subject)


def _levels(root: str, levels: Levels | None) -> tuple[ConfigView, ConfigView]:
    """Return the whole configuration as the engine reads it, and the level that describes the language model."""
    if levels is None:
        return ConfigView(root, None), ConfigView(root, None)
    outer, text = levels.outer, levels.text
    return ConfigView(root, outer.config, outer.unknown), ConfigView(root, text.config, text.unknown)


def _with_architectures(inputs: Inputs, subject: Subject) -> Inputs:
    view, name = subject.view, subject.architecture
    inputs.capabilities, inputs.unknown_capabilities = _capabilities(view, name, inputs)
    known = view.architectures.get(name) if name else None
    inputs.profile = known.profile if known else None
    draft = inputs.draft_architecture = _draft_name(subject.draft_config.config if subject.draft_config else None)
    inputs.facts = {
        "architecture": name,
        "wraps": known.wraps if known else None,
        "body": known.body if known else None,
        "role": known.role if known else None,
        **_draft_facts(inputs, subject),
    }
    if draft is not None:
        inputs.draft_capabilities = _capabilities(view, draft, inputs)[0]
    return inputs


def _draft_facts(inputs: Inputs, subject: Subject) -> dict[str, Json]:
    """Return which class the draft loads, how deep it is, and which levels of its configuration say so.

    A draft checkpoint nobody described stays unknown; without one the target's checkpoint is the draft's.
    """
    view, raw = subject.view, inputs.raw
    engine = view.engine
    path = raw.get(engine.draft_setting) if engine.draft_setting else None
    if subject.draft_config is None and path is not None and path != raw.get(engine.config_setting):
        return {}
    name = subject.architecture if subject.draft_config is None else inputs.draft_architecture
    if name is None:
        return {}
    rewrites = view.rewrites_of(name)
    method = raw.get(engine.draft_method_setting) if rewrites and engine.draft_method_setting else None
    rewrite = rewrite_for(rewrites, method.upper() if isinstance(method, str) else None)
    return {
        "draft_architecture": rewrite.architecture if rewrite else name,
        "draft_depth": rewrite.depth if rewrite else None,
        "draft_levels": list(rewrite.levels) if rewrite else [],
        "draft_fields": _given_fields(subject.request.draft_config, view),
    }


def _given_fields(config: JsonObject | None, view: ReleaseView) -> list[Json]:
    """Return the fields that a draft's configuration gives itself, before its class fills in the rest."""
    return [] if config is None else [*dict.fromkeys([*config, *view.code.text_config_of(config)])]


def _draft_name(config: JsonObject | None) -> str | None:
    names = config.get("architectures") if config else None
    return names[0] if isinstance(names, list) and names and isinstance(names[0], str) else None


def _capabilities(view: ReleaseView, architecture: str | None, inputs: Inputs) -> _Held:
    """Return what an architecture has, and what nobody can know, with what it needs."""
    if architecture is None:
        return frozenset(), dict.fromkeys(view.capabilities, frozenset({"architecture"}))
    held, conditional = view.capabilities_of(architecture)
    if not conditional:
        return held, {}
    unsure: dict[str, frozenset[str]] = {}
    more = set(held)
    for capability, when in conditional:
        value = condition(when)(inputs)
        if isinstance(value, Unknown):
            unsure[capability] = value.needs
        elif value:
            more.add(capability)
    return frozenset(more), unsure


def _hardware(asked: HardwareRequest | None, snapshot: SnapshotView) -> Mapping[str, Json]:
    if asked is None:
        return {}
    if asked.gpu is None:
        return {"count": asked.count, "nodes": asked.nodes}
    name, gpu = find_gpu(asked.gpu, snapshot)
    return {"count": asked.count, "nodes": asked.nodes, "gpu": name, **gpu.facts}


def find_gpu(name: str, snapshot: SnapshotView) -> tuple[str, Gpu]:
    """Return the catalogue's entry for an id, an alias, or the name that the vendor's tool prints.

    Raises:
        RequestError: `unknown-hardware`, with the nearest ids.
    """
    wanted, known = name.lower(), snapshot.hardware
    if wanted in known:
        return wanted, known[wanted]
    for key, gpu in known.items():
        if wanted in gpu.aliases or wanted == gpu.title.lower():
            return key, gpu
    raise unknown("hardware", name, known)


def _assumptions(given: Mapping[str, Json], view: ReleaseView, hw: Mapping[str, Json]) -> Mapping[str, Json]:
    for name in given:
        if name not in view.names.assumptions:
            raise unknown("assumption", name, view.names.assumptions)
    platform = hw.get("platform")
    assumed = view.assumed_on(platform if isinstance(platform, str) else None)
    return {**assumed, **given} if given else assumed


def _environment(given: Mapping[str, str | int | float | bool], view: ReleaseView) -> Mapping[str, Json]:
    if not given:
        return view.env_defaults
    declared = view.names.env
    known = {name: value for name, value in given.items() if name in declared}
    return {**view.env_defaults, **{name: env_value(name, value, declared[name]) for name, value in known.items()}}


def env_value(name: str, value: str | int | float | bool, declared: EnvironmentVariable) -> Json:
    """Read an environment variable as its declared type.

    Raises:
        RequestError: `wrong-type`, when the text does not spell one.
    """
    text = str(value).strip()
    try:
        if declared.type == "bool":
            return _truth(text)
        return int(text) if declared.type == "int" else float(text) if declared.type == "float" else text
    except ValueError as error:
        raise RequestError("wrong-type", f"{name} takes {declared.type}, not {value!r}") from error


def _truth(text: str) -> bool:
    word = text.lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise ValueError(text)
