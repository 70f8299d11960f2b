"""Claims about the roofline of prefill and decode: dots where the predictions lie, and words that follow them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from llmserving import predict_decode
from llmserving.explorers import roofline_explorer
from llmserving.explorers.roofline import RECIPES
from llmserving.figures import roofline_dots
from llmserving.roofline import predict_prefill
from matplotlib.patches import Circle, Rectangle

from tests.figure_texts import outside, overlapping, text_boxes


@pytest.mark.parametrize(
    ("name", "value"), [("recipe", "W4A16"), ("prompt_tokens", 64), ("requests", 512), ("context", 32768)]
)
def test_moving_any_control_changes_the_figure_and_the_sentence(name: str, value: Any) -> None:
    explorer = roofline_explorer()
    sentence, svg = explorer.sentence, explorer.figure.svg()
    explorer.controls[name].value = value
    assert explorer.sentence != sentence
    assert explorer.figure.svg() != svg


def test_it_shows_the_library_s_own_predictions() -> None:
    explorer = roofline_explorer(recipe="W8A8", prompt_tokens=512, requests=8, context=1024)
    where = ("llama-3.1-8b", "h100-80gb")
    assert explorer.steps == {
        "prefill": predict_prefill(*where, tokens=512, **RECIPES["W8A8"]),
        "decode": predict_decode(*where, batch=8, context=1024, **RECIPES["W8A8"]),
    }
    assert "\n".join(explorer.arithmetic) == "\n".join(step.explain() for step in explorer.steps.values())


def test_a_short_prompt_goes_over_the_ridge_and_back() -> None:
    explorer = roofline_explorer()
    assert "prefill is compute-bound" in explorer.sentence
    explorer.controls["prompt_tokens"].value = 16
    assert "prefill is memory-bound" in explorer.sentence
    assert "decode is memory-bound" in explorer.sentence


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize(("prompt_tokens", "requests"), [(16, 1), (2048, 4), (16384, 1024)])
def test_the_picture_is_legible_and_the_shapes_tell_the_phases_apart(
    recipe: str, prompt_tokens: int, requests: int
) -> None:
    figure = roofline_explorer(recipe=recipe, prompt_tokens=prompt_tokens, requests=requests).figure
    boxes = text_boxes(figure)
    assert not outside(figure, boxes)
    assert not overlapping(boxes)
    assert len(figure.findobj(Circle)) == 1
    assert any(patch.get_width() == pytest.approx(13) for patch in figure.findobj(Rectangle))
    assert "Prefill at" in figure.alt_text
    assert "Decode at" in figure.alt_text


def test_steps_under_different_roofs_are_not_one_picture() -> None:
    plain, integer = (predict_decode("llama-3.1-8b", "h100-80gb", **RECIPES[name]) for name in ("FP16", "W8A8"))
    with pytest.raises(ValueError, match="the steps have different roofs"):
        roofline_dots({"one": plain, "other": integer})
    with pytest.raises(TypeError, match="steps maps names to steps"):
        roofline_dots({})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"recipe": "W2A2"}, "recipe 'W2A2' is not known; choose one of FP16, W8A16, W4A16, W8A8"),
        ({"requests": 0}, "requests is the requests in a decode step"),
        ({"controls": ("Q",)}, "controls names a control that is not known"),
        ({"gpu": "abacus"}, "abacus"),
    ],
)
def test_a_bad_start_is_refused_by_the_name_of_its_argument(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        roofline_explorer(**arguments)
