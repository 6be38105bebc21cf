"""What one of the engine's collections and the registry say differently. Changes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from archcap.client.facts import Facts, Statement
from archcap.client.sglang.collections import Place, names_in


class Comparison:
    """The outcome.

    Attributes:
        differences: a line for each.
        adds: names that somebody said belong in it, and why; the engine lacks them.
    """

    __slots__ = ("adds", "differences")

    def __init__(self, differences: Sequence[str], adds: Mapping[str, Statement]) -> None:
        self.differences, self.adds = differences, adds


def compare(place: Place, facts: Facts) -> Comparison:
    """Compare the collection at *place*, whose module is loaded, with what the registry says of the release.

    Only what somebody said, an override or support with a source, is a reason to add a name: that the registry's scan
    of the release saw a name which this engine lacks means that this engine is another one.
    """
    listed = facts.lists.get(place.ref)
    value = place.value()
    if value is None:
        gone = [f"the registry knows {place.name}, this engine has no such collection"] if listed else []
        return Comparison(gone, {})
    have = names_in(value)
    if have is None:
        return Comparison([f"{place.name} is no collection of names here: {type(value).__name__}"], {})
    said = _said(place, facts)
    adds = {name: one for name, one in said.items() if one.value and name not in have}
    denied = {name: one for name, one in said.items() if not one.value and name in have}
    known = (listed or frozenset()).union(*(facts.holders(one) for one in place.capabilities))
    lines = [f"registry adds {name} to {place.name} ({_why(one)})" for name, one in sorted(adds.items())]
    lines += [f"registry denies {name} in {place.name}, which is not taken out ({_why(one)})"
              for name, one in sorted(denied.items())]  # fmt: skip
    lines += [f"the registry lists {name} in {place.name}, this engine does not"
              for name in sorted((listed or frozenset()) - have - adds.keys())]  # fmt: skip
    lines += [f"this engine lists {name} in {place.name}, the registry does not"
              for name in sorted(have - known - denied.keys())]  # fmt: skip
    return Comparison(lines, adds)


def _said(place: Place, facts: Facts) -> dict[str, Statement]:
    """Return what somebody said of each name; a later statement wins, as overrides do."""
    return {
        one.name: one for one in facts.statements
        if one.list_id == place.ref or (one.capability and one.capability in place.capabilities)
    }  # fmt: skip


def _why(one: Statement) -> str:
    source = one.source.replace("override ", "override #") if one.source.startswith("override ") else one.source
    return source + (f", reason: {one.note}" if one.note else "")
