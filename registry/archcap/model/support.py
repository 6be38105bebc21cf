"""Support: a value with the releases it holds in and where that is known from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import model_validator

from archcap.model.base import Text
from archcap.model.releases import Interval

SupportValue = bool | int | str | tuple[str, ...]


class Support(Interval):
    """A capability's value over one half-open interval of releases.

    `state` is `yes` for plain support; `partial` needs a note; `unvalidated` means the engine keeps an allow-list
    and nobody has said no; `conditional` holds for configurations that satisfy `when`.
    """

    state: Literal["yes", "partial", "unvalidated", "conditional"] = "yes"
    value: SupportValue = True
    when: Text | None = None
    """Expression over the configuration (`hf.get(...)`, `text.get(...)`), for `conditional`."""
    platform: str | None = None
    """Only on this platform (`hip`, `npu`, …); None is everywhere."""
    source: Text | None = None
    """Where a person knows it from; scanned facts carry none."""
    note: Text | None = None

    @model_validator(mode="after")
    def _explained(self) -> Support:
        if self.state == "partial" and not self.note:
            raise ValueError("partial support needs a note that says which part")
        if (self.state == "conditional") != (self.when is not None):
            raise ValueError("conditional support has a `when`, and only conditional support has one")
        return self


def support_at(entries: Sequence[Support], release: str) -> Support | None:
    """Return the entry that holds in *release*; a platform-bound entry gives way to one without platform."""
    held = [entry for entry in entries if entry.holds(release)]
    held.sort(key=lambda entry: entry.platform is not None)
    return held[0] if held else None
