"""What is wrong with statements, steps and definitions as written, whatever their releases and types."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterator, Sequence

from archcap.model.registry import EngineRegistry
from archcap.model.releases import parse_range
from archcap.model.rules import Define, Source, Statement
from archcap.rules.chains import call_places
from archcap.rules.lower import Place, holds
from archcap.rules.names import RESERVED
from archcap.rules.parse import Flaw
from archcap.suggest import nearest_name

_SAYS = ("require", "refuse", "unsafe", "silent", "warn", "info")
_WRITES = ("set", "default", "var", "fact", "env")
_EFFECTS = (*_SAYS, *_WRITES, "let", "call", "do", "first", "otherwise", "returns", "stop")
_BRANCH_ELSE = frozenset({"otherwise", "releases", "note", "stage", "source", "evidence", "id"})


def form_places(reg: EngineRegistry) -> Iterator[Place]:
    """Yield everything wrong with the forms of *reg*."""
    for name, step in reg.steps.items():
        yield from _releases(reg, name, "", step.releases)
        yield from _source(reg, name, "", step.source)
        yield from _block(reg, name, step.do, "do")
    yield from _ids(reg)
    yield from _pipeline(reg)
    yield from _cycles(reg)
    yield from _defines(reg)


def _flaw(step: str | None, path: str, key: str, message: str, **more: str | None) -> Place:
    return Place(step, ".".join(part for part in (path, key) if part), Flaw(message, **more))


# -- statements ------------------------------------------------------------------


def _block(reg: EngineRegistry, step: str, block: Sequence[Statement], path: str) -> Iterator[Place]:
    ended = False
    for position, record in enumerate(block):
        at = f"{path}[{position}]"
        yield from _statement(reg, step, record, at, branch=False)
        if ended:
            yield _flaw(step, at, "", "is never reached: the statement before it always leaves")
        ended = ended or (_leaves(record) and record.when in (None, True) and record.releases is None)


def _leaves(record: Statement) -> bool:
    return record.returns is not None or record.stop is not None or record.refuse is not None


def _statement(reg: EngineRegistry, step: str, record: Statement, path: str, branch: bool) -> Iterator[Place]:
    yield from _releases(reg, step, path, record.releases)
    yield from _source(reg, step, path, record.source)
    yield from _effects(step, record, path, branch)
    yield from _companions(step, record, path)
    for key in ("do", "otherwise"):
        inner = getattr(record, key)
        if inner is not None:
            yield from _block(reg, step, inner, f"{path}.{'else' if key == 'otherwise' else key}")
    if record.first is not None:
        yield from _first(reg, step, record.first, f"{path}.first")


def _effects(step: str, record: Statement, path: str, branch: bool) -> Iterator[Place]:
    given = [key for key in _EFFECTS if getattr(record, key) is not None]
    if not given:
        yield _flaw(step, path, "", "has no effect", hint="write `do: []` where nothing is meant")
    if record.otherwise is not None and not branch:
        yield _flaw(step, path, "else", "`else` stands only in a branch of `first`")
    says = [key for key in _SAYS if getattr(record, key) is not None]
    if len(says) > 1:
        yield _flaw(step, path, says[1], f"`{says[0]}` and `{says[1]}` in one statement", hint="write two statements")
    both = sorted((record.set or {}).keys() & (record.default or {}).keys())
    for key in both:
        yield _flaw(step, path, f"default.{key}", f"`{key}` stands under `set` as well")
    for key in ("set", "default"):
        yield from _overlaps(step, path, key, list(getattr(record, key) or {}))


def _overlaps(step: str, path: str, key: str, names: list[str]) -> Iterator[Place]:
    for name in names:
        for other in names:
            if other.startswith(name + "."):
                yield _flaw(step, path, f"{key}.{other}", f"`{name}` is written as a whole by the same statement")


def _companions(step: str, record: Statement, path: str) -> Iterator[Place]:
    if record.require is not None and record.because is None:
        yield _flaw(step, path, "require", "needs `because`: what an operator reads when it fails")
    if record.alias and not record.set:
        yield _flaw(step, path, "alias", "`alias` goes with `set`")
    if not record.logged and not (record.set or record.default):
        yield _flaw(step, path, "logged", "`logged: false` goes with `set` or `default`")
    for name, values in (record.each or {}).items():
        if not values:
            yield _flaw(step, path, f"each.{name}", "unrolls to nothing")
        for value in (value for value, count in Tally(values).items() if count > 1):
            yield _flaw(step, path, f"each.{name}", f"{value!r} stands there twice")
    if record.each is not None and not record.each:
        yield _flaw(step, path, "each", "names nothing")


def _first(reg: EngineRegistry, step: str, branches: Sequence[Statement], path: str) -> Iterator[Place]:
    last_else = False
    for position, branch in enumerate(branches):
        at = f"{path}[{position}]"
        if last_else:
            yield _flaw(step, at, "", "stands after the `else`")
        if branch.otherwise is None and branch.when is None:
            yield _flaw(step, at, "", "a branch has `when` or is the `else`")
        if branch.otherwise is not None:
            last_else = branch.releases is None
            more = [key for key in branch.model_fields_set if key not in _BRANCH_ELSE]
            if more:
                yield _flaw(step, at, sorted(more)[0], "beside `else`", hint="put it below the `else`")
        yield from _statement(reg, step, branch, at, branch=True)
    if not branches:
        yield _flaw(step, path, "", "has no branch")


# -- releases, sources, ids ---------------------------------------------------------


def _releases(reg: EngineRegistry, step: str | None, path: str, text: str | None) -> Iterator[Place]:
    if text is None:
        return
    try:
        parse_range(text)
    except ValueError as error:
        yield _flaw(step, path, "releases", str(error), expected=">=A, <B or >=A,<B")
        return
    if not any(holds(text, release) for release in reg.engine.releases):
        yield _flaw(step, path, "releases", f"{text} holds none of the engine's releases")


def _source(reg: EngineRegistry, step: str, path: str, source: Source | None) -> Iterator[Place]:
    for release in source if isinstance(source, dict) else ():
        if release not in reg.engine.releases:
            near = nearest_name(release, reg.engine.releases)
            yield _flaw(step, path, f"source.{release}", f"unknown release {release}", suggestion=near)


def _ids(reg: EngineRegistry) -> Iterator[Place]:
    seen: dict[str, str] = {}
    for name, step in reg.steps.items():
        for record, path in every_statement(step.do, "do"):
            if record.id is None:
                continue
            place = f"steps.{name}.{path}"
            if record.id in seen:
                yield _flaw(name, path, "id", f"`{record.id}` is the id of {seen[record.id]} as well")
            seen.setdefault(record.id, place)


def every_statement(block: Sequence[Statement], path: str) -> Iterator[tuple[Statement, str]]:
    """Yield every statement below *block* with its path, in textual order."""
    for position, record in enumerate(block):
        at = f"{path}[{position}]"
        yield record, at
        for key, inner in (("do", record.do), ("else", record.otherwise), ("first", record.first)):
            yield from every_statement(inner or (), f"{at}.{key}")


# -- steps --------------------------------------------------------------------------


def calls_of(reg: EngineRegistry, name: str) -> tuple[str, ...]:
    """Return the steps that a step calls."""
    records = every_statement(reg.steps[name].do, "do")
    return tuple(dict.fromkeys(record.call for record, _ in records if record.call in reg.steps and record.call))


def _pipeline(reg: EngineRegistry) -> Iterator[Place]:
    for position, entry in enumerate(reg.pipeline):
        if entry.step not in reg.steps:
            near = nearest_name(entry.step, reg.steps)
            yield Place(None, f"pipeline[{position}]", Flaw(f"unknown step `{entry.step}`", suggestion=near))
        yield from _releases(reg, None, f"pipeline[{position}]", entry.releases)


def _cycles(reg: EngineRegistry) -> Iterator[Place]:
    yield from call_places({name: calls_of(reg, name) for name in reg.steps})


def unreached_steps(reg: EngineRegistry) -> list[str]:
    """Return the steps that no release ever runs."""
    reached = {entry.step for entry in reg.pipeline if entry.step in reg.steps}
    waiting = list(reached)
    while waiting:
        for called in calls_of(reg, waiting.pop()):
            if called not in reached:
                reached.add(called)
                waiting.append(called)
    return [name for name in reg.steps if name not in reached]


# -- definitions --------------------------------------------------------------------


def _defines(reg: EngineRegistry) -> Iterator[Place]:
    for name, variants in reg.defines.items():
        yield from _define_name(reg, name)
        for position, variant in enumerate(variants):
            path = f"define.{name}" if len(variants) == 1 else f"define.{name}[{position}]"
            yield from _releases(reg, None, path, variant.releases)
            yield from _define(reg, variant, path)
        yield from _variants(reg, name, variants)


def _define_name(reg: EngineRegistry, name: str) -> Iterator[Place]:
    if name in RESERVED:
        yield Place(None, f"define.{name}", Flaw(f"`{name}` is a word of the language"))
    elif name in reg.settings:
        yield Place(None, f"define.{name}", Flaw(f"`{name}` is a setting"))


def _define(reg: EngineRegistry, variant: Define, path: str) -> Iterator[Place]:
    if (variant.expr is None) == (variant.cases is None):
        yield Place(None, path, Flaw("has either `expr` or `cases`"))
    for name in variant.params:
        if name in RESERVED or name in reg.settings or name in reg.defines:
            yield Place(None, f"{path}.params", Flaw(f"`{name}` already has a meaning; call the parameter otherwise"))
    for name in (name for name, count in Tally(variant.params).items() if count > 1):
        yield Place(None, f"{path}.params", Flaw(f"`{name}` stands there twice"))
    cases = variant.cases or ()
    for position, case in enumerate(cases):
        if case.when is None and position + 1 < len(cases):
            yield Place(None, f"{path}.cases[{position}]", Flaw("the `else` is the last row"))
        if case.when is not None and "otherwise" in case.model_fields_set:
            yield Place(None, f"{path}.cases[{position}]", Flaw("a row has `when` and `value`, or is the `else`"))


def _variants(reg: EngineRegistry, name: str, variants: Sequence[Define]) -> Iterator[Place]:
    if len({variant.params for variant in variants}) > 1:
        yield Place(None, f"define.{name}", Flaw("its variants differ in parameters"))
    for release in reg.engine.releases:
        if sum(holds(variant.releases, release) for variant in variants) > 1:
            yield Place(None, f"define.{name}", Flaw(f"more than one variant holds in {release}"))
            return
