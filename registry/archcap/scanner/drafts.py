"""How an engine rewrites a target's configuration when the checkpoint serves as its own draft.

Reads one function: which architectures a branch is for, the architecture it writes, and the levels of the configuration
it writes the draft's depth to. Which names stand for which level is the engine's scan settings' to say.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from archcap.scanner.config import DraftRules
from archcap.scanner.index import dotted, statements_of
from archcap.scanner.modules import SourceFile
from archcap.scanner.probes import Probes


@dataclass(frozen=True, slots=True)
class ScannedDraft:
    """One rewrite: what it makes of an architecture. `depth` None: it writes none."""

    architecture: str
    becomes: str
    depth: int | None
    levels: tuple[str, ...]
    file: str
    line: int


def scan_drafts(probes: Probes, rules: DraftRules | None) -> dict[str, ScannedDraft]:
    """Return the rewrites by the architecture they are for; a branch that is read only in part is left out."""
    found = None if rules is None else probes.function(rules.function)
    if rules is None or found is None:
        return {}
    file, owner = found
    node = _function(file, owner)
    if node is None:
        return {}
    points = [p for p in probes.points.of_function(file, owner) if not p.negated]
    out: dict[str, ScannedDraft] = {}
    for branch in node.body:
        if not isinstance(branch, ast.If):
            continue
        first, last = branch.test.lineno, branch.test.end_lineno or branch.test.lineno
        names = [n for p in points if first <= p.line <= last for n in probes.named_by(p)]
        for draft in _drafts(branch, names, rules, file):
            out[draft.architecture] = draft
    return out


def _function(file: SourceFile, owner: str) -> ast.FunctionDef | None:
    holder, _, name = owner.rpartition(".")
    made = file.index.classes.get(holder, []) if holder else []
    functions = made[0].methods.get(name, []) if made else file.index.functions.get(name, [])
    node = file.statement(functions[-1].span) if functions else None
    return node if isinstance(node, ast.FunctionDef) else None


def _drafts(branch: ast.If, names: list[str], rules: DraftRules, file: SourceFile) -> Iterator[ScannedDraft]:
    becomes: str | None = None
    depth: int | None = None
    written: set[str] = set()
    held = {name: frozenset({level}) for name, level in rules.levels.items()}
    for statement in branch.body:
        if not isinstance(statement, ast.Assign):
            continue
        holder, _, key = _path(_unsubscripted(statement.targets[0])).partition(".")
        if not key and _path(statement.value) in held:
            _same_object(held, holder, _path(statement.value))
        elif holder in held and key == "architectures":
            becomes = _name(statement.value) or becomes
        elif holder in held and key == rules.depth and isinstance(statement.value, ast.Constant):
            depth = statement.value.value if isinstance(statement.value.value, int) else None
            written |= held[holder]
    if becomes is None or _more(branch, rules):
        return
    levels = tuple(level for level in rules.levels.values() if level in written)
    for name in names:
        yield ScannedDraft(name, becomes, depth, levels, file.path, branch.lineno)


def _same_object(held: dict[str, frozenset[str]], name: str, other: str) -> None:
    """Note that *name* is the same object as *other* from here on: what is written to one is read from both."""
    held[name] = held[other] = held[other] | held.get(name, frozenset())


def _path(node: ast.expr) -> str:
    return (dotted(node) or "").removeprefix("self.")


def _unsubscripted(node: ast.expr) -> ast.expr:
    return node.value if isinstance(node, ast.Subscript) else node


def _name(node: ast.expr) -> str | None:
    inner = node.elts[0] if isinstance(node, ast.List) and len(node.elts) == 1 else node
    return inner.value if isinstance(inner, ast.Constant) and isinstance(inner.value, str) else None


def _more(branch: ast.If, rules: DraftRules) -> bool:
    """Return whether a branch within the branch writes architecture or depth as well: then it is not one rewrite."""
    inner = [s for s in statements_of(branch.body) if s not in branch.body]
    texts = (dotted(_unsubscripted(t)) or "" for s in inner if isinstance(s, ast.Assign) for t in s.targets)
    return any(text.rpartition(".")[2] in ("architectures", rules.depth) for text in texts)
