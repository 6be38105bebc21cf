"""Known checkpoints: the config facts that rules read, each with its source."""

from __future__ import annotations

from archcap.model.base import Id, JsonObject, Name, Record, Text


class Checkpoint(Record):
    """A concrete model under its public id."""

    title: Text | None = None
    architecture: Name
    config: JsonObject
    source: Text
    note: Text | None = None


class CheckpointsFile(Record):
    """One file of `checkpoints/`."""

    checkpoints: dict[Id, Checkpoint]
