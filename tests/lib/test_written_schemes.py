"""A function of a learner's is a scheme like any other: asked for each matrix, refused with the matrix's name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from llmserving.quantization import quantize_tensor
from llmserving.tinylm import OWN, load, perplexity, quantized
from llmserving.tinylm.written_schemes import RoundTrip


def rounded(weight: Any, bits: int, group_size: int | None) -> Any:
    return quantize_tensor(weight, bits, group_size=group_size).dequantize()


def test_a_written_quantizer_gives_what_the_library_s_scheme_gives() -> None:
    model, text = load(OWN), "It was a truth universally acknowledged. " * 20
    for group_size, name in ((None, "int4-tensor-asym"), (64, "int4-g64-asym")):
        own = perplexity(model, text, RoundTrip(rounded, 4, group_size), window=128, progress=False).perplexity
        # The library's scheme stores its scales in 16 bits, this one does not.
        assert own == pytest.approx(perplexity(model, text, name, window=128, progress=False).perplexity, rel=0.02)


def test_what_a_function_writes_into_its_argument_does_not_reach_the_model() -> None:
    def spoil(weight: Any, bits: int, group_size: int | None) -> Any:
        weight[:] = 0
        return weight

    model = load(OWN)
    before = {name: matrix.weight.clone() for name, matrix in model.decoder.matrices()}
    quantized(model, RoundTrip(spoil, 4))
    assert all(bool((matrix.weight == before[name]).all()) for name, matrix in model.decoder.matrices())


def test_a_matrix_of_another_shape_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"scheme must return a tensor \[256, 256\] for layers.0.self_attn.q_proj"):
        quantized(load(OWN), RoundTrip(lambda weight, bits, group_size: np.zeros((2, 2)), 4))


def test_a_function_that_is_defined_anew_is_asked_anew() -> None:
    model = load(OWN)
    made = [RoundTrip(lambda weight, bits, group_size, by=by: weight * by, 4) for by in (1.0, 0.5)]
    first, second = (quantized(model, scheme) for scheme in made)
    assert first is not second
    assert quantized(model, made[0]) is first
