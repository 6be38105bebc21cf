"""Bearer tokens: `acap_<id>_<secret>`. The database keeps a hash of the secret, never the secret.

The secret has 256 random bits, so one round of SHA-256 is all that is needed to keep it. Knows no request.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from hmac import compare_digest
from typing import Literal, cast, get_args

from sqlmodel import Session, col, select

from archcap.errors import ArchcapError, RequestError
from archcap_service.store.audit import Actor, note_down
from archcap_service.store.database import Database, now_utc, to_text
from archcap_service.store.tables import HEAD, HeadRow, TokenRow

Scope = Literal["read", "write", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
_SHAPE = re.compile(r"acap_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
_IMPLIED: dict[Scope, frozenset[Scope]] = {
    "read": frozenset({"read"}),
    "write": frozenset({"read", "write"}),
    "admin": frozenset({"read", "write", "admin"}),
}


class Unauthorized(ArchcapError):
    """Nobody knows who is asking."""

    def __init__(self, message: str = "the token is not valid") -> None:
        super().__init__("unauthorized", message, "send `Authorization: Bearer TOKEN`; `capctl token create` makes one")


@dataclass(frozen=True, slots=True)
class Token:
    """A token as the service knows it.

    Attributes:
        scopes: what it may do, with what that implies.
    """

    id: str
    name: str
    scopes: frozenset[Scope]
    secret_hash: str
    created: str
    expires: str | None
    revoked: str | None

    def valid(self, at: str) -> bool:
        """Return whether it may be used at the time *at*, in the tables' text."""
        return self.revoked is None and (self.expires is None or at < self.expires)


def split_token(text: str) -> tuple[str, str] | None:
    """Return the id in a token and the hash of its secret; None when it is none."""
    match = _SHAPE.fullmatch(text)
    return (match[1], sha256(match[2].encode()).hexdigest()) if match else None


def matches(token: Token | None, secret_hash: str) -> bool:
    """Compare in constant time, also when there is no such token."""
    return compare_digest(token.secret_hash if token else "0" * 64, secret_hash) and token is not None


class Tokens:
    """The tokens of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> dict[str, Token]:
        """Return every token by its id."""
        with self._database.read() as session:
            return {row.id: _record(row) for row in session.exec(select(TokenRow).order_by(TokenRow.created))}

    def find(self, token_id: str) -> Token | None:
        """Return one token, None when there is none."""
        with self._database.read() as session:
            row = session.get(TokenRow, token_id)
            return _record(row) if row is not None else None

    def create(self, name: str, scopes: Iterable[str], expires: datetime | None, actor: Actor) -> tuple[Token, str]:
        """Make a token and return it with its text, which nobody can read again.

        Raises:
            RequestError: `bad-token`, an empty or taken name, or an unknown scope.
        """
        wanted = _scopes(scopes)
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9 ._@+-]{0,79}", name):
            raise RequestError(
                "bad-token", "a token's name is 1 to 80 letters, digits, spaces and ._@+-", "give another"
            )
        secret = secrets.token_urlsafe(32)
        row = TokenRow(
            id=secrets.token_hex(6), name=name, scopes=" ".join(wanted), created=to_text(now_utc()),
            secret_hash=sha256(secret.encode()).hexdigest(), expires=to_text(expires) if expires else None,
        )  # fmt: skip
        with self._database.write() as session:
            _change(session)
            if session.exec(select(TokenRow).where(TokenRow.name == name, col(TokenRow.revoked).is_(None))).first():
                raise RequestError("bad-token", f"there is a token {name!r} already", "revoke it or give another name")
            session.add(row)
            note_down(session, actor, "token.create", f"token {row.id}", {"name": name, "scopes": row.scopes})
            made = _record(row)
            self._tell(session)
        return made, f"acap_{made.id}_{secret}"

    def revoke(self, word: str, actor: Actor) -> Token:
        """Revoke the token with this id or name.

        Raises:
            RequestError: `unknown-token`, none that is still valid has it.
        """
        with self._database.write() as session:
            _change(session)
            query = select(TokenRow).where((col(TokenRow.id) == word) | (col(TokenRow.name) == word))
            row = session.exec(query.where(col(TokenRow.revoked).is_(None))).first()
            if row is None:
                raise RequestError(
                    "unknown-token", f"no valid token has the id or name {word!r}", "see capctl token list"
                )
            row.revoked = to_text(now_utc())
            session.add(row)
            note_down(session, actor, "token.revoke", f"token {row.id}", {"name": row.name})
            self._tell(session)
            return _record(row)

    def _tell(self, session: Session) -> None:
        from archcap_service.store.revisions import tell

        tell(session, self._database)


def check_still_valid(session: Session, actor: Actor) -> None:
    """Check in a writer's own transaction that its token has not been revoked since the request was let in.

    Raises:
        Unauthorized: it has.
    """
    if actor.token is None:
        return
    row = session.get(TokenRow, actor.token)
    if row is None or not _record(row).valid(to_text(now_utc())):
        raise Unauthorized


def _scopes(scopes: Iterable[str]) -> list[Scope]:
    wanted = sorted(set(scopes))
    unknown = [one for one in wanted if one not in SCOPES]
    if unknown or not wanted:
        said = f"unknown scope {unknown[0]!r}" if unknown else "a token needs a scope"
        raise RequestError("bad-token", said, f"scopes: {', '.join(SCOPES)}")
    return cast(list[Scope], wanted)


def _change(session: Session) -> None:
    head = session.exec(select(HeadRow).where(HeadRow.id == HEAD).with_for_update()).one()
    head.tokens_version += 1
    session.add(head)


def _record(row: TokenRow) -> Token:
    given = cast(list[Scope], row.scopes.split())
    scopes = frozenset(scope for one in given for scope in _IMPLIED[one])
    return Token(row.id, row.name, scopes, row.secret_hash, row.created, row.expires, row.revoked)
