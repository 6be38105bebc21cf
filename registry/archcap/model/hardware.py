"""The hardware catalogue, as the vendors' own tools report it."""

from __future__ import annotations

from typing import Literal

from archcap.model.base import Id, Record, Text

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


class HardwareFile(Record):
    """`hardware.yaml`."""

    hardware: dict[Id, Gpu]
