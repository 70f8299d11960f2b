"""SmoothQuant: the same function in other weights, whose activations fit 8 bits; and every refusal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from llmserving.quantization import (
    column_absmax,
    quantize_tensor,
    smooth_producer,
    smooth_weight,
    smoothing_scale,
)

from tests.lib.quantization_arrays import array, both, normal, numbers

COLUMNS, OUTLIER = 64, 9
# float32 sums of 64 products of about 1, each factor rounded once more
RELATIVE, ABSOLUTE = 1e-5, 1e-3


def inputs_with_an_outlier(rows: int = 100) -> np.ndarray[Any, Any]:
    inputs = normal(rows, COLUMNS, seed=5)
    inputs[:, OUTLIER] *= 60
    return inputs


def same(found: Any, wanted: Any) -> bool:
    return np.allclose(found, wanted, rtol=RELATIVE, atol=ABSOLUTE)


def absmax(inputs: Any) -> Any:
    return np.abs(inputs).max(axis=0)


@pytest.mark.parametrize("alpha", [0, 0.5, 0.8, 1])
@both
def test_the_outputs_are_the_same_before_anything_is_quantized(library: str, alpha: float) -> None:
    gain, weights = (
        array(library, np.linspace(0.5, 2, COLUMNS)),
        [array(library, normal(24, COLUMNS, seed=n)) for n in (1, 2)],
    )
    normed = normal(50, COLUMNS, seed=3)
    inputs = normed * numbers(gain)
    inputs[:, OUTLIER] *= 60
    normed[:, OUTLIER] *= 60
    scale = smoothing_scale(array(library, absmax(inputs)), weights, alpha)
    smoothed = normed * numbers(smooth_producer(gain, scale))
    for weight in weights:
        after = smoothed @ numbers(smooth_weight(weight, scale)).T
        assert same(after, inputs @ numbers(weight).T)
    assert type(scale) is type(weights[0])


def test_dividing_twice_or_not_at_all_is_another_model() -> None:
    """smoothquant's issue 79 and TensorRT-LLM's 215: where is X divided? In the gain, and nowhere else."""
    weight, inputs = normal(24, COLUMNS), inputs_with_an_outlier()
    scale = smoothing_scale(absmax(inputs), [weight])
    exact, scaled = inputs @ weight.T, smooth_weight(weight, scale).T
    assert same(inputs / scale @ scaled, exact)
    for wrong in (inputs @ scaled, inputs / scale / scale @ scaled):
        assert np.abs(wrong - exact).mean() > 0.5 * np.abs(exact).mean()


def test_a_linear_layer_before_can_be_divided_by_its_rows() -> None:
    first, second = normal(COLUMNS, 16), normal(24, COLUMNS, seed=1)
    x = normal(30, 16, seed=2)
    scale = smoothing_scale(absmax(x @ first.T), [second])
    after = x @ smooth_producer(first, scale).T @ smooth_weight(second, scale).T
    assert same(after, x @ first.T @ second.T)


def test_alpha_half_makes_both_maxima_equal_and_its_ends_level_one_of_them() -> None:
    weight, inputs = normal(24, COLUMNS), inputs_with_an_outlier()

    def maxima(alpha: float) -> tuple[Any, Any]:
        scale = smoothing_scale(absmax(inputs), [weight], alpha)
        return absmax(inputs) / scale, column_absmax([smooth_weight(weight, scale)])

    assert np.allclose(*maxima(0.5), rtol=1e-5)
    assert np.allclose(maxima(1)[0], 1, rtol=1e-5)
    assert np.allclose(maxima(0)[1], 1, rtol=1e-5)


def test_all_weights_that_see_a_channel_count() -> None:
    weights, inputs = [normal(8, COLUMNS), 5 * normal(8, COLUMNS, seed=1)], inputs_with_an_outlier()
    together = smoothing_scale(absmax(inputs), weights)
    assert same(together, smoothing_scale(absmax(inputs), [np.concatenate(weights)]))
    assert not same(together, smoothing_scale(absmax(inputs), weights[:1]))


def test_one_scale_a_tensor_suffices_once_it_is_smooth() -> None:
    weight, inputs = normal(24, COLUMNS), inputs_with_an_outlier()
    scale = smoothing_scale(absmax(inputs), [weight])

    def eight_bits(x: Any, w: Any) -> Any:
        return (
            quantize_tensor(x, 8, "symmetric").dequantize() @ quantize_tensor(w, 8, "symmetric", axis=0).dequantize().T
        )

    exact = inputs @ weight.T
    plain = np.square(eight_bits(inputs, weight) - exact).mean()
    smooth = np.square(eight_bits(inputs / scale, smooth_weight(weight, scale)) - exact).mean()
    assert smooth < plain / 20


@pytest.mark.parametrize("where", ["activations", "weights"])
def test_a_channel_of_zeros_is_left_as_it_is(where: str) -> None:
    weight, inputs = normal(24, COLUMNS), inputs_with_an_outlier()
    (inputs if where == "activations" else weight)[:, 3] = 0
    scale = smoothing_scale(absmax(inputs), [weight])
    assert scale[3] == 1
    assert np.isfinite(scale).all()
    assert (scale > 0).all()
    assert same(inputs / scale @ smooth_weight(weight, scale).T, inputs @ weight.T)


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        (
            {"alpha": 1.5},
            ValueError,
            "alpha is the share of the trouble that the weights take, from 0 to 1, but got 1.5",
        ),
        ({"alpha": float("nan")}, ValueError, "alpha is the share"),
        ({"alpha": "half"}, ValueError, "alpha is the share"),
        ({"weights": []}, TypeError, "weights is a list of the matrices"),
        (
            {"activation_absmax": np.ones(3)},
            ValueError,
            r"activation_absmax has shape \(3,\), but weights \[4, 8\] take 8",
        ),
        ({"activation_absmax": -np.ones(8)}, ValueError, "cannot be below 0; take the absolute value first"),
        ({"activation_absmax": np.full(8, np.inf)}, ValueError, "activation_absmax is max .* must be finite"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(change: dict[str, Any], error: type[Exception], said: str) -> None:
    given: dict[str, Any] = {"activation_absmax": np.ones(8), "weights": [normal(4, 8)], "alpha": 0.5}
    with pytest.raises(error, match=said):
        smoothing_scale(**{**given, **change})


def test_a_scale_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"scale has shape \(4,\), but weight has 8 inputs: one for each"):
        smooth_weight(normal(4, 8), np.ones(4))
    with pytest.raises(ValueError, match=r"scale has shape \(8,\), but weight has 4 channels: one for each"):
        smooth_producer(normal(4, 8), np.ones(8))
    with pytest.raises(ValueError, match="not above 0"):
        smooth_weight(normal(4, 8), np.zeros(8))
