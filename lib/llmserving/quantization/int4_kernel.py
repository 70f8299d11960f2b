"""torch's own int4 matmul: it expands weights in registers, so they cross the memory bus as 4 bits."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from llmserving.quantization.arrays import Array, is_tensor
from llmserving.quantization.packed_weight import PackedWeight

KERNEL_GROUPS = (32, 64, 128, 256)


@dataclass(frozen=True, eq=False)
class KernelWeight:
    """Weights [out, in] in the kernel's own order of bytes, with bfloat16 scales and float zeros [groups, out, 2]."""

    data: Array
    scales_and_zeros: Array
    group_size: int

    @property
    def columns(self) -> int:
        """The inputs that they take."""
        return self.group_size * int(self.scales_and_zeros.shape[0])

    @property
    def num_bytes(self) -> int:
        return int(self.data.numel() + 2 * self.scales_and_zeros.numel())


@functools.cache
def has_int4_kernel() -> bool:
    """Whether this torch has the kernel for processors, and it works here."""
    try:
        import torch

        from llmserving.quantization.packed_weight import pack_weight

        weight = pack_weight(torch.linspace(-1, 1, 32 * 64).reshape(32, 64), 32)
        found = linear_int4_kernel(torch.eye(64, dtype=torch.bfloat16), kernel_weight(weight))
        return bool((found.float() - weight.dequantize().T).abs().max() < 0.02)
    except (ImportError, AttributeError, RuntimeError):
        return False


def kernel_weight(weight: PackedWeight) -> KernelWeight:
    """`weight`, torch tensors, as the kernel reads it.

    The kernel's formula is (code - 8) * scale + zero with a zero in the unit of the weights, so ours is
    zero = (8 - zero_point) * scale. ValueError where `out` is no multiple of 16 or the groups are of another size.
    """
    import torch

    if not isinstance(weight, PackedWeight):
        raise TypeError(f"weight is a PackedWeight from pack_weight(), but got a {type(weight).__name__}")
    if not is_tensor(weight.scale):
        raise TypeError("torch's int4 kernel takes torch tensors, but weight is of numpy; pack a tensor")
    if weight.shape[0] % 16 or weight.group_size not in KERNEL_GROUPS:
        raise ValueError(
            f"torch's int4 kernel takes a multiple of 16 outputs and groups of {KERNEL_GROUPS}, but the weights are "
            f"{list(weight.shape)} in groups of {weight.group_size}"
        )
    scale = weight.scale.float()
    zero = (8 - weight.zero_point.float()) * scale
    both = torch.stack([scale, zero], dim=-1).transpose(0, 1).contiguous().bfloat16()
    # The second argument only matters on a GPU.
    data = torch._convert_weight_to_int4pack_for_cpu(weight.codes.unpack().int(), 2)
    return KernelWeight(data, both, weight.group_size)


def linear_int4_kernel(x: Any, weight: KernelWeight) -> Any:
    """x [rows, in] @ weight.T, both bfloat16: with float32 inputs the kernel falls back to a slow loop, so those are refused."""
    import torch

    if not is_tensor(x):
        raise TypeError(f"x is a bfloat16 tensor of torch for the int4 kernel, but got a {type(x).__name__}")
    if not isinstance(weight, KernelWeight):
        raise TypeError(f"weight is a KernelWeight from kernel_weight(), but got a {type(weight).__name__}")
    if x.dtype != torch.bfloat16:
        raise TypeError(f"x is bfloat16 for the int4 kernel, but got {x.dtype}; write x.bfloat16()")
    if x.ndim != 2 or x.shape[1] != weight.columns:
        raise ValueError(f"x has shape {tuple(x.shape)}, but the int4 kernel takes [rows, {weight.columns}] here")
    return torch._weight_int4pack_mm_for_cpu(x, weight.data, weight.group_size, weight.scales_and_zeros)
