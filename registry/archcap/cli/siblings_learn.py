"""`capctl siblings --learn`: what past releases teach about suspicions, and what the order they give is worth."""

from __future__ import annotations

import re

import yaml

from archcap.cli import OK
from archcap.cli.command import Session
from archcap.cli.console import table
from archcap.cli.validate import registry_root
from archcap.model.siblings import SiblingGuide
from archcap.scanner.write import write_texts
from archcap.siblings.facts import facts_of_registry
from archcap.siblings.find import findings
from archcap.siblings.rank import Past, closed, distinct, learn, precision

_WEIGHTS = re.compile(r"^weights:\n(?:  .*\n)*", re.MULTILINE)


def run_learn(engine: str, session: Session) -> int:
    """Learn from the registry's releases, write the weights into siblings.yaml, and show what they are worth."""
    registry, vocabulary = session.snapshot.registry_of(engine), session.snapshot.vocabulary
    guide = registry.siblings or SiblingGuide(engine=engine)
    history: list[Past] = []
    for release in session.snapshot.releases(engine):
        facts = facts_of_registry(registry, vocabulary, release)
        history.append(Past(facts, findings(facts, vocabulary, guide)))
    history = distinct(history)
    for row in table([_HEADS, *worth(history)]):
        session.console.write(row)
    path = registry_root(session.registry) / "registry" / "engines" / engine / "siblings.yaml"
    text = path.read_text(encoding="utf-8") if path.exists() else f"engine: {engine}\n"
    if write_texts({path: with_weights(text, learn(history))}):
        session.console.say(f"capctl: {path} has new weights")
    return OK


_HEADS = ["release", "suspicions", "closed by the next two", "of the first 20", "by what was known then"]


def worth(history: list[Past]) -> list[list[str]]:
    """Return per release how many suspicions the next two closed.

    Of all; of the first 20; and of those that the releases before it alone would have put first.
    """
    weights = learn(history)
    rows: list[list[str]] = []
    for at, past in enumerate(history[:-1]):
        later = history[at + 1 : at + 3]
        share = sum(closed(one, later) for one in past.found) / max(len(past.found), 1)
        known = learn(history[: max(at - 1, 1)])
        first, then = precision(past, later, weights), precision(past, later, known)
        rows.append([past.facts.release, str(len(past.found)), f"{share:.1%}", f"{first:.0%}", f"{then:.0%}"])
    return rows


def with_weights(text: str, weights: dict[str, float]) -> str:
    """Return the text of a siblings.yaml with other weights."""
    block = "weights:\n" + "".join(f"  {_plain(name)}: {value}\n" for name, value in weights.items())
    rest = _WEIGHTS.sub("", text).rstrip("\n")
    return f"{rest}\n{block}"


def _plain(name: str) -> str:
    return yaml.safe_dump(name, width=1000).strip().removesuffix("\n...").strip()
