"""The facts of one release in one small document: what engines fetch.

Standard shapes only, because the client that reads it knows nothing of archcap's records. Knows the release view.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha256

from archcap.model.base import Json, JsonObject
from archcap.snapshot.canonical import canonical
from archcap.snapshot.snapshot import Snapshot
from archcap.snapshot.view import ReleaseView

SLICE_SCHEMA = 1


def release_slice(snapshot: Snapshot, engine: str, release: str) -> bytes:
    """Return the facts of one release as JSON.

    Returns:
        `{"digest": "sha256:…", "facts": {…}}`, the digest over the facts as canonical JSON:
        `json.dumps(facts, sort_keys=True, separators=(",", ":"))`.
    Raises:
        RequestError: `unknown-engine` or `unknown-release`.
    """
    facts = canonical(release_facts(snapshot.release(engine, release)))
    return b'{"digest":"sha256:' + sha256(facts).hexdigest().encode() + b'","facts":' + facts + b"}\n"


def release_facts(view: ReleaseView) -> JsonObject:
    """Return what a slice says of a release: architectures with their support, lists, releases."""
    return {
        "schema": SLICE_SCHEMA,
        "engine": view.engine.engine,
        "release": view.release,
        "releases": list(view.timeline.names),
        "capabilities": [*sorted(view.capabilities)],
        "architectures": {name: _architecture(view, name) for name in view.architectures},
        "lists": {name: [*sorted(members)] for name, members in view.lists.items()},
        "collections": _collections(view),
        "stated": [*_stated_support(view), *_stated_members(view)],
    }


def _architecture(view: ReleaseView, name: str) -> JsonObject:
    """Return one architecture: `has`, and only where there is something to say `when`, `values`, `unvalidated`."""
    architecture = view.architectures[name]
    has, conditional = view.capabilities_of(name)
    said: Mapping[str, Json] = {
        "family": view.family_of(name),
        "role": architecture.role,
        "profile": architecture.profile,
        "has": [*sorted(has)],
        "when": dict(conditional),
        **_details(view, name),
    }
    return {key: value for key, value in said.items() if value or key == "has"}


def _details(view: ReleaseView, name: str) -> JsonObject:
    values: JsonObject = {}
    unvalidated: list[Json] = []
    partial: JsonObject = {}
    for capability, entries in sorted(view.raw_support(name).items()):
        for entry in entries:
            if entry.get("value", True) not in (True, False):
                values[capability] = entry["value"]
            if entry.get("state") == "unvalidated":
                unvalidated.append(capability)
            if entry.get("state") == "partial":
                partial[capability] = entry.get("note")
    return {"values": values, "unvalidated": unvalidated, "partial": partial}


def _collections(view: ReleaseView) -> JsonObject:
    """Return for each capability the engine's own collections that show it; an engine compares them with its own."""
    found: JsonObject = {}
    for name, capability in view.capabilities.items():
        probe = capability.probes.get(view.engine.engine)
        named = probe.set if probe is not None else None
        if named is not None:
            found[name] = [named] if isinstance(named, str) else [*named]
    return found


def _stated_support(view: ReleaseView) -> Iterator[JsonObject]:
    """Yield what people said of an architecture: support that is plain, or denied, with where it is known from."""
    for name in view.architectures:
        for capability, entries in sorted(view.raw_support(name).items()):
            for entry in entries:
                if entry.get("source") and entry.get("state", "yes") == "yes" and entry.get("platform") is None:
                    value = entry.get("value", True) is not False
                    yield {"capability": capability, "name": name, "value": value, **_said(entry)}


def _stated_members(view: ReleaseView) -> Iterator[JsonObject]:
    """Yield what people put into a list."""
    for list_id in view.name_lists:
        for name, stay in view.raw_stays(list_id):
            if stay.get("source") and stay.get("platform") is None:
                yield {"list": list_id, "name": name, "value": True, **_said(stay)}


def _said(entry: JsonObject) -> JsonObject:
    return {"source": entry["source"], "note": entry.get("note")}
