"""`capctl show`: everything known of one thing, as a release has it or as the registry says it."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import asdict

from archcap.cli import OK
from archcap.cli.catalogue import SHOWN, record_of
from archcap.cli.command import Parser, Session
from archcap.cli.console import Console, table
from archcap.cli.launch import named_view
from archcap.cli.text import value_text
from archcap.model.architectures import Architecture, NameList
from archcap.model.base import Json, JsonObject, Record
from archcap.model.codec import dumps
from archcap.model.engine import Setting
from archcap.model.releases import Interval
from archcap.model.rules import Step
from archcap.model.vocabulary import Capability
from archcap.rules.browse import Place, setting_use, step_use
from archcap.snapshot import ReleaseView

SUMMARY = "show one architecture, capability, setting, step, known issue, list, release or hardware"


def configure(parser: Parser) -> None:
    """Declare the options."""
    parser.add_argument("kind", choices=SHOWN, metavar="KIND", help=", ".join(SHOWN))
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("--engine", metavar="NAME[@RELEASE]", help="as in sglang@0.5.18; else the newest release")
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace, session: Session) -> int:
    """Write what is known."""
    view = named_view(args.engine or session.default_engine, session)
    found = record_of(args.kind, args.name, view, session.snapshot)
    if args.format == "json":
        session.console.write_bytes(dumps(_object(args.kind, args.name, found, view), indent=2))
    elif isinstance(found, Architecture):
        session.console.write(_architecture(args.name, found, view, session.console))
    elif isinstance(found, Capability):
        session.console.write(_capability(args.name, found, view, session.console))
    elif isinstance(found, NameList):
        session.console.write(_list(args.name, found, view, session.console))
    else:
        session.console.write(_data(args.kind, args.name, found, view) + _use(args.name, found, view))
    return OK


def _object(kind: str, name: str, found: Record, view: ReleaseView) -> JsonObject:
    """Return the record with what it amounts to in the release."""
    value: JsonObject = {"kind": kind, "name": name, "engine": view.engine.engine, "release": view.release}
    if isinstance(found, Architecture):
        always, conditional = view.capabilities_of(name)
        value |= {
            "family": view.family_of(name),
            "in_release": name in view.architectures,
            "capabilities": [*sorted(always)],
            "conditional": {**dict(conditional)},
        }
    elif isinstance(found, Capability):
        value |= {
            "architectures": [*sorted(view.capability_set(name))],
            "conditional": {**view.conditional_set(name)},
        }
    elif isinstance(found, Setting):
        use = setting_use(view.program, name)
        value |= {"written_by": _places(use.written_by), "read_by": _places(use.read_by)}
    elif isinstance(found, Step):
        done = step_use(view.program, name)
        value |= {"reads": [*done.reads], "writes": [*done.writes], "refuses": [*done.refuses]}
    value["record"] = found.model_dump(mode="json", by_alias=True)
    return value


def _places(places: Iterable[Place]) -> list[Json]:
    return [{**asdict(place), "when": [*place.when]} for place in places]


def _architecture(name: str, found: Architecture, view: ReleaseView, console: Console) -> str:
    facts = [
        ("family", view.family_of(name)), ("releases", ", ".join(map(_interval, found.releases))), ("role", found.role),
        ("module", found.module), ("wraps", found.wraps), ("body", found.body), ("profile", found.profile),
        ("note", found.note),
    ]  # fmt: skip
    lines = [console.paint(name, "bold"), *table([(key, value) for key, value in facts if value], "  "), ""]
    if name not in view.architectures:
        return "\n".join([*lines, f"{view.engine.title} {view.release} does not have it."])
    always, conditional = view.capabilities_of(name)
    lines += _supports(f"supports in {view.engine.engine} {view.release}", always, found, view, console)
    if conditional:
        lines += ["", console.paint("supports under a condition", "bold"), *table(conditional, "  ")]
    lacking = sorted(set(view.capabilities) - always - {capability for capability, _ in conditional})
    rows = [(capability, f"from {since}") for capability in lacking if (since := view.since(name, capability))]
    if rows:
        lines += ["", console.paint("supports in a later release", "bold"), *table(rows, "  ")]
    never = [capability for capability in lacking if capability not in dict(rows)]
    return "\n".join([*lines, "", console.paint("lacks", "bold"), console.wrap(", ".join(never) or "nothing", "  ")])


def _supports(
    title: str, always: Iterable[str], found: Architecture, view: ReleaseView, console: Console
) -> list[str]:
    rows = []
    for capability in sorted(always):
        since, words = _held(found, capability, view)
        title_and_words = "; ".join(word for word in (view.capabilities[capability].title, words) if word)
        rows.append((capability, since, title_and_words))
    return [console.paint(title, "bold"), *(table(rows, "  ") or ["  nothing"])]


def _held(found: Architecture, capability: str, view: ReleaseView) -> tuple[str, str]:
    """Return since when an architecture has a capability, and what else is to be said of it."""
    held = next(entry for entry in found.support[capability] if entry.holds(view.release))
    value = "" if held.value is True else value_text([*held.value] if isinstance(held.value, tuple) else held.value)
    words = [value, "" if held.state == "yes" else held.state, held.note or ""]
    return _interval(held), "; ".join(word for word in words if word)


def _list(name: str, found: NameList, view: ReleaseView, console: Console) -> str:
    here = view.lists[name]
    source = found.source if isinstance(found.source, str) else ", ".join(f"{r}: {s}" for r, s in found.source.items())
    rows = [
        ("" if holder in here else "not now", holder, ", ".join(map(_interval, stays)))
        for holder, stays in sorted(found.names.items())
    ]
    lines = [f"{console.paint(name, 'bold')}: {found.title or found.kind}", f"  source: {source}", ""]
    title = f"{len(here)} names in {view.engine.engine} {view.release}"
    return "\n".join([*lines, console.paint(title, "bold"), *table([row[1:] + row[:1] for row in rows], "  ")])


def _capability(name: str, found: Capability, view: ReleaseView, console: Console) -> str:
    lines = [
        f"{console.paint(name, 'bold')}: {found.title}",
        console.wrap(found.meaning, "  "),
        f"  absence: {found.absence.effect} at {found.absence.stage}"
        + (f" ({found.absence.note})" if found.absence.note else ""),
        "",
    ]
    holders, conditional = sorted(view.capability_set(name)), view.conditional_set(name)
    rows = [(holder, *_held(view.architectures[holder], name, view)) for holder in holders]
    title = f"{len(holders)} of {len(view.architectures)} architectures in {view.engine.engine} {view.release}"
    lines += [console.paint(title, "bold"), *table(rows, "  ")]
    if conditional:
        lines += ["", console.paint("under a condition", "bold"), *table(sorted(conditional.items()), "  ")]
    return "\n".join(lines)


def _data(kind: str, name: str, found: Record, view: ReleaseView) -> str:
    """Return the record as the registry's YAML would say it."""
    import yaml

    value = found.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    text: str = yaml.safe_dump({name: value}, sort_keys=False, allow_unicode=True, width=110, default_flow_style=None)
    of = "" if kind in ("hardware", "checkpoint") else f" of {view.engine.engine}"
    return f"# {kind}{of}\n{text.rstrip()}"


def _use(name: str, found: Record, view: ReleaseView) -> str:
    """Return who writes and reads a setting, or what a step reads and writes, in this release."""
    of = f"in {view.engine.engine} {view.release}"
    if isinstance(found, Setting):
        use = setting_use(view.program, name)
        return "".join(_steps(f"written {of} by", use.written_by) + _steps(f"read {of} by", use.read_by))
    if isinstance(found, Step):
        done = step_use(view.program, name)
        rows = (("reads", done.reads), ("writes", done.writes), ("refuses", done.refuses))
        return "".join(f"\n\n{word} {of}\n  " + "\n  ".join(names or ("nothing",)) for word, names in rows)
    return ""


def _steps(title: str, places: Iterable[Place]) -> list[str]:
    """Return the statements of each step with the condition nearest to them, steps in pipeline order."""
    rows = [(place.step, place.statement, place.when[-1] if place.when else "always") for place in places]
    return [f"\n\n{title}", *(f"\n{row}" for row in table(rows, "  ") or ["  nothing"])]


def _interval(span: Interval) -> str:
    if span.added is None and span.removed is None:
        return "always"
    since = f"from {span.added}" if span.added else "from the oldest"
    return since + (f" until before {span.removed}" if span.removed else "")
