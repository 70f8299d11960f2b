"""Claims about the explorers of a quantizer's grid and of an outlier: controls move figure and words together."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

import ipywidgets
import numpy as np
import pytest
from llmserving.explorers import outlier_explorer, quantization_explorer
from llmserving.explorers.live import LiveExplorer
from llmserving.explorers.outlier import row_with_outlier
from llmserving.explorers.quantization import WEIGHTS
from llmserving.figures import group_steps
from llmserving.quantization import error_report, quantize_tensor, scale_zero_point
from traitlets import TraitError

from tests.figure_texts import outside, overlapping, text_boxes

EXPLORERS: list[Callable[..., LiveExplorer]] = [quantization_explorer, outlier_explorer]
MOVES = [
    (quantization_explorer, "r_min", -0.2), (quantization_explorer, "r_max", 0.4), (quantization_explorer, "bits", 5),
    (quantization_explorer, "mode", "symmetric"), (outlier_explorer, "outlier", 2.0), (outlier_explorer, "group_size", 128),
    (outlier_explorer, "bits", 8),
]  # fmt: skip


def shown_state(explorer: LiveExplorer) -> tuple[Any, ...]:
    values = tuple(control.value for control in explorer.controls.values())
    return explorer.sentence, explorer.arithmetic, explorer.figure.svg(), values


@pytest.mark.parametrize(("make", "name", "value"), MOVES)
def test_moving_any_control_changes_the_figure_and_the_sentence(
    make: Callable[..., LiveExplorer], name: str, value: Any
) -> None:
    explorer = make()
    sentence, _, svg, _ = shown_state(explorer)
    explorer.controls[name].value = value
    assert explorer.sentence != sentence
    assert explorer.figure.svg() != svg
    on_screen = "".join(widget.value for widget in explorer.children if isinstance(widget, ipywidgets.HTML))
    assert html.escape(explorer.sentence) in on_screen
    assert explorer.figure.svg() in on_screen


def test_the_grid_explorer_shows_the_library_s_own_report() -> None:
    explorer = quantization_explorer(r_min=-1.0, r_max=0.8, bits=4)
    assert explorer.report == error_report(WEIGHTS, *scale_zero_point(-1.0, 0.8, 4), 4)
    assert str(explorer.report) in explorer.sentence
    assert explorer.arithmetic[0] == "step: (r_max - r_min) / (2^b - 1) = (0.8 - -1) / 15 = 0.12"


def test_a_range_that_is_too_short_clips_and_says_so() -> None:
    explorer = quantization_explorer(r_min=-1.2, r_max=1.6, bits=4)
    assert explorer.report.clipped_share == 0
    explorer.controls["r_max"].value = 0.4
    assert explorer.report.clipped_share > 0
    assert "clipped" in explorer.figure.alt_text


def test_an_outlier_hurts_its_own_group_alone() -> None:
    explorer = outlier_explorer(outlier=50.0, group_size=32)
    row = row_with_outlier(50.0)
    assert explorer.whole.error_report(row).mean_error > 4 * explorer.grouped.error_report(row).mean_error
    steps = np.sort(explorer.grouped.scale.reshape(-1))
    assert steps[-1] > 10 * steps[-2]


def test_the_words_count_the_weights_that_come_back_as_0() -> None:
    explorer = outlier_explorer(outlier=50.0, group_size=32)
    whole, grouped = (int((made.dequantize() == 0).sum()) for made in (explorer.whole, explorer.grouped))
    assert whole > grouped > 0
    assert explorer.sentence.endswith(
        f"Of 256 weights, {whole} come back as 0 in the first case and {grouped} in the second."
    )


def test_without_an_outlier_groups_gain_little() -> None:
    row = row_with_outlier(1.0)
    assert np.abs(row).argmax() == np.abs(row_with_outlier(9.0)).argmax() or np.abs(row).max() < 0.3
    whole, grouped = (quantize_tensor(row, 4, group_size=size).error_report(row).mean_error for size in (256, 32))
    assert whole < 2 * grouped


@pytest.mark.parametrize("make", EXPLORERS)
def test_stored_outputs_are_the_same_from_run_to_run(make: Callable[..., LiveExplorer]) -> None:
    one, other = make()._repr_mimebundle_(), make()._repr_mimebundle_()
    for kind in ("text/plain", "text/html"):
        assert one[kind] == other[kind]
        assert "redrawn" not in one[kind]


@pytest.mark.parametrize("make", EXPLORERS)
def test_only_the_controls_asked_for_are_shown_and_each_has_a_label(make: Callable[..., LiveExplorer]) -> None:
    explorer = make(controls=("bits",))
    assert [widget for widget in explorer.children if widget in explorer.controls.values()] == [
        explorer.controls["bits"]
    ]
    labels = [control.description for control in explorer.controls.values()]
    assert all(labels)
    assert len(set(labels)) == len(labels)
    with pytest.raises(TraitError):
        explorer.controls["bits"].value = 7


@pytest.mark.parametrize(
    ("make", "arguments", "words"),
    [
        (quantization_explorer, {"r_max": 0}, "r_max is the upper end of the range"),
        (quantization_explorer, {"r_min": 0.5}, "the lower end of the range, 0 or below"),
        (quantization_explorer, {"bits": 9}, "bits is the number of bits of a code, at most 8 here"),
        (quantization_explorer, {"mode": "odd"}, "mode 'odd' is not known"),
        (outlier_explorer, {"group_size": 48}, "group_size is a part of 256 columns"),
        (outlier_explorer, {"outlier": -1}, "outlier is how many times as far out"),
        (outlier_explorer, {"controls": ("Q",)}, "controls names a control that is not known"),
    ],
)
def test_a_bad_start_is_refused_by_the_name_of_its_argument(
    make: Callable[..., LiveExplorer], arguments: dict[str, Any], words: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        make(**arguments)


@pytest.mark.parametrize("count", [1, 2, 8, 64])
def test_the_picture_of_group_steps_is_legible_and_told(count: int) -> None:
    figure = group_steps(np.linspace(0.01, 0.2, count), 0.25, title="Steps")
    boxes = text_boxes(figure)
    assert not outside(figure, boxes)
    assert not overlapping(boxes)
    assert figure.alt_text.startswith("Steps. ")
    if count > 1:
        assert "One scale for the row has a step of 0.25." in figure.alt_text
        assert f"the largest 0.2 in group {count}" in figure.alt_text


@pytest.mark.parametrize(("steps", "row"), [([0.1] * 65, 0.2), ([0.1, 0.0], 0.2), ([0.1], -1)])
def test_a_picture_of_no_steps_is_refused(steps: list[float], row: float) -> None:
    with pytest.raises(ValueError, match="draw at most 64|a step is above 0"):
        group_steps(steps, row)
