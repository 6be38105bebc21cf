"""uvicorn's server, which says on stdout where it listens once it does. Knows no application."""

from __future__ import annotations

import socket

import uvicorn

from archcap.cli.console import Console


class Announcing(uvicorn.Server):
    """A server that announces its address.

    Args:
        config: what it runs.
        console: where it says so.
    """

    def __init__(self, config: uvicorn.Config, console: Console) -> None:
        super().__init__(config)
        self._console = console

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then say where."""
        await super().startup(sockets)
        if self.started and self.servers:
            host, port = self.servers[0].sockets[0].getsockname()[:2]
            shown = f"[{host}]" if ":" in host else host
            self._console.write(f"archcap serves on http://{shown}:{port}")
            self._console.out.flush()
