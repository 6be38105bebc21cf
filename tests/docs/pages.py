"""Reads the documentation: its pages, headings, links, code spans and fenced blocks. Knows nothing of their content."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

_FENCE = re.compile(
    r"(?:^[ ]*<!-- (?P<mark>[a-z]+): (?P<arg>.+?) -->\n)?"
    r"^(?P<indent>[ ]*)```(?P<language>[a-z]*)\n(?P<body>.*?)^(?P=indent)```[ ]*$",
    re.MULTILINE | re.DOTALL,
)
_LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Fence:
    """One fenced block with the comment before it, as in `<!-- example: capabilities.yaml -->`."""

    page: Page
    language: str
    mark: str | None
    arg: str | None
    body: str
    line: int

    @property
    def place(self) -> str:
        """Return where it stands, for messages."""
        return f"{self.page.name}:{self.line}"


@dataclass(frozen=True)
class Page:
    """One Markdown file."""

    path: Path

    @property
    def name(self) -> str:
        """Return its path below the project."""
        return self.path.relative_to(ROOT).as_posix()

    @property
    def text(self) -> str:
        """Return its text."""
        return self.path.read_text(encoding="utf-8")

    @property
    def prose(self) -> str:
        """Return its text with the fenced blocks blanked."""
        return _FENCE.sub(lambda match: "\n" * match.group().count("\n"), self.text)

    def fences(self) -> Iterator[Fence]:
        """Yield its fenced blocks."""
        for match in _FENCE.finditer(self.text):
            line = self.text.count("\n", 0, match.start("indent")) + 1
            body = textwrap.dedent(match["body"])
            yield Fence(self, match["language"], match["mark"], match["arg"], body, line)

    def links(self) -> Iterator[str]:
        """Yield the targets of its links."""
        yield from _LINK.findall(_SPAN.sub("", self.prose))

    def spans(self) -> Iterator[str]:
        """Yield its code spans."""
        yield from _SPAN.findall(self.prose)

    def anchors(self) -> set[str]:
        """Return the anchors of its headings, as forges make them."""
        return {_slug(heading) for heading in _HEADING.findall(self.prose)}


def _slug(heading: str) -> str:
    kept = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return kept.replace(" ", "-")


def pages() -> list[Page]:
    """Return every page of the documentation."""
    found = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [Page(path) for path in found if path.is_file()]


def fences(language: str | None = None) -> list[Fence]:
    """Return the fenced blocks of all pages, or those of one language."""
    return [fence for page in pages() for fence in page.fences() if language in (None, fence.language)]
