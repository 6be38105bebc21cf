"""An override as it is asked for and as it is kept. Knows no snapshot."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import AwareDatetime, Field, model_validator

from archcap.model.base import Id, Name, Record, Text
from archcap.model.support import SupportValue


class OverrideRequest(Record):
    """A statement about one engine, over a range of releases.

    About a capability: of one `architecture`, of a whole `family`, or of every architecture when neither is given.
    About a `list`: whether the architecture (or any other `name`) stands in it.
    """

    engine: Name = Field(examples=["sglang"])
    releases: str | None = Field(
        default=None,
        max_length=100,
        description="`>=A`, `<B` or `>=A,<B`; one release alone as `A`; every release when left out.",
        examples=[">=0.5.18,<0.5.19"],
    )
    architecture: Name | None = Field(default=None, examples=["Qwen3_5MoeForCausalLM"])
    family: Name | None = None
    capability: Name | None = Field(default=None, examples=["mamba_radix_cache"])
    list: Id | None = None
    name: str | None = Field(
        default=None, max_length=200, description="What is in the list, where it is no architecture."
    )
    value: SupportValue = Field(
        description="The capability's value, or whether the name is in the list; false is no support.", examples=[True]
    )
    reason: Text = Field(examples=["Backported on our fleet, see ticket 1234."])
    expires: AwareDatetime | None = Field(default=None, description="When it ends by itself.")

    @model_validator(mode="after")
    def _one_subject(self) -> OverrideRequest:
        if (self.capability is None) == (self.list is None):
            raise ValueError("an override is about a `capability` or about a `list`, one of them")
        if self.capability is not None and self.name is not None:
            raise ValueError("`name` goes with `list`; a capability is overridden for an `architecture` or a `family`")
        if self.architecture is not None and self.family is not None:
            raise ValueError("give `architecture` or `family`, not both")
        if self.list is not None and (self.architecture is None) == (self.name is None):
            raise ValueError("a `list` needs an `architecture` or a `name`, one of them")
        if self.list is not None and not isinstance(self.value, bool):
            raise ValueError("`value` of a list is true (in it) or false (not in it)")
        return self

    @property
    def member(self) -> str:
        """The name whose place in the list it is about."""
        return self.name or self.architecture or ""

    @property
    def subject(self) -> str:
        """What it is about, in a few words."""
        if self.list is not None:
            return f"{self.member} in {self.list}"
        whose = self.architecture or (f"family {self.family}" if self.family else "every architecture")
        return f"{self.capability} of {whose}"


class Override(Record):
    """An override as the service keeps it; never changed once made.

    Attributes:
        id: its number.
        revision: the revision that brought it.
        author: the name of the token that wrote it.
    """

    id: int
    revision: int
    author: str
    created: AwareDatetime
    statement: OverrideRequest

    def expired(self, now: datetime) -> bool:
        """Return whether it has ended by *now*."""
        return self.statement.expires is not None and self.statement.expires <= now


RevisionKind = Literal["initial", "override", "delete", "restore", "expire", "import"]
