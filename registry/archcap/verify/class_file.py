"""Makes `config_classes.yaml` from what was found out of the classes of each release.

    python -m archcap.verify.class_file ask --engine sglang@0.5.23 --python FILE [--engine-source DIR]
                                            [--extra-path DIR]... --found FILE
    python -m archcap.verify.class_file write --found FILE [--out FILE]
    python -m archcap.verify.class_file check --engine sglang@0.5.23 --python FILE [--engine-source DIR]
                                              [--extra-path DIR]... [--count N] [--seed S] [TYPE...]

`ask` adds one release to the file of findings; a class whose modules are the same as in a release before is not asked
again. `write` makes the registry's file of them. `check` compares what the registry says with the classes, on random
configurations. docs/verify.md describes all three.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import yaml

from archcap.errors import ArchcapError
from archcap.model.base import Json, JsonObject
from archcap.model.config_classes import ConfigClass
from archcap.resolver.complete import Completion, complete
from archcap.resolver.formulas import formula
from archcap.snapshot import Snapshot, store
from archcap.snapshot.files import write_atomically
from archcap.verify.class_check import Tally, check, lines
from archcap.verify.class_levels import across
from archcap.verify.classes import Ask, work_out
from archcap.verify.devices import machine_of
from archcap.verify.engine_process import EngineProcess, Environment
from archcap.verify.sparse import counts

Findings = dict[str, dict[str, JsonObject]]
"""`classes`: what a class does, by the digest of its source and its type; `releases`: the digest of every type."""
_HEAD = """\
# What the configuration classes of each release make of a config.json, found out by asking them (docs/verify.md).
# Generated; do not edit. Formulas: registry/archcap/resolver/formulas.py.
"""
_GPU = "h100"
_OUT = Path("registry/engines/sglang/config_classes.yaml")
_WIDTH = 160
_NOTES = ("open", "none", "bare", "across")
"""What is found besides what a class does."""
_ABSENT = "no value at all"


def ask(process: EngineProcess, release: str, architectures: frozenset[str], found: Findings) -> Iterator[str]:
    """Find out what the classes of one release do, and yield a line for each that is new."""
    types = process.classes({})["types"]
    assert isinstance(types, dict)
    waiting = _used(process, architectures)
    digests: JsonObject = {}
    while waiting:
        kind = waiting.pop(0)
        if kind in digests or (kind not in types and "." not in kind):
            continue
        described = process.classes({"type": kind, "configs": []})
        digest = f"{described['source']} {kind} {json.dumps(described['levels'])}"
        digests[kind] = digest
        if digest not in found["classes"]:
            found["classes"][digest] = _found_out(process, kind, described)
            yield f"{kind}: {_summary(found['classes'][digest])}"
        levels = found["classes"][digest].get("levels")
        waiting += list(levels.values()) if isinstance(levels, dict) else []  # type: ignore[arg-type]
    yield from _across(process, digests, found)
    found["releases"][release] = digests


def _across(process: EngineProcess, digests: JsonObject, found: Findings) -> Iterator[str]:
    """Find out what the classes of one release do across their levels, and yield a line for each that does anything."""
    classes = {kind: found["classes"][str(digest)] for kind, digest in digests.items()}
    own = {kind: Completion([_record(said)]) for kind, said in classes.items() if not said.get("none")}
    whole = {kind: _record(_with_levels(said, own)) for kind, said in classes.items() if not said.get("none")}
    known = {kind: Completion([one]) for kind, one in whole.items()}
    for kind, one in whole.items():
        if one.levels and "across" not in classes[kind]:
            made = across(kind, one, known.get, asker(process, kind))
            said: JsonObject = made.model_dump(mode="json", exclude_defaults=True)
            classes[kind]["across"] = said
            if said:
                yield f"{kind}, across its levels: {json.dumps(said)}"


def _used(process: EngineProcess, architectures: frozenset[str]) -> list[str]:
    """Return the types that an architecture of the release uses, and those the engine has a class of its own for."""
    types = process.classes({})["types"]
    assert isinstance(types, dict)
    return sorted(
        kind for kind, names in types.items() if not names or architectures.intersection(map(str, _list(names)))
    )


def asker(process: EngineProcess, kind: str) -> Ask:
    """Return the function that asks the real class of a type."""

    def asked(configs: Sequence[JsonObject]) -> list[JsonObject | None]:
        views = process.classes({"type": kind, "configs": list(configs)})["views"]
        return [_fields(one) for one in _list(views)]

    return asked


def _found_out(process: EngineProcess, kind: str, described: JsonObject) -> JsonObject:
    out = work_out(kind, described, asker(process, kind))
    if out is None:
        return {"none": True}
    said = out.config_class.model_dump(mode="json", exclude_defaults=True)
    return {**said, "open": dict(out.open), "bare": _plain_levels(out.bare)}


def _plain_levels(bare: JsonObject) -> JsonObject:
    """Return levels without the fields that no launch depends on, and without their own levels."""
    return {
        name: {field: value for field, value in level.items() if counts(field) and not _is_level(value)}
        for name, level in bare.items()
        if isinstance(level, dict)
    }


def _is_level(value: Json) -> bool:
    return isinstance(value, dict) and "model_type" in value


def _fields(view: Json) -> JsonObject | None:
    fields = view.get("fields") if isinstance(view, dict) else None
    return fields if isinstance(fields, dict) else None


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _summary(found: JsonObject) -> str:
    open_fields = found.get("open")
    if found.get("none"):
        return "cannot be made out of nothing"
    return f"open: {', '.join(open_fields)}" if isinstance(open_fields, dict) and open_fields else "all fields"


def merged(found: Findings, releases: Sequence[str]) -> dict[str, list[ConfigClass]]:
    """Return what the class of every type does: in all releases that have it first, then what only some of them do.

    Args:
        found: the findings.
        releases: those the registry knows, in order; what holds in the oldest has always held.
    """
    held: dict[str, dict[tuple[str, str, str], list[int]]] = {}
    for at, release in enumerate(releases):
        digests = found["releases"].get(release, {})
        classes = {kind: found["classes"][str(digest)] for kind, digest in digests.items()}
        known = {kind: Completion([_record(said)]) for kind, said in classes.items() if not said.get("none")}
        for kind, said in classes.items():
            for statement in _statements(_with_across(_with_levels(said, known))):
                held.setdefault(kind, {}).setdefault(statement, []).append(at)
    bounds = [None, *releases[1:], None]
    return {kind: list(_parts(statements, bounds)) for kind, statements in held.items()}


def _record(said: JsonObject) -> ConfigClass:
    parts = {part: value for part, value in said.items() if part not in _NOTES}
    return ConfigClass.model_validate_json(json.dumps(parts))


def _with_levels(said: JsonObject, known: Mapping[str, Completion]) -> JsonObject:
    """Return a class with what it makes of a level that is not given, where that is not what the level's class does."""
    bare, levels, defaults = said.get("bare"), said.get("levels"), said.get("defaults")
    own: JsonObject = {}
    kinds = levels if isinstance(levels, dict) else {}
    for name, made in bare.items() if isinstance(bare, dict) else ():
        if isinstance(made, dict) and name in kinds and name != said.get("flat"):
            special = _special(str(kinds[name]), made, known)
            own |= {name: special} if special else {}
    filled = said.get("filled")
    parts = {**said, "defaults": {**(defaults if isinstance(defaults, dict) else {}), **own}} if own else dict(said)
    kept = [name for name in filled if name in own or name == said.get("flat")] if isinstance(filled, list) else []
    return {**parts, "filled": kept}


def _with_across(said: JsonObject) -> JsonObject:
    """Return a class with what it does across its levels."""
    beside = said.get("across")
    parts = dict(said)
    for part, more in beside.items() if isinstance(beside, dict) else ():
        held = parts.get(part)
        assert isinstance(more, dict)
        parts[part] = {**(held if isinstance(held, dict) else {}), **more}
    return parts


def _special(kind: str, made: JsonObject, known: Mapping[str, Completion]) -> JsonObject:
    """Return what has to be given to the class of a level for it to end as *made*."""
    special: JsonObject = {}
    for _ in range(3):  # a field that is given may change others
        usual = complete({**special, "model_type": kind}, known.get)
        told = {field: value for field, value in made.items() if field not in usual.unknown}
        other = {field: value for field, value in told.items() if usual.config.get(field, _ABSENT) != value}
        if not other:
            break
        special |= other
    return special


def _statements(known: JsonObject) -> Iterator[tuple[str, str, str]]:
    """Yield what is said of a class piece by piece: the part, the field, its value as JSON."""
    fixed = known.get("fixed")
    for part, said in known.items():
        if part in _NOTES:
            continue
        if isinstance(said, dict):
            for name, value in said.items():
                if counts(name) and not (part == "defaults" and isinstance(fixed, dict) and _overwritten(name, fixed)):
                    yield part, name, json.dumps(value)
        else:
            yield from ((part, "", json.dumps(value)) for value in (said if isinstance(said, list) else [said]))


def _overwritten(name: str, fixed: JsonObject) -> bool:
    """Return whether a formula gives the field's value whatever it was."""
    text = fixed.get(name)
    return isinstance(text, str) and name not in formula(text).reads


def _parts(
    statements: Mapping[tuple[str, str, str], Sequence[int]], bounds: Sequence[str | None]
) -> Iterator[ConfigClass]:
    spans: dict[tuple[int, int], list[tuple[str, str, str]]] = {}
    for statement, places in statements.items():
        for span in _runs(places):
            spans.setdefault(span, []).append(statement)
    for (first, last), said in sorted(spans.items(), key=lambda one: (one[0][0] - one[0][1], one[0][0])):
        ending = None if last == len(bounds) - 2 else bounds[last + 1]
        yield ConfigClass.model_validate_json(json.dumps({"added": bounds[first], "removed": ending, **_said(said)}))


def _runs(places: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and last of each run of releases."""
    start = before = places[0]
    for place in places[1:]:
        if place != before + 1:
            yield start, before
            start = place
        before = place
    yield start, before


def _said(statements: Sequence[tuple[str, str, str]]) -> JsonObject:
    parts: JsonObject = {}
    for part, name, text in statements:
        if name:
            held = parts.setdefault(part, {})
            assert isinstance(held, dict)
            held[name] = json.loads(text)
        elif part == "flat":
            parts[part] = json.loads(text)
        else:
            many = parts.setdefault(part, [])
            assert isinstance(many, list)
            many.append(json.loads(text))
    return parts


def text_of(spans: Mapping[str, Sequence[ConfigClass]]) -> str:
    """Return the file's text: one span after another, each part of it on lines of its own."""
    lines = (line for kind, found in sorted(spans.items()) for line in _lines(kind, found))
    return _HEAD + "config_classes:\n" + "".join(f"{line}\n" for line in lines)


def _plain(one: ConfigClass) -> JsonObject:
    dumped: JsonObject = one.model_dump(mode="json", exclude_defaults=True)
    return dumped


def _lines(kind: str, spans: Sequence[ConfigClass]) -> Iterator[str]:
    yield f"  {_flow(kind)}:"
    for one in spans:
        lead = "    - "
        for name, part in _plain(one).items() or [("defaults", {})]:
            yield from _wrapped(f"{lead}{name}: ", _flow(part))
            lead = "      "


def _flow(value: Json) -> str:
    """Return *value* as YAML on one line."""
    text = yaml.dump(value, Dumper=_Dumper, default_flow_style=True, width=1 << 20, sort_keys=False, allow_unicode=True)
    return text.removesuffix("...\n").strip()


def _wrapped(lead: str, text: str) -> Iterator[str]:
    """Yield *text* behind *lead* on lines that are not too long; it is broken between entries only."""
    indent = " " * 10
    line = lead
    for part in re.split(r"(?<=, )(?=[\w\"'{\[-])", text):
        if len(line) + len(part) > _WIDTH and line.strip() and line != lead:
            yield line.rstrip()
            line = indent
        line += part
    yield line.rstrip()


class _Dumper(yaml.SafeDumper):
    """Writes every value out: the registry takes no anchors."""

    def ignore_aliases(self, data: object) -> bool:
        """Refuse to share."""
        return True


def _open(path: Path) -> Findings:
    if path.exists():
        found: Findings = json.loads(path.read_text(encoding="utf-8"))
        return found
    return {"classes": {}, "releases": {}}


def process_of(args: argparse.Namespace, snapshot: Snapshot) -> EngineProcess:
    """Start the engine that the words of a command name.

    Raises:
        RequestError: as `EngineProcess` does.
    """
    environment = Environment(args.python.absolute(), args.engine_source, tuple(args.extra_path))
    machine = machine_of(_GPU, snapshot.hardware[_GPU], 1)
    return EngineProcess(args.engine.partition("@")[0], environment, machine, {})


def _ask(args: argparse.Namespace, snapshot: Snapshot) -> int:
    engine, _, release = args.engine.partition("@")
    found = _open(args.found)
    architectures = frozenset(snapshot.release(engine, release).architectures)
    with process_of(args, snapshot) as process:
        for line in ask(process, release, architectures, found):
            _say(line)
            write_atomically(args.found, json.dumps(found).encode())
    write_atomically(args.found, json.dumps(found).encode())
    return 0


def _check(args: argparse.Namespace, snapshot: Snapshot) -> int:
    engine, _, release = args.engine.partition("@")
    view = snapshot.release(engine, release)
    architectures = frozenset(view.architectures)
    total, classes = Tally(), 0
    with process_of(args, snapshot) as process:
        for kind in args.types or _used(process, architectures):
            tally = check(kind, asker(process, kind), view.config_class, args.count, args.seed)
            for line in lines(kind, tally):
                _say(line)
            total.add(tally)
            classes += 1
    known = total.equal + total.wrong.total()
    _say(f"{classes} classes, {total.configs} configurations: {total.equal} of {known} fields agree, {total.share:.3%}")
    return 0 if total.share >= args.least else 1


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _write(args: argparse.Namespace, snapshot: Snapshot) -> int:
    spans = merged(_open(args.found), snapshot.releases(args.engine))
    write_atomically(args.out, text_of(spans).encode())
    sys.stdout.write(f"{len(spans)} types in {args.out}\n")
    return 0


def parser() -> argparse.ArgumentParser:
    """Return what reads the words of a command."""
    said = (__doc__ or "").split("\n")[0]
    top = argparse.ArgumentParser(prog="python -m archcap.verify.class_file", description=said)
    commands = top.add_subparsers(required=True)
    asking = commands.add_parser("ask", help="find out what the classes of one release do")
    asking.set_defaults(run=_ask)
    checking = commands.add_parser("check", help="compare the registry with the classes")
    checking.add_argument("--count", type=int, default=200, metavar="N", help="configurations of each class")
    checking.add_argument("--seed", default="check", metavar="S")
    checking.add_argument("--least", type=float, default=0.995, metavar="SHARE", help="of fields that have to agree")
    checking.add_argument("types", nargs="*", metavar="TYPE")
    checking.set_defaults(run=_check)
    for one in (asking, checking):
        one.add_argument("--engine", required=True, metavar="NAME@RELEASE")
        one.add_argument("--python", required=True, type=Path, metavar="FILE")
        one.add_argument("--engine-source", type=Path, metavar="DIR")
        one.add_argument("--extra-path", type=Path, metavar="DIR", action="append", default=[])
    writing = commands.add_parser("write", help="make the registry's file")
    writing.add_argument("--engine", default="sglang", metavar="NAME")
    writing.add_argument("--out", type=Path, default=_OUT, metavar="FILE")
    writing.set_defaults(run=_write)
    for one in (asking, writing):
        one.add_argument("--found", required=True, type=Path, metavar="FILE", help="the findings")
    return top


def main(words: Sequence[str] | None = None) -> int:
    """Run one of the three."""
    args = parser().parse_args(words)
    try:
        code: int = args.run(args, store.default())
    except ArchcapError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return code


if __name__ == "__main__":
    sys.exit(main())
