"""What a vendor promises of a device, for comparison: only where the device is known for sure or the user names it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from llmserving import arguments
from llmserving.hardware import GPUS, Gpu
from llmserving.named import gpu_of
from llmserving.units import format_rate

DTYPES = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}


@dataclass(frozen=True)
class Vendor:
    """peak_flops: FLOP/s by dtype as torch names it."""

    name: str
    bandwidth_bytes_per_s: float
    peak_flops: Mapping[str, float]


def vendor_of(device_name: str, gpu: str | None = None, bandwidth_gb_per_s: Any = None) -> Vendor | None:
    """The vendor's figures of the GPU that the user names, or of `device_name` where hardware.py knows that very name.

    bandwidth_gb_per_s: a figure that the user gives instead. A name that is merely similar counts for nothing: an H100 is
    sold with 2.0 and with 3.35 TB/s.
    """
    if bandwidth_gb_per_s is not None:
        rate = arguments.amount("vendor_bandwidth", "the vendor's bandwidth, in GB/s", bandwidth_gb_per_s)
        return Vendor("this device", rate * 1e9, {})
    if gpu is not None:
        _refuse_several(gpu)
        return _vendor(gpu_of(gpu))
    return _vendor(GPUS[device_name]) if device_name in GPUS else None


def _refuse_several(name: str) -> None:
    """ValueError for a name such as "h100" that is sold with more than one bandwidth."""
    variants = [gpu for gpu in GPUS if gpu.casefold().startswith(f"{name.casefold()}-")]
    if len({GPUS[gpu].bandwidth_bytes_per_s for gpu in variants}) > 1:
        told = " and ".join(f"{gpu} ({format_rate(GPUS[gpu].bandwidth_bytes_per_s)})" for gpu in variants)
        raise ValueError(f"{name} is sold as {told}; name one of them")


def _vendor(gpu: Gpu) -> Vendor:
    peaks = {DTYPES[dtype]: flops for dtype, flops in gpu.peak_flops.items() if dtype in DTYPES}
    return Vendor(gpu.name, gpu.bandwidth_bytes_per_s, peaks)
