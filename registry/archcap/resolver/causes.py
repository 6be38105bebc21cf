"""Why a statement was reached: the chain from a finding back to what the user gave and the registry knows.

Works on the trace of one run. A cause is a name that a guard read, in words, followed by what stands behind it: the
statement that wrote it, or, where the engine left it to decide and nothing did, what kept its writers away.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from archcap.model.base import Json
from archcap.model.resolution import Cause, Origin
from archcap.resolver import wording
from archcap.resolver.history import History, Moment
from archcap.resolver.outcome import Outcome
from archcap.resolver.subject import Subject
from archcap.rules.run import (
    NAME,
    OF_DRAFT,
    STATEMENT,
    VALUE,
    ConfigView,
    Inputs,
    Program,
    Reference,
    StatementInfo,
    Unknown,
)

if TYPE_CHECKING:
    from archcap.rules.judge import Judge

_DEEPEST, _MOST = 5, 12


@dataclass(slots=True)
class Chain:
    """Collects the causes behind one event of a run."""

    subject: Subject
    inputs: Inputs
    program: Program
    judge: Judge
    history: History
    exact: bool
    found: list[Cause] = field(default_factory=list)
    seen: set[tuple[str, str]] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    judged: dict[int, dict[int, Json | Unknown]] = field(default_factory=dict)
    """What conditions were worth before an event: the writers of a setting share many."""
    moments: dict[int, Moment] = field(default_factory=dict)
    """By event. Kept here, because a history that kept them would only be freed by the collector."""

    @classmethod
    def of(cls, outcome: Outcome) -> Chain:
        """Return an empty chain over the run of *outcome*."""
        program = outcome.subject.view.program
        return cls(outcome.subject, outcome.inputs, program, program.judge(), outcome.history, outcome.run.exact)

    def _before(self, event: int) -> Moment:
        """Return the point before event *event* of the trace."""
        moment = self.moments.get(event)
        if moment is None:
            moment = self.moments[event] = self.history.before(event)
        return moment

    def of_statement(self, index: int, before: int, depth: int = 0) -> None:
        """Add what made statement *index* run at the point *before* of the trace."""
        info = self.program.statements[index]
        moment = self._before(before)
        holding, failing = self._guarding(info, moment)
        for index in info.values:
            if index >= 0:
                holding += self._behind(index, moment)
        if not depth:
            self._nearest((*failing, *holding, *self._let_through(info)), moment, before)
            if not self.found:
                self._computed_from(info, moment, before)
            return
        already = len(self.found)
        for tells in (True, False):
            for references in (holding, failing):
                for reference in references:
                    if self._tells(reference, moment) is tells:
                        self._of(reference, moment, before, depth)
                if len(self.found) > already:
                    return
        self._defaults((*holding, *failing), moment, depth)

    def _nearest(self, references: Sequence[Reference], moment: Moment, before: int) -> None:
        """Add the causes that stand next to a finding; a fact that is not so is told where nothing else is."""
        silent = [one for one in references if one.kind == "fact" and not self._tells(one, moment)]
        for reference in references:
            if reference not in silent:
                self._of(reference, moment, before, 0)
        for reference in () if self.found else silent:
            self._of(reference, moment, before, 0)

    def _computed_from(self, info: StatementInfo, moment: Moment, before: int) -> None:
        """Add what a value was computed from, where it takes too many steps to say what alone makes it what it is."""
        for reference in info.reads:
            if self._tells(reference, moment):
                self._of(reference, moment, before, 0)

    def of_message(self, event: int) -> None:
        """Add the user's settings that the finding's own text names."""
        shown = self.history.trace[event][VALUE]
        for name in shown if isinstance(shown, dict) else ():
            if name.split(".", 1)[0] in self.inputs.user:
                self._of(Reference("setting", name), self._before(event), event, 0)

    def _let_through(self, info: StatementInfo) -> Iterator[Reference]:
        """Yield the user's settings that kept the step from ending before the statement."""
        for index in info.returns_before:
            for guard in self.program.statements[index].guards:
                yield from (
                    r for r in guard.reads if r.kind == "setting" and r.key.split(".", 1)[0] in self.inputs.user
                )

    def _tells(self, reference: Reference, moment: Moment) -> bool:
        """Return whether a name is worth a line of its own behind the first: what is off or unset seldom is."""
        kind, key = reference
        if kind in ("has", "var", "hw", "env", "config", "user_set", "peer"):
            return True
        if kind == "list":
            return self._on_list(key)
        if kind == "assume":
            return not self.inputs.assume.get(key)
        value = moment.value(kind, key) if kind in ("setting", "fact") else True
        return isinstance(value, Unknown) or (value is not None and (kind == "setting" or value is not False))

    def _defaults(self, references: Iterable[Reference], moment: Moment, depth: int) -> None:
        """Add settings nobody touched, where nothing else explains the statement."""
        for kind, name in references:
            if kind == "setting" and name.split(".", 1)[0] not in self.inputs.user:
                self._add(wording.setting_at_default(name, moment.value(kind, name)), "default", None, depth)

    def _guarding(self, info: StatementInfo, moment: Moment) -> tuple[list[Reference], list[Reference]]:
        """Return the reasons of the guards that must hold, and of those that must not, the innermost first."""
        holding: list[Reference] = []
        failing: list[Reference] = []
        for guard in reversed(info.guards):
            (holding if guard.wanted else failing).extend(self._behind(guard.expr, moment, guard.wanted))
        return holding, failing

    def _behind(self, expression: int, moment: Moment, truth: bool | None = None) -> tuple[Reference, ...]:
        """Return the reasons of an expression; a run that met something unknown may have taken it for either."""
        return self.judge.reasons(expression, self.inputs, moment, truth if self.exact else None)

    def _of(self, reference: Reference, moment: Moment, before: int, depth: int) -> None:
        if depth > _DEEPEST or len(self.found) >= _MOST or reference in self.seen:
            return
        self.seen.add(reference)
        if reference.kind in ("setting", "var", "fact", "env"):
            self._of_written(reference, moment, before, depth)
        else:
            self._of_given(reference, moment, depth)

    def _of_written(self, reference: Reference, moment: Moment, before: int, depth: int) -> None:
        kind, name = reference
        at = self.history.last_write(before, kind, name)
        if at is None:
            self._unwritten(reference, moment.value(kind, name), before, depth)
            return
        event = self.history.trace[at]
        value = event[VALUE] if event[NAME] == name else moment.value(kind, name)
        writer = self.program.statements[event[STATEMENT]]
        behind_config = kind == "fact"
        self._add(self._says(kind, name, value), "config" if behind_config else "rule", writer.id, depth)
        if not behind_config:
            self.of_statement(writer.index, at, depth + 1)

    def _says(self, kind: str, name: str, value: object) -> str:
        if kind == "var":
            return wording.declared_is(name, value, self.subject.view.names.vars.get(name))  # type: ignore[arg-type]
        if kind == "fact":
            return wording.declared_is(name, value, self.subject.view.names.facts.get(name))  # type: ignore[arg-type]
        return wording.setting_is(name, value)  # type: ignore[arg-type]

    def _unwritten(self, reference: Reference, value: object, before: int, depth: int) -> None:
        kind, name = reference
        head = name.split(".", 1)[0]
        if kind == "setting" and head in self.inputs.user:
            self._add(self._says(kind, name, value), "user", None, depth)
        elif kind == "env":
            if name in self.inputs.env_set:
                self._add(self._says(kind, name, value), "env", None, depth)
        elif kind == "setting":
            self._left_alone(name, head, value, before, depth)
        elif kind == "fact" and not isinstance(value, Unknown) and value is not None:
            self._add(self._says(kind, name, value), "registry", None, depth)

    def _left_alone(self, name: str, head: str, value: object, before: int, depth: int) -> None:
        span = self.subject.view.spans[head]
        undecided = value is None or (span.sentinel is not None and value == span.sentinel)
        writers = self.program.writers.get(head, ())
        if not (undecided and writers):
            return
        self._add(wording.setting_stayed(name, value), "default", None, depth)  # type: ignore[arg-type]
        self.behind_absence(head, before, depth + 1)

    def behind_absence(self, setting: str, before: int, depth: int = 0) -> None:
        """Add what kept the writers of *setting* away before the point *before* of the trace.

        Most writers are for other models, and that this is none of them says little: it is told only where nothing
        else was in the way.
        """
        already, silent = len(self.found), list[tuple[Reference, Moment, int]]()
        for barrier, truth, moment, at in self._barriers(self.program.writers.get(setting, ()), before):
            if len(self.found) >= _MOST:
                return
            for reference in self._behind(barrier, moment, truth):
                unset = reference.kind == "config" and self._in_config(reference.key) is None
                if not unset and self._tells(reference, moment):
                    self._of(reference, moment, at, depth)
                else:
                    silent.append((reference, moment, at))
        if len(self.found) == already:
            for reference, moment, at in silent:
                self._of(reference, moment, at, depth)

    def _barriers(self, writers: Iterable[int], before: int) -> Iterator[tuple[int, bool, Moment, int]]:
        """Yield the conditions that kept each writer from running, with what they were worth, once each."""
        seen: set[int] = set()
        statements, moment = self.program.statements, self._before(before)
        for index in writers:
            info = statements[index]
            barrier = self._left(info, before) if info.returns_before else None
            if barrier is None:
                barrier = self._unmet(info, moment)
            if barrier is not None and barrier[0] not in seen:
                seen.add(barrier[0])
                yield barrier

    def _left(self, info: StatementInfo, before: int) -> tuple[int, bool, Moment, int] | None:
        """Return the condition under which the step ended before it came to a statement."""
        for index in info.returns_before:
            at = self.history.returned(index, before)
            if at is not None and self.program.statements[index].guards:
                guard = self.program.statements[index].guards[-1]
                return guard.expr, guard.wanted, self._before(at), at
        return None

    def _unmet(self, info: StatementInfo, moment: Moment) -> tuple[int, bool, Moment, int] | None:
        """Return the first condition that kept a statement from running."""
        judged = self.judged.get(moment.at)
        if judged is None:
            judged = self.judged[moment.at] = {}
        for guard in info.guards:
            expression = guard.expr
            if expression in judged:
                value = judged[expression]
            else:
                value = judged[expression] = self.judge.evaluate(expression, self.inputs, moment)
            if type(value) is not Unknown and bool(value) is not guard.wanted:
                return expression, not guard.wanted, moment, moment.at
        return None

    def _of_given(self, reference: Reference, moment: Moment, depth: int) -> None:
        kind, key = reference
        if kind == "hw":
            self._once(("hw", ""), wording.hardware_is(self.inputs.hw), "hardware", depth)
        elif kind == "has":
            self._of_capability(key, depth)
        elif kind == "list":
            self._of_list(key, depth)
        elif kind == "config":
            self._of_config(key, depth)
        elif kind == "assume":
            self._of_assumption(key, depth)
        elif kind == "peer" and key:
            self._of_peer(key, depth)

    def _of_peer(self, key: str, depth: int) -> None:
        kind, _, path = key.partition(".") if key.startswith(("fact.", "var.")) else ("setting", "", key)
        head, *rest = path.split(".")
        value = self.inputs.peer.value(kind, head) if self.inputs.peer is not None else None
        for part in rest:
            value = value.get(part) if isinstance(value, dict) else None
        names = self.subject.view.names
        declared = names.facts.get(path) if kind == "fact" else names.vars.get(path) if kind == "var" else None
        self._add(wording.peer_says(path, value, declared), "peer", None, depth)

    def _asked(self, key: str) -> str | None:
        """Return whose capability or list membership a reference reads: the target's or the draft's."""
        return self.inputs.draft_architecture if key.startswith(OF_DRAFT) else self.inputs.architecture

    def _on_list(self, key: str) -> bool:
        return self._asked(key) in self.inputs.lists.get(key.removeprefix(OF_DRAFT), frozenset())

    def _of_capability(self, key: str, depth: int) -> None:
        capability = key.removeprefix(OF_DRAFT)
        held = capability in (self.inputs.capabilities if capability == key else self.inputs.draft_capabilities)
        text = wording.capability_held(self.subject.view, self._asked(key), capability, held)
        self._add(text, "registry", None, depth)

    def _of_list(self, key: str, depth: int) -> None:
        list_id = key.removeprefix(OF_DRAFT)
        text = wording.list_held(self.subject.view, list_id, self._asked(key), self._on_list(key))
        self._add(text, "registry", None, depth)

    def _of_config(self, key: str, depth: int) -> None:
        root, path = key.split(":", 1)
        text = wording.config_says(self._config_view(root).root, path, self._in_config(key))
        self._add(text, "config", None, depth)

    def _config_view(self, root: str) -> ConfigView:
        inputs = self.inputs
        return {"hf": inputs.hf, "text": inputs.text, "draft.hf": inputs.draft_hf}.get(root, inputs.draft_text)

    def _in_config(self, key: str) -> Json:
        """Return what the configuration says at `level:path`, None where it says nothing."""
        root, path = key.split(":", 1)
        value: Json = self._config_view(root).data
        for part in path.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        return value

    def _of_assumption(self, key: str, depth: int) -> None:
        declared = self.subject.view.names.assumptions.get(key)
        value = self.inputs.assume.get(key)
        text = (
            declared.says.replace("{value}", wording.value_text(value)) if declared else wording.setting_is(key, value)
        )
        self._add(text, "assumption", None, depth)

    def _once(self, key: tuple[str, str], text: str, origin: Origin, depth: int) -> None:
        if key not in self.seen:
            self.seen.add(key)
            self._add(text, origin, None, depth)

    def _add(self, text: str, origin: Origin, rule: str | None, depth: int) -> None:
        if len(self.found) < _MOST and text not in self.texts:
            self.texts.add(text)
            self.found.append(Cause(text, origin, rule, depth))


def causes_of(outcome: Outcome, event: int) -> tuple[Cause, ...]:
    """Return the causes behind event *event* of the trace, the nearest first."""
    chain = Chain.of(outcome)
    chain.of_statement(outcome.run.trace[event][STATEMENT], event)
    chain.of_message(event)
    return tuple(chain.found)


def causes_of_absence(outcome: Outcome, setting: str) -> tuple[Cause, ...]:
    """Return what kept every writer of *setting* from running."""
    chain = Chain.of(outcome)
    chain.behind_absence(setting, len(outcome.run.trace))
    return tuple(chain.found)
