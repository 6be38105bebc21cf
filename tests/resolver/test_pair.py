"""Two servers that work as one: what the launch's rules read of its peer, and what the peer's own verdict means."""

from __future__ import annotations

import pytest

from archcap.errors import RequestError
from archcap.model.base import Json, JsonObject
from archcap.model.codec import to_object
from archcap.model.reading import request_of
from archcap.resolver import resolve
from tests.resolver.toy import RIVER, ask, snapshot


def pair(own: JsonObject, settings: JsonObject, peer: Json = None, **more: Json) -> JsonObject:
    peer = {"settings": settings} if peer is None else peer
    body: JsonObject = {"engine": "toy", "release": "0.10", "config": RIVER, "hardware": {"gpu": "alpha"}}
    request = request_of({**body, "settings": own, "peer": peer, **more})
    return to_object(resolve(request, snapshot()))


def found(answer: JsonObject, *severities: str) -> list[Json]:
    return [one["rule"] for one in answer["findings"] if one["severity"] in severities]  # type: ignore[index,union-attr,call-overload]


@pytest.mark.parametrize(
    ("own", "peer", "verdict", "rules"),
    [
        ({}, {}, "ok", []),
        ({"page_size": 1}, {"page_size": 1}, "ok", []),
        ({"page_size": 1}, {"page_size": 8, "disable_cache": True}, "unsafe", ["pair.pages"]),
        ({"page_size": 1, "tp_size": 0}, {"page_size": 2}, "refused", ["parse.tp_size-positive"]),
    ],
)
def test_rules_read_what_the_peer_comes_to(own: JsonObject, peer: JsonObject, verdict: str, rules: list[str]) -> None:
    answer = pair(own, peer)
    assert (answer["verdict"], found(answer, "error", "unsafe")) == (verdict, rules)


def test_without_a_peer_there_is_nothing_of_one() -> None:
    answer = to_object(resolve(ask(settings={"page_size": 1}), snapshot()))
    assert (answer["verdict"], "peer" in answer, found(answer, "unsafe")) == ("ok", False, [])


def test_a_finding_names_both_values_and_a_cause_says_which_is_the_peers() -> None:
    answer = pair({"page_size": 1}, {"page_size": 8, "disable_cache": True})
    finding = answer["findings"][-2]  # type: ignore[index,call-overload]
    assert finding["message"] == "Pages of 1 here and of 8 on the peer cannot be handed over."  # type: ignore[index,call-overload]
    causes = {cause["text"]: cause["origin"] for cause in finding["causes"]}  # type: ignore[index,union-attr,call-overload]
    assert causes == {"page_size is 1": "user", "on the peer, page_size is 8": "peer"}


def test_the_peers_own_answer_is_in_the_answer_and_has_no_peer() -> None:
    peer = pair({}, {"page_size": 1})["peer"]
    assert isinstance(peer, dict)
    assert (peer["verdict"], peer["command"]) == ("ok", "python -m toy.serve page_size=1")
    assert peer.keys() & {"peer", "fixes"} == set()


@pytest.mark.parametrize(
    ("peer", "verdict"),
    [({}, "ok"), ({"draft_method": "tree", "draft_path": "d", "draft_depth": 3}, "ok"), ({"tp_size": 0}, "unsafe")],
)
def test_a_peer_that_does_not_serve_makes_the_launch_unsafe(peer: JsonObject, verdict: str) -> None:
    assert pair({}, peer)["verdict"] == verdict


@pytest.mark.parametrize(
    ("tp_size", "verdict", "rules"),
    [(1, "unsafe", ["pair.pages"]), (0, "unsafe", ["parse.tp_size-positive"])],
)
def test_a_peer_that_would_not_start_is_met_by_no_rule(tp_size: int, verdict: str, rules: list[str]) -> None:
    answer = pair({"page_size": 1}, {"page_size": 8, "disable_cache": True, "tp_size": tp_size})
    assert (answer["verdict"], found(answer, "error", "unsafe")) == (verdict, rules)


def test_what_stands_in_the_peers_way_is_told_as_the_peers() -> None:
    finding = pair({}, {"tp_size": 0})["findings"][-1]  # type: ignore[index,call-overload]
    assert finding["message"].startswith("The peer would not start: ")  # type: ignore[index,union-attr,call-overload]
    assert [cause["text"] for cause in finding["causes"]] == ["on the peer, tp_size is 0"]  # type: ignore[index,union-attr,call-overload]


def test_a_peer_that_cannot_be_judged_leaves_the_verdict_open() -> None:
    settings: JsonObject = {"shard_size": 2, "attention": "plain"}
    answer = pair({}, {}, {"architecture": "RiverForCausalLM", "settings": settings})
    assert answer["verdict"] == "unknown"
    needs = [need for one in answer["undetermined"] for need in one["needs"]]  # type: ignore[index,union-attr,call-overload]
    assert "peer.config" in needs


def test_a_peer_serves_the_launchs_checkpoint_on_its_hardware_unless_it_says_otherwise() -> None:
    same = pair({}, {})
    other = pair({}, {}, peer={"config": {**RIVER, "num_hidden_layers": 6}})
    assert (found(same, "unsafe"), found(other, "unsafe")) == ([], ["pair.layers"])


def test_fixes_change_one_server_or_both() -> None:
    fixes = pair({"page_size": 1}, {"page_size": 8, "disable_cache": True}, fixes=True)["fixes"]
    changes = [(fix["changes"], fix.get("peer_changes")) for fix in fixes]  # type: ignore[union-attr,call-overload,index,misc]
    assert changes == [({"page_size": 8}, None), ({"page_size": None}, {"page_size": None})], "as the peer does, first"


NO_FIX = ["No change of one or two settings here, of one on the peer, nor a later release, cures this pair."]
FIRST = ["The peer has to change first, and no single change of it cures this pair; ask about the peer by itself."]


def test_a_fix_is_found_on_the_server_that_has_to_change() -> None:
    answer = pair({}, {"attention": "nope"}, fixes=True)
    changes = [(fix["changes"], fix["peer_changes"]) for fix in answer["fixes"]]  # type: ignore[union-attr,call-overload,index,misc]
    assert changes == [({}, {"attention": value}) for value in (None, "fast", "plain")]
    assert (pair({}, {"attention": "plain"}, fixes=True)["fixes"], answer["notes"]) == ([], [])


@pytest.mark.parametrize(
    ("peer", "notes"),
    [
        ({"settings": {}}, []),
        ({"settings": {"tp_size": 0, "pp_size": 0}}, FIRST),
        ({"config": {**RIVER, "num_hidden_layers": 6}}, NO_FIX),
    ],
)
def test_where_no_fix_is_found_a_note_says_which_server_stands_in_the_way(peer: JsonObject, notes: list[str]) -> None:
    assert pair({}, {}, peer=peer, fixes=True)["notes"] == notes


@pytest.mark.parametrize(
    ("peer", "message", "hint"),
    [
        ({"peer": {}}, "a peer has no peer of its own", "a pair is two servers"),
        ({"setings": {}}, "a request has no key 'peer.setings'", "did you mean settings?"),
        ({"settings": {"page_sise": 1}}, "the peer: unknown setting 'page_sise'", None),
        ({"hardware": {"gpu": "omega"}}, "the peer: unknown hardware 'omega'", None),
        ({"config": {}, "checkpoint": "acme/river"}, "give `peer.config` or `peer.checkpoint`, not both", None),
        ([], "peer must be an object", "see docs/schemas/request.json"),
    ],
)
def test_what_is_wrong_with_a_peer_is_said_of_the_peer(peer: Json, message: str, hint: str | None) -> None:
    with pytest.raises(RequestError) as told:
        pair({}, {}, peer=peer)
    assert told.value.message == message
    assert hint is None or told.value.hint == hint
