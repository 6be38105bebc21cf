"""A setting whose default is None, though None is no value of it, is one the user must give: only the checkpoint is."""

from __future__ import annotations

from collections.abc import Iterator

from archcap.lint.check import Check, Flaw, SettingSubject


def _find(subject: SettingSubject) -> Iterator[Flaw]:
    engine = subject.context.parts.engine
    if engine is not None and subject.name == engine.record.config_setting:
        return
    for index, span in enumerate(subject.record.spans):
        if span.default is None and not span.optional and not span.positional:
            yield Flaw(("spans", index), "no default, though it is not optional")


CHECK = Check(id="default-unset", severity="warning", tip="write optional: true, or the default", find=_find)
