"""What a scan of one release found, as records. Knows nothing of how it was found."""

from __future__ import annotations

from dataclasses import dataclass, field

from archcap.scanner.drafts import ScannedDraft
from archcap.scanner.lists import ScannedList
from archcap.scanner.points import Point
from archcap.scanner.probes import Evidence, Missing
from archcap.scanner.settings import ScannedSettings
from archcap.scanner.source import Metadata
from archcap.scanner.specs import Specs


@dataclass(frozen=True, slots=True)
class ScannedArchitecture:
    """An entry class in one release."""

    name: str
    file: str
    line: int
    module: str
    """Below the models' package."""
    role: str
    wraps: str | None
    body: str | None
    support: dict[str, Evidence]


@dataclass
class Scan:
    """What the source of one release says.

    `unknown` names the files nothing is known of; facts that could stand there are neither true nor false.
    """

    engine: str
    where: str
    metadata: Metadata
    files: int = 0
    """How many were searched."""
    architectures: dict[str, ScannedArchitecture] = field(default_factory=dict)
    settings: ScannedSettings = field(default_factory=ScannedSettings)
    lists: dict[str, ScannedList] = field(default_factory=dict)
    specs: Specs = field(default_factory=Specs)
    points: list[Point] = field(default_factory=list)
    """Every place outside the models that names decide."""
    drafts: dict[str, ScannedDraft] = field(default_factory=dict)
    """How checkpoints that serve as their own draft are rewritten, by architecture."""
    unresolved: list[Missing] = field(default_factory=list)
    unknown: list[Missing] = field(default_factory=list)

    @property
    def release(self) -> str | None:
        """The version the source says it is."""
        return self.metadata.version
