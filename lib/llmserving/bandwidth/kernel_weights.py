"""Random weights for measuring GEMVs, in 16 bits and packed in 4, and what the packed ones stand for."""

from __future__ import annotations

from typing import Any

from llmserving.quantization.packed_weight import PackedWeight
from llmserving.quantization.packing import PackedInt4

Tensor = Any


def random_weights(slots: int, rows: int, columns: int, device: str) -> list[Tensor]:
    """float16 [rows, columns] for each slot, normal and seeded."""
    import torch

    generator = torch.Generator(device).manual_seed(1)
    shape = (rows, columns)
    return [torch.randn(shape, generator=generator, device=device, dtype=torch.float16) for _ in range(slots)]


def random_packed_weights(slots: int, rows: int, columns: int, group_size: int, device: str) -> list[PackedWeight]:
    """The same at 4 bits: random codes, scales and zero-points stand for weights without anything to be quantized."""
    import torch

    generator = torch.Generator(device).manual_seed(2)
    groups = columns // group_size

    def random_bytes(*shape: int) -> PackedInt4:
        data = torch.randint(256, shape, generator=generator, device=device, dtype=torch.uint8)
        return PackedInt4(data, "linear", False)

    def weight() -> PackedWeight:
        scale = 0.05 + 0.1 * torch.rand((rows, groups), generator=generator, device=device)
        return PackedWeight(random_bytes(rows, columns // 2), scale.half(), random_bytes((rows * groups + 1) // 2))

    return [weight() for _ in range(slots)]


def expanded(weight: PackedWeight, rows: slice) -> Tensor:
    """Some rows of the weights that the bytes stand for, float64: from the format's description, not by its own reader."""
    import torch

    def codes(data: Tensor) -> Tensor:
        return torch.stack((data & 15, data >> 4), -1).flatten(-2)

    groups = weight.scale.shape[1]
    zero_points = codes(weight.zero_points.data)[: weight.scale.numel()].view(-1, groups, 1)[rows].double()
    values = codes(weight.codes.data[rows]).unflatten(-1, (groups, -1)).double()
    return ((values - zero_points) * weight.scale[rows].double().unsqueeze(-1)).flatten(-2)
