"""The answers about rules as bytes, from a state: what writes and reads each setting, what each step does, in order.

Pure, as `documents`; the statements come from the compiled program of the release. Knows no request and no header.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from archcap.errors import RequestError
from archcap.model.base import Json, JsonObject
from archcap.model.codec import dumps
from archcap.model.engine import Flag, SettingSpan
from archcap.rules.ir import Stmt, statements
from archcap.rules.run import Program, Reference, StatementInfo
from archcap.rules.show import show
from archcap.snapshot import ReleaseView
from archcap_service.documents import head, known, release_view
from archcap_service.effective import Document, State, document
from archcap_service.problems import ServiceError


@dataclass(frozen=True, slots=True)
class Uses:
    """Which statements of a release write and read what; those that do nothing themselves are left out.

    Attributes:
        writers, readers: name, as `page_size` or `var.tree_page` -> statements, in order.
        steps: step -> its statements, in the order in which the release runs the steps.
        rules: statement -> the rule itself.
    """

    writers: dict[str, list[StatementInfo]] = field(default_factory=dict)
    readers: dict[str, list[StatementInfo]] = field(default_factory=dict)
    steps: dict[str, list[StatementInfo]] = field(default_factory=dict)
    rules: dict[int, Stmt] = field(default_factory=dict)


_made: dict[str, Uses] = {}
_MOST = 64


def uses_of(view: ReleaseView) -> Uses:
    """Return what the statements of a release write and read; put together once per set of rules."""
    key = f"{view.engine.engine} {view.release} {view.program.digest}"
    found = _made.get(key)
    if found is None:
        found = _collected(view.program)
        while len(_made) >= _MOST:
            _made.pop(next(iter(_made)), None)
        _made[key] = found
    return found


def _collected(program: Program) -> Uses:
    found, rules = Uses(), program.rules()
    for step in rules.steps:
        found.steps[step.name] = []
        found.rules.update({stmt.index: stmt for stmt in statements(step.body)})
    for info in program.statements:
        if not _acts(info, found.rules[info.index]):
            continue
        found.steps[info.step].append(info)
        for name in dict.fromkeys(map(name_of, info.writes)):
            found.writers.setdefault(name, []).append(info)
        for name in dict.fromkeys(map(name_of, reads_of(info))):
            found.readers.setdefault(name, []).append(info)
    return found


def _acts(info: StatementInfo, rule: Stmt) -> bool:
    """Return whether a statement does anything itself; one that only holds others has its condition in theirs."""
    return bool(info.writes or info.severity or rule.call or rule.returns or rule.stop)


def name_of(one: Reference) -> str:
    """Return a name as the rules spell it; a leaf of a structured setting stands for the setting."""
    if one.kind in ("setting", "user_set"):
        return one.key.split(".")[0]
    return f"{one.kind}.{one.key}" if one.key else one.kind


def reads_of(info: StatementInfo) -> Iterator[Reference]:
    """Yield what a statement reads: its own values, then its guards from the innermost out."""
    yield from info.reads
    for guard in reversed(info.guards):
        yield from guard.reads


def settings(state: State, engine: str, release: str) -> Document:
    """`/v1/engines/{engine}/releases/{release}/settings`."""
    view, exact = release_view(state.snapshot, engine, release)
    uses = uses_of(view)
    rows: list[Json] = [
        {
            "setting": name, "title": view.settings[name].title, "type": type_text(span), "default": span.default,
            "flags": [*spellings(span)], "written_by": len(uses.writers.get(name, ())),
            "read_by": len(uses.readers.get(name, ())),
        }
        for name, span in sorted(view.spans.items())
    ]  # fmt: skip
    return document(dumps({**head(view, exact), "settings": rows}), engine, view.release, exact)


def setting(state: State, engine: str, release: str, name: str) -> Document:
    """`/v1/engines/{engine}/releases/{release}/settings/{setting}`: what it is, what writes it and what reads it."""
    view, exact = release_view(state.snapshot, engine, release)
    _check_setting(name, view)
    span, uses = view.spans[name], uses_of(view)
    body: JsonObject = {
        **head(view, exact),
        "setting": name,
        "title": view.settings[name].title,
        "type": type_text(span),
        "default": span.default,
        "sentinel": span.sentinel,
        "choices": [*span.choices],
        "open_choices": span.open_choices,
        "flags": [*spellings(span)],
        "gives_up": view.settings[name].gives_up,
        "releases": [{"added": one.added, "removed": one.removed} for one in view.settings[name].spans],
        "written_by": rows_of(uses.writers.get(name, ()), uses, view.program),
        "read_by": rows_of(uses.readers.get(name, ()), uses, view.program),
    }
    return document(dumps(body), engine, view.release, exact)


def steps(state: State, engine: str, release: str) -> Document:
    """`/v1/engines/{engine}/releases/{release}/steps`, in the order in which the release runs them."""
    view, exact = release_view(state.snapshot, engine, release)
    records = state.snapshot.registry_of(engine).steps
    rows: list[Json] = [
        {
            "step": name, "title": records[name].title, "stage": records[name].stage.value,
            "source": _source(infos), "statements": len(infos),
        }
        for name, infos in uses_of(view).steps.items()
    ]  # fmt: skip
    return document(dumps({**head(view, exact), "steps": rows}), engine, view.release, exact)


def step(state: State, engine: str, release: str, name: str) -> Document:
    """`/v1/engines/{engine}/releases/{release}/steps/{step}`: its statements, what they read and write."""
    view, exact = release_view(state.snapshot, engine, release)
    uses = uses_of(view)
    known("step", name, uses.steps)
    record, infos = state.snapshot.registry_of(engine).steps[name], uses.steps[name]
    body: JsonObject = {
        **head(view, exact),
        "step": name,
        "title": record.title,
        "stage": record.stage.value,
        "source": _source(infos),
        "note": record.note,
        "reads": [*_names(read for info in infos for read in reads_of(info))],
        "writes": [*_names(write for info in infos for write in info.writes)],
        "statements": rows_of(infos, uses, view.program),
    }
    return document(dumps(body), engine, view.release, exact)


def _check_setting(name: str, view: ReleaseView) -> None:
    """Refuse a setting the release does not have: in a path that is 404, in a launch it is not."""
    try:
        known("setting", name, view.spans)
    except RequestError as error:
        raise ServiceError(404, error.code, error.message, error.hint) from None


def _source(infos: list[StatementInfo]) -> str | None:
    return infos[0].source if infos else None


def _names(references: Iterable[Reference]) -> list[str]:
    return sorted(set(map(name_of, references)))


def rows_of(infos: Iterable[StatementInfo], uses: Uses, program: Program) -> list[Json]:
    """Return statements as answers show them: when each holds, what it writes, says and reads."""
    return [_row(info, uses.rules[info.index], program) for info in infos]


def _row(info: StatementInfo, rule: Stmt, program: Program) -> JsonObject:
    return {
        "rule": info.id,
        "step": info.step,
        "stage": info.stage,
        "when": [_condition(program.expressions[one.expr], one.wanted) for one in info.guards],
        "writes": [{"name": _place(one), "value": value} for one, value in _written(info, rule)],
        "severity": info.severity,
        "says": info.text,
        "calls": rule.call,
        "leaves": "step" if rule.returns else rule.stop,
        "reads": [*_names(reads_of(info))],
        "source": info.source,
    }


def _written(info: StatementInfo, rule: Stmt) -> Iterator[tuple[Reference, str]]:
    for reference, write in zip(info.writes, rule.writes, strict=True):
        yield reference, show(write.value)


def _place(one: Reference) -> str:
    return one.key if one.kind == "setting" else f"{one.kind}.{one.key}"


def _condition(text: str, wanted: bool) -> str:
    return text if wanted else f"not ({text})"


def type_text(span: SettingSpan) -> str:
    """Return a setting's type in a few words, as in `list of str, optional`."""
    item = f" of {span.item}" if span.item else ""
    return f"{span.type}{item}{', optional' if span.optional else ''}"


def spellings(span: SettingSpan) -> tuple[str, ...]:
    """Return the flags that set it."""
    return tuple(flag.name if isinstance(flag, Flag) else flag for flag in span.flags)
