"""The answers to GETs as bytes, from a state: the service, its fast path and the static export share them.

Pure; the same state gives the same bytes. Knows no request and no header.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from typing import TypeVar

from archcap.errors import RequestError
from archcap.model.architectures import Architecture
from archcap.model.base import Json, JsonObject
from archcap.model.codec import dumps
from archcap.model.releases import held_when, nearest, version
from archcap.snapshot import SCHEMA, ReleaseView, Snapshot, release_slice
from archcap.snapshot.canonical import canonical
from archcap.snapshot.compare import diff, history
from archcap.snapshot.store import carried_slice
from archcap.suggest import nearest_names
from archcap_service.effective import OVERHEAD, Document, State, document
from archcap_service.holders import holders
from archcap_service.problems import ServiceError, Wrong

V = TypeVar("V")


def kept(state: State, path: str, make: Callable[[], Document]) -> Document:
    """Return the document at the canonical *path*, made once per state.

    Args:
        state: what answers; documents of an unknown release are remembered in bounded memory.
        path: as in `/v1/engines/sglang/releases`.
        make: makes it.
    """
    found = _held(state, path)
    if found is None:
        with state.making:  # a fleet that starts at once asks for the same; one makes it, the others wait
            found = _held(state, path) or _make(state, path, make)
    return found


def _held(state: State, path: str) -> Document | None:
    return state.documents.get(path) or state.variants.get(path)


def _make(state: State, path: str, make: Callable[[], Document]) -> Document:
    found = make()
    is_canonical = found.release is None or f"/releases/{found.release}/" in path
    if found.exact and is_canonical and "?" not in path:
        state.documents[path] = found
    else:
        state.variants.put(path, found, len(found.body) + OVERHEAD)
    return found


def known(what: str, name: str, names: Iterable[str]) -> str:
    """Return *name* when it is one of *names*.

    Raises:
        RequestError: `unknown-<what>`, with the nearest names.
    """
    everything = list(names)
    if name in everything:
        return name
    near = nearest_names(name[:200], everything)
    hint = f"did you mean {', '.join(near)}?" if near else f"{len(everything)} are known"
    raise RequestError(f"unknown-{what}", f"unknown {what} {name[:100]!r}", hint)


def release_view(snapshot: Snapshot, engine: str, release: str) -> tuple[ReleaseView, bool]:
    """Return the release that answers for *release* and whether it is the one asked for.

    Raises:
        RequestError: `unknown-engine`, or `unknown-release` when it is no version at all.
    """
    known("engine", engine, snapshot.engine_names)
    names = snapshot.releases(engine)
    if release in names:
        return snapshot.release(engine, release), True
    try:
        at = nearest(release[:100], names)
    except ValueError as error:
        raise RequestError("unknown-release", str(error), f"known releases: {names[0]} to {names[-1]}") from None
    return snapshot.release(engine, at), version(at) == version(release)


def engines(state: State) -> Document:
    """`/v1/engines`."""
    snapshot = state.snapshot
    rows: list[Json] = []
    for name in snapshot.engine_names:
        engine, releases = snapshot.engine(name), snapshot.releases(name)
        row: JsonObject = {"engine": name, "title": engine.title, "package": engine.package}
        rows.append({**row, "releases": len(releases), "oldest": releases[0], "newest": releases[-1]})
    return document(dumps({"engines": rows}))


def releases(state: State, engine: str) -> Document:
    """`/v1/engines/{engine}/releases`."""
    known("engine", engine, state.snapshot.engine_names)
    about = state.snapshot.engine(engine).releases
    rows: list[Json] = [
        {"release": name, **about[name].model_dump(mode="json")} for name in state.snapshot.releases(engine)
    ]
    return document(dumps({"engine": engine, "releases": rows}), engine)


def architectures(
    state: State, engine: str, release: str, having: Sequence[str], lacking: Sequence[str], family: str | None
) -> Document:
    """`/v1/engines/{engine}/releases/{release}/architectures`.

    Args:
        state: what answers.
        engine: of it.
        release: of it, or near it.
        having: capabilities each must have, whatever the configuration.
        lacking: capabilities each must not have, not even under a condition.
        family: only those of this one.
    """
    view, exact = release_view(state.snapshot, engine, release)
    _check_filters(view, having, lacking, family)
    rows: list[Json] = []
    for name in sorted(view.architectures):
        has, conditional = view.capabilities_of(name)
        maybe = {capability for capability, _ in conditional}
        if family in (None, view.family_of(name)) and has.issuperset(having) and not (has | maybe) & set(lacking):
            role = view.architectures[name].role
            rows.append({"architecture": name, "family": view.family_of(name), "role": role, "capabilities": len(has)})
    return document(dumps({**head(view, exact), "architectures": rows}), engine, view.release, exact)


def _check_filters(view: ReleaseView, having: Sequence[str], lacking: Sequence[str], family: str | None) -> None:
    families = {view.family_of(name) for name in view.all_architectures}
    asked = [("with", "capability", one, view.capabilities) for one in having]
    asked += [("without", "capability", one, view.capabilities) for one in lacking]
    wrong = [_wrong(field, what, name, names) for field, what, name, names in asked if name not in names]
    if family is not None and family not in families:
        wrong.append(_wrong("family", "family", family, families))
    if wrong:
        first = wrong[0]
        hint = f"did you mean {first.suggestion}?" if first.suggestion else None
        raise ServiceError(422, "bad-parameter", f"{first.field}: {first.message}", hint, wrong)


def _wrong(field: str, what: str, name: str, names: Iterable[str]) -> Wrong:
    near = nearest_names(name[:200], names, 1)
    return Wrong(field=field, message=f"unknown {what} {name[:100]!r}", suggestion=near[0] if near else None)


def architecture(state: State, engine: str, release: str, name: str) -> Document:
    """`/v1/engines/{engine}/releases/{release}/architectures/{architecture}`.

    Raises:
        RequestError: `unknown-architecture`, also for one that other releases have.
    """
    view, exact = release_view(state.snapshot, engine, release)
    known("architecture", name, view.all_architectures)
    found = view.all_architectures[name]
    if name not in view.architectures:
        when = held_when(found.releases, view.release)
        raise RequestError("unknown-architecture", f"{engine} {view.release} has no architecture {name!r}", when)
    body = {**head(view, exact), "architecture": name, **_about(found, view, name)}
    return document(dumps(body), engine, view.release, exact, name)


def _about(found: Architecture, view: ReleaseView, name: str) -> JsonObject:
    has, conditional = view.capabilities_of(name)
    support: JsonObject = {
        capability: [_entry(one) for one in entries] for capability, entries in sorted(view.raw_support(name).items())
    }
    return {
        "family": view.family_of(name),
        "role": found.role,
        "module": found.module,
        "wraps": found.wraps,
        "body": found.body,
        "profile": found.profile,
        "note": found.note,
        "releases": [{"added": one.added, "removed": one.removed} for one in found.releases],
        "capabilities": [*sorted(has)],
        "conditional": dict(conditional),
        "support": support,
    }


_ENTRY: Mapping[str, Json] = {
    "state": "yes", "value": True, "when": None, "platform": None, "added": None, "removed": None, "source": None,
    "note": None,
}  # fmt: skip


def _entry(raw: JsonObject) -> JsonObject:
    return {key: raw.get(key, default) for key, default in _ENTRY.items()}


def capability(state: State, engine: str, release: str, name: str) -> Document:
    """`/v1/engines/{engine}/releases/{release}/capabilities/{capability}`: the frozenset."""
    view, exact = release_view(state.snapshot, engine, release)
    known("capability", name, view.capabilities)
    always, sometimes = holders(state.snapshot, view, name)
    conditional: list[Json] = [{"architecture": one, "when": when} for one, when in sometimes]
    facts: JsonObject = {"capability": name, "architectures": [*always], "conditional": conditional}
    digest = sha256(canonical({"engine": engine, "release": view.release, **facts})).hexdigest()
    body: JsonObject = {**head(view, exact), **facts, "digest": f"sha256:{digest}"}
    return document(dumps(body), engine, view.release, exact)


def facts(state: State, engine: str, release: str) -> Document:
    """`/v1/engines/{engine}/releases/{release}/facts`: the slice, as `capctl build --slice` writes it."""
    view, exact = release_view(state.snapshot, engine, release)
    body = carried_slice(state.snapshot, engine, view.release) or release_slice(state.snapshot, engine, view.release)
    return document(body, engine, view.release, exact)


def differences(state: State, engine: str, before: str, after: str) -> Document:
    """`/v1/engines/{engine}/diff?from=&to=`."""
    old, old_exact = release_view(state.snapshot, engine, before)
    new, new_exact = release_view(state.snapshot, engine, after)
    found = asdict(diff(state.snapshot, engine, old.release, new.release))
    head = {"engine": engine, "before": old.release, "after": new.release}
    matches = {"before_match": _match(old_exact), "after_match": _match(new_exact)}
    return document(dumps({**head, **matches, **found}), engine, exact=old_exact and new_exact)


def past(state: State, engine: str, name: str, capability_name: str | None) -> Document:
    """`/v1/engines/{engine}/history/{architecture}[?capability=]`."""
    known("engine", engine, state.snapshot.engine_names)
    steps: list[Json] = [asdict(one) for one in history(state.snapshot, engine, name, capability_name)]
    return document(dumps({"engine": engine, "architecture": name, "history": steps}), engine, architecture=name)


def snapshot(state: State) -> Document:
    """`/v1/snapshot`."""
    unfit: list[Json] = [
        {"override": override.id, "problems": [f"{one.field}: {one.message}" for one in problems]}
        for override, problems in state.unfit
    ]
    body: JsonObject = {
        "schema_version": SCHEMA,
        "digest": state.snapshot.digest,
        "base": state.base.digest,
        "registry": "shipped" if state.revision.registry is None else "imported",
        "revision": state.revision.id,
        "overrides": len(state.overrides),
        "unfit": unfit,
        "engines": {name: state.snapshot.digest_of(f"engines/{name}") for name in state.snapshot.engine_names},
    }
    return document(dumps(body))


def overrides(state: State) -> Document:
    """`/v1/overrides`; the ETag names the revision, because `If-Match` is about that."""
    unfit = {override.id for override, _ in state.unfit}
    rows: list[Json] = [{**one.model_dump(mode="json"), "fits": one.id not in unfit} for one in state.overrides]
    body: JsonObject = {"revision": state.revision.id, "digest": state.revision.digest, "overrides": rows}
    return Document(dumps(body), state.revision.tag.encode())


def head(view: ReleaseView, exact: bool) -> JsonObject:
    """Return how every answer about a release begins."""
    return {"engine": view.engine.engine, "release": view.release, "release_match": _match(exact)}


def _match(exact: bool) -> str:
    return "exact" if exact else "nearest"
