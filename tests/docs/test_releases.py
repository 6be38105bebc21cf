"""The pages of releases are what the registry says."""

from __future__ import annotations

from tests.docs.releases import FOLDER, pages


def test_the_pages_of_releases_are_the_registry_s() -> None:
    made = pages()
    held = {path: path.read_text(encoding="utf-8") for path in FOLDER.rglob("*.md")}
    stale = sorted(
        str(path.relative_to(FOLDER)) for path in made.keys() | held.keys() if made.get(path) != held.get(path)
    )
    assert stale == [], "write them again: python -m tests.docs.releases"
