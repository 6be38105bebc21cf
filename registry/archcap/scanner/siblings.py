"""A scan as facts that siblings are compared by: with lines, where the registry knows files only."""

from __future__ import annotations

from archcap.model.architectures import Architecture
from archcap.model.registry import EngineRegistry
from archcap.model.support import support_at
from archcap.model.vocabulary import Vocabulary
from archcap.scanner.records import matched_lists
from archcap.scanner.scan_record import Scan, ScannedArchitecture
from archcap.siblings.facts import Draft, Facts, Member, Names, Seen, dotted, never_had, of_the_source, probed


def facts_of_scan(scan: Scan, registry: EngineRegistry, vocabulary: Vocabulary, release: str) -> Facts:
    """Return the facts of a scan.

    Args:
        scan: of a source.
        registry: of its engine; gives lists their lasting ids, what people wrote of architectures, and says which
            hooks nobody ever had.
        vocabulary: tells which lists capabilities stand for.
        release: the registry's release that the source stands next to.
    """
    known = {name: one for family in registry.families.values() for name, one in family.architectures.items()}
    members = {name: _member(one, known.get(name), release) for name, one in scan.architectures.items()}
    standing = probed(vocabulary, scan.engine)
    lists: dict[str, Names] = {}
    for id_, found in matched_lists(scan.lists, registry.lists, release):
        if found is None or found.kind != "architecture":
            continue
        key = id_ or found.id
        if of_the_source(key):
            names = {name: Seen(found.file, line) for name, line in sorted(found.names.items())}
            lists[key] = Names(key, Seen(found.file, found.line), names, dotted(key) in standing)
    drafts = {
        name: Draft(one.becomes, one.depth, one.levels, Seen(one.file, one.line)) for name, one in scan.drafts.items()
    }
    return Facts(scan.engine, release, members, lists, drafts, never_had(registry, vocabulary))


def _member(found: ScannedArchitecture, known: Architecture | None, release: str) -> Member:
    """Return an architecture as it was scanned, with what people know of it besides."""
    seen = Seen(found.file, found.line)
    written = {c: at for c, every in (known.support if known else {}).items()
               if (at := support_at(every, release)) is not None and at.source is not None}  # fmt: skip
    has = {**dict.fromkeys(written, seen), **{c: Seen(e.file, e.line) for c, e in found.support.items()}}
    sometimes = frozenset(c for c, at in written.items() if at.state == "conditional")
    return Member(found.name, found.role, found.body, found.wraps, seen, has, sometimes)
