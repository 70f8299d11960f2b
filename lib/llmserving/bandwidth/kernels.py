"""Launches the five Triton kernels of triton_kernels.py on torch tensors: which arguments fit, and how many programs start.

A GPU is needed, or Triton's interpreter (TRITON_INTERPRET=1 before Python starts), which runs a kernel's lines on the CPU:
slowly, for looking inside. Importing this needs neither Triton nor torch.
"""

from __future__ import annotations

from typing import Any

from llmserving import arguments
from llmserving.bandwidth.kernel_arguments import (
    Tensor,
    dtype_of,
    missing,
    refuse_misplaced,
    refuse_unlike,
    refuse_unusable,
    refuse_where_missing,
    shape_of,
)
from llmserving.bandwidth.launch_sizes import LaunchSizes, gemv_sizes, gemv_w4a16_sizes, stream_sizes
from llmserving.quantization.packed_weight import PackedWeight

__all__ = ["copy", "gemv", "gemv_w4a16", "missing", "read", "triad"]


def copy(source: Tensor, target: Tensor) -> Tensor:
    """target[i] = source[i], both of one shape and dtype; returns target."""
    refuse_where_missing()
    refuse_unusable(source=source, target=target)
    refuse_unlike(source=source, target=target)
    sizes = stream_sizes(source.numel())
    _launch("copy_kernel", sizes, source, target, source.numel())
    return target


def triad(b: Tensor, c: Tensor, scalar: float, a: Tensor) -> Tensor:
    """a[i] = b[i] + scalar * c[i], all of one shape and dtype; returns a."""
    refuse_where_missing()
    refuse_unusable(b=b, c=c, a=a)
    refuse_unlike(b=b, c=c, a=a)
    sizes = stream_sizes(a.numel())
    _launch("triad_kernel", sizes, b, c, a, float(scalar), a.numel())
    return a


def read(source: Tensor) -> Tensor:
    """The sum of `source`, a float32 tensor of one value: a sum for each program, and those are summed by torch."""
    refuse_where_missing()
    refuse_unusable(source=source)
    sizes = stream_sizes(source.numel(), tiles=16)
    sums = source.new_empty(sizes.programs, dtype=_float32())
    _launch("read_kernel", sizes, source, sums, source.numel())
    return sums.sum()


def gemv(weight: Tensor, x: Tensor) -> Tensor:
    """weight [out, in] times x [in], summed in float32: y [out] in the dtype of x, which is the weight's."""
    refuse_where_missing()
    refuse_unusable(weight=weight, x=x)
    if weight.ndim != 2 or weight.shape[1:] != x.shape:
        raise ValueError(f"weight is [out, in] and x [in], but got {shape_of(weight)} and {shape_of(x)}")
    if weight.dtype != x.dtype:
        raise TypeError(f"weight and x have one dtype, but got {dtype_of(weight)} and {dtype_of(x)}")
    rows, columns = weight.shape
    sizes = gemv_sizes(rows, columns)
    y = x.new_empty(rows)
    _launch("gemv_kernel", sizes, weight, x, y, rows)
    return y


def gemv_w4a16(weight: PackedWeight, x: Tensor) -> Tensor:
    """The packed weight [out, in] times x [in]: y [out] in the dtype of x. Codes are read 8 a word and stay in registers."""
    refuse_where_missing()
    if not isinstance(weight, PackedWeight):
        raise TypeError(f"weight is a PackedWeight, as pack_weight() gives it, but got {arguments.shown(weight)}")
    codes, zero_points = weight.codes, weight.zero_points
    refuse_unusable(x=x, scale=weight.scale)
    refuse_misplaced(codes=codes.data, zero_points=zero_points.data, x=x)
    if x.shape != weight.shape[1:]:
        raise ValueError(
            f"x is [in], and the weight {list(weight.shape)} takes {weight.shape[1]}, but got {shape_of(x)}"
        )
    if codes.order != "linear" or codes.signed or zero_points.order != "linear" or zero_points.signed:
        raise ValueError("the kernel reads unsigned codes in the linear order, as pack_weight() packs them")
    if codes.data.storage_offset() % 4:
        raise ValueError("codes begin within a word of their memory, and the kernel reads whole words; pass a clone()")
    rows, columns = weight.shape
    sizes = gemv_w4a16_sizes(rows, columns, weight.group_size)
    words = codes.data.view(_int32())
    y = x.new_empty(rows)
    _launch("gemv_w4a16_kernel", sizes, words, weight.scale, zero_points.data, x, y, rows)
    return y


def _launch(name: str, sizes: LaunchSizes, *given: Any) -> None:
    import torch

    from llmserving.bandwidth import triton_kernels

    # Triton launches on the current device, which need not be the tensors'; under the interpreter this does nothing.
    with torch.cuda.device_of(given[0]):
        getattr(triton_kernels, name)[(sizes.programs,)](*given, **sizes.constants, num_warps=sizes.warps)


def _float32() -> Any:
    import torch

    return torch.float32


def _int32() -> Any:
    import torch

    return torch.int32
