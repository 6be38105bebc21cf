"""A scan as facts that siblings are compared by: with lines, where the registry knows files only."""

from __future__ import annotations

from archcap.model.registry import EngineRegistry
from archcap.model.vocabulary import Vocabulary
from archcap.scanner.records import matched_lists
from archcap.scanner.scan_record import Scan
from archcap.siblings.facts import Draft, Facts, Member, Names, Seen, dotted, never_had, of_the_source, probed


def facts_of_scan(scan: Scan, registry: EngineRegistry, vocabulary: Vocabulary, release: str) -> Facts:
    """Return the facts of a scan.

    Args:
        scan: of a source.
        registry: of its engine; gives lists their lasting ids, and says which hooks nobody ever had.
        vocabulary: tells which lists capabilities stand for.
        release: the registry's release that the source stands next to.
    """
    members = {
        name: Member(
            name, one.role, one.body, one.wraps, Seen(one.file, one.line),
            {capability: Seen(e.file, e.line) for capability, e in one.support.items()},
        )
        for name, one in scan.architectures.items()
    }  # fmt: skip
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
