"""AWQ: what it searches, what it finds where a channel is large, and that scaling changes no output before rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from llmserving.quantization import (
    channel_magnitude,
    error_by_channel,
    quantize_scaled,
    quantize_tensor,
    search_scale,
)
from llmserving.quantization.awq import GRID, scale_for

from tests.lib.quantization_arrays import array, both, normal, numbers

ROWS, COLUMNS, OUTLIER = 48, 64, 11


def inputs_with_an_outlier(rows: int = 300, gain: float = 40.0) -> np.ndarray[Any, Any]:
    inputs = normal(rows, COLUMNS, seed=5)
    inputs[:, OUTLIER] *= gain
    return inputs


def error(weight: Any, back: Any, inputs: Any) -> float:
    return float(np.square(inputs @ (numbers(weight) - numbers(back)).T).mean())


def awq(weight: Any, inputs: Any, bits: int = 4, group_size: int | None = None) -> Any:
    found = search_scale([weight], inputs, bits, group_size=group_size)
    return quantize_scaled(weight, found.scale, bits, group_size=group_size)


def test_it_repairs_an_outlier_channel_better_than_finer_groups_do() -> None:
    weight, inputs = normal(ROWS, COLUMNS), inputs_with_an_outlier()
    rounded = {
        size: error(weight, quantize_tensor(weight, 4, group_size=size).dequantize(), inputs) for size in (64, 32, 16)
    }
    assert error(weight, awq(weight, inputs).dequantize(), inputs) < 0.5 * min(rounded.values())


def test_it_is_the_outlier_s_own_error_that_shrinks() -> None:
    weight, inputs = normal(ROWS, COLUMNS), inputs_with_an_outlier()
    before = error_by_channel(weight, quantize_tensor(weight, 4, axis=0).dequantize(), inputs)
    after = error_by_channel(weight, awq(weight, inputs).dequantize(), inputs)
    assert before.argmax() == OUTLIER
    assert after[OUTLIER] < before[OUTLIER] / 5
    assert after.sum() < before.sum() / 2
    others = np.arange(COLUMNS) != OUTLIER
    assert after[others].sum() > before[others].sum()  # what it costs the rest


def test_where_no_channel_stands_out_there_is_next_to_nothing_to_gain() -> None:
    weight, inputs = normal(ROWS, COLUMNS), normal(300, COLUMNS, seed=5)
    plain = error(weight, quantize_tensor(weight, 4, axis=0).dequantize(), inputs)
    assert 0.9 * plain < error(weight, awq(weight, inputs).dequantize(), inputs) <= 1.01 * plain


def test_the_search_is_the_grid_that_it_says() -> None:
    weight, inputs = normal(ROWS, COLUMNS), inputs_with_an_outlier()
    found = search_scale([weight], inputs, 3, group_size=32)
    assert list(found.errors) == [step / GRID for step in range(GRID)]
    assert found.alpha == min(found.errors, key=lambda alpha: found.errors[alpha])
    magnitude = np.abs(inputs).mean(axis=0)
    assert np.allclose(channel_magnitude(inputs), magnitude, rtol=1e-5)
    raised = magnitude**found.alpha
    assert np.allclose(found.scale, raised / np.sqrt(raised.max() * raised.min()), rtol=1e-5)
    for alpha in (0.0, 0.5):
        scale = scale_for(channel_magnitude(inputs), alpha)
        back = quantize_tensor(weight * scale, 3, group_size=32).dequantize() / scale
        assert found.errors[alpha] == pytest.approx(error(weight, back, inputs), rel=1e-3)
    assert search_scale([weight], inputs, 3, grid=1).alpha == 0


def test_alpha_0_is_rounding_to_the_nearest() -> None:
    weight = normal(ROWS, COLUMNS)
    scale = scale_for(channel_magnitude(inputs_with_an_outlier()), 0.0)
    assert (scale == 1).all()
    assert np.array_equal(
        quantize_scaled(weight, scale, 4).dequantize(), quantize_tensor(weight, 4, axis=0).dequantize()
    )


def test_layers_that_share_inputs_share_a_scale_that_serves_all() -> None:
    weights, inputs = [normal(8, COLUMNS), 10 * normal(8, COLUMNS, seed=2)], inputs_with_an_outlier()
    found = search_scale(weights, inputs, 4)
    assert found.scale.shape == (COLUMNS,)
    stacked = search_scale([np.concatenate(weights)], inputs, 4)
    assert found.errors == stacked.errors


def test_dividing_the_inputs_and_scaling_the_weights_changes_nothing_until_something_is_rounded() -> None:
    weight, inputs = normal(ROWS, COLUMNS).astype(np.float64), inputs_with_an_outlier().astype(np.float64)
    scale = search_scale([weight], inputs, 4).scale.astype(np.float64)
    assert np.allclose((inputs / scale) @ (weight * scale).T, inputs @ weight.T, rtol=1e-12, atol=1e-9)
    result = quantize_scaled(weight, scale, 4)
    folded = (inputs / numbers(result.scale)) @ numbers(result.quantized.dequantize()).T
    assert np.allclose(folded, inputs @ numbers(result.dequantize()).T, rtol=1e-5, atol=1e-4)


def test_a_channel_that_is_never_fed_keeps_finite_weights() -> None:
    weight, inputs = normal(ROWS, COLUMNS), inputs_with_an_outlier()
    inputs[:, 3] = 0
    result = awq(weight, inputs)
    assert np.isfinite(result.dequantize()).all()
    assert (result.scale > 0).all()
    assert np.isfinite(awq(weight, np.zeros((4, COLUMNS))).dequantize()).all()


@both
def test_numpy_in_numpy_out_and_torch_likewise(library: str) -> None:
    weight, inputs = array(library, normal(ROWS, COLUMNS)), array(library, inputs_with_an_outlier())
    found = search_scale([weight], inputs, 4)
    result = quantize_scaled(weight, found.scale, 4)
    for part in (found.scale, result.scale, result.quantized.codes, result.dequantize()):
        assert type(part) is type(weight)
    assert found.alpha == search_scale([normal(ROWS, COLUMNS)], inputs_with_an_outlier(), 4).alpha


@pytest.mark.parametrize(
    ("change", "kind", "said"),
    [
        ({"weights": []}, TypeError, r"weights is a list of the matrices \[out, in\]"),
        ({"weights": normal(4, 4)}, TypeError, "weights is a list of the matrices"),
        ({"weights": [normal(4, 64), normal(4, 32)]}, ValueError, r"share their inputs.*but got \[4, 64\], \[4, 32\]"),
        ({"inputs": normal(4, 32)}, ValueError, r"inputs has shape \(4, 32\), but the weights take 64 inputs"),
        ({"inputs": np.full((2, 64), np.nan)}, ValueError, "inputs is inputs .* must be finite"),
        ({"group_size": 48}, ValueError, "group_size 48 does not divide the 64 columns"),
        ({"grid": 0}, ValueError, "grid is the number of values of alpha to try and must be at least 1"),
        ({"bits": 1}, ValueError, "bits is the number of bits of a code and must be at least 2"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(change: dict[str, Any], kind: type[Exception], said: str) -> None:
    given: dict[str, Any] = {"weights": [normal(ROWS, COLUMNS)], "inputs": inputs_with_an_outlier(), "bits": 4}
    with pytest.raises(kind, match=said):
        search_scale(**{**given, **change})


def test_a_scale_that_cannot_divide_is_refused() -> None:
    with pytest.raises(ValueError, match=r"scale has shape \(3,\), but weight takes 64 inputs"):
        quantize_scaled(normal(4, 64), np.ones(3), 4)
    with pytest.raises(ValueError, match="not above 0"):
        quantize_scaled(normal(4, 64), np.zeros(64), 4)
