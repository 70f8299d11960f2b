"""The pictures of what quantizers protect and of what schemes cost: their alt texts, legible, refusing what is no data."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from llmserving.figures import LessonFigure, awq_channels, gptq_columns, perplexity_bars, smoothquant_channels
from llmserving.figures.scheme_costs import costs
from llmserving.tinylm.record import BASE, record, rows_of
from llmserving.tinylm.surprise import Perplexity
from matplotlib.patches import Polygon

from tests.figure_texts import outside, overlapping, text_boxes

FALLING = np.array([40.0, 30, 1, 0.9, 0.8, 0.8, 0.7, 0.5])
TITLE = "A picture"


def awq(title: str | None = None) -> LessonFigure:
    return awq_channels(FALLING, FALLING**2 * 1e-5, np.full(8, 1e-4), title=title)


def smooth(title: str | None = None) -> LessonFigure:
    return smoothquant_channels(FALLING, np.full(8, 0.1), np.sqrt(FALLING / 0.1), title=title)


def gptq(title: str | None = None) -> LessonFigure:
    return gptq_columns(np.linspace(0.1, 0.8, 8), np.linspace(0.01, 0.4, 8) ** 2, title=title)


def bars(title: str | None = None) -> LessonFigure:
    return perplexity_bars(rows_of("smollm2-135m", "austen"), title=title)


FIGURES = pytest.mark.parametrize("draw", [awq, smooth, gptq, bars])


@FIGURES
def test_they_are_legible(draw: Callable[..., LessonFigure]) -> None:
    figure = draw(TITLE)
    boxes = text_boxes(figure)
    assert outside(figure, boxes) == []
    assert overlapping(boxes) == []


@FIGURES
def test_the_title_leads_the_alt_text_and_the_same_data_give_the_same_bytes(draw: Callable[..., LessonFigure]) -> None:
    assert draw(TITLE).alt_text == f"{TITLE}. {draw().alt_text}"
    assert draw(TITLE).svg() == draw(TITLE).svg()
    with pytest.raises(ValueError, match="the title is wider than the figure"):
        draw("wide " * 50)


def test_what_awq_protects_is_said() -> None:
    assert awq().alt_text == (
        "Two panels over 8 input channels, the largest first. Mean |x| falls from 40 to 0.5, its median is 0.85. The error "
        "that each channel's weights make, in all 0.025 rounded to the nearest and 0.0008 by AWQ; the largest of them makes "
        "64 % of the first and 12 % of the second."
    )


def test_what_smoothquant_moves_is_said() -> None:
    assert smooth().alt_text == (
        "Two panels over 8 input channels, the largest activation first. The largest activation of a channel is 40 at "
        "most, 47.1 times the median, before smoothing, and 2, 6.86 times the median, after it. The largest weight of a "
        "channel is 0.1 at most, 1 times the median, before smoothing, and 2, 6.86 times the median, after it."
    )


def test_what_gptq_protects_is_said() -> None:
    assert gptq().alt_text == (
        "Error of a layer's outputs after each of 8 columns is rounded. Rounded to the nearest it is 0.4 after half of them "
        "and 0.8 after all; by GPTQ, with the columns to come moved to make up for it, 0.0314 and 0.16: 5 times less in the "
        "end."
    )


def test_channels_are_ranked_and_given_in_any_order() -> None:
    order = np.array([3, 1, 7, 0, 2, 6, 4, 5])
    shuffled = awq_channels(FALLING[order], (FALLING**2 * 1e-5)[order], np.full(8, 1e-4))
    assert shuffled.alt_text == awq().alt_text


@pytest.mark.parametrize(
    ("draw", "said"),
    [
        (lambda: awq_channels(FALLING, FALLING[:3], FALLING), r"before has shape \(3,\).*the 8 channels of the others"),
        (lambda: awq_channels(FALLING[:1], FALLING, FALLING), "magnitude has shape .* two channels at least"),
        (lambda: gptq_columns(-FALLING, FALLING), "nearest must be finite and at least 0"),
        (lambda: gptq_columns(FALLING, FALLING * np.nan), "made_up must be finite"),
        (lambda: gptq_columns(FALLING, FALLING * 0), "made_up must be .* not all 0"),
        (lambda: smoothquant_channels(FALLING, FALLING, FALLING * [0, 1, 1, 1, 1, 1, 1, 1]), "scale has a 0"),
    ],
)
def test_what_is_no_data_is_refused(draw: Callable[[], Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        draw()


# What schemes cost


def test_the_bars_say_when_they_were_recorded_and_every_number() -> None:
    rows = rows_of("smollm2-135m", "austen")
    said = bars().alt_text
    assert said.startswith(
        f"Bars of perplexity, recorded {rows[0].date}. smollm2-135m on the text 'austen', 5,888 tokens, "
    )
    for cost in costs(rows, {}):
        assert f"{cost.scheme} " in said
    assert any(f"Recorded {rows[0].date}." in words for words in text_boxes(bars()))


def test_what_leaves_the_axis_has_an_arrow_and_its_number() -> None:
    arrows = [artist for artist in bars().artists if isinstance(artist, Polygon)]
    far = [cost for cost in costs(rows_of("smollm2-135m", "austen"), {}) if cost.ratio > 3]
    assert len(arrows) >= len(far) > 0
    drawn = [words.split(" ", 1)[1] for words in text_boxes(bars())]
    assert all(f"{cost.perplexity:,.0f}" in drawn for cost in far if cost.perplexity >= 1000)


@pytest.mark.parametrize(("model", "text"), sorted({(row.model, row.text) for row in record()}))
def test_every_model_and_text_can_be_drawn(model: str, text: str) -> None:
    figure = perplexity_bars(rows_of(model, text))
    assert overlapping(text_boxes(figure)) == []
    assert outside(figure, text_boxes(figure)) == []


def test_what_is_measured_now_takes_the_place_of_the_record_and_is_marked() -> None:
    live = {BASE: Perplexity((3.0, 4.0, 3.5), 768), "int4-g64-asym": Perplexity((3.2, 4.1, 3.7), 768)}
    figure = perplexity_bars(rows_of("smollm2-135m", "austen"), live=live)
    assert "int4-g64-asym (measured now) 39.12 / 33.12, 1.181 times" in figure.alt_text
    assert "Measured now on 768 tokens, unquantized: 33.12 (20.09 to 54.60). Those" in figure.alt_text
    drawn = [words.split(" ", 1)[1] for words in text_boxes(figure)]
    assert any(words.startswith("Measured now on 768 tokens, unquantized: 33.12 ") for words in drawn)
    assert drawn.count("39.12 / 33.12") == 1
    assert outside(figure, text_boxes(figure)) == []
    assert "int4-g32-asym " in figure.alt_text
    assert overlapping(text_boxes(figure)) == []
    with pytest.raises(ValueError, match="live needs 'float32' among its schemes"):
        perplexity_bars(rows_of("smollm2-135m", "austen"), live={"kv-int8": live[BASE]})


def test_without_a_measurement_nothing_is_said_of_one() -> None:
    assert "now" not in bars().alt_text


def test_a_scheme_that_has_no_row_is_refused_and_not_left_out() -> None:
    live = {BASE: Perplexity((3.0, 4.0), 512), "mine": Perplexity((3.2, 4.1), 512)}
    with pytest.raises(ValueError, match="live has 'mine', which is not among the rows"):
        perplexity_bars(rows_of("smollm2-135m", "austen"), live=live)


def test_rows_of_two_texts_or_without_a_base_are_refused() -> None:
    rows = list(rows_of("smollm2-135m", "austen"))
    with pytest.raises(ValueError, match="rows are of one model on one text"):
        perplexity_bars([*rows, *rows_of("smollm2-135m", "devil")])
    with pytest.raises(ValueError, match="rows are of one model on one text"):
        perplexity_bars([])
    with pytest.raises(ValueError, match="rows have no 'float32'"):
        perplexity_bars(rows[1:])
    strange = dataclasses.replace(rows[1], scheme="int5-tensor-sym")
    with pytest.raises(ValueError, match="int5-tensor-sym is in none of the groups"):
        perplexity_bars([rows[0], strange])
