"""Keeps the indexes of pieces of files by the hash of their text, so that no text is parsed twice.

The store is plain data in an SQLite file of the user's; a damaged or foreign one is thrown away, and without one every
piece is parsed anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

from archcap.scanner.chunks import Chunk
from archcap.scanner.compose import VERSION, compose, dumps, load_sites, loads
from archcap.scanner.index import (
    FileIndex,
    Unreadable,
    are_python,
    index_chunk,
    index_file,
    name_only,
    pieces,
)
from archcap.scanner.sites import Site

_TABLES = """
create table if not exists piece (hash blob primary key, data text not null) without rowid;
create table if not exists checked (hash blob primary key, data text not null) without rowid;
create table if not exists site (hash blob primary key, data text not null) without rowid;
create table if not exists file (hash blob primary key, data text not null) without rowid;
create table if not exists result (hash blob primary key, data text not null) without rowid;
"""
_LARGEST = 1 << 29
"""Bytes from which the store begins anew: some dozen releases."""


def default_folder() -> Path:
    """Return the folder for caches, as the system and its user want it."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "archcap"


def digest(text: bytes, kind: bytes = b"") -> bytes:
    """Return the hash of a text of some kind."""
    return hashlib.blake2b(text, digest_size=16, person=kind[:16] if len(kind) <= 16 else _folded(kind)).digest()


def _folded(kind: bytes) -> bytes:
    return hashlib.blake2b(kind, digest_size=16).digest()


class Store:
    """The cache of one user; everything it cannot do it leaves undone."""

    def __init__(self, folder: Path | None) -> None:
        self.connection = None if folder is None else _connect(folder)

    def get(self, table: str, hashes: Iterable[bytes]) -> dict[bytes, str]:
        """Return what the store holds of *hashes*."""
        found: dict[bytes, str] = {}
        if self.connection is None:
            return found
        wanted = list(hashes)
        for start in range(0, len(wanted), 500):
            part = wanted[start : start + 500]
            marks = ",".join("?" * len(part))
            try:
                rows = self.connection.execute(f"select hash, data from {table} where hash in ({marks})", part)
                found.update(rows)
            except sqlite3.Error:
                return found
        return found

    def hashes(self, table: str) -> set[bytes]:
        """Return the hashes of everything a table holds."""
        if self.connection is None:
            return set()
        try:
            return {hash_ for (hash_,) in self.connection.execute(f"select hash from {table}")}
        except sqlite3.Error:
            return set()

    def put(self, table: str, rows: Iterable[tuple[bytes, str]]) -> None:
        """Keep rows; a store that is locked or full keeps nothing."""
        if self.connection is None:
            return
        try:
            with self.connection:
                self.connection.executemany(f"insert or replace into {table} values (?, ?)", rows)
        except sqlite3.Error:
            return


def _connect(folder: Path) -> sqlite3.Connection | None:
    path = folder / f"scan-{VERSION}-py{sys.version_info.major}.{sys.version_info.minor}.sqlite"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if path.exists() and path.stat().st_size > _LARGEST:
            path.unlink()
        return _opened(path)
    except sqlite3.DatabaseError:
        path.unlink(missing_ok=True)
    except OSError:
        return None
    try:
        return _opened(path)
    except (sqlite3.Error, OSError):
        return None


def _opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=2)
    connection.executescript("pragma journal_mode = wal; pragma synchronous = off;" + _TABLES)
    return connection


class _Piece(NamedTuple):
    """A piece of a known file. `name`: it is a function of which no more than the name is known."""

    line: int
    owner: str | None
    hash: bytes
    name: str | None = None


_Entry: TypeAlias = "list[_Piece] | tuple[int, str]"
"""A file: its pieces, or line and reason why it is no Python."""

_CHECKED = (0, "")
"""A file that is Python and was not asked for yet."""


class Indexer:
    """Indexes files by the hash of their content, from the store where it can.

    Functions without a hint of a site are only checked, at two thirds of the price, until somebody asks for all of a
    file (`deep`): what they call and assign matters only in classes that models are made of.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._known: dict[bytes, _Entry] = {}
        self._indexes: dict[bytes, FileIndex] = {}
        self._sites: dict[bytes, list[Site]] = {}
        self._prepared = False
        self._stored: set[bytes] = set()
        self._checked: set[bytes] = set()
        self._new: dict[str, list[tuple[bytes, str]]] = {"file": [], "piece": [], "site": [], "checked": []}

    def prepare(self, contents: Mapping[bytes, bytes], deep: bool = False) -> None:
        """Make sure that every content is known to be Python or not: from the store, or looked at now.

        Args:
            contents: of files, by hash.
            deep: whether all of them will be asked for; else the ones without a hint are checked and no more.
        """
        for hash_, data in self.store.get("file", contents).items():
            self._known[hash_] = _entry(data)
        if not self._prepared:
            self._stored |= self.store.hashes("piece")
            self._checked |= self.store.hashes("checked")
            self._prepared = True
        for hash_, content in contents.items():
            if hash_ not in self._known:
                self._learn(hash_, self._look(content, deep, deep))

    def _look(self, content: bytes, wanted: bool, deep: bool) -> _Entry:
        cut = pieces(content)
        if wanted or any(chunk.hints for chunk in cut):
            return self._piecewise(cut, deep) or self._whole(content)
        return _CHECKED if self._check(cut) else self._whole(content)

    def save(self) -> None:
        """Put what was parsed into the store."""
        for table, rows in self._new.items():
            self.store.put(table, rows)
            rows.clear()

    def error(self, hash_: bytes) -> tuple[int, str] | None:
        """Return line and reason when a prepared content is no Python."""
        entry = self._known[hash_]
        return entry if isinstance(entry, tuple) and entry != _CHECKED else None

    def is_deep(self, hash_: bytes) -> bool:
        """Return whether a known content's index says all there is."""
        entry = self._known.get(hash_, _CHECKED)
        return entry != _CHECKED and (isinstance(entry, tuple) or all(piece.name is None for piece in entry))

    def index(self, hash_: bytes, content: bytes, deep: bool = False) -> FileIndex:
        """Return the index of *content*; with all that its functions do when *deep*."""
        entry = self._known.get(hash_, _CHECKED)
        if entry == _CHECKED or (deep and not self.is_deep(hash_)):
            entry = self._look(content, wanted=True, deep=deep)
            self._learn(hash_, entry)
        if isinstance(entry, tuple):
            return FileIndex(error=entry)
        missing = {piece.hash for piece in entry if piece.name is None and piece.hash not in self._indexes}
        for piece_hash, data in self.store.get("piece", missing).items() if missing else ():
            self._indexes[piece_hash] = loads(data)
        return compose((Chunk(p.line, b"", p.owner), self._index_of(p)) for p in entry)

    def _index_of(self, piece: _Piece) -> FileIndex:
        return self._indexes[piece.hash] if piece.name is None else name_only(piece.name, piece.owner)

    def sites(self, hash_: bytes) -> list[Site]:
        """Return the sites of a prepared content; one that was only checked has none."""
        entry = self._known.get(hash_, _CHECKED)
        if isinstance(entry, tuple):
            return []
        asked = [p.hash for p in entry if p.name is None and p.hash in self._stored and p.hash not in self._sites]
        for piece_hash, data in self.store.get("site", asked).items() if asked else ():
            self._sites[piece_hash] = load_sites(data)
        found: list[Site] = []
        for piece in entry:
            held = self._sites.get(piece.hash)
            if held:
                by = piece.line - (piece.owner is not None)
                found.extend(site._replace(line=site.line + by) for site in held)
        return found

    def _learn(self, hash_: bytes, entry: _Entry) -> None:
        self._known[hash_] = entry
        held = list(entry) if isinstance(entry, tuple) else [[p[0], p[1], p[2].hex(), p[3]] for p in entry]
        self._new["file"].append((hash_, json.dumps(held, separators=(",", ":"))))

    def _piecewise(self, cut: list[Chunk], deep: bool) -> _Entry | None:
        entry: list[_Piece] = []
        unchecked: list[tuple[bytes, Chunk]] = []
        for chunk in cut:
            hash_ = _hash(chunk)
            name = None if deep or chunk.hints else chunk.function
            if name is not None:
                if hash_ not in self._checked and hash_ not in self._stored:
                    unchecked.append((hash_, chunk))
            elif hash_ not in self._indexes and hash_ not in self._stored:
                try:
                    self._keep(hash_, index_chunk(chunk))
                except Unreadable:
                    return None
            entry.append(_Piece(chunk.line, chunk.owner, hash_, name))
        return entry if self._compile(unchecked) else None

    def _check(self, cut: list[Chunk]) -> bool:
        """Return whether every piece is Python, as far as it is not known to be."""
        hashed = [(_hash(chunk), chunk) for chunk in cut]
        return self._compile([(h, c) for h, c in hashed if h not in self._checked and h not in self._stored])

    def _compile(self, unchecked: list[tuple[bytes, Chunk]]) -> bool:
        if not unchecked or not are_python([chunk for _, chunk in unchecked]):
            return not unchecked
        for hash_, _ in unchecked:
            self._checked.add(hash_)
            self._new["checked"].append((hash_, ""))
        return True

    def _whole(self, content: bytes) -> _Entry:
        index = index_file(content)
        if index.error is not None:
            return index.error
        hash_ = digest(content, b"whole")
        self._keep(hash_, index)
        return [_Piece(0, None, hash_)]

    def _keep(self, hash_: bytes, index: FileIndex) -> None:
        self._indexes[hash_] = index
        if index.sites:
            self._sites[hash_] = index.sites
        if self.store.connection is not None:
            self._new["piece"].append((hash_, dumps(index)))
            if index.sites:
                self._new["site"].append((hash_, json.dumps(index.sites, separators=(",", ":"))))


def _hash(piece: Chunk) -> bytes:
    return digest(piece.text, b"" if piece.owner is None else piece.owner.encode())


def _entry(data: str) -> _Entry:
    held = json.loads(data)
    if held and isinstance(held[0], int):
        return (held[0], str(held[1]))
    return [_Piece(line, owner, bytes.fromhex(hash_), name) for line, owner, hash_, name in held]
