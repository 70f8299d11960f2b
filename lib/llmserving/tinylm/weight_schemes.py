"""Schemes of the weights: rounded to the nearest, by GPTQ, by AWQ. Each turns a decoder into its quantized twin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from llmserving.quantization.awq import quantize_scaled, search_scale
from llmserving.quantization.gptq import quantize_gptq
from llmserving.quantization.hessian import Hessian
from llmserving.quantization.quantized_tensor import quantize_tensor
from llmserving.quantization.smoothquant import smooth_producer
from llmserving.tinylm.calibration import Calibration, SharedInput, through_blocks
from llmserving.tinylm.model import Block, Decoder
from llmserving.tinylm.schemes import shared_copy

TENSOR, CHANNEL = "tensor", "channel"


@dataclass(frozen=True)
class Grid:
    """The codes of a weight matrix [out, in], and who shares a scale: the tensor, a row (channel), or a group of neighbours.

    Scales are stored in 16 bits, as checkpoints have them, and computed with in float32.
    """

    bits: int
    per: str | int
    mode: str = "asymmetric"

    @property
    def group_size(self) -> int | None:
        return self.per if isinstance(self.per, int) else None

    @property
    def shared_bits(self) -> int:
        """Bits of a scale and, in mode "asymmetric", of the code that is its zero-point."""
        return 16 + (self.bits if self.mode == "asymmetric" else 0)

    def bits_a_weight(self, columns: int) -> float:
        """Bits of a code and its part of what it shares, in a row of that many columns: 4.3125 for groups of 64."""
        return self.bits + (0 if self.per == TENSOR else self.shared_bits / (self.group_size or columns))


def set_weight(matrix: nn.Module, weight: Tensor) -> None:
    """Another weight for one module of a shared copy; the old one is not written into."""
    matrix.weight = nn.Parameter(weight.contiguous(), requires_grad=False)


def named(name: str, work: Callable[..., Tensor], *arguments: Any) -> Tensor:
    """work(*arguments); what it refuses is refused with the name of the matrix."""
    try:
        return work(*arguments)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


@dataclass(frozen=True)
class RoundToNearest:
    """Every weight to the nearest of the grid; no calibration."""

    grid: Grid

    def apply(self, decoder: Decoder) -> Decoder:
        changed = shared_copy(decoder)
        for name, matrix in changed.matrices():
            set_weight(matrix, named(name, self.rounded, matrix.weight))
        return changed

    def rounded(self, weight: Tensor) -> Tensor:
        """[out, in] -> [out, in]"""
        axis = 0 if self.grid.per == CHANNEL else None
        quantized = quantize_tensor(
            weight, self.grid.bits, self.grid.mode, axis=axis, group_size=self.grid.group_size, scale_dtype="float16"
        )
        back: Tensor = quantized.dequantize()
        return back


@dataclass(frozen=True)
class Gptq:
    """Block by block; each block is calibrated with what the quantized blocks before it let through."""

    grid: Grid
    calibration: Calibration
    act_order: bool = False

    def apply(self, decoder: Decoder) -> Decoder:
        changed = shared_copy(decoder)
        for index, block, fed in through_blocks(changed, self.calibration.windows):
            for shared, inputs in fed.items():
                hessian = Hessian(inputs.shape[-1])
                hessian.add(inputs)
                for name in shared.consumers:
                    matrix = block.get_submodule(name)
                    set_weight(matrix, named(f"layers.{index}.{name}", self.chosen, matrix.weight, hessian))
        return changed

    def chosen(self, weight: Tensor, hessian: Hessian) -> Tensor:
        """[out, in] -> [out, in]"""
        back: Tensor = quantize_gptq(
            weight, hessian, self.grid.bits, self.grid.mode, group_size=self.grid.group_size, act_order=self.act_order,
            scale_dtype="float16",
        ).dequantize()  # fmt: skip
        return back


@dataclass(frozen=True)
class Awq:
    """One search for each set of matrices that share an input, on what the float model feeds them."""

    grid: Grid
    calibration: Calibration

    def apply(self, decoder: Decoder) -> Decoder:
        changed = shared_copy(decoder)
        for index, block, fed in through_blocks(decoder, self.calibration.windows):
            for shared, inputs in fed.items():
                scale = named(f"layers.{index}.{shared.consumers[0]}", self.searched, block, shared, inputs)
                target = changed.layers[index]
                for name in shared.consumers:
                    set_weight(target.get_submodule(name), self.chosen(block.get_submodule(name), scale, shared))
                # up_proj has its codes by now, and each of its rows a scale of its own, which takes the division in.
                if shared.producer is not None:
                    producer = target.get_submodule(shared.producer)
                    set_weight(producer, smooth_producer(producer.weight, scale))
        return changed

    def searched(self, block: Block, shared: SharedInput, inputs: Tensor) -> Tensor:
        """The scale [in] of these inputs [tokens, in]."""
        weights = [block.get_submodule(name).weight for name in shared.consumers]
        found = search_scale(weights, inputs, self.grid.bits, self.grid.mode, group_size=self.grid.group_size)
        scale: Tensor = found.scale
        return scale

    def chosen(self, matrix: nn.Module, scale: Tensor, shared: SharedInput) -> Tensor:
        """[out, in]; for inputs that come divided where something before can divide them, else with the scale carried."""
        scaled = quantize_scaled(
            matrix.weight, scale, self.grid.bits, self.grid.mode, group_size=self.grid.group_size, scale_dtype="float16"
        )
        back: Tensor = scaled.dequantize() if shared.producer is None else scaled.quantized.dequantize()
        return back
