"""The tables. `migrations/` makes them; a test holds the two together.

Times are text, RFC 3339 in UTC, so that both databases keep the same thing and sort it alike.
"""

from __future__ import annotations

from sqlalchemy import Column, LargeBinary, Text
from sqlmodel import Field, SQLModel

HEAD = 1
"""The only row of `head`."""


class HeadRow(SQLModel, table=True):
    """Which revision holds, and how often tokens have changed; locked by every writer."""

    __tablename__ = "head"

    id: int = Field(primary_key=True)
    revision_id: int = Field(foreign_key="revisions.id")
    tokens_version: int = 0


class RevisionRow(SQLModel, table=True):
    """One state of the overrides; never changed once written."""

    __tablename__ = "revisions"

    id: int = Field(primary_key=True)
    created: str
    kind: str
    author: str
    note: str = Field(sa_column=Column(Text, nullable=False))
    parent_id: int | None = Field(default=None, foreign_key="revisions.id")
    restored_id: int | None = Field(default=None, foreign_key="revisions.id")
    registry_id: int | None = Field(default=None, foreign_key="registries.id")
    override_ids: str = Field(sa_column=Column(Text, nullable=False))
    """JSON list of the overrides that hold, in the order they are laid."""
    digest: str
    """Over the registry and the overrides that hold: equal states have equal digests."""


class OverrideRow(SQLModel, table=True):
    """One override; never changed once written."""

    __tablename__ = "overrides"

    id: int | None = Field(default=None, primary_key=True)
    revision_id: int = Field(foreign_key="revisions.id", index=True)
    created: str
    author: str
    statement: str = Field(sa_column=Column(Text, nullable=False))
    """The request as JSON."""


class TokenRow(SQLModel, table=True):
    """A bearer token, without its secret."""

    __tablename__ = "tokens"

    id: str = Field(primary_key=True)
    name: str = Field(index=True)
    scopes: str
    secret_hash: str
    created: str
    expires: str | None = None
    revoked: str | None = None


class AuditRow(SQLModel, table=True):
    """Who did what, also what came to nothing for want of a right."""

    __tablename__ = "audit"

    id: int | None = Field(default=None, primary_key=True)
    at: str = Field(index=True)
    actor: str
    action: str
    target: str
    detail: str = Field(sa_column=Column(Text, nullable=False))
    request_id: str | None = None


class RegistryRow(SQLModel, table=True):
    """A whole registry that was imported."""

    __tablename__ = "registries"

    id: int | None = Field(default=None, primary_key=True)
    digest: str = Field(unique=True)
    created: str
    author: str


class PartRow(SQLModel, table=True):
    """The content of one part; registries share it."""

    __tablename__ = "parts"

    digest: str = Field(primary_key=True)
    content: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


class RegistryPartRow(SQLModel, table=True):
    """A part's place in a registry."""

    __tablename__ = "registry_parts"

    registry_id: int = Field(primary_key=True, foreign_key="registries.id")
    path: str = Field(primary_key=True)
    digest: str = Field(foreign_key="parts.digest")
