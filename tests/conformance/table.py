"""How far the rules agree with the corpus, as the table of the README."""

from __future__ import annotations

from collections.abc import Iterable

from archcap.snapshot import Snapshot
from archcap.verify.agreement import Agreement, Share
from archcap.verify.verification import compared
from tests.conformance import corpus

HEAD = ("release", "launches", "refused", "verdict", "recall", "source", "launches whole", "worst setting")


def figures(snapshot: Snapshot) -> dict[str, Agreement]:
    """Return the agreement of every release of the corpus."""
    return {
        release: Agreement.of(compared(launch, answer, snapshot) for launch, answer in corpus.rows(release))
        for release in corpus.releases()
    }


def lines(found: dict[str, Agreement]) -> list[str]:
    """Return the table, a line a release."""
    return [_row(HEAD), _row("---" for _ in HEAD), *(_row(_cells(*one)) for one in found.items())]


def _cells(release: str, one: Agreement) -> Iterable[str]:
    worst = one.worst.share if one.worst else Share(0, 0)
    shares = (one.verdict, one.recall, one.source, one.accepted, worst)
    return release, str(one.launches), str(one.recall.seen), *(f"{share.percent:.1f} %" for share in shares)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
