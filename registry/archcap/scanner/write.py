"""Puts scanned facts into the registry's YAML: regenerates its files and keeps what people wrote in them.

People's are: comments, entries with a `source`, and every key the scanner does not produce. Files are replaced whole or
not at all. Knows the files' layout; knows no engine.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from archcap.model.base import Json, JsonObject
from archcap.scanner.config import ScanConfig
from archcap.scanner.emit import entry, flow, interval, scalar
from archcap.scanner.merge import merge, ordered
from archcap.scanner.scan_record import Scan
from archcap.scanner.settings import ScannedSettings
from archcap.scanner.settings_yaml import HAND_KEYS, loose_flags, settings_yaml
from archcap.snapshot.files import must_be_writable, write_atomically

OWN_KEYS = frozenset({"releases", "module", "role", "wraps", "body", "support"})
"""Keys of an architecture that the scanner writes; all others are people's."""

_LISTS_HEAD = "# Collections of names in the engine's source, kept up to date by `capctl scan --write`."

_KEY = re.compile(r"^(\s*)(- )?(\"(?:[^\"\\]|\\.)*\"|[^\s:#][^:#]*?(?::(?=\S)[^:#]*?)*)\s*:(?=\s|$)")


@dataclass
class Comments:
    """Comments of a YAML file by the path of the key they belong to: lines above it, and the end of its line."""

    head: list[str] = field(default_factory=list)
    above: dict[tuple[str, ...], list[str]] = field(default_factory=dict)
    beside: dict[tuple[str, ...], str] = field(default_factory=dict)
    tail: list[str] = field(default_factory=list)


def read_comments(text: str) -> Comments:
    """Return the comments of a file in the registry's own layout (block keys, one fact per line)."""
    out = Comments()
    held: list[str] = []
    path: list[tuple[int, str]] = []
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith("#"):
            held.append(stripped)
            continue
        match = _KEY.match(line)
        if match is None:
            continue
        indent = len(match.group(1))
        while path and path[-1][0] >= indent:
            path.pop()
        path.append((indent, match.group(3).strip('"')))
        key = tuple(name for _, name in path)
        if held:
            if not out.above and not out.head and len(path) == 1:
                out.head = held
            else:
                out.above[key] = held
            held = []
        beside = _trailing(line)
        if beside:
            out.beside[key] = beside
    out.tail = held
    return out


def _trailing(line: str) -> str | None:
    quote = ""
    for index, char in enumerate(line):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char == "#" and index and line[index - 1].isspace():
            return line[index:].strip()
    return None


def with_comments(lines: Sequence[str], comments: Comments) -> list[str]:
    """Return the lines of a regenerated file with the comments put back to their keys."""
    out: list[str] = list(comments.head)
    path: list[tuple[int, str]] = []
    for line in lines:
        match = _KEY.match(line)
        if match is None:
            out.append(line)
            continue
        indent = len(match.group(1))
        while path and path[-1][0] >= indent:
            path.pop()
        path.append((indent, match.group(3).strip('"')))
        key = tuple(name for _, name in path)
        out.extend(" " * indent + one for one in comments.above.get(key, ()))
        beside = comments.beside.get(key)
        out.append(f"{line}  {beside}" if beside else line)
    return [*out, *comments.tail]


def read_yaml(path: Path) -> JsonObject:
    """Return a file's content; an absent file is empty.

    Raises:
        OSError: it cannot be read.
        yaml.YAMLError: it is no YAML.
    """
    if not path.exists():
        return {}
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    return data if isinstance(data, dict) else {}


def write_texts(texts: Mapping[Path, str]) -> list[Path]:
    """Replace files' texts, each whole or not at all; where one of them is read-only, none is touched.

    A file whose lines end as on Windows keeps that; a text that says so itself is written as it is.

    Returns:
        The files that changed, in order.
    Raises:
        OSError: it names the file that cannot be written.
    """
    changed: dict[Path, bytes] = {}
    for path, text in sorted(texts.items()):
        data = text.encode()
        old = path.read_bytes() if path.exists() else None
        if old is not None and b"\r\n" in old and b"\r\n" not in data:
            data = data.replace(b"\n", b"\r\n")
        if data != old:
            changed[path] = data
    for path in changed:
        must_be_writable(path)
    for path, data in changed.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, data)
    return list(changed)


def family_text(family: str, scanned: Mapping[str, JsonObject], old: JsonObject, comments: Comments) -> str:
    """Return the text of one family's file.

    Args:
        family: its name.
        scanned: its architectures as the scanner finds them.
        old: the file's present content, whose hand-written parts stay.
        comments: the file's present comments.
    """
    lines = [f"family: {scalar(family)}"]
    lines += [line for key in ("title", "note") if key in old for line in entry(key, old[key], 0)]
    lines.append("architectures:")
    kept = old.get("architectures")
    before: JsonObject = kept if isinstance(kept, dict) else {}
    for name in sorted({*scanned, *(n for n in before if _by_hand(before[n]))}):
        lines += _architecture_lines(name, joined(scanned.get(name, {}), before.get(name)))
    return "\n".join(with_comments(lines, comments)) + "\n"


def joined(scanned: JsonObject, old: Json) -> JsonObject:
    """Return an architecture's facts: scanned ones, and over them what people wrote."""
    if not isinstance(old, dict):
        return dict(scanned)
    made: JsonObject = dict(scanned) if scanned else {k: v for k, v in old.items() if k != "support"}
    made.update({k: v for k, v in old.items() if k not in OWN_KEYS})
    before = old.get("support")
    support = scanned.get("support")
    held: JsonObject = dict(support) if isinstance(support, dict) else {}
    for capability, value in before.items() if isinstance(before, dict) else ():
        if sourced(value):
            held[capability] = value
    if held:
        made["support"] = dict(sorted(held.items()))
    return made


def sourced(value: Json) -> bool:
    """Return whether people stand behind a support entry: it names its source, or explains itself."""
    items = value if isinstance(value, list) else [value]
    return any(isinstance(item, dict) and ("source" in item or "note" in item) for item in items)


def _by_hand(value: Json) -> bool:
    if not isinstance(value, dict):
        return False
    return bool(value.keys() - OWN_KEYS) or any(sourced(v) for v in _mapping(value.get("support")).values())


def _architecture_lines(name: str, facts: JsonObject) -> list[str]:
    lines = [f"  {scalar(name)}:"]
    for key in ("releases", "module", "role", "wraps", "body", *sorted(facts.keys() - OWN_KEYS)):
        if key in facts:
            lines += entry(key, facts[key], 4)
    support = facts.get("support")
    if isinstance(support, dict) and support:
        lines.append("    support:")
        for capability, value in support.items():
            lines += entry(capability, value, 6)
    return lines


def lists_text(lists: Mapping[str, JsonObject], old: JsonObject, comments: Comments) -> str:
    """Return the text of the file of scanned lists; titles and notes people gave them stay."""
    lines = ["lists:"]
    kept = old.get("lists")
    before: JsonObject = kept if isinstance(kept, dict) else {}
    for id_, facts in lists.items():
        held = before.get(id_)
        own: JsonObject = {k: held[k] for k in ("title", "note") if k in held} if isinstance(held, dict) else {}
        lines += _list_lines(id_, {**{k: v for k, v in facts.items() if k == "kind"}, **own, **facts})
    head = comments if comments.head else Comments([_LISTS_HEAD])
    return "\n".join(with_comments(lines, head)) + "\n"


def _list_lines(id_: str, facts: JsonObject) -> list[str]:
    short = f"  {scalar(id_)}: {flow(facts)}"
    if len(short) <= 120:
        return [short]
    lines = [f"  {scalar(id_)}:"]
    for key in ("kind", "title", "note", "source"):
        if key in facts:
            lines += entry(key, facts[key], 4)
    lines.append("    names:")
    names = facts["names"]
    assert isinstance(names, dict)
    for name, value in names.items():
        lines += entry(name, value, 6)
    return lines


def write_engine(folder: Path, scans: Mapping[str, Scan], config: ScanConfig) -> list[Path]:
    """Bring the generated files of an engine's folder up to date.

    Args:
        folder: `registry/engines/<engine>`.
        scans: of every release, by release.
        config: the engine's scan settings.
    Returns:
        The files that changed, in order.
    """
    merged = merge(scans, config)
    releases = ordered(scans)
    texts: dict[Path, str] = {}
    present = sorted((folder / "architectures").glob("*.yaml"))
    before = _present(present)
    for family, scanned in merged.families.items():
        path = _family_path(folder, family)
        old = read_yaml(path)
        old["architectures"] = {**_mapping(old.get("architectures")), **{n: before[n] for n in scanned if n in before}}
        texts[path] = family_text(family, scanned, old, _comments(path))
    lists = folder / "lists" / "scanned.yaml"
    theirs = {id_ for path in _lists_of_people(folder, lists) for id_ in _mapping(read_yaml(path).get("lists"))}
    own = {id_: facts for id_, facts in merged.lists.items() if id_ not in theirs}
    texts[lists] = lists_text(own, read_yaml(lists), _comments(lists))
    settings = folder / "settings.yaml"
    by_release = {r: scans[r].settings for r in releases}
    texts[settings] = settings_text(by_release, releases, read_yaml(settings), _comments(settings))
    engine = folder / "engine.yaml"
    texts[engine] = engine_text(scans, releases, config, read_yaml(engine), _comments(engine))
    changed = write_texts(texts)
    found = {name for scanned in merged.families.values() for name in scanned}
    for path in present:
        if path not in texts and _mapping(read_yaml(path).get("architectures")).keys() <= found:
            path.unlink()
            changed.append(path)
    return changed


def _lists_of_people(folder: Path, scanned: Path) -> list[Path]:
    """Return the files of lists that people keep; an id they declare is theirs."""
    files = [*sorted((folder / "lists").glob("*.yaml")), folder / "lists.yaml"]
    return [path for path in files if path != scanned and path.exists()]


def _present(paths: Sequence[Path]) -> dict[str, Json]:
    """Return what the family files hold now, by architecture, whichever file it is in."""
    return {name: facts for path in paths for name, facts in _mapping(read_yaml(path).get("architectures")).items()}


def _mapping(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _family_path(folder: Path, family: str) -> Path:
    return folder / "architectures" / f"{family}.yaml"


def _comments(path: Path) -> Comments:
    return read_comments(path.read_text(encoding="utf-8")) if path.exists() else Comments()


def settings_text(
    scans: Mapping[str, ScannedSettings], releases: Sequence[str], old: JsonObject, comments: Comments
) -> str:
    """Return the text of `settings.yaml`; group, title, gives_up and fix stay as people wrote them."""
    kept: dict[str, JsonObject] = {}
    before = old.get("settings")
    for name, value in before.items() if isinstance(before, dict) else ():
        kept[name] = {k: v for k, v in value.items() if k in HAND_KEYS} if isinstance(value, dict) else {}
    lines = settings_yaml(scans, releases, kept).splitlines()
    body = [line for line in lines if not line.startswith("#")]
    head = comments if comments.head else Comments([line for line in lines if line.startswith("#")])
    return "\n".join(with_comments(body, head)) + "\n"


def engine_text(
    scans: Mapping[str, Scan], releases: Sequence[str], config: ScanConfig, old: JsonObject, comments: Comments
) -> str:
    """Return the text of `engine.yaml`: releases and loose flags are kept up to date, the rest stays."""
    kept = {key: value for key, value in old.items() if key not in ("releases", "loose_flags")}
    lines = [line for key, value in kept.items() for line in entry(key, value, 0)]
    before = old.get("releases")
    known: JsonObject = before if isinstance(before, dict) else {}
    lines.append("releases:")
    for release in ordered({*known, *releases}):
        held = known.get(release)
        lines += entry(release, _in_order({**_release(scans.get(release)), **_mapping(held)}), 2)
    loose = loose_flags({r: scans[r].settings for r in releases}, releases)
    names_file: JsonObject = {"effect": "flags_file", "words": 1}
    loose |= {flag: [interval(None, None, releases[0], names_file)] for flag in config.flags_file}
    if loose:
        lines.append("loose_flags:")
        lines += [line for flag in sorted(loose) for line in entry(flag, loose[flag], 2)]
    return "\n".join(with_comments(lines, comments)) + "\n"


def _in_order(facts: JsonObject) -> JsonObject:
    usual = [key for key in ("date", "python", "transformers") if key in facts]
    return {key: facts[key] for key in (*usual, *(k for k in facts if k not in usual))}


def _release(scan: Scan | None) -> JsonObject:
    if scan is None:
        return {}
    facts = {
        "date": scan.metadata.date,
        "python": scan.metadata.python,
        "transformers": scan.metadata.pinned("transformers"),
    }
    return {key: value for key, value in facts.items() if value is not None}
