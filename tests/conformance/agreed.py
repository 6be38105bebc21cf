"""What agrees with the engine so far: settings that agree in every launch of a release; verdicts that are still open.

Both lists know one direction: `grow` adds settings and takes launches away, never the other way round.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from archcap.snapshot import Snapshot
from archcap.verify.reproduce import command_of
from archcap.verify.verification import compared
from tests.conformance.corpus import HERE, Row, rows

_SHOWN = 5


def read(path: Path) -> list[str]:
    """Return the lines of a list, without comments."""
    if not path.exists():
        return []
    return [text for text in path.read_text(encoding="utf-8").splitlines() if text and not text.startswith("#")]


def agreed_of(release: str, folder: Path = HERE) -> list[str]:
    """Return the settings that must agree in every launch of the release."""
    return read(folder / "agreed" / f"{release}.txt")


def open_of(release: str, folder: Path = HERE) -> list[str]:
    """Return the launches whose verdict or source need not agree yet."""
    return read(folder / "open" / f"{release}.txt")


@dataclass
class Standing:
    """How the rules stand to the recorded answers of one release.

    Attributes:
        seen: launches by setting that either side changed.
        wrong: launches in which the setting differs.
        verdicts: launches whose verdict or source differs, by id.
        examples: a command that shows a difference, by setting or id.
    """

    release: str
    seen: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    verdicts: list[str] = field(default_factory=list)
    examples: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, release: str, found: list[Row], snapshot: Snapshot) -> Standing:
        """Take the launches through the rules."""
        made = cls(release)
        for launch, answer in found:
            one = compared(launch, answer, snapshot)
            if one.unanswered is not None or not (one.source if one.refused else one.verdict):
                made.verdicts.append(launch.id)
                made.examples[launch.id] = str(command_of(launch))
            for setting in one.settings:
                made.seen[setting.name] += 1
                if not setting.agrees:
                    made.wrong[setting.name] += 1
                    said = f"engine {setting.wanted}, ours {setting.got}: {command_of(launch, setting.name)}"
                    made.examples.setdefault(setting.name, said)
        return made

    @property
    def everywhere(self) -> set[str]:
        """The settings that agree in every launch."""
        return set(self.seen) - set(self.wrong)


@dataclass(frozen=True)
class Verdict:
    """What is wrong with a release: regressions, and lists that do not say what has been reached."""

    lost: list[str]
    unlisted: list[str]
    refused: list[str]
    closed: list[str]

    def __str__(self) -> str:
        parts = [
            ("settings that agreed and do not any more", self.lost),
            ("launches whose verdict agreed and does not any more", self.refused),
            (
                "settings that agree everywhere and are not on the list; run python -m tests.conformance grow",
                self.unlisted,
            ),
            ("launches that agree and are still on the open list; run python -m tests.conformance grow", self.closed),
        ]
        lines = [f"{title}:\n  " + "\n  ".join(found) for title, found in parts if found]
        return "\n".join(lines)

    @property
    def regressions(self) -> bool:
        """Whether something that agreed does not any more."""
        return bool(self.lost or self.refused)

    def __bool__(self) -> bool:
        return bool(self.regressions or self.unlisted or self.closed)


def judge(standing: Standing, agreed: list[str], still_open: list[str]) -> Verdict:
    """Compare where the rules stand with the lists."""
    lost = [name for name in agreed if standing.wrong[name]]
    refused = [launch for launch in standing.verdicts if launch not in set(still_open)]
    shown = [f"{name}: {standing.wrong[name]} of {standing.seen[name]}; {standing.examples[name]}" for name in lost]
    told = [f"{launch}: {standing.examples[launch]}" for launch in refused]
    if len(told) > _SHOWN:
        told = [*told[:_SHOWN], f"and {len(told) - _SHOWN} more"]
    closed = [launch for launch in still_open if launch not in set(standing.verdicts)]
    return Verdict(shown, sorted(standing.everywhere - set(agreed)), told, closed)


def grow(standing: Standing, folder: Path = HERE) -> tuple[list[str], list[str]]:
    """Add to the lists what has been reached; return the settings added and the launches taken away."""
    agreed, still_open = agreed_of(standing.release, folder), open_of(standing.release, folder)
    added = sorted(standing.everywhere - set(agreed))
    closed = [launch for launch in still_open if launch not in set(standing.verdicts)]
    write(folder / "agreed" / f"{standing.release}.txt", sorted({*agreed, *added}))
    write(folder / "open" / f"{standing.release}.txt", [launch for launch in still_open if launch not in set(closed)])
    return added, closed


def start(standing: Standing, folder: Path = HERE) -> None:
    """Write the lists as the rules stand: the beginning, for answers that are new."""
    write(folder / "agreed" / f"{standing.release}.txt", sorted(standing.everywhere))
    write(folder / "open" / f"{standing.release}.txt", sorted(set(standing.verdicts)))


def write(path: Path, lines: list[str]) -> None:
    """Write a list; an empty one is no file."""
    if not lines:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{text}\n" for text in lines), encoding="utf-8")


def standing_of(release: str, snapshot: Snapshot, folder: Path = HERE) -> Standing:
    """Return how the rules stand to the corpus's answers of one release."""
    return Standing.of(release, rows(release, folder), snapshot)
