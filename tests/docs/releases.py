"""A page per release: what came and what went. `python -m tests.docs.releases` writes docs/releases/."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

from archcap.cli.diff import change_text, turn_text
from archcap.load import load_registry
from archcap.snapshot import Snapshot, build
from archcap.snapshot.compare import Diff, diff
from tests.docs.pages import ROOT

FOLDER = ROOT / "docs" / "releases"
_AGAIN = "Generated from the registry by `python -m tests.docs.releases`."


def pages() -> dict[Path, str]:
    """Return the text of every page, by path."""
    snapshot = Snapshot.open(build(load_registry(ROOT)))
    made: dict[Path, str] = {}
    for engine in snapshot.engine_names:
        rows = []
        releases = list(snapshot.releases(engine))
        for before, after in pairwise(releases):
            changes = diff(snapshot, engine, before, after)
            made[FOLDER / engine / f"{after}.md"] = _page(snapshot, changes)
            rows.append((after, changes))
        made[FOLDER / engine / "README.md"] = _index(snapshot, engine, releases[0], rows)
    return made


def _index(snapshot: Snapshot, engine: str, oldest: str, rows: list[tuple[str, Diff]]) -> str:
    title = snapshot.engine(engine).title
    lines = [f"# {title}, release by release", "", f"{_AGAIN} The oldest known release is {oldest}.", ""]
    lines += ["| release | date | architectures | + | - | support | settings |", "|---|---|---|---|---|---|---|"]
    for release, changes in reversed(rows):
        number = len(snapshot.release(engine, release).architectures)
        came, went = len(changes.architectures_added), len(changes.architectures_removed)
        date = snapshot.engine(engine).releases[release].date or ""
        counts = f"{number} | {came} | {went} | {len(changes.support)} | {len(changes.settings)}"
        lines.append(f"| [{release}]({release}.md) | {date} | {counts} |")
    return "\n".join(lines) + "\n"


def _page(snapshot: Snapshot, changes: Diff) -> str:
    title = snapshot.engine(changes.engine).title
    lines = [f"# {title} {changes.after}", "", f"Against {changes.before}. {_AGAIN}"]
    lines += _section("Architectures that came", (f"`{name}`" for name in changes.architectures_added))
    lines += _section("Architectures that went", (f"`{name}`" for name in changes.architectures_removed))
    lines += _section("What architectures can do", _support(snapshot, changes))
    lines += _section("Lists", _lists(changes))
    lines += _section("Settings", _settings(changes))
    return "\n".join(lines) + "\n"


def _section(title: str, items: Iterable[str]) -> list[str]:
    shown = [f"- {item}" for item in items]
    return ["", f"## {title}", "", *shown] if shown else []


def _support(snapshot: Snapshot, changes: Diff) -> Iterator[str]:
    """Yield a line per capability and kind of change, with the architectures it is about."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for one in changes.support:
        turn = turn_text(one.before, one.after)
        groups.setdefault((one.capability, one.kind, turn), []).append(f"`{one.architecture}`")
    for (capability, kind, turn), names in sorted(groups.items()):
        title = snapshot.vocabulary.capabilities[capability].title
        how = f" ({turn})" if turn else ""
        yield f"**{title}** (`{capability}`) {kind}{how}: {', '.join(names)}"


def _lists(changes: Diff) -> Iterator[str]:
    """Yield a line per collection of the source; people's own groupings are no news of a release."""
    for one in changes.lists:
        if "." not in one.list_id:
            continue
        parts = [("with", one.added), ("without", one.removed)]
        said = "; ".join(f"now {word} {', '.join(f'`{n}`' for n in names)}" for word, names in parts if names)
        yield f"`{one.list_id}`: {said}"


def _settings(changes: Diff) -> Iterator[str]:
    for one in changes.settings:
        text = change_text(one)
        yield f"`{one.setting}` " + (text if text else "is new" if one.kind == "added" else "is gone")


if __name__ == "__main__":
    for path, text in pages().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
