"""The one JSON form of a question: CLI, REST, client and batch files share it (`docs/schemas/request.json`)."""

from __future__ import annotations

from pydantic import Field, model_validator

from archcap.model.base import Json, JsonObject, Record

_EMPTY: JsonObject = {"default": {}}
"""In the schema of a field that is an empty mapping of its own where nothing is given: a factory is not shown there."""


class HardwareRequest(Record):
    """What the launch runs on."""

    gpu: str | None = Field(default=None, description="Id in hardware.yaml, as in `h200`.")
    count: int = Field(default=1, ge=1, le=4096, description="GPUs per node.")
    nodes: int = Field(default=1, ge=1, le=4096)


class PeerRequest(Record):
    """The other server of a linked pair, as prefill is to decode.

    It runs the same release. Where it names no checkpoint of its own it serves the launch's, and where it says nothing
    of hardware or assumptions those of the launch hold; settings, environment and draft are its own.
    """

    config: JsonObject | None = None
    checkpoint: str | None = None
    architecture: str | None = None
    draft_config: JsonObject | None = None
    hardware: HardwareRequest | None = None
    settings: JsonObject = Field(default_factory=dict, json_schema_extra=_EMPTY)
    env: dict[str, str | int | float | bool] = Field(default_factory=dict, json_schema_extra=_EMPTY)
    assumptions: dict[str, Json] | None = None

    @model_validator(mode="after")
    def _one_subject(self) -> PeerRequest:
        if self.config is not None and self.checkpoint is not None:
            raise ValueError("give `peer.config` or `peer.checkpoint`, not both")
        return self


class Request(Record):
    """A launch to resolve.

    Exactly what is asked for: the engine's own setting names, the checkpoint's config.json content. At most one of
    `config`, `checkpoint` and `architecture` says what is launched; `architecture` beside `config` overrides its name.
    """

    id: str | int | None = None
    engine: str
    release: str
    config: JsonObject | None = None
    checkpoint: str | None = None
    architecture: str | None = None
    draft_config: JsonObject | None = None
    hardware: HardwareRequest | None = None
    settings: JsonObject = Field(default_factory=dict, json_schema_extra=_EMPTY)
    env: dict[str, str | int | float | bool] = Field(default_factory=dict, json_schema_extra=_EMPTY)
    assumptions: dict[str, Json] = Field(default_factory=dict, json_schema_extra=_EMPTY)
    fixes: bool = False
    peer: PeerRequest | None = None

    @model_validator(mode="after")
    def _one_subject(self) -> Request:
        if self.config is not None and self.checkpoint is not None:
            raise ValueError("give `config` or `checkpoint`, not both")
        return self
