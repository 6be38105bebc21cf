"""The one place that words causes and automatic findings; everything else passes data.

Golden tests hold the wording. No engine is named here: titles, flags and `says` texts come from the registry.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import NoneType

from archcap.model.architectures import Architecture
from archcap.model.base import Json, JsonScalar
from archcap.model.engine import Declared
from archcap.model.releases import held_when, version
from archcap.model.resolution import Verdict
from archcap.resolver.knowledge import ReleaseView
from archcap.rules.run import Unknown
from archcap.suggest import nearest_names

_LONGEST = 60
_PLACE = re.compile(r"(\{\{|\}\}|\{[^{}]+\})")
_BRACES = ("{", "}")
_SCALARS = (bool, int, float, str, NoneType)


def value_text(value: Json | Unknown) -> str:
    """Return a value as a person would read it, cut to one short phrase."""
    kind = type(value)
    if kind is str:
        return value or '""'  # type: ignore[return-value]
    if kind is bool:
        return "true" if value else "false"
    if value is None:
        return "unset"
    if kind is Unknown:
        return "unknown"
    text = str(value) if kind is int or kind is float else json.dumps(value, separators=(", ", ": "))
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def setting_is(name: str, value: Json | Unknown) -> str:
    """Return "dcp_size is 2"."""
    return f"{name} is {value_text(value)}"


def setting_at_default(name: str, value: Json | Unknown) -> str:
    """Return "overlap is false, as it is by default"."""
    return f"{name} is {value_text(value)}, as it is by default"


def setting_stayed(name: str, value: Json | Unknown) -> str:
    """Return "mamba_radix_cache_strategy stayed auto"."""
    return f"{name} stayed {value_text(value)}"


def declared_is(name: str, value: Json | Unknown, declared: Declared | None) -> str:
    """Return a fact or variable in its own words."""
    if declared is not None and declared.says:
        return declared.says.replace("{value}", value_text(value))
    return f"{name.replace('_', ' ')} is {value_text(value)}"


def capability_held(view: ReleaseView, architecture: str | None, capability: str, held: bool) -> str:
    """Return who has or lacks a capability in this release, and since when it has it."""
    known = view.capabilities.get(capability)
    title = _in_a_sentence(known.title) if known else capability.replace("_", " ")
    who = architecture or "the architecture"
    if held:
        return f"{who} is registered for {title} in {view.release}"
    since = view.since(architecture, capability) if architecture else None
    later = f" (it is from {since})" if since else ""
    return f"{who} is not registered for {title} in {view.release}{later}"


def _in_a_sentence(title: str) -> str:
    """Return a title without its capital, unless it begins with an acronym."""
    return title[0].lower() + title[1:] if title[1:2].islower() else title


def list_held(view: ReleaseView, list_id: str, name: str | None, held: bool) -> str:
    """Return who is on or off one of the engine's lists."""
    known = view.name_lists.get(list_id)
    place = f"among {known.title}" if known and known.title else f"on the list {list_id.rsplit('.', 1)[-1]}"
    who = name or "the architecture"
    if held:
        return f"{who} is {place} in {view.release}"
    since = view.list_since(list_id, name) if name else None
    later = f" (it is from {since})" if since else ""
    return f"{who} is not {place} in {view.release}{later}"


def hardware_is(hw: Mapping[str, Json]) -> str:
    """Return "the GPU is h200 (sm90)"."""
    if "gpu" not in hw:
        return "the hardware is unknown"
    return f"the hardware is {value_text(hw.get('gpu'))} ({value_text(hw.get('arch'))})"


def config_says(root: str, path: str, value: Json | Unknown) -> str:
    """Return "layer_types in the config is […]"."""
    return f"{path} in the {root} is {value_text(value)}"


def replaced(name: str, requested: Json, value: Json) -> str:
    """Return the automatic finding of a user's value replaced without a word."""
    return f"{name} {value_text(requested)} is replaced by {value_text(value)} without a log line"


def raised(text: str) -> str:
    """Return the message of a refusal that is an exception of the engine's own code."""
    return f"The engine's own code fails here: {text}"


def fill(template: str, values: Mapping[str, Json]) -> str:
    """Put *values* into the `{name}` places of *template*; `{{` and `}}` stand for braces."""
    return "".join([_filled(part, values) if part[:1] in _BRACES else part for part in _parts(template)])


@lru_cache(maxsize=4096)
def _parts(template: str) -> tuple[str, ...]:
    """Return the texts and the places of a template, which the registry has a few thousand of."""
    return tuple(part for part in _PLACE.split(template) if part)


def _filled(place: str, values: Mapping[str, Json]) -> str:
    if place in ("{{", "}}"):
        return place[0]
    name = place[1:-1]
    return value_text(values[name]) if name in values else place


def not_a_choice(name: str, value: Json, choices: Sequence[str | int]) -> str:
    """Return the message for a value the engine's command line refuses, with the nearest choice."""
    near = nearest_names(value_text(value), map(str, choices), 1)
    hint = f"did you mean {near[0]}?" if near else f"choices: {', '.join(map(str, choices))}"
    return f"{name} does not take {value_text(value)}; {hint}"


def not_registered(name: str, value: Json, choices: Sequence[str | int]) -> str:
    """Return the message for a name the engine does not have, where only a plug-in could bring it."""
    return f"{not_a_choice(name, value, choices)} (a plug-in may bring others: assume plugins=true)"


def unknown_architecture(view: ReleaseView, name: str, elsewhere: Architecture | None, near: Sequence[str]) -> str:
    """Return the message for an architecture the release lacks: a release that has it, or the nearest names."""
    lead = f"{view.engine.title} {view.release} has no architecture {name}"
    if elsewhere is not None:
        return f"{lead}; {held_when(elsewhere.releases, view.release)}"
    return f"{lead}; nearest: {', '.join(near)}" if near else f"{lead}, and no name is near it"


def gives_up(view: ReleaseView, changes: Mapping[str, Json], user: Mapping[str, Json]) -> str | None:
    """Return what an operator loses by *changes*: the words of the registry, else the value taken away."""
    lost: list[str] = []
    for name, value in changes.items():
        setting = view.settings.get(name)
        departs = name in user or (setting is not None and setting.fix != "reduce" and value != view.defaults.get(name))
        if setting is not None and setting.gives_up and departs:
            lost.append(setting.gives_up)
        elif name in user and user[name] is not None:
            lost.append(f"{name} {value_text(user[name])}")
    return "; ".join(lost) or None


def peers(text: str) -> str:
    """Return a cause as one of the peer's."""
    return f"on the peer, {text}"


def peer_says(name: str, value: Json | Unknown, declared: Declared | None) -> str:
    """Return what a setting, fact or variable of the peer's came to."""
    return peers(declared_is(name, value, declared) if declared is not None else setting_is(name, value))


def of_peer(verdict: str, message: str) -> str:
    """Return the message of a peer that does not serve."""
    lead = "The peer would not start" if verdict == "refused" else "The peer starts, but fails"
    return f"{lead}: {message}"


def no_fix(peer: Verdict | None) -> str:
    """Return the note that no fix was found; *peer* is the verdict on the other server of a pair."""
    if peer is None:
        return "No change of one or two settings, nor a later release, cures this launch."
    if peer in ("ok", "adjusted"):
        return "No change of one or two settings here, of one on the peer, nor a later release, cures this pair."
    if peer == "unknown":
        return "Whether the peer starts is unknown, so no change can be told to cure this pair."
    return "The peer has to change first, and no single change of it cures this pair; ask about the peer by itself."


def nearest_release(asked: str, used: str) -> str:
    """Return the note that another release than the one asked for answers."""
    which = "the nearest one before it" if version(used) < version(asked) else "the oldest one known"
    return f"Release {asked} is not in the registry; this is the answer of {used}, {which}."


def declared_text(says: str, value: Json | Unknown) -> str:
    """Return an assumption in the registry's words."""
    if isinstance(value, _SCALARS):
        return _declared(says, value)
    return says.replace("{value}", value_text(value))


@lru_cache(maxsize=1024, typed=True)
def _declared(says: str, value: JsonScalar) -> str:
    """Return the text of a plain value: launches assume the same few hundred again and again."""
    return says.replace("{value}", value_text(value))
