"""What another release makes of a launch, and the launch as that release wants it asked.

Flags that are called otherwise or gone, settings that come out differently, findings that come and go. Pure: both
releases resolve the launch, and what is compared is what they answer. Knows no wording.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from archcap.model.base import Json
from archcap.model.engine import Flag, LooseFlag, SettingSpan
from archcap.model.request import Request
from archcap.model.resolution import Finding, Resolution, SettingValue
from archcap.resolver.knowledge import ReleaseView, SnapshotView
from archcap.resolver.resolve import resolve
from archcap.resolver.subject import release_of

_EARLY = ("parse", "resolve")


@dataclass(frozen=True, slots=True)
class FlagChange:
    """A flag of the launch that the other release spells, or treats, otherwise.

    Attributes:
        flag: as the launch spells it; a setting's name where no flag was given.
        setting: what it writes, None for a flag of no setting.
        kind: `renamed`, `unneeded` (what it says is the default there, and has no flag), `gone`, `deprecated` (taken,
            with another spelling recommended) or `ignored`.
        now: what to write, or what the engine says to use; None when nothing takes its place.
    """

    flag: str
    setting: str | None
    kind: Literal["renamed", "unneeded", "gone", "deprecated", "ignored"]
    now: str | None


@dataclass(frozen=True, slots=True)
class VariableChange:
    """An environment variable of the launch that only one of the releases reads.

    Attributes:
        name: the variable.
        kind: `gone`, or `new`: the release the launch is from takes no notice of it, the other one does.
        instead: what does its work where it is gone, as far as somebody knows.
    """

    name: str
    kind: Literal["gone", "new"]
    instead: str | None


@dataclass(frozen=True, slots=True)
class Turn:
    """A setting, or a leaf of one, that comes out differently.

    Attributes:
        setting: its name, with the leaf's path behind it.
        kind: `changed`, `new` (only the later release has it, and decides it) or `gone`.
        before: its value in the release the launch is from.
        after: its value in the other one.
        rule_before: what wrote it there; None for the user or the default.
        rule_after: what writes it here.
    """

    setting: str
    kind: Literal["changed", "new", "gone"]
    before: Json
    after: Json
    rule_before: str | None
    rule_after: str | None


@dataclass(frozen=True, slots=True)
class Upgrade:
    """A launch in two releases.

    Attributes:
        before: the answer of the release it is from.
        after: the answer of the other one, to the launch as that one wants it asked.
        flags: of the launch, those that are not what they were.
        environment: variables of the launch that only one of both reads.
        compared: whether settings could be compared: both releases resolve the launch to the end.
        settings: those that come out differently.
        undecided: settings that one of both could not decide with what is given.
        findings: those of the other release that this one does not have.
        cured: those of this release that the other one does not have.
    """

    before: Resolution
    after: Resolution
    flags: tuple[FlagChange, ...]
    environment: tuple[VariableChange, ...]
    compared: bool
    settings: tuple[Turn, ...]
    undecided: tuple[str, ...]
    findings: tuple[Finding, ...]
    cured: tuple[Finding, ...]


def upgrade(request: Request, snapshot: SnapshotView, release: str, spelled: Mapping[str, str | None]) -> Upgrade:
    """Compare what the request's release and *release* make of the launch.

    Args:
        request: the launch, in the release it is from.
        snapshot: the registry.
        release: the other one; any version that has a nearest known one.
        spelled: the flags of the launch with the setting each writes; a setting given otherwise needs none.
    Raises:
        RequestError: as `resolve`.
    """
    old, _ = release_of(request.engine, request.release, snapshot)
    new, _ = release_of(request.engine, release, snapshot)
    before = resolve(request.model_copy(update={"fixes": False}), snapshot)
    settings = dict(_translated(request.settings, spelled, old, new))
    after = resolve(request.model_copy(update={"release": release, "settings": settings}), snapshot)
    compared = not any(_early(one) for one in (*before.findings, *after.findings))
    turns, undecided = _turns(before, after, old, new) if compared else ((), ())
    return Upgrade(
        before, after, tuple(_flag_changes(request.settings, spelled, old, new)),
        tuple(_variable_changes(request.env, old, new)), compared, turns, undecided,
        _without(after.findings, before.findings), _without(before.findings, after.findings),
    )  # fmt: skip


def _early(finding: Finding) -> bool:
    return finding.severity == "error" and finding.stage in _EARLY


def _without(findings: Iterable[Finding], others: Iterable[Finding]) -> tuple[Finding, ...]:
    known = {(one.rule, one.message) for one in others}
    return tuple(one for one in findings if (one.rule, one.message) not in known)


def _variable_changes(given: Iterable[str], old: ReleaseView, new: ReleaseView) -> Iterator[VariableChange]:
    """Yield the variables that one release reads and the other does not; of those nobody declared nothing is known."""
    for name in given:
        declared = new.names.env.get(name)
        if declared is None:
            continue
        here, there = declared.read_in(old.release), declared.read_in(new.release)
        if here and not there:
            yield VariableChange(name, "gone", declared.instead)
        elif there and not here:
            yield VariableChange(name, "new", None)


# Flags ----------------------------------------------------------------------------------------------------------------


def _names(span: SettingSpan | None) -> dict[str, Flag | None]:
    """Return a setting's spellings, each with what is special about it."""
    flags = span.flags if span is not None else ()
    return {one if isinstance(one, str) else one.name: None if isinstance(one, str) else one for one in flags}


def _owner(flag: str, view: ReleaseView) -> str | None:
    """Return the setting that *flag* writes in a release, None when none does."""
    return next((name for name, span in view.spans.items() if flag in _names(span)), None)


def _translated(
    settings: Mapping[str, Json], spelled: Mapping[str, str | None], old: ReleaseView, new: ReleaseView
) -> Iterator[tuple[str, Json]]:
    """Yield what to ask the other release for: a setting under its name there, nothing for one that is gone."""
    for name, value in settings.items():
        successor = _successor(name, spelled, old, new)
        if successor is not None:
            yield successor, value


def _successor(name: str, spelled: Mapping[str, str | None], old: ReleaseView, new: ReleaseView) -> str | None:
    """Return what a setting is called in the other release: the same, or the one that takes its flags now."""
    if name in new.spans:
        return name
    used = [flag for flag, setting in spelled.items() if setting == name]
    owners = (_owner(flag, new) for flag in (*used, *_names(old.spans.get(name))))
    return next((one for one in owners if one is not None), None)


def _flag_changes(
    settings: Mapping[str, Json], spelled: Mapping[str, str | None], old: ReleaseView, new: ReleaseView
) -> Iterator[FlagChange]:
    loose_old, loose_new = _loose(old), _loose(new)
    for flag, setting in spelled.items():
        value = settings.get(setting) if setting is not None else None
        found = _flag_change(flag, setting, value, loose_old, loose_new, old, new)
        if found is not None:
            yield found
    flagged = set(spelled.values())
    for name in settings:
        successor = _successor(name, spelled, old, new)
        if name not in flagged and successor != name:
            yield FlagChange(name, name, "renamed" if successor else "gone", successor)


def _loose(view: ReleaseView) -> dict[str, LooseFlag]:
    found = ((name, next((one for one in spans if one.holds(view.release)), None))
             for name, spans in view.engine.loose_flags.items())  # fmt: skip
    return {name: one for name, one in found if one is not None}


def _flag_change(
    flag: str, setting: str | None, value: Json, loose_old: Mapping[str, LooseFlag],
    loose_new: Mapping[str, LooseFlag], old: ReleaseView, new: ReleaseView,
) -> FlagChange | None:  # fmt: skip
    """Return what became of one flag, None when nothing did."""
    if flag in loose_new:
        same = flag in loose_old and loose_old[flag].effect == loose_new[flag].effect
        kind: Literal["gone", "ignored"] = "gone" if loose_new[flag].effect == "refused" else "ignored"
        return None if same else FlagChange(flag, setting, kind, loose_new[flag].says)
    owner = _owner(flag, new)
    if owner is not None:
        special = _names(new.spans[owner])[flag]
        before = _names(old.spans.get(setting or "")).get(flag)
        fresh = special is not None and special.replaced_by is not None and not (before and before.replaced_by)
        return FlagChange(flag, setting, "deprecated", special.replaced_by) if fresh and special else None
    advice = _names(old.spans.get(setting or "")).get(flag)
    says = advice.replaced_by if advice is not None else loose_old[flag].says if flag in loose_old else None
    successor = _successor(setting, {flag: setting}, old, new) if setting is not None else None
    if successor is None:
        return FlagChange(flag, setting, "gone", says)
    said = new.code.format_command({successor: value}, new.spans, ())
    return FlagChange(flag, setting, "renamed" if said else "unneeded", said or None)


# Settings -------------------------------------------------------------------------------------------------------------


def _turns(
    before: Resolution, after: Resolution, old: ReleaseView, new: ReleaseView
) -> tuple[tuple[Turn, ...], tuple[str, ...]]:
    """Return the settings that come out differently, and those that cannot be compared."""
    turns: list[Turn] = []
    undecided: list[str] = []
    for name in sorted(old.defaults.keys() | new.defaults.keys()):
        was, now = before.settings.get(name), after.settings.get(name)
        if any(one is not None and one.origin == "unknown" for one in (was, now)):
            undecided.append(name)
        else:
            turns += _turn(name, was, now, old, new)
    return tuple(turns), tuple(undecided)


def _turn(
    name: str, was: SettingValue | None, now: SettingValue | None, old: ReleaseView, new: ReleaseView
) -> Iterator[Turn]:
    before = was.value if was is not None else old.defaults.get(name)
    after = now.value if now is not None else new.defaults.get(name)
    if name not in old.defaults:
        if after != new.defaults[name]:
            yield Turn(name, "new", None, after, None, _writer(now))
    elif name not in new.defaults:
        if before != old.defaults[name]:
            yield Turn(name, "gone", before, None, _writer(was), None)
    elif isinstance(before, dict) and isinstance(after, dict):
        for path in sorted(_leaves(before).keys() | _leaves(after).keys()):
            one, other = _leaves(before).get(path), _leaves(after).get(path)
            if one != other:
                yield Turn(f"{name}.{path}", "changed", one, other, _writer(was, path), _writer(now, path))
    elif before != after:
        yield Turn(name, "changed", before, after, _writer(was), _writer(now))


def _writer(setting: SettingValue | None, path: str = "") -> str | None:
    if setting is None:
        return None
    return (setting.leaves or {}).get(path) or setting.rule


def _leaves(value: Json, path: str = "") -> dict[str, Json]:
    if isinstance(value, dict) and value:
        return {key: leaf for name, inner in value.items() for key, leaf in _leaves(inner, f"{path}{name}.").items()}
    return {path.removesuffix("."): value}
