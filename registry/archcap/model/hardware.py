"""The hardware catalogue, as the vendors' own tools report it."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

from archcap.model.base import Id, JsonObject, Record, Text

Platform = Literal["cuda", "hip", "cpu", "npu", "xpu", "musa"]


class Gpu(Record):
    """One accelerator (or CPU) an engine runs on; `hw.x` in rules reads these fields by name."""

    title: Text
    vendor: str
    platform: Platform
    arch: str
    """`sm90`, `gfx942`, …"""
    compute: tuple[int, int] | None = None
    """CUDA compute capability, major and minor."""
    memory_mib: int | None = None
    """Per device, as the vendor's tool reports it."""
    memory_note: Text | None = None
    source: Text | None = None
    aliases: tuple[str, ...] = ()

    @cached_property
    def facts(self) -> JsonObject:
        """What rules read as `hw.x`, but for `hw.gpu` (the id), `hw.count` and `hw.nodes` (of the launch)."""
        major, minor = self.compute or (None, None)
        return {
            "title": self.title,
            "vendor": self.vendor,
            "platform": self.platform,
            "arch": self.arch,
            "memory_mib": self.memory_mib,
            "major": major,
            "minor": minor,
            "sm": None if major is None or minor is None else major * 10 + minor,
        }


class HardwareFile(Record):
    """`hardware.yaml`."""

    hardware: dict[Id, Gpu]
