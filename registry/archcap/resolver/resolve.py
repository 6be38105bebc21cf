"""Resolve one request: run the release's rules, put the answer together, look for fixes where asked."""

from __future__ import annotations

from archcap.model.request import Request
from archcap.model.resolution import Resolution
from archcap.resolver.answer import answer_of
from archcap.resolver.fixes import fixes_of
from archcap.resolver.knowledge import SnapshotView
from archcap.resolver.outcome import outcome_of
from archcap.resolver.subject import subject_of


def resolve(request: Request, snapshot: SnapshotView) -> Resolution:
    """Say what the launch would do.

    Args:
        request: the launch; `fixes` asks for the smallest changes that start.
        snapshot: the registry as compiled.
    Returns:
        The answer; an invalid launch is a verdict, not an exception.
    Raises:
        RequestError: the request names something nobody knows, or gives a value of another type.
    """
    outcome = outcome_of(subject_of(request, snapshot), snapshot)
    wanted = request.fixes and outcome.verdict in ("refused", "unsafe")
    fixes = fixes_of(outcome, snapshot) if wanted else () if request.fixes else None
    return answer_of(outcome, snapshot.digest, fixes)
