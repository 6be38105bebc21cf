"""Failures that people reported: an engine's `known_issues.yaml`, and the step of rules that looks them up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator

from archcap.model.base import Id, Record, Text
from archcap.model.rules import Condition, PipelineEntry, Source, Statement, Step
from archcap.model.vocabulary import Stage

KNOWN_ISSUES = "known_issues"
"""The file, and the step that it becomes."""


def _public(text: str) -> str:
    if not text.startswith("https://") or len(text) > 400 or any(character.isspace() for character in text):
        raise ValueError("must be the address of the public report, as in https://github.com/owner/name/issues/1")
    return text


Reference = Annotated[str, AfterValidator(_public)]
"""Where anybody can read the report."""


class KnownIssue(Record):
    """One reported failure that no check of the engine's states.

    `releases` is where it holds, `when` the condition in the rule language, `says` what the operator meets,
    `workaround` what to do about it, `source` the public report, and `at` the place in the engine's source where it
    shows, for tracebacks.
    """

    releases: str
    when: Condition
    stage: Stage
    severity: Literal["unsafe", "error"]
    says: Text
    workaround: Text
    source: Reference
    at: Source | None = None
    evidence: Literal["report", "source", "verified"] = "report"
    note: Text | None = None


class KnownIssuesFile(Record):
    """`registry/engines/<engine>/known_issues.yaml`."""

    known_issues: dict[Id, KnownIssue]


def step_of(issues: Mapping[Id, KnownIssue]) -> Step:
    """Return the step that finds *issues*: those that stop nothing first, because a refusal ends the run."""
    ordered = sorted(issues.items(), key=lambda pair: pair[1].severity == "error")
    statements = tuple(_statement(name, issue) for name, issue in ordered)
    return Step(title="look up what people reported", stage=Stage.REQUEST, do=statements)


def _statement(name: str, issue: KnownIssue) -> Statement:
    return Statement(
        id=name,
        when=issue.when,
        releases=issue.releases,
        stage=issue.stage,
        source=issue.at,
        evidence=issue.evidence,
        unsafe=issue.says if issue.severity == "unsafe" else None,
        refuse=issue.says if issue.severity == "error" else None,
    )


def entry() -> PipelineEntry:
    """Return the step's place in the order of every release: the last."""
    return PipelineEntry(step=KNOWN_ISSUES)
