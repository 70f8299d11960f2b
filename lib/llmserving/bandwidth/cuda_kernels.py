"""Launches the CUDA C++ kernels of cuda/kernels.cu on torch tensors, by the driver's own calls.

They are compiled by NVRTC when first needed. https://docs.nvidia.com/cuda/cuda-driver-api describes the calls.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

from llmserving import arguments
from llmserving.bandwidth import nvrtc
from llmserving.bandwidth.kernel_arguments import Tensor, dtype_of, refuse_misplaced, refuse_unlike, shape_of
from llmserving.quantization.packed_weight import PackedWeight

THREADS = 128
PIECES = 4  # both as in kernels.cu
ROWS = 4
PIECE_BYTES = 16


@functools.cache
def missing() -> str | None:
    """What these kernels lack here, as a sentence, or None where they run."""
    if not nvrtc.has_nvrtc():
        return "NVRTC, which compiles CUDA C++, is not installed: pip install -r requirements-kernels.txt."
    import torch

    if not torch.cuda.is_available():
        return "The CUDA C++ kernels can be compiled here, but torch finds no CUDA device to run them on."
    return None


def copy(source: Tensor, target: Tensor) -> Tensor:
    """target[i] = source[i], both of one shape and dtype, and of a multiple of 16 bytes; returns target."""
    refuse_where_missing()
    refuse_misplaced(source=source, target=target)
    refuse_unlike(source=source, target=target)
    num_bytes = source.numel() * source.element_size()
    _refuse_unaligned(num_bytes, source=source, target=target)
    pieces = num_bytes // PIECE_BYTES
    _launch("copy_kernel", copy_blocks(pieces), source, target, ctypes.c_longlong(pieces))
    return target


def gemv_w4a16(weight: PackedWeight, x: Tensor) -> Tensor:
    """The packed weight [out, in] times x float16 [in]: y float16 [out]."""
    refuse_where_missing()
    if not isinstance(weight, PackedWeight):
        raise TypeError(f"weight is a PackedWeight, as pack_weight() gives it, but got {arguments.shown(weight)}")
    codes, scale, zero_points = weight.codes, weight.scale, weight.zero_points
    refuse_misplaced(codes=codes.data, scale=scale, zero_points=zero_points.data, x=x)
    if dtype_of(x) != "float16" or dtype_of(scale) != "float16":
        raise TypeError(f"x and the scales are float16, but got {dtype_of(x)} and {dtype_of(scale)}")
    rows, columns = weight.shape
    if x.shape != weight.shape[1:]:
        raise ValueError(f"x is [in], and the weight {list(weight.shape)} takes {columns}, but got {shape_of(x)}")
    if codes.order != "linear" or codes.signed or zero_points.order != "linear" or zero_points.signed:
        raise ValueError("the kernel reads unsigned codes in the linear order, as pack_weight() packs them")
    if weight.group_size % 32:
        raise ValueError(f"the kernel takes groups of a multiple of 32 weights, but got {weight.group_size}")
    _refuse_unaligned(0, codes=codes.data, x=x)
    y = x.new_empty(rows)
    sizes = (ctypes.c_int(rows), ctypes.c_int(columns), ctypes.c_int(weight.group_size))
    _launch("gemv_w4a16_kernel", gemv_blocks(rows), codes.data, scale, zero_points.data, x, y, *sizes)
    return y


def copy_blocks(pieces: int) -> int:
    """Blocks of THREADS threads, each of which moves PIECES pieces."""
    return -(-pieces // (THREADS * PIECES))


def gemv_blocks(rows: int) -> int:
    """Blocks of THREADS threads, of which each 32 take ROWS rows."""
    return -(-rows // (THREADS // 32 * ROWS))


def refuse_where_missing() -> None:
    """A RuntimeError with what `missing` says."""
    told = missing()
    if told is not None:
        raise RuntimeError(told)


def _refuse_unaligned(num_bytes: int, **tensors: Tensor) -> None:
    """A ValueError unless 16 bytes at a time, all can be loaded: the hardware faults at other addresses."""
    for name, tensor in tensors.items():
        if tensor.data_ptr() % PIECE_BYTES or num_bytes % PIECE_BYTES:
            raise ValueError(f"{name} begins and ends at multiples of {PIECE_BYTES} bytes, which are loaded at once")


def _launch(function: str, blocks: int, *given: Any) -> None:
    """Tensors are passed by their addresses, and everything by where it lies, as cuLaunchKernel wants it."""
    import torch

    first = given[0]
    with torch.cuda.device_of(first):
        values = [ctypes.c_void_p(value.data_ptr()) if hasattr(value, "data_ptr") else value for value in given]
        addresses = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        driver = _driver()
        handle = _function(function, torch.cuda.get_device_capability(first.device), first.device.index or 0)
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        _check(driver.cuLaunchKernel(handle, blocks, 1, 1, THREADS, 1, 1, 0, stream, addresses, None))


@functools.cache
def _driver() -> Any:
    return ctypes.CDLL("libcuda.so.1")


@functools.cache
def _function(name: str, capability: tuple[int, int], device: int) -> ctypes.c_void_p:
    """The loaded kernel, in the context of a device that torch has made current."""
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    code = nvrtc.compile_cuda(10 * capability[0] + capability[1]).machine_code
    _check(_driver().cuModuleLoadData(ctypes.byref(module), code))
    _check(_driver().cuModuleGetFunction(ctypes.byref(function), module, name.encode()))
    return function


def _check(status: int) -> None:
    if status:
        name = ctypes.c_char_p()
        _driver().cuGetErrorName(status, ctypes.byref(name))
        raise RuntimeError(f"CUDA: {(name.value or b'error').decode()} ({status})")
