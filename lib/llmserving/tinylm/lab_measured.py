"""What the quantization lab of level 3 measures of the course's own model. ModelMissing where torch is not installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from llmserving.quantization import channel_magnitude, error_by_channel, quantize_tensor
from llmserving.quantization.awq import scale_for
from llmserving.tinylm.missing import OWN, need
from llmserving.tinylm.texts import held_out_text

if TYPE_CHECKING:
    from llmserving.tinylm.weights import LanguageModel

Vector = np.ndarray[Any, np.dtype[np.float64]]
RoundTripFunction = Callable[..., Any]
"""Of (weight [rows, columns], bits, group_size or None): what comes back, of the same shape."""

BITS, GROUP_SIZE, ALPHA = 4, 64, 0.5
MATRIX, LETTERS = "layers.1.mlp.up_proj", 4000


@dataclass(frozen=True)
class Fallen:
    """Where the weights of one matrix fall. zeros_...: the parts of 1 that come back as 0; ..._step: the usual step."""

    usual: float
    largest: float
    one_step: float
    zeros_one_step: float
    groups_step: float
    zeros_groups: float


@dataclass(frozen=True)
class Protected:
    """Of each input channel [in]: mean |x|, and the outputs' error from its weights, rounded plainly and with scales."""

    magnitude: Vector
    plain: Vector
    scaled: Vector


def perplexities(round_trip: RoundTripFunction, name: str = OWN) -> Iterator[tuple[str, float]]:
    """(field, perplexity) of the model as it is, with one step a matrix, and in groups, each as soon as it is there.

    The course's own model gets outliers, which it is too small to have; any other is taken as it is.
    """
    need("torch")
    from llmserving.tinylm import load, perplexity
    from llmserving.tinylm.written_schemes import RoundTrip

    model = broken_easily() if name == OWN else load(name)
    text = held_out_text("austen")[:LETTERS]
    schemes = {
        "float32": None,
        "one_step": RoundTrip(round_trip, BITS),
        "groups": RoundTrip(round_trip, BITS, GROUP_SIZE),
    }
    for field, scheme in schemes.items():
        yield field, perplexity(model, text, scheme, progress=False).perplexity


def broken_easily() -> LanguageModel:
    """The course's own model, with one column of each matrix that follows a norm 20 times as large."""
    from llmserving.tinylm import load, with_outliers

    return with_outliers(load(OWN), channels=1, gain=1 / 20)


def fallen() -> Fallen:
    """Of one matrix of that model, with the library's quantizer."""
    need("torch")
    weight = _matrix(broken_easily())
    one, groups = (quantize_tensor(weight, BITS, group_size=size) for size in (None, GROUP_SIZE))
    return Fallen(
        float(np.median(abs(weight))),
        float(abs(weight).max()),
        float(np.median(one.scale)),
        float((one.dequantize() == 0).mean()),
        float(np.median(groups.scale)),
        float((groups.dequantize() == 0).mean()),
    )


def protected(round_trip: RoundTripFunction, input_scales: Callable[..., Any]) -> Protected:
    """One matrix of the model with four large inputs, in groups, without and with `input_scales` of its inputs."""
    need("torch")
    from llmserving.tinylm import inputs_of, load, with_outliers

    model = with_outliers(load(OWN), channels=4, gain=60)
    inputs, weight = inputs_of(model, MATRIX).numpy(), _matrix(model)
    scales = np.asarray(input_scales(inputs, ALPHA))
    plain = round_trip(weight, BITS, GROUP_SIZE)
    scaled = round_trip(weight * scales, BITS, GROUP_SIZE) / scales
    errors = (error_by_channel(weight, changed, inputs) for changed in (plain, scaled))
    return Protected(np.asarray(channel_magnitude(inputs)), *errors)


def library_round_trip(weight: Any, bits: int, group_size: int | None = None) -> Any:
    """What the lab asks for, by the library; columns must divide into groups."""
    return quantize_tensor(weight, bits, group_size=group_size).dequantize()


def library_scales(inputs: Any, alpha: float) -> Vector:
    """mean |x|^alpha of each channel [in], over the root of the largest times the smallest."""
    return np.asarray(scale_for(np.asarray(channel_magnitude(inputs)), alpha))


def _matrix(model: LanguageModel) -> Any:
    return dict(model.decoder.matrices())[MATRIX].weight.detach().numpy()
