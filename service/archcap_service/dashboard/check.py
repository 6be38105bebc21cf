"""What the launch check shows of an answer: verdict, findings, fixes that rewrite the command, settings, plan.

Knows answers; knows no template and no request.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from archcap.cli.text import flat
from archcap.errors import RequestError
from archcap.model.base import Json
from archcap.model.codec import dumps
from archcap.model.resolution import Cause, Finding, Fix, Resolution, SettingValue, deciding
from archcap.resolver import resolve
from archcap.snapshot import Snapshot
from archcap_service.dashboard.examples import examples_of
from archcap_service.dashboard.question import Question, Understood, changed, question_link, spaced, understood
from archcap_service.dashboard.render import link
from archcap_service.dashboard.tours import gpus
from archcap_service.dashboard.words import layer_runs, value_words


@dataclass(frozen=True, slots=True)
class Link:
    """A cause with those that stand behind it."""

    cause: Cause
    behind: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """A finding with its causes as a tree."""

    finding: Finding
    links: tuple[Link, ...]
    step: str | None


@dataclass(frozen=True, slots=True)
class Cure:
    """A fix: what it changes, in flags, and the check it leads to."""

    fix: Fix
    words: tuple[str, ...]
    path: str | None
    command: str


@dataclass(frozen=True, slots=True)
class SettingLine:
    """One setting, or one leaf of a structured one, in the answer."""

    name: str
    setting: str
    requested: str
    default: str
    value: str
    origin: str
    rule: str | None
    step: str | None
    decided: bool


@dataclass(frozen=True, slots=True)
class Segment:
    """Neighbouring layers of one kind on one rank."""

    start: int
    length: int
    kind: str


@dataclass(frozen=True, slots=True)
class Rank:
    """One pipeline rank: its layers as segments and in words."""

    rank: int
    layers: tuple[int, int]
    segments: tuple[Segment, ...]
    words: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer, laid out."""

    resolution: Resolution
    notes: tuple[str, ...]
    found: tuple[Found, ...]
    cures: tuple[Cure, ...]
    settings: tuple[SettingLine, ...]
    ranks: tuple[Rank, ...]
    depth: int
    plan: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class LaunchForm:
    """What the form of a launch holds and offers."""

    question: Question
    checkpoints: tuple[str, ...]
    gpus: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    launch: str


def launch_form(question: Question, snapshot: Snapshot) -> LaunchForm:
    """Return the form of *question*, its configurations laid out.

    Raises:
        RequestError: `unknown-engine`.
    """
    return LaunchForm(
        question=question.model_copy(
            update={"config": spaced(question.config), "draft_config": spaced(question.draft_config)}
        ),
        checkpoints=tuple(sorted(snapshot.checkpoints)),
        gpus=gpus(snapshot),
        launch=" ".join(snapshot.engine(question.engine).launch),
    )


@dataclass(frozen=True, slots=True)
class CheckPage:
    """The launch check: the form, and below it the answer, or what is wrong with the question."""

    engine: str
    release: str
    releases: tuple[str, ...]
    form: LaunchForm
    path: str | None
    strip: str | None
    examples: tuple[tuple[str, str], ...]
    answer: Answered | None
    problem: RequestError | None


def check_page(question: Question, snapshot: Snapshot, max_depth: int) -> CheckPage:
    """Return the page for *question*; one that cannot be answered says why.

    Raises:
        RequestError: `unknown-engine`.
    """
    answer, problem = None, None
    releases = tuple(snapshot.releases(question.engine))
    if not question.blank:
        try:
            answer = answered(question, snapshot, max_depth)
        except RequestError as error:
            problem = error
    return CheckPage(
        engine=question.engine,
        release=answer.resolution.release if answer else releases[-1],
        releases=releases,
        form=launch_form(question, snapshot),
        path=question_link(question),
        strip=question_link(question, "check/releases"),
        examples=tuple(examples_of(snapshot, question.engine)),
        answer=answer,
        problem=problem,
    )


def answered(question: Question, snapshot: Snapshot, max_depth: int) -> Answered:
    """Resolve *question* and lay the answer out.

    Raises:
        RequestError: what was pasted cannot be read, or names something nobody knows.
    """
    seen = understood(question, snapshot, max_depth)
    found = resolve(seen.request, snapshot)
    steps = {info.id: info.step for info in seen.view.program.statements}
    ranks = tuple(_ranks(found.plan.get("pipeline")))
    return Answered(
        resolution=found,
        notes=(*seen.launch.notes, *found.notes),
        found=tuple(Found(one, _tree(one.causes), steps.get(one.rule)) for one in _worst_first(found.findings)),
        cures=tuple(_cure(fix, question, seen, snapshot) for fix in found.fixes or ()),
        settings=tuple(_settings(found.settings, steps)),
        ranks=ranks,
        depth=max((rank.layers[1] for rank in ranks), default=0),
        plan=tuple(_plan(found.plan)),
    )


_GRAVITY = ("error", "unsafe", "silent", "warning", "info")


def _worst_first(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings that decide the verdict before those that are worth knowing."""
    return sorted(findings, key=lambda one: _GRAVITY.index(one.severity))


def twin(question: Question, snapshot: Snapshot, max_depth: int) -> tuple[str, bytes]:
    """Return the path and the body of the API's request for the same answer.

    Raises:
        RequestError: as `answered`.
    """
    request = understood(question, snapshot, max_depth).request
    body = request.model_dump(mode="json", exclude_defaults=True, exclude={"engine", "release"})
    return link("v1", "engines", request.engine, "releases", request.release, "resolve"), dumps(body)


def _tree(causes: Sequence[Cause]) -> tuple[Link, ...]:
    """Return causes, listed with their depth, as a tree."""
    links: list[Link] = []
    at = 0
    while at < len(causes):
        end = at + 1
        while end < len(causes) and causes[end].depth > causes[at].depth:
            end += 1
        links.append(Link(causes[at], _tree(causes[at + 1 : end])))
        at = end
    return tuple(links)


def _cure(fix: Fix, question: Question, seen: Understood, snapshot: Snapshot) -> Cure:
    after = changed(question, seen, fix.changes, fix.release, snapshot)
    return Cure(fix, tuple(_cure_words(fix, seen, snapshot)), question_link(after), after.command)


def _cure_words(fix: Fix, seen: Understood, snapshot: Snapshot) -> Iterator[str]:
    view = snapshot.release(seen.view.engine.engine, fix.release) if fix.release else seen.view
    if fix.release:
        yield f"release {fix.release}"
    for name, value in fix.changes.items():
        said = view.code.format_command({name: value}, view.spans, ())
        if said.startswith("-"):
            yield said
            continue
        given = view.code.format_command({name: seen.launch.settings.get(name)}, view.spans, ())
        flag = given.replace("=", " ").split(" ")[0]
        yield f"without {flag}" if flag.startswith("-") else f"{name} = {value_words(value)}"


def _settings(settings: Mapping[str, SettingValue], steps: Mapping[str, str]) -> Iterator[SettingLine]:
    for name in sorted(settings, key=lambda one: (not _decided(settings[one]), settings[one].requested is None, one)):
        one = settings[name]
        if isinstance(one.value, dict) and isinstance(one.default, dict):
            yield from _leaves(name, one, steps)
        else:
            becomes = "unknown" if one.origin == "unknown" else value_words(one.value)
            yield SettingLine(
                name, name, _asked(one.requested), value_words(one.default), becomes, one.origin, one.rule,
                steps.get(one.rule or ""), _decided(one),
            )  # fmt: skip


def _leaves(name: str, one: SettingValue, steps: Mapping[str, str]) -> Iterator[SettingLine]:
    before, asked = flat(one.default), flat(one.requested)
    for path, value in flat(one.value).items():
        rule = (one.leaves or {}).get(path) or one.rule
        yield SettingLine(
            f"{name}.{path}", name, _asked(asked.get(path)), value_words(before.get(path)), value_words(value),
            one.origin, rule, steps.get(rule or ""), value != asked.get(path, before.get(path)),
        )  # fmt: skip


def _asked(value: Json) -> str:
    return "" if value is None else value_words(value)


def _decided(one: SettingValue) -> bool:
    """Return whether the engine decides it: a value that is not what was asked for or the default."""
    before = one.requested if one.requested is not None else one.default
    return one.origin in ("rule", "unknown") and (one.origin == "unknown" or one.value != before)


def _ranks(pipeline: Json) -> Iterator[Rank]:
    for one in pipeline if isinstance(pipeline, list) else ():
        layers = one.get("layers") if isinstance(one, dict) else None
        if isinstance(one, dict) and isinstance(layers, list) and len(layers) == 2:
            first, end = (int(part) if isinstance(part, int) else 0 for part in layers)
            kinds = {key.removesuffix("_layers"): value for key, value in one.items() if key.endswith("_layers")}
            words = tuple((kind, layer_runs(value)) for kind, value in kinds.items())
            rank = one.get("rank")
            yield Rank(rank if isinstance(rank, int) else 0, (first, end), _segments(first, end, kinds), words)


def _segments(first: int, end: int, kinds: Mapping[str, Json]) -> tuple[Segment, ...]:
    kind_of = {
        layer: kind for kind, held in kinds.items() for layer in (held if isinstance(held, list) else ())
        if isinstance(layer, int)
    }  # fmt: skip
    segments: list[Segment] = []
    for layer in range(first, end):
        kind = kind_of.get(layer, "other")
        if segments and segments[-1].kind == kind:
            segments[-1] = Segment(segments[-1].start, segments[-1].length + 1, kind)
        else:
            segments.append(Segment(layer, 1, kind))
    return tuple(segments)


def _plan(plan: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    for name, value in plan.items():
        if isinstance(value, dict):
            yield name.replace("_", " "), ", ".join(f"{key} {value_words(one)}" for key, one in value.items())
        elif name != "pipeline":
            yield name.replace("_", " "), value_words(value)


@dataclass(frozen=True, slots=True)
class StripCell:
    """The same launch on one release."""

    release: str
    verdict: str
    says: str
    path: str | None
    here: bool


@dataclass(frozen=True, slots=True)
class StripPage:
    """The same launch on every release."""

    engine: str
    release: str
    question: Question
    path: str | None
    cells: tuple[StripCell, ...]


def strip_page(question: Question, snapshot: Snapshot, max_depth: int) -> StripPage:
    """Return the same launch on every release of the engine; settings a release lacks are its refusal.

    Raises:
        RequestError: what was pasted cannot be read.
    """
    seen = understood(question, snapshot, max_depth)
    cells = tuple(_cell(question, seen, release, snapshot) for release in snapshot.releases(question.engine))
    return StripPage(question.engine, seen.view.release, question, question_link(question), cells)


def _cell(question: Question, seen: Understood, release: str, snapshot: Snapshot) -> StripCell:
    request = seen.request.model_copy(update={"release": release, "fixes": False})
    path = question_link(question.model_copy(update={"release": release}))
    here = release == seen.view.release
    try:
        found = resolve(request, snapshot)
    except RequestError as error:
        if error.code != "unknown-setting":
            raise
        return StripCell(release, "refused", error.message, path, here)
    blocker = deciding(found.verdict, found.findings)
    return StripCell(release, found.verdict, blocker.message if blocker is not None else "", path, here)
