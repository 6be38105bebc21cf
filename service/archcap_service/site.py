"""Every GET answer of a state as a file: `PATH/index.json`, because one path is often the folder of others.

Answers that depend on a query are exported where there are few: `engines/E/diff/A..B/index.json` is `diff?from=A&to=B`.
Knows documents; knows no web.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from urllib.parse import quote

from archcap.cli.command import Session
from archcap.errors import RequestError
from archcap.snapshot import Snapshot
from archcap.snapshot.files import write_atomically
from archcap_service import documents, rule_documents
from archcap_service.commands.opened import opened
from archcap_service.effective import Document, State, state_of
from archcap_service.replica import RECENT
from archcap_service.store.registries import Registries
from archcap_service.store.revisions import Revision, Revisions, state_digest

INDEX = "index.json"


def pristine(snapshot: Snapshot) -> State:
    """Return the state of a service that has just been set up."""
    first = Revision(1, "", "initial", "archcap", "", None, None, None, (), state_digest(None, ()))
    return State(snapshot, snapshot, first)


def stored(session: Session) -> State:
    """Return the state of the revision that holds in the database of the settings."""
    with opened() as database:
        revisions = Revisions(database)
        held = revisions.current()
        number = held.revision.registry
        base = session.snapshot if number is None else Registries(database).load(number)
        return state_of(held, base, tuple(revisions.page(limit=RECENT)), None, 0)


def site_answers(state: State) -> Iterator[tuple[str, Document]]:
    """Yield every answer with the path it is asked at, relative to the service's root."""
    yield "v1/engines", documents.engines(state)
    yield "v1/snapshot", documents.snapshot(state)
    yield "v1/overrides", documents.overrides(state)
    for engine in state.snapshot.engine_names:
        yield from _engine(state, engine, f"v1/engines/{quote(engine, safe='')}")


def _engine(state: State, engine: str, base: str) -> Iterator[tuple[str, Document]]:
    yield f"{base}/releases", documents.releases(state, engine)
    names = state.snapshot.releases(engine)
    for before, after in permutations(names, 2):
        yield f"{base}/diff/{before}..{after}", documents.differences(state, engine, before, after)
    newest = state.snapshot.release(engine, names[-1])
    for name in newest.all_architectures:
        yield f"{base}/history/{quote(name, safe='')}", documents.past(state, engine, name, None)
    for release in names:
        yield from _release(state, engine, release, f"{base}/releases/{quote(release, safe='')}")


def _release(state: State, engine: str, release: str, base: str) -> Iterator[tuple[str, Document]]:
    view = state.snapshot.release(engine, release)
    yield f"{base}/facts", documents.facts(state, engine, release)
    yield f"{base}/architectures", documents.architectures(state, engine, release, (), (), None)
    for name in view.architectures:
        yield f"{base}/architectures/{quote(name, safe='')}", documents.architecture(state, engine, release, name)
    for name in view.capabilities:
        yield f"{base}/capabilities/{quote(name, safe='')}", documents.capability(state, engine, release, name)
    yield f"{base}/settings", rule_documents.settings(state, engine, release)
    for name in view.spans:
        yield f"{base}/settings/{quote(name, safe='')}", rule_documents.setting(state, engine, release, name)
    yield f"{base}/steps", rule_documents.steps(state, engine, release)
    for name in rule_documents.uses_of(view).steps:
        yield f"{base}/steps/{quote(name, safe='')}", rule_documents.step(state, engine, release, name)


def write_site(state: State, folder: Path) -> int:
    """Write every answer below *folder* and return how many there are; files of an earlier export that are none go.

    Raises:
        RequestError: `not-empty`, the folder holds what no export wrote.
    """
    old = _earlier(folder)
    written: set[Path] = set()
    for name, found in site_answers(state):
        path = folder / name / INDEX
        path.parent.mkdir(parents=True, exist_ok=True)
        if not (path in old and path.read_bytes() == found.body):
            write_atomically(path, found.body)
        written.add(path)
    for path in old - written:
        path.unlink()
    return len(written)


def _earlier(folder: Path) -> set[Path]:
    """Return the files that are there; refuse a folder with anything else than a site."""
    found = {path for path in folder.rglob("*") if path.is_file()} if folder.is_dir() else set()
    strange = [path for path in found if path.name != INDEX or path.relative_to(folder).parts[0] != "v1"]
    if strange:
        raise RequestError("not-empty", f"{folder} holds other files, such as {strange[0]}", "name another folder")
    return found
