"""In one release a flag's spelling belongs to one setting."""

from __future__ import annotations

from collections.abc import Iterator

from archcap.lint.check import Check, EngineContext, Flaw, Placed
from archcap.load.parts import Releases
from archcap.load.strict_yaml import DataPath, Document
from archcap.model.engine import Flag, SettingSpan


def _spans(context: EngineContext) -> Iterator[tuple[Document, str, DataPath, SettingSpan]]:
    for part in context.parts.settings:
        for name, setting in part.record.settings.items():
            for index, span in enumerate(setting.spans):
                yield part.document, name, ("settings", name, "spans", index), span


def _find(context: EngineContext) -> Iterator[Placed]:
    if context.releases is None:
        return
    owners: dict[tuple[str, int], str] = {}
    for document, setting, path, span in _spans(context):
        for index, flag in enumerate(span.flags):
            spelling = flag.name if isinstance(flag, Flag) else flag
            other = _claim(owners, context.releases, setting, span, spelling)
            if other is not None:
                yield Placed(document, Flaw((*path, "flags", index), f"{spelling} is a flag of {other} too"))


def _claim(
    owners: dict[tuple[str, int], str], releases: Releases, setting: str, span: SettingSpan, spelling: str
) -> str | None:
    """Take *spelling* for *setting* in the span's releases; return another setting that has it in one of them."""
    held = releases.range(span) or (0, 0)
    taken = [owners.setdefault((spelling, position), setting) for position in range(*held)]
    return next((owner for owner in taken if owner != setting), None)


CHECK = Check(
    id="duplicate-flags",
    severity="error",
    tip="leave it with the setting that the engine's parser writes",
    find=_find,
)
