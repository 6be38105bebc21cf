"""Describes the machine that the engine is to believe in, from the hardware catalogue. Knows no engine."""

from __future__ import annotations

from archcap.errors import RequestError
from archcap.model.base import JsonObject
from archcap.model.hardware import Gpu

FAKED = ("cuda", "hip", "cpu", "npu", "xpu")
"""Platforms that the worker can fake."""
DRIVER, CUDA = "580.95.05", "13.0"
_CORES = {
    "sm70": 80, "sm75": 40, "sm80": 108, "sm86": 84, "sm89": 142, "sm90": 132, "sm100": 148, "sm103": 148, "sm120": 188,
    "sm121": 48, "gfx90a": 104, "gfx942": 304, "gfx950": 256, "xe-hpc": 512, "xe-hpg": 512, "xe2-hpg": 160,
}  # fmt: skip
"""Multiprocessors of the largest common card of each kind."""
_GFX = {"gfx90a": (9, 0), "gfx942": (9, 4), "gfx950": (9, 5)}
"""What torch calls the compute capability of an AMD device."""


def machine_of(gpu: str, known: Gpu, count: int, driver: str = DRIVER, cuda: str = CUDA) -> JsonObject:
    """Return the description of a node with *count* devices of one kind, as the worker takes it.

    Raises:
        RequestError: `no-fake`, the platform cannot be faked, or the catalogue does not say what would be needed.
    """
    if known.platform not in FAKED:
        said = f"{gpu} cannot be faked: its platform is {known.platform}"
        raise RequestError("no-fake", said, f"platforms that can: {', '.join(FAKED)}")
    if known.memory_mib is None or (known.platform == "cuda" and known.compute is None):
        said = f"{gpu} cannot be faked: hardware.yaml does not say its memory or compute capability"
        raise RequestError("no-fake", said, "name another device")
    compute = known.compute or _GFX.get(known.arch)
    return {
        "platform": known.platform,
        "arch": known.arch,
        "name": known.title,
        "compute": list(compute) if compute else None,
        "memory_mib": known.memory_mib,
        "count": count,
        "cores": _CORES.get(known.arch, 0),
        "driver": driver,
        "cuda": cuda,
    }
