"""Checks all rules of an engine over all its releases: forms, names, types, flow. Collects everything, raises nothing.

A step is looked at once for each set of statements its releases give it, and its types once for each set of setting
spans it reads, however many releases share them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from archcap.errors import Problem
from archcap.model.registry import EngineRegistry
from archcap.model.releases import version
from archcap.model.rules import Statement
from archcap.model.vocabulary import Vocabulary
from archcap.rules import expr as x
from archcap.rules import types as t
from archcap.rules.chains import use_places
from archcap.rules.forms import calls_of, every_statement, form_places, unreached_steps
from archcap.rules.infer import MODEL_TYPE, Inference, TypeEnv
from archcap.rules.ir import DefineIR, StepIR, Stmt, Write, expressions, statements
from archcap.rules.lower import Counter, Place, StepLowering, holds
from archcap.rules.names import Universe, universe_of
from archcap.rules.parse import Flaw
from archcap.rules.problems import problem_of
from archcap.rules.release import lower_define, pipeline_of, variant
from archcap.rules.types import ANY, Type

_Names = tuple[frozenset[str], frozenset[str]]
"""Settings and definitions by name."""


def check_engine(
    reg: EngineRegistry,
    vocabulary: Vocabulary,
    functions: Iterable[str],
    hardware: Iterable[str] | None,
    checkpoints: Iterable[str] = (),
) -> list[Problem]:
    """Return everything wrong with the rules of *reg*, in file order; warnings have that severity.

    Args:
        reg: the engine.
        vocabulary: the capabilities rules may ask for.
        functions: names of the engine's pure functions.
        hardware: fields of `hw`; None accepts any.
        checkpoints: ids of known checkpoints, which no rule may name.
    """
    checker = _Checker(reg, universe_of(reg, vocabulary, functions, hardware), _banned(reg, checkpoints))
    problems = dict.fromkeys(problem_of(reg, place) for place in form_places(reg))
    problems.update(dict.fromkeys(checker.problems()))
    for name in unreached_steps(reg):
        file = reg.step_files.get(name, "")
        message = "no release runs it: it is in no pipeline, and no step of one calls it"
        problems[Problem(file, None, f"steps.{name}", message, severity="warning")] = None
    return list(problems)


def _banned(reg: EngineRegistry, checkpoints: Iterable[str]) -> dict[str, str]:
    names = dict.fromkeys(checkpoints, "a checkpoint")
    for listed in reg.lists.values():
        if listed.kind in ("model_type", "architecture"):
            word = MODEL_TYPE if listed.kind == "model_type" else "an architecture"
            names.update(dict.fromkeys(listed.names, word))
    for family in reg.families.values():
        names.update(dict.fromkeys(family.architectures, "an architecture"))
    return names


@dataclass(slots=True)
class _Found:
    """Flaws by place, with the releases they were found in."""

    releases: dict[Place, set[str]] = field(default_factory=dict)

    def add(self, places: Iterable[Place], releases: Sequence[str]) -> None:
        """Note flaws found in *releases*."""
        for place in places:
            self.releases.setdefault(place, set()).update(releases)


class _Checker:
    """One check of one engine."""

    def __init__(self, reg: EngineRegistry, universe: Universe, banned: Mapping[str, str]) -> None:
        self.reg, self.universe, self.banned = reg, universe, banned
        self.releases = sorted(reg.engine.releases, key=version)
        self.profiles = frozenset(
            one.profile for family in reg.families.values() for one in family.architectures.values() if one.profile
        )
        self.found = _Found()
        self._envs: dict[str, TypeEnv] = {}
        self._defines: dict[tuple[str, int], tuple[DefineIR, list[Place]]] = {}
        self._live: dict[str, list[str]] = self._live_releases()
        self._uses: dict[str, set[str]] = {release: set() for release in self.releases}
        """Release -> definitions that its steps use."""
        self._spans: dict[tuple[str, str], int] = {}
        self._named: dict[tuple[str, int], _Names] = {}

    def problems(self) -> Iterator[Problem]:
        """Yield everything wrong, with the releases it is wrong in where others are right."""
        chained = list(use_places(self._define_edges()))
        self.found.add(chained, self.releases)
        for name in self.reg.steps:
            self._check_step(name, typed=not chained)
        if not chained:
            self._type_defines()
        for place, releases in self.found.releases.items():
            everywhere = self._live.get(place.step, self.releases) if place.step is not None else self.releases
            yield problem_of(self.reg, place, _note(releases, everywhere, self.releases))
        for name in sorted(self.reg.defines.keys() - set().union(*self._uses.values())):
            yield Problem("", None, f"define.{name}", "no step uses it", severity="warning")

    def _live_releases(self) -> dict[str, list[str]]:
        """Return the releases each step runs in; a step that no pipeline reaches counts where its range holds."""
        live: dict[str, list[str]] = {name: [] for name in self.reg.steps}
        calls = {name: calls_of(self.reg, name) for name in self.reg.steps}
        for release in self.releases:
            reached = set(pipeline_of(self.reg, release))
            waiting = list(reached)
            while waiting:
                more = [name for name in calls[waiting.pop()] if name not in reached]
                more = [name for name in more if holds(self.reg.steps[name].releases, release)]
                reached.update(more)
                waiting += more
            for name in reached:
                live[name].append(release)
        for name in live:
            live[name] = live[name] or [r for r in self.releases if holds(self.reg.steps[name].releases, r)]
        return live

    # -- steps ---------------------------------------------------------------------

    def _check_step(self, name: str, typed: bool) -> None:
        ranges = _ranges(self.reg.steps[name].do)
        for releases in _grouped(self._live[name], lambda release: tuple(holds(one, release) for one in ranges)):
            lowering = StepLowering(self.reg, self.universe, name, releases[0], Counter())
            step = lowering.lower()
            self.found.add(lowering.places, releases)
            self._check_types(step, releases, typed)

    def _check_types(self, step: StepIR, releases: Sequence[str], typed: bool) -> None:
        nodes = [node for stmt in statements(step.body) for node in expressions(stmt)]
        names = _names_in(nodes)
        written = {w.path[0] for s in statements(step.body) for w in s.writes if w.kind in ("set", "default")}
        names = (names[0] | written, names[1])
        for same in _grouped(releases, partial(self._signature, names)):
            if not typed:
                continue
            typing = _StepTypes(self.env(same[0]), step)
            typing.run()
            self.found.add(typing.places, same)

    def _signature(self, names: _Names, release: str) -> tuple[int, ...]:
        """Return what types depend on in a release: spans of settings, variants of definitions, used ones included."""
        settings, defines = set(names[0]), set[str]()
        waiting = list(names[1])
        while waiting:
            name = waiting.pop()
            if name in defines:
                continue
            defines.add(name)
            if variant(self.reg, name, release) is None:
                self.found.add([Place(None, f"define.{name}", Flaw("is used where no variant holds"))], [release])
                continue
            more = self._define_names(name, release)
            settings |= more[0]
            waiting += more[1]
        self._uses[release] |= defines
        spans = [self._span(name, release) for name in sorted(settings)]
        return (*spans, *(id(variant(self.reg, name, release)) for name in sorted(defines)))

    def _span(self, name: str, release: str) -> int:
        key = (name, release)
        if key not in self._spans:
            self._spans[key] = id(self.reg.settings[name].at(release))
        return self._spans[key]

    def _define_names(self, name: str, release: str) -> _Names:
        key = (name, id(variant(self.reg, name, release)))
        if key not in self._named:
            self._named[key] = _names_in(_row_nodes(self.define(name, release)))
        return self._named[key]

    # -- definitions -----------------------------------------------------------------

    def env(self, release: str) -> TypeEnv:
        """Return the types of names in a release."""
        if release not in self._envs:
            self._envs[release] = TypeEnv(
                self.reg, release, partial(self.define, release=release), self.profiles, self.banned
            )
        return self._envs[release]

    def define(self, name: str, release: str) -> DefineIR:
        """Return a definition as it is in a release."""
        key = (name, id(variant(self.reg, name, release)))
        if key not in self._defines:
            places: list[Place] = []
            self._defines[key] = (lower_define(self.reg, self.universe, name, release, places), places)
        return self._defines[key][0]

    def _define_edges(self) -> dict[str, list[str]]:
        """Return what each definition uses, in whatever release; what is wrong with them is found on the way."""
        edges: dict[str, set[str]] = {name: set() for name in self.reg.defines}
        for name, variants in self.reg.defines.items():
            for one in variants:
                releases = [r for r in self.releases if variant(self.reg, name, r) is one]
                if not releases:
                    continue
                define = self.define(name, releases[0])
                self.found.add(self._defines[name, id(one)][1], releases)
                nodes = list(_row_nodes(define))
                edges[name] |= {part.name for n in nodes for part in x.walk(n) if isinstance(part, x.Defined)}
        return {name: sorted(used) for name, used in edges.items()}

    def _type_defines(self) -> None:
        for name, variants in self.reg.defines.items():
            for position, one in enumerate(variants):
                path = f"define.{name}" if len(variants) == 1 else f"define.{name}[{position}]"
                used_in = [r for r in self.releases if name in self._uses[r] and variant(self.reg, name, r) is one]
                for same in _grouped(used_in, partial(self._signature, (frozenset(), frozenset({name})))):
                    self.found.add(_define_places(self.env(same[0]), self.define(name, same[0]), path), same)


def _names_in(nodes: Iterable[x.Expr]) -> _Names:
    """Return the settings and definitions that *nodes* name themselves."""
    settings, defines = set[str](), set[str]()
    for node in nodes:
        for part in x.walk(node):
            if isinstance(part, x.Setting | x.Raw | x.Own):
                settings.add(part.path[0])
            elif isinstance(part, x.PeerValue):
                settings |= {part.path[0]} if part.kind == "setting" else set()
            elif isinstance(part, x.UserSet):
                settings.add(part.name.split(".")[0])
            elif isinstance(part, x.Defined):
                defines.add(part.name)
    return frozenset(settings - {"var"}), frozenset(defines)


def _ranges(block: Sequence[Statement]) -> list[str]:
    return sorted({record.releases for record, _ in every_statement(block, "") if record.releases is not None})


def _grouped(releases: Sequence[str], key: Callable[[str], tuple[object, ...]]) -> list[list[str]]:
    """Return *releases* in groups of equal *key*, in order."""
    groups: dict[tuple[object, ...], list[str]] = {}
    for release in releases:
        groups.setdefault(key(release), []).append(release)
    return list(groups.values())


def _note(found: set[str], everywhere: Sequence[str], order: Sequence[str]) -> str:
    """Return in which releases something is wrong, "" when it is so wherever it applies."""
    wrong = [release for release in order if release in found]
    if len(wrong) >= len(everywhere) or not wrong:
        return ""
    first, last = order.index(wrong[0]), order.index(wrong[-1])
    if len(wrong) > 2 and last - first + 1 == len(wrong):
        return f" (in {wrong[0]} to {wrong[-1]})"
    return f" (in {', '.join(wrong)})"


def _row_nodes(define: DefineIR) -> Iterator[x.Expr]:
    for row in define.rows:
        if row.when is not None:
            yield row.when
        yield row.value


def _define_places(env: TypeEnv, define: DefineIR, path: str) -> Iterator[Place]:
    for node in _row_nodes(define):
        inference = Inference(env, dict.fromkeys(define.params, ANY))
        inference.of(node)
        inference.names(node)
        yield from (Place(None, path, flaw) for flaw in inference.flaws)


class _StepTypes:
    """Checks the types of one step in one release."""

    def __init__(self, env: TypeEnv, step: StepIR) -> None:
        self.env, self.step = env, step
        self.locals: dict[str, Type] = {}
        self.places: list[Place] = []

    def run(self) -> None:
        """Check every statement."""
        self._block(self.step.body, sure=True)

    def _block(self, body: tuple[Stmt, ...], sure: bool) -> None:
        for stmt in body:
            self._statement(stmt, sure and stmt.when is None)

    def _statement(self, stmt: Stmt, sure: bool) -> None:
        if stmt.when is not None:
            self._of(stmt.when, stmt, "when")
        for let in stmt.lets:
            found = self._of(let.value, stmt, f"let.{let.name}")
            known = self.locals.get(let.name)
            self.locals[let.name] = found if known is None or sure else t.union([known, found])
        if stmt.require is not None:
            self._of(stmt.require, stmt, "require")
        for shown in stmt.shown:
            self._of(shown.value, stmt, "")
        for write in stmt.writes:
            self._write(write, stmt)
        self._block(stmt.body or (), sure)
        self._block(stmt.first or (), sure=False)

    def _infer(self) -> Inference:
        return Inference(self.env, self.locals)

    def _of(self, node: x.Expr, stmt: Stmt, key: str) -> Type:
        inference = self._infer()
        found = inference.of(node)
        inference.names(node)
        self._take(inference, stmt, key)
        return found

    def _take(self, inference: Inference, stmt: Stmt, key: str) -> None:
        path = f"{stmt.path}.{key}" if key else stmt.path
        self.places += [Place(self.step.name, path, flaw) for flaw in dict.fromkeys(inference.flaws)]

    def _write(self, write: Write, stmt: Stmt) -> None:
        inference = self._infer()
        inference.of(write.value)
        target = self._target(write, inference)
        if target is not None:
            inference.written(write.value, target)
        inference.names(write.value)
        self._take(inference, stmt, f"{write.kind.removesuffix('_if_unset')}.{'.'.join(write.path)}")

    def _target(self, write: Write, inference: Inference) -> Type | None:
        names = self.env.reg.names
        if write.kind in ("set", "default"):
            return inference.setting(write.path)
        if write.kind == "var":
            return t.variable_type(names.vars[write.path[0]], f"`var.{write.path[0]}`")
        if write.kind == "fact":
            return t.fact_type(names.facts[write.path[0]], f"`fact.{write.path[0]}`")
        return t.name_type(names.env[write.path[0]], f"`{write.path[0]}`")
