"""What the plug-in does in one process: facts for the running version, then sets, then the launch. May raise."""

from __future__ import annotations

from functools import partial

from archcap.client.core import Client
from archcap.client.facts import Facts
from archcap.client.log import say
from archcap.client.sglang.collections import Place, places
from archcap.client.sglang.compare import Comparison, compare
from archcap.client.sglang.extend import extend
from archcap.client.sglang.process import running_version, told_already
from archcap.client.sglang.watch import when_imported


def run(mode: str, preflight: str) -> None:
    """Compare, extend and prepare the preflight, as *mode* and *preflight* say.

    Raises:
        ClientError: in strict mode, when the registry does not answer as it should.
    """
    client = Client("sglang", running_version())
    facts = client.facts()
    if facts is None:
        return  # the client has said why
    if mode != "off":
        _Sets(client, facts, mode).look()
    if preflight != "off":
        from archcap.client.sglang.preflight import prepare

        prepare(client, preflight)


class _Sets:
    """The engine's collections against the registry's."""

    def __init__(self, client: Client, facts: Facts, mode: str) -> None:
        self._client, self._facts = client, facts
        self._mode = mode if facts.exact(client.release) else "audit"
        self._differences = 0
        if mode != self._mode:
            say("warning", f"archcap: nothing is extended, because sglang {client.release} is not known")

    def look(self) -> None:
        """Compare what is loaded now, and have the rest compared when it is loaded."""
        later = []
        for place in places(self._facts):
            if place.module in _loaded():
                self._compared(place, told_already())
            elif place.exists:
                later.append(place)
            elif self._facts.lists.get(place.ref):
                self._say(f"the registry knows {place.name}, this engine has no such collection", told_already())
        for place in later:
            when_imported(place.module, partial(self._compared, place, False))
        level = "warning" if self._differences and not told_already() else "info"
        done = "what the registry adds was added" if self._mode == "extend" else "nothing was changed"
        say(level, f"archcap {self._mode}: sglang {self._client.release} differs from the registry in "
                   f"{self._differences} names, {done}; answers from {self._client.source}")  # fmt: skip

    def _compared(self, place: Place, quiet: bool) -> None:
        found: Comparison = compare(place, self._facts)
        for text in found.differences:
            self._say(text, quiet)
        if self._mode == "extend" and found.adds:
            problem = extend(place, found.adds)
            if problem:
                self._say(problem, quiet)

    def _say(self, text: str, quiet: bool) -> None:
        self._differences += 1
        say("debug" if quiet else "warning", f"archcap: {text}")


def _loaded() -> frozenset[str]:
    import sys

    return frozenset(sys.modules)
