"""Claims about the growth of the KV cache: the sizes are the formula's, the mark is where memory is full, words follow."""

from __future__ import annotations

import re
from typing import Any

import pytest
from llmserving import kv_bytes, weight_bytes
from llmserving.explorers import growth_explorer
from llmserving.explorers.growth import OF_GROWTH
from llmserving.figures import KvGrowth, kv_growth
from llmserving.figures.palette import KV_CACHE, WEIGHTS
from matplotlib.colors import to_hex
from matplotlib.patches import Polygon

from tests.figure_texts import outside, overlapping, text_boxes


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("B", 64), ("S", 2048), ("max_len", 2048), ("L", 80), ("d_model", 8192), ("p", 1), ("parameters", 70 * 10**9),
        ("weight_bits", 4), ("memory_gb", 40),
    ],
)  # fmt: skip
def test_moving_any_control_changes_the_figure_and_what_is_said_of_it(name: str, value: Any) -> None:
    explorer = growth_explorer(B=32)
    before, svg = (explorer.sentence, explorer.arithmetic), explorer.figure.svg()
    explorer.controls[name].value = value
    assert (explorer.sentence, explorer.arithmetic) != before
    assert explorer.figure.svg() != svg


def test_the_sizes_are_those_of_the_formulas() -> None:
    explorer = growth_explorer(B=8, S=512, max_len=2048, L=32, d_model=4096, p=1, parameters=7e9, weight_bits=8)
    budget = explorer.growth.at(512)
    assert budget.kv_bytes == kv_bytes(B=8, S=512, L=32, d_model=4096, p=1)
    assert budget.weight_bytes == weight_bytes(7e9, 8)
    assert explorer.growth.reserved.kv_bytes == kv_bytes(B=8, S=2048, L=32, d_model=4096, p=1)


def test_memory_is_full_at_the_last_token_that_fits() -> None:
    growth = growth_explorer(B=64).growth
    assert growth.at(growth.full_at).fits
    assert not growth.at(growth.full_at + 1).fits
    assert f"Memory is full at {growth.full_at:,} tokens each." in kv_growth(growth, 100).alt_text
    assert KvGrowth(memory_bytes=10, weight_bytes=20, step_bytes=1, max_len=5).full_at == 0


def test_more_tokens_than_a_request_may_reach_are_told_and_can_be_left_again() -> None:
    explorer = growth_explorer()
    explorer.controls["S"].value = 4096
    explorer.controls["max_len"].value = 1024
    assert explorer.sentence == "a request has 4,096 tokens, more than the 1,024 that it may reach."
    explorer.controls["S"].value = 512
    assert explorer.sentence.startswith("16 requests hold ")


def areas(growth: KvGrowth) -> list[tuple[str, float | None]]:
    """Face and opacity of the filled areas, in the order in which they are drawn."""
    drawn = kv_growth(growth, 1).findobj(Polygon)
    return [(to_hex(area.get_facecolor()), area.get_alpha()) for area in drawn if area.get_linewidth() == 0]


def test_what_does_not_fit_is_drawn_paler() -> None:
    assert areas(growth_explorer(B=1).growth) == [(WEIGHTS.face, 1), (KV_CACHE.face, 1)]
    assert areas(growth_explorer(B=64).growth) == [(WEIGHTS.face, 1), (KV_CACHE.face, 1), (KV_CACHE.face, 0.6)]


@pytest.mark.parametrize("start", [{}, {"B": 1, "S": 0}, {"B": 64}, {"B": 1024, "S": 4096}, {"parameters": 175e9}])
def test_the_picture_is_legible(start: dict[str, Any]) -> None:
    figure = growth_explorer(**start).figure
    boxes = text_boxes(figure)
    assert overlapping(boxes) == []
    assert outside(figure, boxes) == []


def test_every_control_has_a_label_of_its_own_and_the_words_a_live_region() -> None:
    explorer = growth_explorer(controls=tuple(OF_GROWTH))
    labels = [control.description for control in explorer.controls.values()]
    assert len(set(labels)) == len(OF_GROWTH)
    html = "".join(child.value for child in explorer.children if isinstance(child.value, str))
    assert f'aria-live="polite"><div style="line-height:1.5;font-weight:600">{explorer.sentence}' in html
    assert explorer.figure.svg() in explorer._repr_mimebundle_()["text/html"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"B": 0}, "B is the number of requests batched"),
        ({"S": -1}, "S is the number of cached tokens a request and must be at least 0"),
        ({"max_len": 0}, "max_len is the tokens that a request may reach and must be at least 1"),
        ({"controls": ("Q",)}, "controls names a control that is not known"),
    ],
)
def test_a_bad_start_is_refused_by_the_name_of_its_argument(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        growth_explorer(**arguments)
