"""A known issue whose condition a rule has already: then the engine's own code says it, and the report is no news."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from archcap.lint.check import Check, EngineContext, Flaw, Placed
from archcap.load.parts import statements
from archcap.model.rules import Condition


def _find(subject: EngineContext) -> Iterator[Placed]:
    issues = subject.parts.known_issues
    if issues is None:
        return
    rules = dict(_conditions(subject))
    for name, issue in issues.record.known_issues.items():
        rule = rules.get(_shape(issue.when))
        if rule is not None:
            yield Placed(issues.document, Flaw(("known_issues", name, "when"), f"{rule} finds the same already"))


def _conditions(subject: EngineContext) -> Iterator[tuple[str, str]]:
    """Yield the shape of every condition under which a rule finds or refuses something, with the rule's id."""
    for part in subject.parts.rules:
        for step in part.record.steps.values():
            for _, record in statements((), step.do):
                if record.id is not None and record.when is not None and (record.unsafe or record.refuse):
                    yield _shape(record.when), record.id


def _shape(condition: Condition) -> str:
    """Return a condition without the spaces and brackets that mean nothing."""
    try:
        return ast.dump(ast.parse(str(condition).strip(), mode="eval"))
    except (SyntaxError, ValueError, RecursionError):
        return str(condition)


CHECK = Check(
    id="known-issue-twice", severity="error", tip="remove the issue, or the rule where it only repeats it", find=_find
)
