"""Walks loaded data once and shows every subject to the checks of its scope. Knows no single check."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

from archcap.engines import ENGINES, support
from archcap.errors import Problem
from archcap.lint.check import (
    ArchitectureSubject,
    Check,
    EngineContext,
    FileSubject,
    Flaw,
    ListSubject,
    Placed,
    Scanned,
    SettingSubject,
    StatementSubject,
    StepSubject,
)
from archcap.lint.checks import CHECKS
from archcap.lint.fix import Fix, below
from archcap.lint.rules_check import rule_problems
from archcap.load import Loaded
from archcap.load.parts import RegistryParts
from archcap.load.records import place
from archcap.load.strict_yaml import DataPath, Document
from archcap.load.words import Wording
from archcap.model.rules import Statement, Step

S = TypeVar("S")


class Found(NamedTuple):
    """A problem, and what mends it; nothing where that takes a person."""

    problem: Problem
    fixes: tuple[Fix, ...] = ()


def engine_functions(engine: str) -> frozenset[str]:
    """Return the names of an engine's pure functions; none when archcap has no code for it."""
    return frozenset(support(engine).functions) if engine in ENGINES else frozenset()


def lint(
    loaded: Loaded, scanned: Scanned | None = None, functions: Callable[[str], Iterable[str]] = engine_functions
) -> tuple[Problem, ...]:
    """Return what the checks find, by file and line.

    Data that does not load is checked as far as it does; what is wrong with its form is in `loaded.problems`.

    Args:
        loaded: from `archcap.load.check_registry`.
        scanned: what the scanner found; without it, facts that people wrote are not compared with it.
        functions: gives the names of an engine's pure functions.
    """
    return tuple(dict.fromkeys(one.problem for one in findings(loaded, scanned, functions)))


def findings(
    loaded: Loaded, scanned: Scanned | None = None, functions: Callable[[str], Iterable[str]] = engine_functions
) -> list[Found]:
    """Return what `lint` does, in the same order, each finding with what mends it."""
    found = list(_files(loaded.parts))
    for name, engine in loaded.parts.engines.items():
        found += _engine(EngineContext(engine, loaded.registry, (scanned or {}).get(name, {})))
        found += (Found(problem) for problem in rule_problems(loaded, engine, functions(name)))
    return sorted(found, key=lambda one: (one.problem.file, one.problem.line or 0))


def _engine(context: EngineContext) -> Iterator[Found]:
    engine = context.parts
    yield from _wide(CHECKS.engine, context)
    for family in engine.families:
        for name, architecture in family.record.architectures.items():
            subject = ArchitectureSubject(context, name, architecture)
            yield from _ask(CHECKS.architecture, subject, family.document, ("architectures", name))
    for lists in engine.lists:
        for name, names in lists.record.lists.items():
            yield from _ask(CHECKS.list, ListSubject(context, name, names), lists.document, ("lists", name))
    for settings in engine.settings:
        for name, setting in settings.record.settings.items():
            subject_of = SettingSubject(context, name, setting)
            yield from _ask(CHECKS.setting, subject_of, settings.document, ("settings", name))
    for rules in engine.rules:
        for name, step in rules.record.steps.items():
            yield from _step(context, name, step, rules.document)


def _step(context: EngineContext, name: str, step: Step, document: Document) -> Iterator[Found]:
    path: DataPath = ("steps", name)
    yield from _ask(CHECKS.step, StepSubject(context, name, step), document, path)
    yield from _block(context, step, step.do, document, (*path, "do"), ())


def _block(
    context: EngineContext,
    step: Step,
    block: Sequence[Statement],
    document: Document,
    path: DataPath,
    around: tuple[Statement, ...],
) -> Iterator[Found]:
    for index, statement in enumerate(block):
        here = (*path, index)
        yield from _ask(CHECKS.statement, StatementSubject(context, step, statement, around), document, here)
        for key, inner in (("do", statement.do), ("first", statement.first), ("else", statement.otherwise)):
            if inner is not None:
                yield from _block(context, step, inner, document, (*here, key), (*around, statement))


def _files(parts: RegistryParts) -> Iterator[Found]:
    groups = [parts.documents, *(engine.documents for engine in parts.engines.values())]
    for group in groups:
        for kind, documents in group.items():
            for document in documents:
                if document.readable:
                    yield from _ask(CHECKS.file, FileSubject(document, kind, document.value), document, ())


def _ask(
    checks: Iterable[Check[S, Flaw]], subject: S, document: Document, path: DataPath
) -> Iterator[Found]:
    for check in checks:
        for flaw in check.find(subject):
            yield _found(check, document, path, flaw)


def _wide(checks: Iterable[Check[S, Placed]], subject: S) -> Iterator[Found]:
    for check in checks:
        for placed in check.find(subject):
            yield _found(check, placed.document, (), placed.flaw)


def _found(check: Check[S, Flaw] | Check[S, Placed], document: Document, path: DataPath, flaw: Flaw) -> Found:
    hint = flaw.hint if flaw.hint is not None or flaw.suggestion is not None else check.tip
    wording = Wording((*path, *flaw.path), flaw.message, suggestion=flaw.suggestion, hint=hint)
    problem = replace(place(document, wording), severity=check.severity, check=check.id)
    return Found(problem, tuple(below(path, fix) for fix in flaw.fixes))

