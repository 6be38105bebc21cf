"""`capctl diff`: what two releases of an engine differ in."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict

from archcap.cli import OK
from archcap.cli.command import Parser, Session
from archcap.cli.console import Console, table
from archcap.cli.launch import named_view
from archcap.cli.text import value_text
from archcap.errors import RequestError
from archcap.model.base import Json
from archcap.model.codec import dumps
from archcap.snapshot.compare import Diff, Holding, SettingChange, diff

SUMMARY = "compare two releases"


def configure(parser: Parser) -> None:
    """Declare the options."""
    parser.add_argument("before", metavar="ENGINE@RELEASE")
    parser.add_argument("after", metavar="ENGINE@RELEASE")
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace, session: Session) -> int:
    """Write what changed."""
    old = named_view(args.before, session)
    engine = old.engine.engine
    new = named_view(args.after if "@" in args.after else f"{engine}@{args.after}", session)
    if engine != new.engine.engine:
        said = f"{engine} and {new.engine.engine} are different engines"
        raise RequestError("usage", said, "compare releases of one engine")
    changes = diff(session.snapshot, engine, old.release, new.release)
    if args.format == "json":
        session.console.write_bytes(dumps(asdict(changes), indent=2))
    else:
        session.console.write(render(changes, session.console))
    return OK


def render(changes: Diff, console: Console) -> str:
    """Return the changes as text, what came before what went."""
    head = console.paint(f"{changes.engine} {changes.before} to {changes.after}", "bold")
    blocks = [
        _block("architectures", [("+", name) for name in changes.architectures_added]
               + [("-", name) for name in changes.architectures_removed], console),
        _block("support", [(_SIGNS[one.kind], one.architecture, one.capability, turn_text(one.before, one.after))
                           for one in changes.support], console),
        _block("lists", [(sign, one.list_id, name) for one in changes.lists
                         for sign, names in (("+", one.added), ("-", one.removed)) for name in names], console),
        _block("settings", [(_SIGNS.get(one.kind, "~"), one.setting, change_text(one))
                            for one in changes.settings], console),
    ]  # fmt: skip
    shown = [block for block in blocks if block]
    return "\n\n".join([head, *shown] if shown else [head, "no difference in anything recorded"])


_SIGNS = {"gained": "+", "added": "+", "lost": "-", "removed": "-", "changed": "~"}


def _block(title: str, rows: Sequence[tuple[str, ...]], console: Console) -> str:
    return "\n".join([console.paint(title, "bold"), *table(rows, "  ")]) if rows else ""


def turn_text(before: tuple[Holding, ...], after: tuple[Holding, ...]) -> str:
    """Return how what is had of a capability changes, in a few words; nothing where it simply came or went."""
    if before and after:
        return f"{holding_text(before)} becomes {holding_text(after)}"
    only = holding_text(before or after)
    return "" if only == "yes" else only


def holding_text(held: tuple[Holding, ...]) -> str:
    """Return what an architecture has of a capability in a few words."""
    words = []
    for one in held:
        value = "" if one.value is True else value_text(_plain(one))
        word = " ".join(part for part in ("" if value and one.state == "yes" else one.state, value) if part)
        where = f" on {one.platform}" if one.platform else ""
        when = f" when {one.when}" if one.when else ""
        words.append(f"{word}{where}{when}")
    return ", ".join(words) or "no"


def _plain(one: Holding) -> Json:
    return [*one.value] if isinstance(one.value, tuple) else one.value


def change_text(change: SettingChange) -> str:
    """Return what changed about a setting in a few words; nothing where it came or went."""
    if change.kind in ("added", "removed"):
        return ""
    if change.kind in ("choices", "flags") and isinstance(change.before, list) and isinstance(change.after, list):
        came = [value_text(item) for item in change.after if item not in change.before]
        went = [value_text(item) for item in change.before if item not in change.after]
        turns = [f"{word} {', '.join(items)}" for word, items in (("added", came), ("gone", went)) if items]
        return f"{change.kind}: {'; '.join(turns) or 'another order'}"
    return f"{change.kind}: {value_text(change.before)} becomes {value_text(change.after)}"
