"""Lays a resolution out for people: the verdict first, then why, then what would help; the same lines in a log.

Words come from the answer itself; only headings and verdicts are worded here. Golden files hold the layout.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from archcap.cli.console import Console, table
from archcap.model.base import Json
from archcap.model.resolution import Cause, Finding, Fix, Resolution, SettingValue
from archcap.resolver.knowledge import ReleaseView, SnapshotView

VERDICTS = {
    "ok": ("starts as asked", "green"),
    "adjusted": ("starts, but not with everything that was asked for", "yellow"),
    "unsafe": ("starts, and a known crash or wrong output follows", "magenta"),
    "refused": ("does not start", "red"),
    "unknown": ("cannot be decided with what is given", "cyan"),
}
_SEVERITIES = {"error": "red", "unsafe": "magenta", "silent": "yellow", "warning": "yellow", "info": "blue"}
_STAGES = {
    "parse": "when its command line is read",
    "resolve": "when its settings are resolved",
    "load": "while the checkpoint is loaded",
    "init": "after loading, before serving",
    "request": "while it serves",
}
_ORIGINS = {"user": "asked for", "config": "config", "hardware": "hardware", "default": "default", "env": "environment",
            "assumption": "assumed", "registry": "registry", "rule": "", "peer": "peer",
             "unknown": "unknown"}  # fmt: skip
_EVIDENCE = {"source": "read in the source", "verified": "verified by running it", "report": "reported"}
_LONGEST_VALUE, _WIDEST_CELL = 60, 32


def render(answer: Resolution, view: ReleaseView, snapshot: SnapshotView, console: Console) -> str:
    """Return the answer as text.

    Args:
        answer: what was resolved.
        view: the release that answered; its flags spell the fixes.
        snapshot: for the flags of other releases among the fixes.
        console: its width and colour.
    """
    blocks = [
        _head(answer, console),
        *(finding_text(finding, console) for finding in answer.findings),
        _fixes(answer, view, snapshot, console),
        _settings(answer, console),
        _undetermined(answer, console),
        _listed("assumed", answer.assumptions, console),
        _plan(answer.plan, console),
        _peer(answer, console),
        _listed("environment the engine sets", [f"{name}={value}" for name, value in answer.env.items()], console),
        _listed("notes", answer.notes, console),
        _command(answer, console),
    ]
    return "\n\n".join(block for block in blocks if block)


def _peer(answer: Resolution, console: Console) -> str:
    """Lay out the other server of a pair: its verdict, what is said of it, and its command."""
    peer = answer.peer
    if peer is None:
        return ""
    words, colour = VERDICTS[peer.verdict]
    lines = [f"{console.paint('the peer', 'bold')}: {console.paint(peer.verdict, colour)}, {words}"]
    parts = [*(finding_text(one, console) for one in peer.findings), f"  {peer.command}"]
    return "\n".join([*lines, *parts])


def value_text(value: Json) -> str:
    """Return a value in one short phrase, spelled as `--set` would take it."""
    if value is None:
        return "unset"
    text = value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"


def chain(causes: Sequence[Cause], console: Console, indent: str) -> Iterable[str]:
    """Yield the causes as lines, each under what it stands behind, with where it comes from."""
    for cause in causes:
        origin = cause.rule if cause.origin == "rule" and cause.rule else _ORIGINS[cause.origin]
        lead = f"{indent}{'  ' * cause.depth}← "
        tail = f"  ({origin})" if origin else ""
        yield console.wrap(cause.text + tail, lead, " " * len(lead))


def _head(answer: Resolution, console: Console) -> str:
    words, colour = VERDICTS[answer.verdict]
    what = answer.architecture or "the launch"
    lead = console.paint(answer.verdict, "bold", colour)
    near = " (the nearest release known)" if answer.release_match == "nearest" else ""
    return f"{lead}: {what} on {answer.engine} {answer.release}{near} {words}"


def finding_text(finding: Finding, console: Console) -> str:
    """Return one finding with its causes and its source."""
    severity = console.paint(finding.severity, "bold", _SEVERITIES[finding.severity])
    lines = [f"{severity} {_STAGES[finding.stage]}: {console.paint(finding.rule, 'bold')}"]
    lines.append(console.wrap(finding.message, "  "))
    lines += chain(finding.causes, console, "  ")
    if finding.source:
        lines.append(console.paint(f"  source: {finding.source} ({_EVIDENCE[finding.evidence]})", "dim"))
    if finding.workaround:
        lines.append(console.wrap(f"workaround: {finding.workaround}", "  "))
    if finding.reference:
        lines.append(console.paint(f"  reported: {finding.reference}", "dim"))
    return "\n".join(lines)


def _fixes(answer: Resolution, view: ReleaseView, snapshot: SnapshotView, console: Console) -> str:
    if not answer.fixes:
        return ""
    rows = []
    for number, fix in enumerate(answer.fixes, 1):
        gives_up = f"gives up {fix.gives_up}" if fix.gives_up else ""
        rows.append([f"{number}.", fix_text(fix, answer, view, snapshot), fix.verdict, gives_up])
    return "\n".join([console.paint("fixes, smallest first", "bold"), *table(rows, "  ")])


def fix_text(fix: Fix, answer: Resolution, view: ReleaseView, snapshot: SnapshotView) -> str:
    """Return a fix as what to write: flags to add or drop, and the release to take."""
    at = snapshot.release(answer.engine, fix.release) if fix.release else view
    parts = [f"release {fix.release}"] if fix.release else []
    asked = answer.settings if fix.changes or answer.peer is None else answer.peer.settings
    for name, value in (fix.changes or fix.peer_changes or {}).items():
        words = at.code.format_command({name: value}, at.spans, ())
        if words.strip().startswith("-"):
            parts.append(words)
        else:
            requested = asked.get(name)
            given = {name: requested.requested} if requested is not None else {}
            flag = at.code.format_command(given, at.spans, ()).split(" ")[0].split("=")[0] if given else ""
            parts.append(f"without {flag}" if flag.startswith("-") else f"{name}={value_text(value)}")
    where = "" if fix.peer_changes is None else " on both servers" if fix.changes else " on the peer"
    return " ".join(parts) + where


def _settings(answer: Resolution, console: Console) -> str:
    """Lay out the settings whose value is not what was asked for or the default; what the user gave comes first."""
    changed = [(name, one) for name, one in answer.settings.items() if _differs(one)]
    if not changed:
        return ""
    changed.sort(key=lambda pair: (pair[1].requested is None, pair[0]))
    rows = [("setting", "asked for", "default", "becomes", "by"), *(row for pair in changed for row in _rows(*pair))]
    lines = table(rows, "  ")
    return "\n".join([console.paint("settings the engine decides", "bold"), console.paint(lines[0], "dim"), *lines[1:]])


def _rows(name: str, one: SettingValue) -> Iterable[tuple[str, str, str, str, str]]:
    """Yield a setting's row; of a structured one a row per leaf that changed."""
    if isinstance(one.value, dict) and isinstance(one.default, dict):
        before, asked = flat(one.default), flat(one.requested)
        for path, value in flat(one.value).items():
            if value != asked.get(path, before.get(path)):
                rule = (one.leaves or {}).get(path) or one.rule or one.origin
                yield f"{name}.{path}", _cell(asked.get(path), "–"), _cell(before.get(path)), _cell(value), rule
        return
    becomes = "unknown" if one.origin == "unknown" else _cell(one.value)
    yield name, _cell(one.requested, "–"), _cell(one.default), becomes, one.rule or one.origin


def _cell(value: Json, unset: str = "unset") -> str:
    text = unset if value is None else value_text(value)
    return text if len(text) <= _WIDEST_CELL else text[: _WIDEST_CELL - 1] + "…"


def flat(value: Json, path: str = "") -> dict[str, Json]:
    """Return the leaves of a nested mapping by dotted path; {} for any other value."""
    if not isinstance(value, dict):
        return {path.removesuffix("."): value} if path else {}
    return {key: leaf for name, inner in value.items() for key, leaf in flat(inner, f"{path}{name}.").items()}


def _differs(setting: SettingValue) -> bool:
    before = setting.requested if setting.requested is not None else setting.default
    return setting.origin in ("rule", "unknown") and (setting.origin == "unknown" or setting.value != before)


def _undetermined(answer: Resolution, console: Console) -> str:
    if not answer.undetermined:
        return ""
    rows = [[one.rule, "needs " + ", ".join(one.needs)] for one in answer.undetermined]
    return "\n".join([console.paint("could not be decided", "bold"), *table(rows, "  ")])


def _plan(plan: Mapping[str, Json], console: Console) -> str:
    if not plan:
        return ""
    lines = [console.paint("plan", "bold")]
    for name, value in plan.items():
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            lines.append(f"  {name.replace('_', ' ')}")
            lines += table([_pairs(item) for item in value if isinstance(item, dict)], "    ")
        elif isinstance(value, dict):
            lines.append("  " + "  ".join([name.replace("_", " "), *_pairs(value)]))
        else:
            lines.append(f"  {name.replace('_', ' ')} {value_text(value)}")
    return "\n".join(lines)


def _pairs(item: Mapping[str, Json]) -> list[str]:
    return [f"{key.replace('_', ' ')} {_range(value)}" for key, value in item.items()]


def _range(value: Json) -> str:
    """Return lists of layer numbers as runs, as in `0-3, 7`."""
    if not isinstance(value, list) or not value:
        return value_text(value)
    numbers = [item for item in value if isinstance(item, int) and not isinstance(item, bool)]
    if len(numbers) != len(value) or numbers != sorted(set(numbers)):
        return value_text(value)
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def _listed(title: str, items: Sequence[str], console: Console) -> str:
    if not items:
        return ""
    return "\n".join([console.paint(title, "bold"), *(console.wrap(item, "  ", "    ") for item in items)])


def _command(answer: Resolution, console: Console) -> str:
    lines = [console.paint("launch command", "bold"), f"  {answer.command}"]
    return "\n".join([*lines, "", console.paint(f"snapshot {answer.snapshot}", "dim")])
