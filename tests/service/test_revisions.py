"""Revisions in both databases: any sequence of writes equals a model, and of concurrent writers one wins."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from archcap.errors import RequestError
from archcap_service.overrides import OverrideRequest
from archcap_service.store.audit import Actor, audit_page
from archcap_service.store.revisions import Outpaced, Revisions, state_digest
from archcap_service.store.tokens import Tokens, Unauthorized
from tests.service.conftest import migrated

ME = Actor("me")


@pytest.fixture
def database(url):
    made = migrated(url)
    yield made
    made.close()


@pytest.fixture
def revisions(database):
    return Revisions(database)


def statement(number=0, **parts):
    given = {
        "engine": "toy",
        "capability": "pipeline",
        "value": bool(number % 2),
        "reason": f"number {number}",
        **parts,
    }
    return OverrideRequest.model_validate(given)


class Model:
    """What the revisions should be: a list of states, the last one holds."""

    def __init__(self):
        self.states = [()]
        self.made = {}

    @property
    def now(self):
        return self.states[-1]


def step(rng, revisions, model):
    """Make one random change in the database and in the model."""
    act = rng.choice(("add", "add", "remove", "restore", "stale"))
    tag = revisions.current().revision.tag
    if act == "add":
        wanted = statement(rng.randrange(100))
        _, override = revisions.add(wanted, ME, rng.choice((None, [tag], ['"x"', tag], ["*"])))
        model.made[override.id] = wanted
        model.states.append((*model.now, override.id))
    elif act == "remove" and model.now:
        gone = rng.choice(model.now)
        revisions.remove(gone, ME, [tag])
        model.states.append(tuple(one for one in model.now if one != gone))
    elif act == "restore":
        number = rng.randrange(1, len(model.states) + 1)
        made = revisions.restore(number, ME, None)
        assert made.digest == revisions.at(number).revision.digest
        model.states.append(model.states[number - 1])
    elif act == "stale":
        with pytest.raises(Outpaced):
            revisions.add(statement(), ME, ['"1-0000000000000000"'])
        missing = max(model.made, default=0) + 1
        with pytest.raises(RequestError, match="no override"):
            revisions.remove(missing, ME, None)
        with pytest.raises(RequestError, match="no revision"):
            revisions.restore(len(model.states) + 1, ME, None)


def test_any_sequence_of_writes_and_restores_equals_the_model(revisions):
    rng, model = random.Random(7), Model()
    for _ in range(60):
        step(rng, revisions, model)
        stored = revisions.current()
        assert (stored.revision.id, stored.revision.overrides) == (len(model.states), model.now)
        assert [one.id for one in stored.overrides] == list(model.now)
        assert all(one.statement == model.made[one.id] for one in stored.overrides)
        assert stored.revision.digest == state_digest(None, model.now)
    for number, state in enumerate(model.states, 1):
        assert revisions.at(number).revision.overrides == state, "a revision never changes"
    pages = [revisions.page(None, 50)]
    while pages[-1] and pages[-1][-1].id > 1:
        pages.append(revisions.page(pages[-1][-1].id, 50))
    assert [one.id for page in pages for one in page] == list(range(len(model.states), 0, -1))


def test_of_concurrent_writers_with_one_etag_exactly_one_wins(revisions):
    tag = revisions.current().revision.tag

    def write(number):
        try:
            return revisions.add(statement(number), ME, [tag])[0].id
        except Outpaced:
            return None

    with ThreadPoolExecutor(100) as pool:
        won = [one for one in pool.map(write, range(100)) if one is not None]
    assert won == [2]
    assert revisions.head()[0] == 2


def test_writers_without_an_etag_all_win_one_after_the_other(revisions):
    with ThreadPoolExecutor(20) as pool:
        made = [one[0].id for one in pool.map(lambda n: revisions.add(statement(n), ME, None), range(20))]
    assert sorted(made) == list(range(2, 22))
    assert len(revisions.current().overrides) == 20


def test_an_expired_override_becomes_a_revision_of_its_own(revisions):
    now = datetime.now(UTC)
    revisions.add(statement(1, expires=now + timedelta(hours=1)), ME, None)
    revisions.add(statement(2), ME, None)
    assert revisions.expire(now) is None
    made = revisions.expire(now + timedelta(hours=2))
    assert made is not None
    assert (made.id, made.kind, made.overrides, made.author) == (4, "expire", (2,), "archcap")
    assert revisions.expire(now + timedelta(hours=2)) is None


def test_restoring_what_has_expired_since_ends_it_at_once(revisions):
    soon = datetime.now(UTC) + timedelta(seconds=0.05)
    revisions.add(statement(1, expires=soon), ME, None)
    while datetime.now(UTC) < soon:
        pass
    revisions.expire(datetime.now(UTC))
    made = revisions.restore(2, ME, None)
    assert made.digest == revisions.at(2).revision.digest
    stored = revisions.current().revision
    assert (made.id, stored.id, stored.kind, stored.overrides) == (4, 5, "expire", ())


def test_a_token_revoked_meanwhile_does_not_write(database, revisions):
    tokens = Tokens(database)
    token, _ = tokens.create("ci", ["write"], None, ME)
    actor = Actor("ci", token.id)
    revisions.add(statement(), actor, None)
    tokens.revoke("ci", ME)
    with pytest.raises(Unauthorized):
        revisions.add(statement(), actor, None)
    assert revisions.head()[0] == 2


def test_every_change_is_in_the_audit_log_with_its_request(database, revisions):
    actor = Actor("me", None, "request-1")
    revisions.add(statement(), actor, None)
    revisions.remove(1, actor, None)
    revisions.restore(2, actor, None)
    Tokens(database).create("ci", ["read"], None, actor)
    rows = audit_page(database, None, 10)
    assert [row["action"] for row in rows] == ["token.create", "revision.restore", "override.delete", "override.create"]
    assert {row["actor"] for row in rows} == {"me"}
    assert rows[-1]["request_id"] == "request-1"
    assert rows[-1]["detail"]["statement"]["reason"] == "number 0"
    assert [row["id"] for row in audit_page(database, rows[1]["id"], 1)] == [rows[2]["id"]]
