"""Revisions, overrides, tokens, the audit log, whole registries; the first revision says nothing."""

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

EMPTY = "sha256:97294f05c3603881a6466e787eb8726dde04588d242bea02914b0f0a8e12bdb2"


def upgrade() -> None:
    """Make every table."""
    _registries()
    _revisions()
    op.create_table(
        "tokens",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("name", sa.String, nullable=False, index=True),
        sa.Column("scopes", sa.String, nullable=False),
        sa.Column("secret_hash", sa.String, nullable=False),
        sa.Column("created", sa.String, nullable=False),
        sa.Column("expires", sa.String),
        sa.Column("revoked", sa.String),
    )
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("at", sa.String, nullable=False, index=True),
        sa.Column("actor", sa.String, nullable=False),
        sa.Column("action", sa.String, nullable=False),
        sa.Column("target", sa.String, nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
        sa.Column("request_id", sa.String),
    )
    _first_revision()


def _registries() -> None:
    op.create_table(
        "registries",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("digest", sa.String, nullable=False, unique=True),
        sa.Column("created", sa.String, nullable=False),
        sa.Column("author", sa.String, nullable=False),
    )
    op.create_table(
        "parts",
        sa.Column("digest", sa.String, primary_key=True),
        sa.Column("content", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "registry_parts",
        sa.Column("registry_id", sa.Integer, sa.ForeignKey("registries.id"), primary_key=True),
        sa.Column("path", sa.String, primary_key=True),
        sa.Column("digest", sa.String, sa.ForeignKey("parts.digest"), nullable=False),
    )


def _revisions() -> None:
    op.create_table(
        "revisions",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("created", sa.String, nullable=False),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("author", sa.String, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("parent_id", sa.Integer, sa.ForeignKey("revisions.id")),
        sa.Column("restored_id", sa.Integer, sa.ForeignKey("revisions.id")),
        sa.Column("registry_id", sa.Integer, sa.ForeignKey("registries.id")),
        sa.Column("override_ids", sa.Text, nullable=False),
        sa.Column("digest", sa.String, nullable=False),
    )
    op.create_table(
        "overrides",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("revision_id", sa.Integer, sa.ForeignKey("revisions.id"), nullable=False, index=True),
        sa.Column("created", sa.String, nullable=False),
        sa.Column("author", sa.String, nullable=False),
        sa.Column("statement", sa.Text, nullable=False),
    )
    op.create_table(
        "head",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("revision_id", sa.Integer, sa.ForeignKey("revisions.id"), nullable=False),
        sa.Column("tokens_version", sa.Integer, nullable=False),
    )


def _first_revision() -> None:
    at = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    insert = sa.text(
        "INSERT INTO revisions (id, created, kind, author, note, override_ids, digest) "
        "VALUES (1, :at, 'initial', 'archcap', 'the registry as shipped', '[]', :digest)"
    )
    op.execute(insert.bindparams(at=at, digest=EMPTY))
    op.execute("INSERT INTO head (id, revision_id, tokens_version) VALUES (1, 1, 0)")


def downgrade() -> None:
    """Drop every table."""
    for table in ("head", "overrides", "revisions", "registry_parts", "parts", "registries", "tokens", "audit"):
        op.drop_table(table)
