"""Schemes of what flows through the model: 8-bit activations, smoothed first or not, and a KV cache of few bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from llmserving.quantization.affine import dequantize, quantize, scale_zero_point
from llmserving.quantization.kv import quantize_kv
from llmserving.quantization.matmul import quantize_rows
from llmserving.quantization.smoothquant import smooth_producer, smooth_weight, smoothing_scale
from llmserving.tinylm.calibration import Calibration, through_blocks
from llmserving.tinylm.model import Decoder
from llmserving.tinylm.schemes import shared_copy
from llmserving.tinylm.weight_schemes import CHANNEL, Grid, RoundToNearest, set_weight


@dataclass(frozen=True)
class RoundedInput:
    """A hook before a matrix: its input as it comes back from int8, the scale each token's own, or one fixed for all."""

    scale: float | None = None

    def __call__(self, _: nn.Module, given: tuple[Any, ...]) -> tuple[Tensor, ...]:
        x: Tensor = given[0]
        if self.scale is None:
            return (quantize_rows(x.flatten(0, -2)).dequantize().view(x.shape),)
        return (dequantize(quantize(x, self.scale, 0, 8, "symmetric"), self.scale, 0),)


def channel_maxima(decoder: Decoder, calibration: Calibration) -> dict[tuple[int, str], Tensor]:
    """max |x| of each channel that a matrix is fed on the calibration text."""
    return {
        (index, name): inputs.abs().amax(dim=0)
        for index, _, fed in through_blocks(decoder, calibration.windows)
        for shared, inputs in fed.items()
        for name in shared.consumers
    }


def smoothed(decoder: Decoder, calibration: Calibration, alpha: float) -> Decoder:
    """The same function in other weights: nothing is quantized yet. All but o_proj are smoothed, which has no producer."""
    changed = shared_copy(decoder)
    for index, block, fed in through_blocks(decoder, calibration.windows):
        target = changed.layers[index]
        for shared, inputs in fed.items():
            if shared.producer is None:
                continue
            weights = [block.get_submodule(name).weight for name in shared.consumers]
            scale = smoothing_scale(inputs.abs().amax(dim=0), weights, alpha)
            for name in shared.consumers:
                matrix = target.get_submodule(name)
                set_weight(matrix, smooth_weight(matrix.weight, scale))
            producer = target.get_submodule(shared.producer)
            set_weight(producer, smooth_producer(producer.weight, scale))
    return changed


@dataclass(frozen=True)
class W8A8:
    """int8 weights, a scale a row, and int8 activations: a scale a token as it comes, or one a tensor, fixed beforehand.

    The fixed scale is max |x| of the calibration over 127, whatever batch the model meets later; what lies beyond is
    clipped. With `alpha`, the model is smoothed first. Both factors are exact in int8, so products of dequantized values
    are those of the integers, up to the rounding of float32 sums.
    """

    calibration: Calibration | None = None  # None: a scale a token
    alpha: float | None = None

    def apply(self, decoder: Decoder) -> Decoder:
        scales: dict[tuple[int, str], float] = {}
        if self.calibration is not None:
            if self.alpha is not None:
                decoder = smoothed(decoder, self.calibration, self.alpha)
            for place, maxima in channel_maxima(decoder, self.calibration).items():
                largest = float(maxima.max())
                scales[place] = scale_zero_point(-largest, largest, 8, "symmetric")[0]
        changed = RoundToNearest(Grid(8, CHANNEL, "symmetric")).apply(decoder)
        for name, matrix in changed.matrices():
            _, index, rest = name.split(".", 2)
            matrix.register_forward_pre_hook(RoundedInput(scales.get((int(index), rest))))
        return changed


@dataclass(frozen=True)
class QuantizedKvScheme:
    """Keys and values rounded as they are cached, a scale a token and head; the weights stay as they are.

    What comes back from the codes is what the cache stores, in its own dtype: `bytes_per_token` is as before. This shows what
    the rounding costs; `quantization.QuantizedKvCache` shows what it saves, and no model here reads from one.
    """

    kv_dtype: str

    def apply(self, decoder: Decoder) -> Decoder:
        changed = shared_copy(decoder)
        for attention in changed.attentions():
            attention.kv_scheme = self.stored
        return changed

    def stored(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """[B, T, K, E] keys and values as they come back from the cache."""
        return quantize_kv(keys, self.kv_dtype).dequantize(), quantize_kv(values, self.kv_dtype).dequantize()
