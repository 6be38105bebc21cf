"""The fix search finds what trying everything finds; `python -m benchmarks.fix_search` compares many more launches."""

from pathlib import Path

import pytest
from benchmarks import fix_search

from archcap.resolver.fixes import fixes_of
from archcap.snapshot.store import default
from archcap.verify.launches import Configs

CORPUS = Path(__file__).parents[1] / "conformance"
RELEASES = ("0.5.18", "0.5.23")
EACH, ENOUGH_CURED = 8, 5


@pytest.mark.parametrize("release", RELEASES)
def test_no_smaller_change_starts_a_recorded_launch_than_the_fixes_say(release: str) -> None:
    place = CORPUS / "answers" / f"{release}.jsonl.gz"
    cured = 0
    for launch, outcome in fix_search.refused([place], Configs(CORPUS / "configs"), EACH, default()):
        fixes = fixes_of(outcome, default())
        smallest = min(map(fix_search.size, fixes), default=2)
        assert fix_search.brute(outcome, default(), smallest - 1, wide=False) is None, launch.id
        cured += bool(fixes)
    assert cured >= ENOUGH_CURED


def test_trying_everything_finds_what_the_search_finds() -> None:
    place = CORPUS / "answers" / "0.5.23.jsonl.gz"
    found = []
    for _, outcome in fix_search.refused([place], Configs(CORPUS / "configs"), EACH, default()):
        fixes = fixes_of(outcome, default())
        if fixes and fix_search.size(fixes[0]) == 1:
            found.append(fix_search.brute(outcome, default(), 1, wide=False))
    assert found
    assert all(one is not None and len(one) == 1 for one in found)
