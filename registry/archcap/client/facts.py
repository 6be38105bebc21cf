"""The facts of one release, read from a slice that was checked first. Knows no file and no network.

A slice is `{"digest": "sha256:…", "facts": {…}}`, the digest over the facts as canonical JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from hashlib import sha256

from archcap.client.deadline import Refused

SCHEMA = 1
_HEAD, _MIDDLE = b'{"digest":"sha256:', b'","facts":'


class Statement:
    """What somebody said of a name, beyond what the engine's source shows: an override, or support with a source.

    Attributes:
        capability: what it is about; "" when it is about a list.
        list_id: the list it is about; "" when it is about a capability.
        name: of the architecture, or of what stands in the list.
        value: whether it has it, or stands in it.
        source: as in `override 3`.
        note: the reason given.
    """

    __slots__ = ("capability", "list_id", "name", "note", "source", "value")

    def __init__(self, said: Mapping[str, object]) -> None:
        self.capability = _text(said, "capability")
        self.list_id = _text(said, "list")
        self.name = _text(said, "name")
        self.value = said.get("value", True) is not False
        self.source = _text(said, "source")
        self.note = _text(said, "note")


class Facts:
    """What is known of one release; nothing of it raises once `read_facts` has returned it.

    Attributes:
        digest: of the facts.
        engine: whose.
        release: the one that answers, which need not be the one asked for.
    """

    def __init__(self, digest: str, facts: Mapping[str, object]) -> None:
        self.digest = digest
        self.engine = _text(facts, "engine")
        self.release = _text(facts, "release")
        self._facts = facts
        self._holders: dict[str, frozenset[str]] = {}

    @cached_property
    def releases(self) -> tuple[str, ...]:
        """All that the registry knows, oldest first."""
        return tuple(_names(self._facts.get("releases")))

    @cached_property
    def capabilities(self) -> frozenset[str]:
        """Every capability there is, also those nobody has."""
        return frozenset(_names(self._facts.get("capabilities")))

    @cached_property
    def _having(self) -> Mapping[str, Sequence[str]]:
        rows = _mapping(self._facts.get("architectures"), "architectures")
        return {name: _names(_mapping(row, "architecture").get("has")) for name, row in rows.items()}

    @cached_property
    def lists(self) -> Mapping[str, frozenset[str]]:
        """The engine's own collections by id."""
        return {name: frozenset(_names(one)) for name, one in _mapping(self._facts.get("lists"), "lists").items()}

    @cached_property
    def collections(self) -> Mapping[str, Sequence[str]]:
        """By capability the collections of the engine that it is read from."""
        rows = _mapping(self._facts.get("collections"), "collections")
        return {name: _names(one) for name, one in rows.items()}

    @cached_property
    def statements(self) -> Sequence[Statement]:
        """What was said beyond the engine's source."""
        rows = self._facts.get("stated")
        if not isinstance(rows, list):
            raise Refused("it has no statements as archcap writes them")
        return [Statement(_mapping(row, "statement")) for row in rows]

    @property
    def architectures(self) -> Iterable[str]:
        """The names of all architectures."""
        return self._having.keys()

    def holders(self, capability: str) -> frozenset[str]:
        """Return the architectures that have *capability* whatever the configuration and platform."""
        found = self._holders.get(capability)
        if found is None:
            found = frozenset(name for name, has in self._having.items() if capability in has)
            self._holders[capability] = found
        return found

    def exact(self, release: str) -> bool:
        """Return whether the facts are about *release*, however it is spelled."""
        return same(self.release, release)

    def unknown(self, release: str) -> bool:
        """Return whether the registry does not know *release*, so that another one may answer for it."""
        return not any(same(one, release) for one in self.releases)

    def read_all(self) -> tuple[int, int]:
        """Read every part, and return how many architectures there are and how many facts about them and about lists.

        Raises:
            Refused: some part is not what it should be.
        """
        _ = self.releases, self.capabilities, self.collections, self.statements
        facts = sum(map(len, self._having.values())) + sum(map(len, self.lists.values()))
        return len(self._having), facts


def read_facts(data: bytes, engine: str, release: str) -> Facts:
    """Read a slice.

    Args:
        data: its bytes.
        engine: the one asked for.
        release: the one asked for.
    Raises:
        Refused: it is none, is damaged, or is about something else.
    """
    try:
        whole = json.loads(data)
    except (ValueError, RecursionError):
        raise Refused("it is no JSON, or was cut short") from None
    body = _mapping(whole, "a slice")
    digest, facts = _text(body, "digest"), _mapping(body.get("facts"), "facts")
    if digest != _digest(data, digest, facts):
        raise Refused("its digest does not fit its facts")
    if facts.get("schema") != SCHEMA:
        raise Refused(f"it has schema {facts.get('schema')!r}, this archcap reads {SCHEMA}")
    found = Facts(digest, facts)
    if found.engine != engine or not (found.exact(release) or found.unknown(release)):
        raise Refused(f"it is about {found.engine} {found.release}")
    found.read_all()  # what is wrong with it is found here, and not by an engine
    return found


def _digest(data: bytes, said: str, facts: Mapping[str, object]) -> str:
    """Return the digest of the facts: of the bytes as they came where they are canonical, else of the facts again."""
    head = _HEAD + said.removeprefix("sha256:").encode() + _MIDDLE
    if data.startswith(head) and data.endswith(b"}\n"):
        found = "sha256:" + sha256(memoryview(data)[len(head) : -2]).hexdigest()
        if found == said:
            return found
    return "sha256:" + sha256(json.dumps(facts, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def loss(new: Facts, old: Facts, most: float) -> str | None:
    """Return in words how much *new* lacks of what *old* had, None when that is no more than the share *most*.

    Raises:
        Refused: some part of either is not what it should be.
    """
    for what, now, before in zip(("architectures", "facts"), new.read_all(), old.read_all(), strict=True):
        if now < before * (1 - most) or not now:
            return f"it has {now} {what}, there were {before}"
    return None


def same(one: str, other: str) -> bool:
    """Return whether both spell the same version."""
    if one == other:
        return True
    from archcap.client.versions import key  # most releases are spelled as the registry spells them

    return key(one) is not None and key(one) == key(other)


def _mapping(value: object, what: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise Refused(f"it has no {what} as archcap writes them")
    return value


def _names(value: object) -> list[str]:
    if not isinstance(value, list) or not set(map(type, value)) <= {str}:
        raise Refused("something that should be a list of names is none")
    return value


def _text(value: Mapping[str, object], key: str) -> str:
    found = value.get(key)
    return found if isinstance(found, str) else ""
