"""The machine that a measurement is of: what decides its figures, and nothing that tells whose it is."""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llmserving import arguments
from llmserving.bandwidth.caches import last_level_cache
from llmserving.units import format_bytes

DEVICES = ("cpu", "cuda")


class NoDevice(RuntimeError):
    """The device that was asked for cannot be measured here; the message says what was skipped and why."""


@dataclass(frozen=True)
class Machine:
    """One processor or GPU. cache_bytes: the last cache before its memory, None where nobody tells."""

    device: str
    name: str
    cores: int
    cache_bytes: int | None
    system: str
    torch: str

    def __str__(self) -> str:
        cache = f"{format_bytes(self.cache_bytes, 'MiB')}" if self.cache_bytes else "unknown"
        level = "L2 cache" if self.device == "cuda" else "last-level cache"
        units = "multiprocessors" if self.device == "cuda" else "cores"
        return f"{self.name}, {self.cores} {units}, {level} {cache}; {self.system}, torch {self.torch}"


def need_torch() -> Any:
    """torch, or NoDevice."""
    try:
        import torch
    except ImportError:
        raise NoDevice("nothing was measured: torch is not installed (pip install torch)") from None
    return torch


def this_machine(device: str = "cpu") -> Machine:
    """The machine that runs this. NoDevice where it has no such device, or no torch."""
    if device not in DEVICES:
        raise ValueError(f"device is {' or '.join(map(repr, DEVICES))}, but got {arguments.shown(device)}")
    torch = need_torch()
    system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    if device == "cpu":
        return Machine("cpu", processor_name(), os.cpu_count() or 1, last_level_cache(), system, torch.__version__)
    if not torch.cuda.is_available():
        built = getattr(torch.version, "cuda", None)
        why = "torch finds no NVIDIA GPU" if built else f"this torch, {torch.__version__}, is built without CUDA"
        raise NoDevice(f"the GPU was not measured: {why}; --device cpu measures the processor instead")
    gpu = torch.cuda.get_device_properties(torch.cuda.current_device())
    cache = getattr(gpu, "L2_cache_size", None) or None
    return Machine("cuda", gpu.name, gpu.multi_processor_count, cache, system, torch.__version__)


def processor_name(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """The processor's name, with family and model where the name alone says little."""
    found: dict[str, str] = {}
    try:
        for line in cpuinfo.read_text().splitlines():
            key, _, value = line.partition(":")
            found.setdefault(key.strip(), value.strip())
    except OSError:
        pass
    if "model name" not in found:
        return platform.processor() or platform.machine() or sys.platform
    return f"{found['model name']} (family {found.get('cpu family', '?')}, model {found.get('model', '?')})"
