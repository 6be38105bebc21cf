"""Runs migrations on the connection that `archcap_service.store.migrations` hands over."""

from alembic import context
from sqlmodel import SQLModel

from archcap_service.store import tables

assert tables.HEAD  # the tables must be known

connection = context.config.attributes.get("connection")
if connection is None:
    raise SystemExit("run `capctl db upgrade`; to write a migration see docs/operations.md")
context.configure(connection=connection, target_metadata=SQLModel.metadata, render_as_batch=True)
context.run_migrations()
