"""What the rules browser shows, from the same documents as the API. Knows documents; knows no template."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from archcap.model.base import JsonObject
from archcap.model.releases import Interval
from archcap_service import rule_documents
from archcap_service.dashboard.presence import ABSENT, Rail, rail
from archcap_service.effective import Document, State


@dataclass(frozen=True, slots=True)
class RulesPage:
    """One of the rules browser's pages.

    Attributes:
        body: what the API answers.
        steps: the index alone: what it answers about steps.
        rail: a setting alone: the releases that have it.
        before, after: a step alone: its neighbours.
    """

    engine: str
    release: str
    releases: tuple[str, ...]
    body: JsonObject
    steps: JsonObject
    rail: Rail | None = None
    before: str | None = None
    after: str | None = None

    @property
    def reaches(self) -> list[str]:
        """A setting alone: what the statements that read it write."""
        rows = self.body.get("read_by")
        records = [row for row in (rows if isinstance(rows, list) else ()) if isinstance(row, dict)]
        return list(dict.fromkeys(one for row in records for one in _written(row)))


def _written(row: JsonObject) -> Iterator[str]:
    writes = row.get("writes")
    for one in writes if isinstance(writes, list) else ():
        if isinstance(one, dict):
            yield str(one["name"])


def _body(found: Document) -> JsonObject:
    value: JsonObject = json.loads(found.body)
    return value


def _page(state: State, engine: str, found: Document, steps: JsonObject, **more: Rail | str | None) -> RulesPage:
    releases = tuple(state.snapshot.releases(engine))
    return RulesPage(engine, str(found.release), releases, _body(found), steps, **more)  # type: ignore[arg-type]


def index(state: State, engine: str, release: str) -> RulesPage:
    """Return the index: settings and steps.

    Raises:
        RequestError: `unknown-engine`, `unknown-release`.
    """
    steps = _body(rule_documents.steps(state, engine, release))
    return _page(state, engine, rule_documents.settings(state, engine, release), steps)


def setting(state: State, engine: str, release: str, name: str) -> RulesPage:
    """Return one setting.

    Raises:
        RequestError: `unknown-engine`, `unknown-release`, `unknown-setting`.
    """
    found = rule_documents.setting(state, engine, release, name)
    spans = state.snapshot.release(engine, str(found.release)).settings[name].spans
    releases = state.snapshot.releases(engine)
    held = ["yes" if any(_holds(span, one) for span in spans) else ABSENT for one in releases]
    return _page(state, engine, found, {}, rail=rail(held, releases))


def _holds(span: Interval, release: str) -> bool:
    return span.holds(release)


def step(state: State, engine: str, release: str, name: str) -> RulesPage:
    """Return one step.

    Raises:
        RequestError: `unknown-engine`, `unknown-release`, `unknown-step`.
    """
    found = rule_documents.step(state, engine, release, name)
    view = state.snapshot.release(engine, str(found.release))
    names = list(rule_documents.uses_of(view).steps)
    at = names.index(name)
    before = names[at - 1] if at else None
    after = names[at + 1] if at + 1 < len(names) else None
    return _page(state, engine, found, {}, before=before, after=after)
