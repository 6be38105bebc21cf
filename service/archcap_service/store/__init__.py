"""The database: overrides, revisions, tokens, the audit log and whole registries, on SQLite and PostgreSQL.

Knows tables and transactions; knows no web and applies nothing.
"""
