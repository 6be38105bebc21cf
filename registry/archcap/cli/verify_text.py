"""Lays out the result of a verification for people."""

from __future__ import annotations

from archcap.cli.console import Console, table
from archcap.verify.agreement import Agreement, Difference, Example, SettingShare, Share
from archcap.verify.compare import leaves_of, short
from archcap.verify.report import Verification
from archcap.verify.reproduce import command_of

_WORST = 8
_ARCHITECTURES = 3
_LEAVES = 3
_TITLES = {
    "unanswered": "we have no answer: {step}",
    "missed": "only the engine refuses, in {step}",
    "invented": "only we refuse, by {step}",
    "elsewhere": "both refuse, the engine in {step}",
    "setting": "{setting}, decided by {step}",
}


def render(verification: Verification, show: int, console: Console) -> str:
    """Return the figures, what differs and what was not run, as text."""
    lines = [_head(verification, console), *_figures(verification.agreement)]
    lines += _worst(verification.agreement)
    lines += _differences(verification.agreement, show, console)
    lines += _not_run(verification)
    lines += [f"note: {note}" for note in verification.notes]
    return "\n".join(lines)


def _head(verification: Verification, console: Console) -> str:
    agreement = verification.agreement
    releases = ", ".join(sorted(verification.releases))
    again = f", {verification.reused} answered in earlier runs" if verification.reused else ""
    name = console.paint(f"{verification.engine} {releases}".strip(), "bold")
    return f"{name}: {_many(agreement.launches, 'launch')} on {', '.join(sorted(verification.platforms))}{again}"


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}es"


def _figures(agreement: Agreement) -> list[str]:
    rows = [
        _row("verdict", agreement.verdict, "launches refused by both or by neither"),
        _row("recall", agreement.recall, "launches the engine refuses, we refuse too"),
        _row("source", agreement.source, "of them, by the function that raised"),
        _row("launches", agreement.accepted, "accepted launches with every setting alike"),
    ]
    worst = agreement.worst
    if worst is not None:
        rows.append(_row("worst", worst.share, f"launches with {worst.name} alike, of all that change it"))
    return table(rows, "  ")


def _row(name: str, share: Share, meaning: str) -> tuple[str, str, str, str]:
    return name, f"{share.percent:6.2f} %", f"{share.right} of {share.seen}", meaning


def _worst(agreement: Agreement) -> list[str]:
    below = [one for one in agreement.settings if one.share.right < one.share.seen]
    if not below:
        return []
    more = f" and {len(below) - _WORST} more" if len(below) > _WORST else ""
    return ["", "settings that differ: " + ", ".join(_share(one) for one in below[:_WORST]) + more]


def _share(one: SettingShare) -> str:
    return f"{one.name} {one.share.percent:.1f} % of {one.share.seen}"


def _differences(agreement: Agreement, show: int, console: Console) -> list[str]:
    lines: list[str] = []
    differences = agreement.differences
    for one in differences[:show]:
        lines += ["", *_difference(one, console)]
    if len(differences) > show:
        lines += ["", f"{len(differences) - show} more differences; --show N prints more, --report FILE writes all"]
    return lines


def _difference(one: Difference, console: Console) -> list[str]:
    title = _TITLES[one.kind].format(step=one.step, setting=one.setting)
    lines = [console.paint(f"{title} ({_many(one.launches, 'launch')})", "bold")]
    if one.ours:
        lines.append("  our rules: " + ", ".join(f"{rule} ({count})" for rule, count in one.ours.most_common(3)))
    for architecture, count in one.architectures.most_common(_ARCHITECTURES):
        lines.append(f"  {architecture} ({count}): {_values(one, one.examples[architecture])}")
        lines.append(f"    {_again(one.examples[architecture], one.setting)}")
    more = len(one.architectures) - _ARCHITECTURES
    return [*lines, f"  and {more} more architectures"] if more > 0 else lines


def _values(one: Difference, example: Example) -> str:
    if one.kind != "setting":
        return f"engine {example.wanted or 'accepts'}, ours {example.got or 'accepts'}"
    leaves = list(leaves_of(example.wanted, example.got))
    shown = [f"{path + ' ' if path else ''}engine {short(a)}, ours {short(b)}" for path, a, b in leaves[:_LEAVES]]
    return "; ".join(shown) + (f"; {len(leaves) - _LEAVES} more leaves" if len(leaves) > _LEAVES else "")


def _again(example: Example, setting: str | None) -> str:
    command = command_of(example.launch, setting)
    return command if command is not None else f"launch {example.launch.id}; --report FILE writes its request"


def _not_run(verification: Verification) -> list[str]:
    lines: list[str] = []
    reasons: dict[str, list[str]] = {}
    for one in verification.not_run:
        reasons.setdefault(one.why, []).append(one.launch.id)
    for why, ids in sorted(reasons.items(), key=lambda pair: -len(pair[1])):
        lines.append(f"{_many(len(ids), 'launch')} not run, {why}: {', '.join(ids[:3])}{', …' if len(ids) > 3 else ''}")
    return ["", *lines] if lines else []
