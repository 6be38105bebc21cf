"""`capctl siblings`: registrations that look forgotten, the likeliest first."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from archcap.cli import FOUND, OK
from archcap.cli.command import Parser, Session
from archcap.cli.console import Console
from archcap.cli.launch import named_view
from archcap.cli.numbers import count
from archcap.cli.reports import Place, Report, annotation, sarif
from archcap.errors import RequestError
from archcap.model.base import Json
from archcap.model.codec import dumps
from archcap.siblings import Facts, Seen, Suspect, suspects
from archcap.siblings.facts import facts_of_registry
from archcap.siblings.words import KINDS

SUMMARY = "find registrations that look forgotten"
_SHOWN = 3


def configure(parser: Parser) -> None:
    """Declare the options."""
    parser.add_argument("--engine", metavar="NAME[@RELEASE]", help="as in sglang@0.5.18; else the newest release")
    source = parser.add_argument_group("source")
    source.add_argument("--source", "--engine-source", metavar="PATH", type=Path, dest="engine_source",
                        help="look at this source: findings have lines")  # fmt: skip
    source.add_argument("--since", metavar="COMMIT", help="only what came with the changes since this commit")
    source.add_argument("--prefix", metavar="FOLDER", default="", help="where the package lies in its repository")
    parser.add_argument("--ignore-accepted", action="store_true", help="show what people have accepted as well")
    parser.add_argument("--learn", action="store_true",
                        help="weigh suspicions anew by what the registry's releases closed")  # fmt: skip
    parser.add_argument("--first", metavar="N", type=count, help="only the N likeliest")
    parser.add_argument("--format", choices=("text", "json", "sarif", "github", "markdown"), default="text")


def run(args: argparse.Namespace, session: Session) -> int:
    """Find, order and write."""
    if args.learn:
        from archcap.cli.siblings_learn import run_learn

        return run_learn((args.engine or session.default_engine).partition("@")[0], session)
    if args.since is not None and args.engine_source is None:
        raise RequestError("usage", "--since wants a source", "give --source with the checkout")
    engine, facts, before = _facts(args, session)
    registry, vocabulary = session.snapshot.registry_of(engine), session.snapshot.vocabulary
    found: Sequence[Suspect] = suspects(facts, registry, vocabulary, not args.ignore_accepted, before)
    found = found[: args.first] if args.first is not None else found
    _write(found, facts, args, session)
    # Annotations and SARIF are for a check that is to fail; a list for people is no verdict on anything they did.
    return FOUND if found and (args.since is not None or args.format in ("sarif", "github")) else OK


def _facts(args: argparse.Namespace, session: Session) -> tuple[str, Facts, Facts | None]:
    """Return the facts that are looked at, and those before the changes under review."""
    if args.engine_source is None:
        view = named_view(args.engine or session.default_engine, session)
        engine = view.engine.engine
        folder = _models_folder(engine, session)
        return engine, facts_of_registry(session.snapshot.registry_of(engine), session.snapshot.vocabulary,
                                         view.release, folder), None  # fmt: skip
    from archcap.cli.sources import config_of, registry_release, scanned, scanned_commit
    from archcap.scanner.siblings import facts_of_scan

    engine, _, asked = (args.engine or session.default_engine).partition("@")
    config = config_of(engine, session)
    scan = scanned(args.engine_source, config, session)
    release = registry_release(scan, asked or None, session)
    registry, vocabulary = session.snapshot.registry_of(engine), session.snapshot.vocabulary
    for one in scan.unknown:
        session.console.say(f"capctl: {one.file}:{one.line} cannot be read, and is not compared: {one.reason}")
    before = None
    if args.since is not None:
        old = scanned_commit(args.engine_source, args.since, config, session)
        before = facts_of_scan(old, registry, vocabulary, release)
    return engine, facts_of_scan(scan, registry, vocabulary, release), before


def _models_folder(engine: str, session: Session) -> str:
    from archcap.cli.sources import config_of

    try:
        return config_of(engine, session).models_folder
    except RequestError:
        return ""


def _write(found: Sequence[Suspect], facts: Facts, args: argparse.Namespace, session: Session) -> None:
    console = session.console
    prefix = f"{args.prefix.rstrip('/')}/" if args.prefix else ""
    if args.format == "json":
        console.write_bytes(dumps([_object(one, prefix) for one in found], indent=2))
    elif args.format == "markdown":
        source = " --source SOURCE" if args.engine_source is not None else ""
        console.write(markdown(found, facts, session.snapshot.engine(facts.engine).title, source))
    elif args.format == "sarif":
        rules = {f"siblings/{kind}": text for kind, text in KINDS.items()}
        console.write_bytes(dumps(sarif([_report(one) for one in found], rules, prefix), indent=2))
    elif args.format == "github":
        for one in found:
            console.write(annotation(_report(one), prefix))
    else:
        for one in found:
            console.write(_text(one, prefix, console))
        number = f"{len(found)} suspicion{'' if len(found) == 1 else 's'}"
        console.say(f"capctl: {number} about {facts.engine} {facts.release}")


def _text(one: Suspect, prefix: str, console: Console) -> str:
    lines = [console.wrap(one.text, f"{one.rank:>3}. ", "     "), console.wrap(one.consequence, "     ")]
    for word, side in (("lacks", one.lacking), ("has", one.having)):
        for name, seen in side[:_SHOWN]:
            if seen.file:
                lines.append(f"     {word:<5} {_place(seen, prefix)} {name}")
    lines.append(console.wrap(one.patch, "     → ", "       "))
    return "\n".join(lines) + "\n"


def _place(seen: Seen, prefix: str) -> str:
    return f"{prefix}{seen.file}" + (f":{seen.line}" if seen.line else "")


def _object(one: Suspect, prefix: str) -> Json:
    return {
        "rank": one.rank,
        "score": one.score,
        "kind": one.kind,
        "what": one.what,
        "shared": one.shared,
        "lacking": [_side(name, seen, prefix) for name, seen in one.lacking],
        "having": [_side(name, seen, prefix) for name, seen in one.having],
        "message": one.text,
        "consequence": one.consequence,
        "patch": one.patch,
        "key": one.key,
    }


def _side(name: str, seen: Seen, prefix: str) -> Json:
    return {"name": name, "file": f"{prefix}{seen.file}" if seen.file else None, "line": seen.line}


def _report(one: Suspect) -> Report:
    places = [Place(seen.file, seen.line or 1, f"{name} lacks it") for name, seen in one.lacking if seen.file]
    places += [Place(seen.file, seen.line or 1, f"{name} has it") for name, seen in one.having[:_SHOWN] if seen.file]
    first = places[0] if places else Place("", 1)
    text = f"{one.text} {one.consequence} {one.patch}"
    return Report(f"siblings/{one.kind}", "warning", text, Place(first.file, first.line), tuple(places[1:]), one.key)


def markdown(found: Sequence[Suspect], facts: Facts, title: str, source: str = "") -> str:
    """Return suspicions as a page; *source* is the option that was given for one."""
    lines = [f"# {title} {facts.release}: registrations that look forgotten", ""]
    options = f"{source} --first {len(found)} --format markdown"
    command = f"capctl siblings --engine {facts.engine}@{facts.release}{options}"
    lines += [f"Written by `{command}`. The likeliest stand first; what people have judged right is left out.", ""]
    for one in found:
        lines += [f"## {one.rank}. {_heading(one)}", "", one.text, "", f"- **What happens:** {one.consequence}"]
        lines.append(f"- **What to do:** {one.patch}")
        for word, side, most in (("Lacks", one.lacking, _SHOWN * 10), ("Has", one.having, _SHOWN)):
            if side and side[0][1].file:
                lines.append(f"- **{word} it:** " + "; ".join(_cell(name, seen) for name, seen in side[:most]))
        lines.append("")
    return "\n".join(lines).rstrip()


def _heading(one: Suspect) -> str:
    first = one.lacking[0][0]
    more = f" and {len(one.lacking) - 1} more" if len(one.lacking) > 1 else ""
    return f"{first}{more}: {one.what}"


def _cell(name: str, seen: Seen) -> str:
    return f"{name} in {_place(seen, '')}"
