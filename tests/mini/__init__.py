"""The invented registry, whole, edited, and as a snapshot."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent
DATA = ("capabilities.yaml", "registry")


def copy_to(target: Path) -> Path:
    """Copy the registry to *target* and return it."""
    target.mkdir(parents=True, exist_ok=True)
    for name in DATA:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, target / name)
        else:
            shutil.copy2(source, target / name)
    return target


def edit(root: Path, file: str, old: str, new: str) -> int:
    """Replace *old*, which must occur once, by *new* in a file of the registry; return the line it starts in."""
    path = find(root, file)
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{file}: {text.count(old)} times {old!r}"
    path.write_text(text.replace(old, new), encoding="utf-8")
    return text.count("\n", 0, text.index(old)) + 1


def find(root: Path, file: str) -> Path:
    """Return the path of *file*, below the toy engine's folder, registry/ or the root."""
    for base in (root / "registry/engines/toy", root / "registry", root):
        if (base / file).exists():
            return base / file
    raise FileNotFoundError(file)


@dataclass
class Case:
    """One edit of the registry and what is said of it, from a golden file."""

    file: str
    line: int
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    mended: list[str] = field(default_factory=list)
    near: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"

    def apply(self, root: Path) -> None:
        """Make the edit in the registry at *root*."""
        edit(root, self.file, "\n".join(self.before), "\n".join(self.after))


def golden(path: Path) -> list[Case]:
    """Read a golden file: `edit FILE`, lines before (-) and after (+), and what is said (>).

    And what stands in the place of the edit once it is mended (=), or which check it is a near miss of (`near CHECK`).
    """
    cases: list[Case] = []
    for number, row in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        mark, _, rest = row.partition(" ")
        if mark == "edit":
            cases.append(Case(rest, number))
        elif mark == "near":
            cases[-1].near = rest
        elif mark in ("-", "+", ">", "="):
            last = cases[-1]
            {"-": last.before, "+": last.after, ">": last.said, "=": last.mended}[mark].append(rest)
    return cases
