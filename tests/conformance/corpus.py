"""The corpus: recorded answers chosen to hold something of everything, and the configurations they launch."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path

from archcap.model.base import JsonObject
from archcap.verify.answers import Answer, recorded
from archcap.verify.compare import MEANINGLESS, as_json
from archcap.verify.launches import Configs, Launch, Subject

HERE = Path(__file__).parent
ENGINE = "sglang"
NODES = "nnodes"
Row = tuple[Launch, Answer]


def releases(folder: Path = HERE) -> list[str]:
    """Return the releases that have answers."""
    return sorted(path.name.removesuffix(".jsonl.gz") for path in (folder / "answers").glob("*.jsonl.gz"))


def rows(release: str, folder: Path = HERE) -> list[Row]:
    """Return the launches and answers of one release."""
    path = folder / "answers" / f"{release}.jsonl.gz"
    return list(recorded(path, ENGINE, Configs(folder / "configs"), NODES))


# -- choosing ------------------------------------------------------------------------------------


def choose(found: Iterable[Row], size: int) -> list[Row]:
    """Return answers that together hold something of everything in *found*.

    One for every release, architecture, device and refusing function (or none); one for every value of every setting
    and every writer of it in a release; then others up to *size*. The same for the same answers, in whatever order.
    """
    by_key: dict[str, Row] = {_key(launch): (launch, answer) for launch, answer in found}
    ordered = [by_key[key] for key in sorted(by_key)]
    chosen = _covering(ordered, _stratum, [])
    chosen = _covering(ordered, _values, chosen)
    taken = {_key(launch) for launch, _ in chosen}
    rest = [row for row in ordered if _key(row[0]) not in taken]
    return [*chosen, *rest[: max(0, size - len(chosen))]]


def _key(launch: Launch) -> str:
    """Return what tells a launch from others; its digest, so that sorting by it is a shuffle that stays the same."""
    return sha256(json.dumps([launch.id, launch.question()], sort_keys=True).encode()).hexdigest()


def _stratum(launch: Launch, answer: Answer) -> Iterator[tuple[str, ...]]:
    where = str(answer.error.where) if answer.error else "accepted"
    yield launch.release, launch.subject.architecture, launch.gpu, where


def _values(launch: Launch, answer: Answer) -> Iterator[tuple[str, ...]]:
    for name, value in answer.changed.items():
        if name not in MEANINGLESS:
            yield launch.release, name, as_json(value)
    for name, writer in answer.writer.items():
        yield launch.release, name, "written by", writer


def _covering(ordered: list[Row], parts_of, chosen: list[Row]) -> list[Row]:
    """Add to *chosen* the answers that have a part none before has."""
    seen = {part for row in chosen for part in parts_of(*row)}
    chosen = list(chosen)
    for row in ordered:
        new = set(parts_of(*row)) - seen
        if new:
            seen |= new
            chosen.append(row)
    return chosen


# -- writing -------------------------------------------------------------------------------------


def write(chosen: Iterable[Row], folder: Path = HERE) -> None:
    """Write the answers by release, and every configuration once, in place of what was there."""
    names = Names(folder / "configs")
    by_release: dict[str, list[JsonObject]] = {}
    for launch, answer in chosen:
        by_release.setdefault(launch.release, []).append(line(launch, answer, names))
    (folder / "answers").mkdir(parents=True, exist_ok=True)
    for old in (folder / "answers").glob("*.jsonl.gz"):
        old.unlink()
    for release, found in by_release.items():
        found.sort(key=lambda one: (str(one["config"]), str(one["platform"]), json.dumps(one["flags"])))
        text = "".join(json.dumps(one) + "\n" for one in found)
        (folder / "answers" / f"{release}.jsonl.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    names.write()


def line(launch: Launch, answer: Answer, names: Names) -> JsonObject:
    """Return one line, without what differs from run to run."""
    said = {**launch.line(), "config": names.of(launch.subject, "")}
    said["draft_config"] = None if launch.draft is None else names.of(launch.draft, "draft/")
    told = answer.line()
    for key in ("ms", "env_set"):
        told.pop(key, None)
    if answer.error is not None:
        told["error"] = {"type": answer.error.type, "where": answer.error.where, "stage": answer.error.stage}
    else:
        for key in ("changed", "writer"):
            told[key] = {name: value for name, value in told[key].items() if name not in MEANINGLESS}
    return {**said, **told}


class Names:
    """Gives every configuration a file of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, str] = {}
        self._files: dict[str, JsonObject] = {}

    def of(self, subject: Subject, below: str) -> str:
        """Return the name of the file that holds it, below the corpus."""
        text = json.dumps([below, subject.config], sort_keys=True)
        if text not in self._known:
            stem = Path(subject.name).stem if subject.name and subject.path else subject.architecture
            name = f"{below}{stem}.json"
            if name in self._files:
                name = f"{below}{stem}-{sha256(text.encode()).hexdigest()[:8]}.json"
            self._files[name] = subject.config
            self._known[text] = f"configs/{name}"
        return self._known[text]

    def write(self) -> None:
        """Write the files, in place of those that were there."""
        (self._folder / "draft").mkdir(parents=True, exist_ok=True)
        for old in self._folder.rglob("*.json"):
            old.unlink()
        for name, config in self._files.items():
            (self._folder / name).write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
