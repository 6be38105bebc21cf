"""Families of architectures and what is true of each of them, release by release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from archcap.model.base import Id, Name, Record, Text
from archcap.model.releases import Interval
from archcap.model.support import Support

Role = Literal["target", "draft", "wrapper"]


class Accepted(Record):
    """A difference between siblings that somebody has judged to be right."""

    capability: Id
    reason: Text
    source: Text
    releases: str | None = None


class DraftRewrite(Interval):
    """The class the engine loads for the draft when a checkpoint of this architecture serves as one."""

    architecture: Name
    depth: int | None = None
    """What the engine writes to `num_nextn_predict_layers`; None: it keeps what the configuration says."""
    levels: tuple[Literal["hf", "text"], ...] = ()
    """Levels of the configuration it writes the depth to: the top level, the nested text configuration."""
    algorithms: tuple[str, ...] = ()
    """Only under these speculative algorithms; none given: under every one that no other rewrite names."""
    source: Text | None = None


class Architecture(Record):
    """The class that a checkpoint's config.json names."""

    releases: tuple[Interval, ...]
    """When the engine has it."""
    module: str | None = None
    """Module below the engine's models package, without suffix."""
    role: Role = "target"
    wraps: str | None = None
    """`Class@module` of the decoder it delegates to."""
    body: str | None = None
    """`Class@module` of the decoder stack siblings share."""
    profile: Name | None = None
    """Launch profile: the engine's per-family defaults that apply to it."""
    support: dict[Name, tuple[Support, ...]] = {}
    draft: tuple[DraftRewrite, ...] = ()
    accepted: tuple[Accepted, ...] = ()
    note: Text | None = None

    def exists(self, release: str) -> bool:
        """Return whether *release* has the architecture."""
        return any(interval.holds(release) for interval in self.releases)

    def rewrites_at(self, release: str) -> tuple[DraftRewrite, ...]:
        """Return how *release* rewrites a checkpoint of this architecture that serves as a draft."""
        return tuple(rewrite for rewrite in self.draft if rewrite.holds(release))


def rewrite_for(rewrites: Sequence[DraftRewrite], algorithm: str | None) -> DraftRewrite | None:
    """Return the one of a release's *rewrites* that a speculative algorithm, in the engine's spelling, uses."""
    named = (rewrite for rewrite in rewrites if algorithm is not None and algorithm in rewrite.algorithms)
    return next(named, next((rewrite for rewrite in rewrites if not rewrite.algorithms), None))


class Family(Record):
    """One file of `architectures/`: what belongs together and is reviewed together."""

    family: Name
    title: Text | None = None
    architectures: dict[Name, Architecture]
    note: Text | None = None


class ListEntry(Interval):
    """One name's stay in a list."""

    platform: str | None = None
    source: Text | None = None
    note: Text | None = None


class NameList(Record):
    """A collection of names in an engine's source, named or anonymous."""

    kind: Literal["architecture", "model_type", "config_class", "other"] = "architecture"
    title: Text | None = None
    source: Text | dict[str, str]
    """`file:name`; by release where it moved."""
    names: dict[str, tuple[ListEntry, ...]]
    note: Text | None = None

    def at(self, release: str) -> frozenset[str]:
        """Return the names the list holds in *release*."""
        return frozenset(name for name, stays in self.names.items() if any(stay.holds(release) for stay in stays))


class ListsFile(Record):
    """`lists.yaml`."""

    lists: dict[Id, NameList]
