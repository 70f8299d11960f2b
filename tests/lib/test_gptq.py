"""GPTQ: the codes of its specification, outputs nearer than rounding to the nearest gives, and every refusal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from llmserving.figures import gptq_columns
from llmserving.quantization import (
    Hessian,
    error_by_channel,
    error_left_alone,
    error_made_up,
    linear_w4a16,
    output_error,
    pack_quantized,
    quantize_gptq,
    quantize_tensor,
)
from llmserving.quantization.gptq_specification import gptq_slowly
from llmserving.quantization.hessian import error_root, inverse_root
from llmserving.tinylm import inputs_of, load, with_outliers

from tests.lib.quantization_arrays import array, both, normal, numbers

ROWS, COLUMNS = 24, 64


def mixed_inputs(rows: int = 200, columns: int = COLUMNS, seed: int = 0) -> np.ndarray[Any, Any]:
    """Inputs [rows, columns] that depend on each other, as those of a language model do."""
    mix = normal(columns, columns, seed=seed + 1)
    return np.asarray(normal(rows, columns, seed=seed) @ mix * np.linspace(0.1, 2, columns, dtype=np.float32))


def hessian_of(inputs: Any) -> Hessian:
    hessian = Hessian(inputs.shape[-1])
    hessian.add(inputs)
    return hessian


# The Hessian


def test_batches_add_up_to_the_whole() -> None:
    inputs = mixed_inputs()
    whole, parts = hessian_of(inputs), Hessian(COLUMNS)
    for batch in np.array_split(inputs, 3):
        parts.add(batch)
    parts.add(np.zeros((2, 5, COLUMNS)))
    assert (whole.rows, parts.rows) == (200, 210)
    exact = 2 * inputs.astype(np.float64).T @ inputs.astype(np.float64)
    assert np.allclose(whole.matrix, exact / 200, rtol=1e-12)
    assert np.allclose(parts.matrix, exact / 210, rtol=1e-12)


def test_the_two_roots_are_what_they_say() -> None:
    matrix = hessian_of(mixed_inputs()).matrix
    dampened = matrix + 0.01 * np.diag(matrix).mean() * np.eye(COLUMNS)
    root, inverse = error_root(matrix), inverse_root(matrix)
    assert np.allclose(root @ root.T, dampened)
    assert np.allclose(inverse.T @ inverse @ dampened, np.eye(COLUMNS))
    for triangle in (root, inverse):
        assert (np.tril(triangle, -1) == 0).all()


@pytest.mark.parametrize(
    ("x", "error", "said"),
    [
        (np.ones((2, 3)), ValueError, r"x has shape \(2, 3\), but this layer takes 64 inputs"),
        (1.0, ValueError, r"x has shape \(\), but this layer takes 64 inputs"),
        (
            np.full((1, 64), np.nan),
            ValueError,
            r"x is inputs \[..., in\] and must be finite, but element \[0, 0\] is NaN",
        ),
        ("text", TypeError, "x is inputs"),
    ],
)
def test_inputs_that_do_not_fit_are_refused_and_change_nothing(x: Any, error: type[Exception], said: str) -> None:
    hessian = hessian_of(mixed_inputs())
    before = hessian.matrix.copy()
    with pytest.raises(error, match=said):
        hessian.add(x)
    assert hessian.rows == 200
    assert np.array_equal(hessian.matrix, before)


def test_a_hessian_without_inputs_is_refused() -> None:
    with pytest.raises(ValueError, match="has seen no inputs"):
        quantize_gptq(normal(ROWS, COLUMNS), Hessian(COLUMNS), 4)
    with pytest.raises(ValueError, match="columns is the number of inputs of the layer and must be at least 1"):
        Hessian(0)


# The codes


@pytest.mark.parametrize("group_size", [None, 8, 32, 64])
@pytest.mark.parametrize(
    "mode", ["asymmetric", "symmetric"]
)  # symmetric-full puts each group's largest on an exact tie
@pytest.mark.parametrize("act_order", [False, True])
def test_its_codes_are_those_of_the_explicit_inverses(group_size: int | None, mode: str, act_order: bool) -> None:
    inputs, weight = mixed_inputs().astype(np.float64), normal(ROWS, COLUMNS).astype(np.float64)
    inputs[:, 7] = 0
    hessian = hessian_of(inputs)
    fast = quantize_gptq(weight, hessian, 3, mode, group_size=group_size, act_order=act_order)
    slow = gptq_slowly(weight, hessian.matrix, 3, mode, group_size=group_size, act_order=act_order)
    assert np.array_equal(fast.codes, slow)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10_000), st.integers(1, 4), st.integers(2, 40), st.integers(1, 60), st.booleans(), st.integers(2, 8)
)
def test_the_two_agree_on_any_small_matrix(
    seed: int, rows: int, columns: int, samples: int, act_order: bool, bits: int
) -> None:
    inputs = mixed_inputs(samples, columns, seed).astype(np.float64)
    weight = normal(rows, columns, seed=seed).astype(np.float64)
    hessian = hessian_of(inputs)
    fast = quantize_gptq(weight, hessian, bits, act_order=act_order)
    slow = gptq_slowly(weight, hessian.matrix, bits, act_order=act_order)
    # Where both compute a code that lies all but on a tie, the last bit of a double decides.
    assert (fast.codes != slow).mean() <= 0.02


@pytest.mark.parametrize("mode", ["asymmetric", "symmetric", "symmetric-full"])
@pytest.mark.parametrize("group_size", [None, 16])
@both
def test_inputs_that_have_nothing_to_do_with_each_other_leave_rounding_to_the_nearest(
    library: str, group_size: int | None, mode: str
) -> None:
    weight = array(library, normal(ROWS, COLUMNS))
    found = quantize_gptq(weight, np.eye(COLUMNS), 4, mode, group_size=group_size)
    axis = 0 if group_size is None else None
    nearest = quantize_tensor(weight, 4, mode, axis=axis, group_size=group_size)
    for one, other in (
        (found.codes, nearest.codes),
        (found.scale, nearest.scale),
        (found.zero_point, nearest.zero_point),
    ):
        assert type(one) is type(other)
        assert one.dtype == other.dtype
        assert np.array_equal(numbers(one), numbers(other))
    assert (found.bits, found.mode, found.group_size) == (nearest.bits, nearest.mode, nearest.group_size)


@both
def test_torch_and_numpy_get_the_same_and_the_weights_stay(library: str) -> None:
    weight, inputs = array(library, normal(ROWS, COLUMNS)), array(library, mixed_inputs())
    before = numbers(weight).copy()
    found = quantize_gptq(weight, hessian_of(inputs), 4, group_size=32)
    assert np.array_equal(
        numbers(found.codes), quantize_gptq(normal(ROWS, COLUMNS), hessian_of(mixed_inputs()), 4, group_size=32).codes
    )
    assert np.array_equal(numbers(weight), before)
    assert isinstance(found.dequantize(), torch.Tensor) == (library == "torch")


def test_it_is_packed_and_multiplied_like_any_quantized_tensor() -> None:
    weight, inputs = normal(ROWS, COLUMNS), mixed_inputs()
    found = quantize_gptq(weight, hessian_of(inputs), 4, group_size=32, scale_dtype="float16")
    packed = pack_quantized(found)
    assert np.array_equal(packed.dequantize(), found.dequantize())
    assert np.allclose(linear_w4a16(inputs, packed), inputs @ found.dequantize().T, atol=1e-3)


# What it protects


@pytest.mark.parametrize("bits", [2, 3, 4])
@pytest.mark.parametrize("group_size", [None, 16])
@pytest.mark.parametrize("act_order", [False, True])
def test_outputs_are_nearer_and_weights_further_off_than_rounded_to_the_nearest(
    bits: int, group_size: int | None, act_order: bool
) -> None:
    weight, hessian = normal(ROWS, COLUMNS), hessian_of(mixed_inputs())
    found = quantize_gptq(weight, hessian, bits, group_size=group_size, act_order=act_order).dequantize()
    nearest = quantize_tensor(weight, bits, axis=0 if group_size is None else None, group_size=group_size).dequantize()
    assert output_error(weight, found, hessian) < 0.8 * output_error(weight, nearest, hessian)
    assert np.square(weight - found).mean() > np.square(weight - nearest).mean()


def test_on_inputs_that_it_has_not_seen_much_of_the_gain_is_gone_where_the_text_was_short() -> None:
    weight, other = normal(ROWS, COLUMNS), hessian_of(mixed_inputs(seed=50))
    few = quantize_gptq(weight, hessian_of(mixed_inputs(12)), 3).dequantize()
    many = quantize_gptq(weight, hessian_of(mixed_inputs(2000)), 3).dequantize()
    nearest = quantize_tensor(weight, 3, axis=0).dequantize()
    same = hessian_of(mixed_inputs(2000))
    assert output_error(weight, many, same) < output_error(weight, few, same)
    assert output_error(weight, few, other) > output_error(weight, nearest, other)


def test_of_a_few_columns_that_are_much_alike_plain_rounding_may_do_better() -> None:
    """One weight is moved beyond the last code and clipped, and too few columns are left to make up for that."""
    generator = np.random.default_rng(1)
    weight = generator.standard_normal((8, 4)).astype(np.float32)
    hessian = hessian_of(generator.standard_normal((200, 1)) + 0.1 * generator.standard_normal((200, 4)))
    found, nearest = quantize_gptq(weight, hessian, 3), quantize_tensor(weight, 3, axis=0)
    assert np.array_equal(found.scale, nearest.scale)
    assert output_error(weight, found.dequantize(), hessian) > 2 * output_error(weight, nearest.dequantize(), hessian)


def test_errors_by_column_end_where_the_whole_error_is() -> None:
    weight, hessian = normal(ROWS, COLUMNS), hessian_of(mixed_inputs())
    found = quantize_gptq(weight, hessian, 3).dequantize()
    whole = output_error(weight, found, hessian)
    inputs = mixed_inputs().astype(np.float64)
    assert whole == pytest.approx(np.square(inputs @ (weight - found).T.astype(np.float64)).mean(), rel=1e-6)
    alone, made_up = error_left_alone(weight, found, hessian), error_made_up(weight, found, hessian)
    assert alone[-1] == pytest.approx(whole)
    assert made_up[-1] == pytest.approx(whole, rel=1e-6)
    assert (np.diff(made_up) >= 0).all()
    assert (made_up <= alone * (1 + 1e-6)).all()
    half = weight.copy()
    half[:, :32] = found[:, :32]
    assert alone[31] == pytest.approx(output_error(weight, half, hessian))
    # The columns still free can at most do as well as the best there is.
    x = inputs * np.sqrt(2)
    free, fixed = x[:, 32:], x[:, :32] @ (weight - found)[:, :32].T.astype(np.float64)
    left = fixed - free @ np.linalg.lstsq(free, fixed, rcond=None)[0]
    assert made_up[31] == pytest.approx(np.square(left).mean() / 2, rel=1e-3)


@pytest.mark.parametrize("name", ["layers.1.mlp.up_proj", "layers.0.self_attn.q_proj"])
def test_what_gptq_protects_is_seen_where_a_few_inputs_are_large(name: str) -> None:
    """Dampened by a hundredth of outliers' squares, an error would be drawn that is twice the one there is."""
    model = with_outliers(load())
    weight, inputs = dict(model.decoder.matrices())[name].weight.detach(), inputs_of(model, name)
    hessian = hessian_of(inputs)
    found = quantize_gptq(weight, hessian, 3).dequantize()
    nearest = quantize_tensor(weight, 3, axis=0).dequantize()
    x, change = numbers(inputs), numbers(weight) - numbers(found)
    true, plain = np.square(x @ change.T).mean(), output_error(weight, nearest, hessian)
    alone, made_up = error_left_alone(weight, nearest, hessian), error_made_up(weight, found, hessian)
    assert (alone[-1], made_up[-1]) == pytest.approx((plain, true), rel=1e-4)
    assert made_up[-1] < 0.8 * plain
    times = f"{plain / true:.2g} times less in the end"
    assert gptq_columns(alone, made_up).alt_text.endswith(
        f"{plain:.3g} after all; by GPTQ, with the columns to come "
        f"moved to make up for it, {made_up[len(x[0]) // 2 - 1]:.3g} and {true:.3g}: {times}."
    )


def test_little_or_odd_calibration_leaves_the_end_of_the_curve_where_it_is() -> None:
    weight, inputs = normal(ROWS, COLUMNS), mixed_inputs(20)
    inputs[:, [3, 40]] = 0
    inputs[:, 7] = inputs[:, 9]
    hessian = hessian_of(inputs)
    found = quantize_gptq(weight, hessian, 3).dequantize()
    made_up = error_made_up(weight, found, hessian)
    assert made_up[-1] == pytest.approx(output_error(weight, found, hessian), rel=1e-4)
    assert made_up[40] < 1e-4 * made_up[-1]  # 20 rows of inputs can be met by the 20 columns that are still free


def test_a_report_is_of_the_codes_that_gptq_chose() -> None:
    """Quantized anew from the same scales, the weights would be within half a step: they were moved further."""
    weight = normal(8, 32)
    found = quantize_gptq(weight, hessian_of(mixed_inputs(columns=32)), 4)
    report = found.error_report(weight)
    errors = np.abs(weight.astype(np.float64) - found.dequantize())
    assert report.max_error == pytest.approx(errors.max())
    assert report.mean_error == pytest.approx(errors.mean())
    assert report.worst_in_half_steps == pytest.approx((errors / (found.scale / 2)).max())
    assert not report.within_half_step
    for other in (weight[:, :16], weight[0], normal(8, 64)):
        with pytest.raises(ValueError, match=r"x has shape .*, but \(8, 32\) was quantized"):
            found.error_report(other)
    with pytest.raises(ValueError, match="x is a tensor of numbers and must be finite"):
        found.error_report(weight * np.nan)


def test_the_error_of_a_channel_is_that_of_its_weights_alone() -> None:
    weight, inputs = normal(ROWS, COLUMNS), mixed_inputs()
    changed = weight.copy()
    changed[:, 5] += 0.1
    found = error_by_channel(weight, changed, inputs)
    assert found[5] == pytest.approx(output_error(weight, changed, hessian_of(inputs)), rel=1e-5)
    assert (np.delete(found, 5) == 0).all()


# Little or odd calibration


def test_columns_that_were_never_fed_come_back_as_0_and_change_no_other() -> None:
    weight, inputs = normal(ROWS, COLUMNS), mixed_inputs()
    inputs[:, [3, 40]] = 0
    found = quantize_gptq(weight, hessian_of(inputs), 4)
    assert (found.dequantize()[:, [3, 40]] == 0).all()
    wild = weight.copy()
    wild[:, [3, 40]] = 1e6
    assert np.array_equal(quantize_gptq(wild, hessian_of(inputs), 4).codes, found.codes)


def test_a_layer_that_was_fed_nothing_but_zeros_is_all_zeros() -> None:
    found = quantize_gptq(normal(ROWS, COLUMNS), hessian_of(np.zeros((5, COLUMNS))), 4)
    assert (found.dequantize() == 0).all()


def test_fewer_inputs_than_columns_need_dampening() -> None:
    weight, hessian = normal(ROWS, COLUMNS), hessian_of(mixed_inputs(20))
    assert np.linalg.matrix_rank(hessian.matrix) == 20
    found = quantize_gptq(weight, hessian, 4).dequantize()
    assert np.isfinite(found).all()
    nearest = quantize_tensor(weight, 4, axis=0).dequantize()
    assert output_error(weight, found, hessian) < output_error(weight, nearest, hessian)
    said = r"not positive definite at damp 0 \(20 rows of calibration for 64 columns\); calibrate with more text, or raise damp"
    with pytest.raises(ValueError, match=said):
        quantize_gptq(weight, hessian, 4, damp=0)


def test_the_more_dampening_the_nearer_to_plain_rounding() -> None:
    weight, hessian = normal(ROWS, COLUMNS), hessian_of(mixed_inputs())
    nearest = quantize_tensor(weight, 4, axis=0).codes
    differ = [(quantize_gptq(weight, hessian, 4, damp=damp).codes != nearest).mean() for damp in (1e-4, 0.01, 1, 1e6)]
    assert differ == sorted(differ, reverse=True)
    assert differ[-1] == 0


def test_act_order_changes_the_order_of_work_and_not_the_place_of_columns() -> None:
    """With columns that come in the order of their inputs' size already, it changes nothing but where scales are from."""
    weight, inputs = normal(ROWS, COLUMNS), mixed_inputs()
    order = np.argsort(-np.diag(hessian_of(inputs).matrix), kind="stable")
    found = quantize_gptq(weight, hessian_of(inputs), 4, act_order=True)
    sorted_first = quantize_gptq(weight[:, order], hessian_of(inputs[:, order]), 4)
    assert np.array_equal(found.codes[:, order], sorted_first.codes)
    assert np.array_equal(found.scale, sorted_first.scale)
    assert not np.array_equal(found.codes, quantize_gptq(weight, hessian_of(inputs), 4).codes)


def test_act_order_keeps_groups_of_neighbours_with_the_scales_of_the_weights() -> None:
    """AutoGPTQ's pull request 236: groups that follow the order of work would need an index beside the codes."""
    weight = normal(ROWS, COLUMNS)
    found = quantize_gptq(weight, hessian_of(mixed_inputs()), 4, group_size=16, act_order=True)
    assert np.array_equal(found.scale, quantize_tensor(weight, 4, group_size=16).scale)


def test_group_scales_see_what_was_made_up_before() -> None:
    """Of a second group, the scale fits the weights as the first has left them."""
    weight, hessian = normal(ROWS, COLUMNS), hessian_of(mixed_inputs())
    found = quantize_gptq(weight, hessian, 4, group_size=16)
    plain = quantize_tensor(weight, 4, group_size=16)
    assert np.array_equal(found.scale[:, 0], plain.scale[:, 0])
    assert not np.array_equal(found.scale[:, 1], plain.scale[:, 1])


# Refusals


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"weight": np.ones(4)}, ValueError, r"weight is a matrix \[out, in\], but got shape \(4,\)"),
        ({"weight": np.ones((2, 64), int)}, TypeError, "weight is a matrix of floats .*, but got dtype int64"),
        ({"weight": np.full((2, 64), np.inf)}, ValueError, "weight is a matrix .* must be finite"),
        ({"weight": np.ones((2, 32))}, ValueError, r"hessian is over 64 inputs, but weight \[2, 32\] takes 32"),
        ({"hessian": np.ones(64)}, ValueError, r"hessian is over 64 inputs, but"),
        (
            {"hessian": np.full((64, 64), np.nan)},
            ValueError,
            r"hessian is 2 X\^T X / N of the inputs and must be finite",
        ),
        ({"bits": 9}, ValueError, "bits is the number of bits of a code, at most 8 here, but got 9"),
        ({"mode": "uniform"}, ValueError, "mode 'uniform' is not known"),
        ({"group_size": 48}, ValueError, "group_size 48 does not divide the 64 columns"),
        ({"damp": -0.1}, ValueError, "damp is a share of the mean of the Hessian's diagonal and must be at least 0"),
        ({"damp": "1 %"}, TypeError, "damp is a share"),
        ({"scale_dtype": "float8"}, ValueError, "scale_dtype 'float8' is not known"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(change: dict[str, Any], error: type[Exception], said: str) -> None:
    given: dict[str, Any] = {"weight": normal(ROWS, COLUMNS), "hessian": hessian_of(mixed_inputs()).matrix, "bits": 4}
    with pytest.raises(error, match=said):
        quantize_gptq(**{**given, **change})


def test_errors_of_different_matrices_are_refused() -> None:
    weight, hessian = normal(ROWS, COLUMNS), hessian_of(mixed_inputs())
    with pytest.raises(ValueError, match=r"weight is \[24, 64\] and changed \[24, 32\]"):
        output_error(weight, weight[:, :32], hessian)
    with pytest.raises(ValueError, match="hessian is over 64 inputs, but weight takes 32"):
        error_left_alone(weight[:, :32], weight[:, :32], hessian)
    with pytest.raises(ValueError, match="but the weights take 64 inputs"):
        error_by_channel(weight, weight, np.ones((3, 2)))
