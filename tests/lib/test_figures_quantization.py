"""Claims about the picture of a quantizer's grid: what it says, legibly, and the same from run to run."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from llmserving.figures import quantization_grid
from llmserving.figures.axis import LinearAxis
from llmserving.figures.palette import INK, WEIGHTS
from llmserving.figures.quantization_points import points_of
from llmserving.quantization import MODES, scale_zero_point
from matplotlib.patches import Circle, Polygon

from tests.figure_texts import outside, overlapping, text_boxes

VALUES = st.lists(st.floats(-1e6, 1e6, allow_subnormal=False, width=32), min_size=1, max_size=20)


def course_figure(title: str | None = None) -> Any:
    return quantization_grid([-1.4, -0.31, 0.25, 2.6], *scale_zero_point(-1.0, 2.0, 4), 4, title=title)


def test_the_alt_text_says_what_comes_back_for_each_value() -> None:
    assert course_figure("A group").alt_text == (
        "A group. Number line of the 16 values of 4 bits, asymmetric, from -1 to 2, zero-point 5. Step 0.2: 2 of 4 clipped "
        "(open triangles); the largest error is 0.6, half a step 0.1. -1.4 comes back clipped as -1. -0.31 comes back as "
        "-0.4. 0.25 comes back as 0.2. 2.6 comes back clipped as 2."
    )


def test_of_many_values_only_the_clipped_ones_are_named() -> None:
    values = [*np.linspace(-1, 2, 20), 5.0]
    words = quantization_grid(values, *scale_zero_point(-1.0, 2.0, 4), 4).alt_text
    assert words.count("comes back") == 1
    assert "5 comes back clipped as 2" in words


def test_what_is_clipped_is_an_open_triangle_and_the_rest_filled_circles() -> None:
    figure = course_figure()
    circles = figure.findobj(Circle)
    triangles = [patch for patch in figure.findobj(Polygon) if len(patch.get_xy()) == 4]
    assert len(circles) == 2
    assert len(triangles) == 4  # each clipped value has one on the line and one in the strip of errors
    assert not any(triangle.get_fill() for triangle in triangles)


def test_points_hold_the_error_against_half_a_step() -> None:
    points = points_of([2.6, 0.25], 0.2, 5, 4)
    assert [point.value for point in points] == pytest.approx([0.25, 2.6])
    assert [point.half_steps for point in points] == pytest.approx([-0.5, -6], rel=1e-5)
    assert [point.clipped for point in points] == [False, True]


@settings(max_examples=40, deadline=None)
@given(VALUES, st.floats(1e-3, 1e3), st.integers(2, 8), st.sampled_from(MODES))
@example([1e6, 0.3], 0.1, 8, "asymmetric")
@example([0.0], 1e-40, 2, "asymmetric")
@example([0.3, -1e9], 0.1, 2, "asymmetric")
@example([3e38, 0.3], 1.1e36, 8, "symmetric")
def test_labels_neither_overlap_nor_leave_the_figure(values: list[float], scale: float, bits: int, mode: str) -> None:
    zero_point = 2 ** (bits - 1) if mode == "asymmetric" else 0
    figure = quantization_grid(values, scale, zero_point, bits, mode, title="Grid")
    boxes = text_boxes(figure)
    assert overlapping(boxes) == []
    assert outside(figure, boxes) == []


def test_the_same_data_give_the_same_bytes_in_the_theme_s_ink() -> None:
    assert course_figure().svg() == course_figure().svg()
    assert INK not in course_figure().svg()
    assert WEIGHTS.face in course_figure().svg()


def test_a_tensor_s_own_scale_may_be_given_as_it_is() -> None:
    scale, zero_point = np.array([[0.2]], np.float32), np.array([[5]], np.int32)
    from_arrays = quantization_grid([0.25], scale, zero_point, 4)
    assert from_arrays.alt_text == quantization_grid([0.25], scale.item(), 5, 4).alt_text


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (([0.1] * 201, 0.1, 0, 4), ValueError, "values has 201 of them; draw at most 200"),
        (([math.nan], 0.1, 0, 4), ValueError, "finite"),
        (([0.1], [0.1, 0.2], 0, 4), ValueError, "scale is one number here, but got 2"),
        (([0.1], 0.1, 0, 9), ValueError, "at most 8"),
        (([0.1], 0.1, 0.5, 4), TypeError, "zero_point is the code of the value 0, a whole number"),
        (([0.1], 0.1, 16, 4), ValueError, "zero_point is one of the codes"),
    ],
)
def test_what_cannot_be_drawn_is_refused(arguments: tuple[Any, ...], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        quantization_grid(*arguments)


def test_ticks_are_round_values_with_room_between() -> None:
    axis = LinearAxis(-1.06, 2.06, 30, 690)
    assert axis.ticks(60) == pytest.approx([-1, -0.5, 0, 0.5, 1, 1.5, 2])
    assert axis.at(-1.06) == 30
    assert axis.at(2.06) == 690
