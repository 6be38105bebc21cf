"""Turns a checked request into what a release's rules read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from archcap.errors import RequestError
from archcap.model.base import Json, JsonObject
from archcap.model.engine import Assumption, EnvironmentVariable
from archcap.model.hardware import Gpu
from archcap.model.request import HardwareRequest
from archcap.resolver.knowledge import ReleaseView, SnapshotView
from archcap.resolver.subject import MODEL_PLACE, Subject, unknown
from archcap.rules import condition
from archcap.rules.run import ConfigView, Inputs, Unknown

_TRUE, _FALSE = {"1", "true", "yes", "on", "y", "t"}, {"0", "false", "no", "off", "n", "f", ""}


@dataclass(frozen=True, slots=True)
class _Capabilities:
    held: frozenset[str]
    unknown: dict[str, frozenset[str]]


def inputs_of(subject: Subject, snapshot: SnapshotView) -> Inputs:
    """Return everything the rules may read.

    Raises:
        RequestError: unknown hardware, assumption or a value of the wrong type.
    """
    view, request = subject.view, subject.request
    hw = _hardware(request.hardware, snapshot)
    raw = dict(view.defaults)
    raw.update(subject.settings)
    if raw.get(view.engine.config_setting) is None:
        raw[view.engine.config_setting] = MODEL_PLACE
    inputs = Inputs(
        raw=raw,
        user=frozenset(subject.settings),
        hw=hw,
        assume=_assumptions(request.assumptions, view, hw),
        env=_environment(request.env, view),
        env_set=frozenset(request.env),
        hf=ConfigView("config", subject.config),
        text=ConfigView("config", _text(view, subject.config)),
        draft_hf=ConfigView("draft config", subject.draft_config),
        draft_text=ConfigView("draft config", _text(view, subject.draft_config)),
        architecture=subject.architecture,
        profile=None,
        capabilities=frozenset(),
        lists=view.lists,
        functions=view.code.functions,
    )
    return _with_architectures(inputs, subject)


def _text(view: ReleaseView, config: JsonObject | None) -> JsonObject | None:
    return None if config is None else view.code.text_config_of(config)


def _with_architectures(inputs: Inputs, subject: Subject) -> Inputs:
    view, name = subject.view, subject.architecture
    held = _capabilities(view, name, inputs)
    inputs.capabilities, inputs.unknown_capabilities = held.held, held.unknown
    known = view.architectures.get(name) if name else None
    inputs.profile = known.profile if known else None
    inputs.facts = {
        "architecture": name,
        "wraps": known.wraps if known else None,
        "body": known.body if known else None,
        "role": known.role if known else None,
    }
    inputs.draft_architecture = _draft_name(subject.draft_config)
    inputs.facts = {**inputs.facts, **_draft_facts(inputs, subject)}
    inputs.draft_capabilities = _capabilities(view, inputs.draft_architecture, inputs).held
    return inputs


def _draft_facts(inputs: Inputs, subject: Subject) -> dict[str, Json]:
    """Return which class the draft loads, how deep it is, and which levels of its configuration say so.

    A draft checkpoint nobody described stays unknown; without one the target's checkpoint is the draft's.
    """
    view, raw = subject.view, inputs.raw
    engine = view.engine
    path = raw.get(engine.draft_setting) if engine.draft_setting else None
    if subject.draft_config is None and path not in (None, raw.get(engine.config_setting)):
        return {}
    name = subject.architecture if subject.draft_config is None else inputs.draft_architecture
    if name is None:
        return {}
    known = view.all_architectures.get(name)
    method = raw.get(engine.draft_method_setting) if engine.draft_method_setting else None
    rewrite = known.draft_at(view.release, method.upper() if isinstance(method, str) else None) if known else None
    return {
        "draft_architecture": rewrite.architecture if rewrite else name,
        "draft_depth": rewrite.depth if rewrite else None,
        "draft_levels": list(rewrite.levels) if rewrite else [],
    }


def _draft_name(config: JsonObject | None) -> str | None:
    names = config.get("architectures") if config else None
    return names[0] if isinstance(names, list) and names and isinstance(names[0], str) else None


def _capabilities(view: ReleaseView, architecture: str | None, inputs: Inputs) -> _Capabilities:
    if architecture is None:
        needs = frozenset({"architecture"})
        return _Capabilities(frozenset(), dict.fromkeys(view.capabilities, needs))
    held, conditional = view.capabilities_of(architecture)
    if not conditional:
        return _Capabilities(held, {})
    unsure: dict[str, frozenset[str]] = {}
    more = set(held)
    for capability, when in conditional:
        value = condition(when)(inputs)
        if isinstance(value, Unknown):
            unsure[capability] = value.needs
        elif value:
            more.add(capability)
    return _Capabilities(frozenset(more), unsure)


def _hardware(asked: HardwareRequest | None, snapshot: SnapshotView) -> Mapping[str, Json]:
    if asked is None:
        return {}
    places: dict[str, Json] = {"count": asked.count, "nodes": asked.nodes}
    return {**places, **gpu_facts(find_gpu(asked.gpu, snapshot))} if asked.gpu is not None else places


def find_gpu(name: str, snapshot: SnapshotView) -> tuple[str, Gpu]:
    """Return the catalogue's entry for an id or alias.

    Raises:
        RequestError: `unknown-hardware`, with the nearest ids.
    """
    wanted = name.lower()
    if wanted in snapshot.hardware:
        return wanted, snapshot.hardware[wanted]
    for key, gpu in snapshot.hardware.items():
        if wanted in gpu.aliases:
            return key, gpu
    raise unknown("hardware", name, snapshot.hardware)


@lru_cache(maxsize=512)
def gpu_facts(found: tuple[str, Gpu]) -> Mapping[str, Json]:
    """Return what `hw.x` reads for one catalogue entry."""
    key, gpu = found
    major, minor = gpu.compute or (None, None)
    return {
        "gpu": key,
        "title": gpu.title,
        "vendor": gpu.vendor,
        "platform": gpu.platform,
        "arch": gpu.arch,
        "memory_mib": gpu.memory_mib,
        "major": major,
        "minor": minor,
        "sm": None if major is None or minor is None else major * 10 + minor,
    }


def _assumptions(given: Mapping[str, Json], view: ReleaseView, hw: Mapping[str, Json]) -> dict[str, Json]:
    declared = view.names.assumptions
    for name in given:
        if name not in declared:
            raise unknown("assumption", name, declared)
    platform = hw.get("platform")
    known = ((name, one) for name, one in declared.items() if platform is not None or not one.platforms)
    values = {name: _assumed(one, platform) for name, one in known}
    values.update(given)
    return values


def _assumed(one: Assumption, platform: Json) -> Json:
    return one.platforms.get(platform, one.default) if isinstance(platform, str) else one.default


def _environment(given: Mapping[str, str | int | float | bool], view: ReleaseView) -> dict[str, Json]:
    values: dict[str, Json] = {name: one.default for name, one in view.names.env.items()}
    for name, value in given.items():
        one = view.names.env.get(name)
        if one is not None:
            values[name] = env_value(name, value, one)
    return values


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
