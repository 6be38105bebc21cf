"""The other server of a linked pair: its request, what rules read of it, and what its verdict means for this one.

Knows no engine and no role; what two servers must have in common is the rules' matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from archcap.errors import RequestError
from archcap.model.request import HardwareRequest, PeerRequest, Request
from archcap.model.resolution import Verdict
from archcap.rules.run import PeerRun, Run

_STARTS: Final = ("ok", "adjusted")


@contextmanager
def said_of_peer() -> Iterator[None]:
    """Let what is wrong with a request be said to be wrong with its peer."""
    try:
        yield
    except RequestError as error:
        raise RequestError(error.code, f"the peer: {error.message}", error.hint) from error


def request_of_peer(request: Request, nodes_setting: str | None) -> Request:
    """Return the request for the other server of the pair that *request* describes.

    Args:
        request: with a peer.
        nodes_setting: the setting that counts nodes, which decides where the peer says nothing of hardware.
    """
    peer = request.peer
    assert peer is not None
    own = any(one is not None for one in (peer.config, peer.checkpoint, peer.architecture))
    subject: Request | PeerRequest = peer if own else request
    return request.model_copy(
        update={
            "id": None,
            "config": subject.config,
            "checkpoint": subject.checkpoint,
            "architecture": subject.architecture,
            "draft_config": peer.draft_config,
            "hardware": peer.hardware or _like(request.hardware, peer, nodes_setting),
            "settings": peer.settings,
            "env": peer.env,
            "assumptions": request.assumptions if peer.assumptions is None else peer.assumptions,
            "fixes": False,
            "peer": None,
        }
    )


def _like(hardware: HardwareRequest | None, peer: PeerRequest, nodes_setting: str | None) -> HardwareRequest | None:
    """Return the launch's hardware with as many nodes as the peer asks for."""
    nodes = peer.settings.get(nodes_setting or "")
    if hardware is None or not isinstance(nodes, int):
        nodes = 1
    return None if hardware is None else hardware.model_copy(update={"nodes": nodes})


def run_of_peer(run: Run, verdict: Verdict) -> PeerRun | None:
    """Return what rules read of the peer's run, nothing where it is refused: the two never meet."""
    return None if verdict == "refused" else PeerRun(run.settings, run.facts, run.vars)


def verdict_in_a_pair(own: Verdict, peer: Verdict) -> Verdict:
    """Return the verdict of a launch whose peer has one of its own: a server whose peer does not serve is of no use."""
    if own in ("refused", "unsafe") or peer in _STARTS:
        return own
    return "unknown" if peer == "unknown" else "unsafe"
