"""Compiles the registry when a wheel is built, so that the wheel carries its snapshot and ready-made rules.

Runs inside the build environment: needs what `build-system.requires` lists and the checkout (or the unpacked sdist) it
stands in. An editable install compiles nothing: the checkout is read and compiled when something asks.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BUILT = "archcap/_built"
MIGRATIONS = "archcap_service/_migrations"


class RegistryBuildHook(BuildHookInterface[Any]):
    """Adds `archcap/_built` (snapshot and compiled rules) and the service's migrations to the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the registry into a folder of its own and have its files packed.

        Args:
            version: the kind of wheel, `standard` or `editable`.
            build_data: what hatchling packs besides the packages; `force_include` is extended.
        """
        if version == "editable":
            return
        self._scratch = tempfile.TemporaryDirectory(prefix="archcap-build-")
        folder = Path(self._scratch.name)
        self._compile(Path(self.root), folder)
        included = build_data["force_include"]
        for source, target in ((folder, BUILT), (Path(self.root) / "migrations", MIGRATIONS)):
            for path in sorted(source.rglob("*")):
                if path.is_file() and path.suffix != ".pyc":
                    included[str(path)] = f"{target}/{path.relative_to(source).as_posix()}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the folder the registry was compiled into."""
        if version != "editable":
            self._scratch.cleanup()

    def _compile(self, root: Path, folder: Path) -> None:
        """Run the package's own compiler on the sources that are being packed, not on an installed archcap."""
        sources = str(root / "registry")
        sys.path.insert(0, sources)
        try:
            from archcap.errors import DataError
            from archcap.snapshot.store import build_all

            try:
                build_all(root, folder)
            except DataError as error:
                self.app.abort(f"the registry's data is broken, no wheel is built:\n{error}")
        finally:
            sys.path.remove(sources)
