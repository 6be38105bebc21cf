"""Every check, by the scope it looks at. Add a check: write its file, name it here, describe it in the tests' table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from archcap.lint.check import (
    ArchitectureSubject,
    Check,
    EngineContext,
    FileSubject,
    Flaw,
    ListSubject,
    Placed,
    SettingSubject,
    StatementSubject,
    StepSubject,
)
from archcap.lint.checks import (
    acceptance_idle,
    dead_range,
    default_unset,
    duplicate_flags,
    formula_unreadable,
    id_missing,
    known_issue_twice,
    mergeable,
    note_missing,
    oldest_bound,
    platform_unneeded,
    sorted_keys,
    source_missing,
    unneeded_source,
    unused_names,
)


@dataclass(frozen=True, slots=True)
class Checks:
    """The checks of each scope."""

    file: tuple[Check[FileSubject, Flaw], ...]
    architecture: tuple[Check[ArchitectureSubject, Flaw], ...]
    list: tuple[Check[ListSubject, Flaw], ...]
    setting: tuple[Check[SettingSubject, Flaw], ...]
    step: tuple[Check[StepSubject, Flaw], ...]
    statement: tuple[Check[StatementSubject, Flaw], ...]
    engine: tuple[Check[EngineContext, Placed], ...]

    def all(self) -> tuple[Check[Any, Any], ...]:
        """Return every check."""
        scopes = (self.file, self.architecture, self.list, self.setting, self.step, self.statement, self.engine)
        return tuple(check for scope in scopes for check in scope)


CHECKS = Checks(
    file=(sorted_keys.CHECK,),
    architecture=(
        mergeable.SUPPORT, note_missing.CHECK, oldest_bound.ARCHITECTURE, platform_unneeded.CHECK, unneeded_source.CHECK
    ),
    list=(mergeable.LISTS, oldest_bound.LISTS),
    setting=(default_unset.CHECK, mergeable.SETTINGS),
    step=(source_missing.CHECK,),
    statement=(dead_range.CHECK, id_missing.CHECK),
    engine=(
        acceptance_idle.CHECK, duplicate_flags.CHECK, formula_unreadable.CHECK, known_issue_twice.CHECK,
        unused_names.CHECK,
    ),
)
