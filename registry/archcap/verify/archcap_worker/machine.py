"""The fake machine below the engine: what torch and the vendors' tools say of the devices.

Must be installed before anything of the engine is imported. Knows no engine and no setting.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace

_NVIDIA_SMI = """#!/bin/sh
case "$*" in
  *memory.total*) answer={memory_mib} ;;
  *driver_version*) answer={driver} ;;
  *compute_cap*) answer={compute} ;;
  *) echo "this nvidia-smi is a fake and does not know: $*" >&2; exit 9 ;;
esac
for device in $(seq {count}); do echo "$answer"; done
"""
_ROCMINFO = """#!/bin/sh
cat <<END
  Name:                    {arch}
  Pool Info:
    Pool 1
      Segment:                 GLOBAL; FLAGS: COARSE GRAINED
      Size:                    {memory_kib}(0x0) KB
END
"""
_LSCPU = """#!/bin/sh
for cpu in $(seq 0 {last_cpu}); do echo "$cpu,$cpu,0,0"; done
"""
_TOOLS = {
    "cuda": {"nvidia-smi": _NVIDIA_SMI},
    "hip": {"rocminfo": _ROCMINFO},
    "cpu": {"lscpu": _LSCPU},
}
_HIP_VERSION = "7.0.51831"


class Machine:
    """What stands in the launch's node.

    Attributes:
        platform: `cuda`, `hip`, `cpu`, `npu` or `xpu`.
        arch: as in `sm90`, `gfx942`.
        name: what the device calls itself.
        compute: major and minor, (0, 0) where the platform has none.
        memory_mib: per device, as the vendor's tool reports it; of the whole machine where it is the processor.
        count: devices.
        cores: multiprocessors per device.
    """

    def __init__(self, described: dict[str, object]) -> None:
        self.platform = str(described["platform"])
        self.arch = str(described["arch"])
        self.name = str(described["name"])
        compute = described["compute"]
        self.compute = (_whole(compute[0]), _whole(compute[1])) if isinstance(compute, list) else (0, 0)
        self.memory_mib = _whole(described["memory_mib"])
        self.count = _whole(described["count"])
        self.cores = _whole(described["cores"])
        self.driver = str(described["driver"])
        self.cuda = str(described["cuda"])

    @property
    def memory(self) -> int:
        """Bytes per device."""
        return self.memory_mib << 20

    def properties(self) -> SimpleNamespace:
        """Return what torch tells of one device."""
        warp = 64 if self.platform == "hip" else 32
        return SimpleNamespace(
            name=self.name, major=self.compute[0], minor=self.compute[1], total_memory=self.memory,
            multi_processor_count=self.cores, gpu_eu_count=self.cores, is_integrated=False, has_fp64=True,
            gcnArchName=f"{self.arch}:sramecc+:xnack-" if self.platform == "hip" else "",
            warp_size=warp, max_threads_per_multi_processor=2048, regs_per_multiprocessor=65536,
            shared_memory_per_block_optin=232448, shared_memory_per_multiprocessor=233472, L2_cache_size=50 << 20,
        )  # fmt: skip


def _whole(value: object) -> int:
    return int(str(value))


def install(machine: Machine, scratch: str) -> None:
    """Make this process believe that it runs on *machine*.

    Args:
        machine: the machine to be.
        scratch: a folder for the vendor's tools.
    """
    _put_tools(machine, os.path.join(scratch, "bin"))
    _TORCH[machine.platform](machine, importlib.import_module("torch"))


def _put_tools(machine: Machine, folder: str) -> None:
    os.makedirs(folder, exist_ok=True)
    values = {
        "memory_mib": machine.memory_mib, "memory_kib": machine.memory_mib * 1024, "driver": machine.driver,
        "compute": f"{machine.compute[0]}.{machine.compute[1]}", "count": machine.count, "arch": machine.arch,
        "last_cpu": (os.cpu_count() or 1) - 1,
    }  # fmt: skip
    for name, text in _TOOLS.get(machine.platform, {}).items():
        place = os.path.join(folder, name)
        with open(place, "w", encoding="utf-8") as file:
            file.write(text.format(**values))
        os.chmod(place, 0o755)
    os.environ["PATH"] = folder + os.pathsep + os.environ.get("PATH", os.defpath)


def _put(owner: object, **members: object) -> None:
    for name, member in members.items():
        setattr(owner, name, member)


def _says(value: object) -> Callable[..., object]:
    return lambda *args, **options: value


def _common(machine: Machine) -> dict[str, object]:
    """Return what every vendor's part of torch answers alike."""
    return {
        "is_available": _says(True),
        "device_count": _says(machine.count),
        "current_device": _says(0),
        "get_device_name": _says(machine.name),
        "mem_get_info": _says((machine.memory, machine.memory)),
        "empty_cache": _says(None),
    }


def _cuda_like(machine: Machine, torch: ModuleType) -> None:
    _put(
        torch.cuda,
        **_common(machine),
        is_initialized=_says(True),
        _lazy_init=_says(None),
        set_device=_says(None),
        get_device_capability=_says(machine.compute),
        get_device_properties=lambda *args, **options: machine.properties(),
        is_bf16_supported=_says(True),
    )
    _put(torch, get_device_module=_says(torch.cuda))


def _cuda(machine: Machine, torch: ModuleType) -> None:
    _put(torch.version, cuda=machine.cuda, hip=None)
    _cuda_like(machine, torch)


def _hip(machine: Machine, torch: ModuleType) -> None:
    _put(torch.version, cuda=None, hip=_HIP_VERSION)
    _cuda_like(machine, torch)


def _xpu(machine: Machine, torch: ModuleType) -> None:
    _put(
        torch.xpu,
        **_common(machine),
        get_device_capability=_says({"version": "12.60.7"}),
        get_device_properties=lambda *args, **options: machine.properties(),
        memory_allocated=_says(0),
    )


def _npu(machine: Machine, torch: ModuleType) -> None:
    npu = ModuleType("torch.npu")
    _put(npu, **_common(machine), set_compile_mode=_says(None), config=SimpleNamespace(allow_internal_format=True))
    sys.modules["torch.npu"] = npu
    for module in (torch, importlib.import_module("torch_npu")):
        _put(module, npu=npu)


def _cpu(machine: Machine, torch: ModuleType) -> None:
    torch.cpu._is_amx_tile_supported = _says(True)
    psutil = importlib.import_module("psutil")
    real = psutil.virtual_memory
    _put(psutil, virtual_memory=lambda: real()._replace(total=machine.memory, available=machine.memory))


_TORCH = {"cuda": _cuda, "hip": _hip, "xpu": _xpu, "npu": _npu, "cpu": _cpu}
PLATFORMS = tuple(_TORCH)
"""What can be faked."""
