"""Commands of `capctl` that the service brings: `serve`, `db`, `token`, and the `--site` of `build`.

Light to import: what needs the extra `service` is imported when a command runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from archcap.errors import RequestError

HINT = "pip install 'archcap[service]'"


@contextmanager
def service_needed() -> Iterator[None]:
    """Say which extra is missing when a library of the service is not there.

    Raises:
        RequestError: `no-service`.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("archcap"):
            raise
        raise RequestError(
            "no-service", f"this needs the service's libraries ({error.name} is missing)", HINT
        ) from None
