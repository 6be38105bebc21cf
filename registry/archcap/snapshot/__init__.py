"""The registry compiled into one content-addressed file, and what is read from it.

`build` makes it, `Snapshot` opens it lazily, `store` finds or rebuilds the one at hand. Knows records and, to compile
them once, rules; knows no resolver, no network and no database.
"""

from archcap.snapshot.builder import build
from archcap.snapshot.slices import release_slice
from archcap.snapshot.snapshot import SCHEMA, Snapshot
from archcap.snapshot.view import ReleaseView

__all__ = ["SCHEMA", "ReleaseView", "Snapshot", "build", "release_slice"]
