"""`capctl build --site`: every GET answer as a file, for a CDN or an object store; the bytes are the service's own."""

from __future__ import annotations

import os
from pathlib import Path

from archcap.cli.command import Session
from archcap_service.commands import service_needed


def export(folder: Path, session: Session) -> None:
    """Write the answers below *folder* and say what was written.

    With `ARCHCAP_DATABASE_URL` set they are those of the revision that holds there, else those of the registry alone.

    Raises:
        RequestError: `not-empty`, there are files in *folder* that a site does not have.
    """
    with service_needed():
        from archcap_service.site import pristine, stored, write_site

        state = stored(session) if os.environ.get("ARCHCAP_DATABASE_URL") else pristine(session.snapshot)
        count = write_site(state, folder)
    session.console.say(f"capctl: {count} answers of {state.snapshot.digest} in {folder}")
