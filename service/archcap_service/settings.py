"""How a service runs: read from `ARCHCAP_*`, every value with a default that works without configuration.

Knows the environment; knows no database and no web.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from archcap.errors import RequestError

KIB, MIB = 1024, 1024 * 1024


def default_database_url() -> str:
    """Return the URL of the embedded database: one file below the user's data folder."""
    base = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    return f"sqlite:///{Path(base) / 'archcap' / 'archcap.db'}"


class Settings(BaseSettings):
    """Settings of one replica."""

    model_config = SettingsConfigDict(env_prefix="ARCHCAP_", extra="ignore", frozen=True)

    database_url: SecretStr = Field(
        default_factory=lambda: SecretStr(default_database_url()),
        description="`sqlite:///FILE` or `postgresql://USER:PASSWORD@HOST/NAME`.",
    )
    registry: Path | None = Field(default=None, description="Another registry: a folder or a snapshot file.")
    poll_s: float = Field(default=1.0, gt=0, le=60, description="Seconds between looks at PostgreSQL, behind NOTIFY.")
    sqlite_poll_s: float = Field(default=0.05, gt=0, le=60, description="Seconds between looks at the SQLite file.")
    protect_reads: bool = Field(default=False, description="Reads need a token with scope `read` too.")
    require_if_match: bool = Field(default=False, description="Writes without `If-Match` are refused (428).")
    cors_origins: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), description="Origins whose pages may read, separated by commas; none by default."
    )
    max_body_bytes: int = Field(default=2 * MIB, ge=KIB, le=16 * MIB, description="Of one request.")
    max_batch_bytes: int = Field(default=8 * MIB, ge=KIB, le=64 * MIB, description="Of one batch.")
    max_batch_requests: int = Field(default=1000, ge=1, le=10_000)
    max_depth: int = Field(default=64, ge=8, le=100, description="Levels of nesting in a body.")
    max_age_s: int = Field(default=0, ge=0, le=86_400, description="How long caches may answer without asking.")
    auth_failures_per_minute: int = Field(default=20, ge=1, description="Per client address; then 429.")
    answer_cache_mib: int = Field(default=64, ge=0, le=4096, description="Memory for repeated resolutions.")
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["json", "text"] = "json"
    access_log: Literal["all", "changes", "off"] = Field(
        default="changes",
        description="`changes`: writes, refusals and failures; answered reads are counted, not logged.",
    )
    shutdown_s: float = Field(default=20.0, ge=0, le=600, description="How long a stop waits for running requests.")

    @field_validator("cors_origins", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @property
    def is_sqlite(self) -> bool:
        """Whether the embedded database is used."""
        return self.database_url.get_secret_value().startswith("sqlite")


def read_settings(**given: object) -> Settings:
    """Return the settings of the environment, with *given* over them.

    Raises:
        RequestError: `bad-setting`, naming every variable that is wrong.
    """
    try:
        return Settings(**given)  # type: ignore[arg-type]  # pydantic checks them
    except ValidationError as error:
        said = "; ".join(
            f"ARCHCAP_{str(one['loc'][0]).upper()}: {one['msg'].removeprefix('Value error, ')}"
            for one in error.errors(include_input=False, include_url=False)
        )
        raise RequestError("bad-setting", said, "see docs/operations.md for every setting") from None
