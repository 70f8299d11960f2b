"""Claims about the explorers of memory and batch: controls move figure and words, contradictions are told and leave."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

import ipywidgets
import pytest
from llmserving import GPUS, MODELS, plan, predict_decode
from llmserving.explorers import batch_explorer, memory_explorer
from llmserving.explorers.choices import CHOICES
from llmserving.explorers.live import LiveExplorer
from traitlets import TraitError

EXPLORERS: list[Callable[..., LiveExplorer]] = [memory_explorer, batch_explorer]
MOVES = [
    ("model", MODELS["llama-3.1-70b"]), ("gpu", GPUS["h200-141gb"]), ("weight_dtype", "int4"), ("kv_dtype", "fp8"),
    ("context", 32768), ("tensor_parallel", 2),
]  # fmt: skip


def html_below(explorer: LiveExplorer) -> list[str]:
    return [widget.value for widget in explorer.children if isinstance(widget, ipywidgets.HTML)]


def shown_state(explorer: LiveExplorer) -> tuple[Any, ...]:
    values = tuple(control.value for control in explorer.controls.values())
    return explorer.sentence, explorer.arithmetic, explorer.figure.svg(), values


@pytest.mark.parametrize(("name", "value"), MOVES)
@pytest.mark.parametrize("make", EXPLORERS)
def test_moving_any_control_changes_the_figure_and_the_sentence(
    make: Callable[..., LiveExplorer], name: str, value: Any
) -> None:
    explorer = make()
    sentence, _, svg, _ = shown_state(explorer)
    explorer.controls[name].value = value
    assert explorer.sentence != sentence
    assert explorer.figure.svg() != svg
    on_screen = "".join(html_below(explorer))
    assert html.escape(explorer.sentence) in on_screen
    assert explorer.figure.svg() in on_screen


@pytest.mark.parametrize(("name", "value"), [("requests", 512), ("gpu_memory_utilization", 0.5), ("view", "textbook")])
def test_the_memory_explorer_has_three_controls_more(name: str, value: Any) -> None:
    explorer = memory_explorer()
    before = shown_state(explorer)
    explorer.controls[name].value = value
    assert shown_state(explorer) != before
    assert explorer.plan == plan("llama-3.1-8b", "h100-80gb", **{name: value})


def test_the_memory_explorer_shows_the_planner_s_own_words() -> None:
    explorer = memory_explorer("course-13b", view="textbook")
    made = plan("course-13b", "h100-80gb", view="textbook")
    assert explorer.sentence == made.verdict
    assert made.short_verdict in explorer.figure.alt_text


def test_the_batch_explorer_ends_the_curve_where_memory_is_full() -> None:
    explorer = batch_explorer()
    most = plan("llama-3.1-8b", "h100-80gb").max_requests
    assert f"Memory is full at {most} requests" in explorer.figure.alt_text
    assert f"At most {most} requests run at once" in explorer.sentence
    assert "\n".join(explorer.arithmetic) == predict_decode("llama-3.1-8b", "h100-80gb", most).explain()
    explorer.controls["context"].value = 128  # now max_num_seqs is met first, and memory is full beyond the curve
    assert "At most 1,024 requests run at once" in explorer.sentence
    assert "Memory is full at 3,458 requests" in explorer.figure.alt_text
    explorer.controls["model"].value = MODELS["llama-3.1-405b"]
    assert explorer.sentence.startswith("Not one request fits into the memory.")


def test_the_batch_explorer_tells_where_decode_stops_being_memory_bound() -> None:
    assert batch_explorer().sentence.endswith("Decode is memory-bound at every batch.")
    assert batch_explorer(context=128).sentence.endswith("Decode is memory-bound below batch 425.")


@pytest.mark.parametrize("make", EXPLORERS)
def test_values_that_contradict_each_other_are_told_in_the_sentence_and_can_be_left_again(
    make: Callable[..., LiveExplorer],
) -> None:
    explorer = make("qwen2.5-7b")
    before = shown_state(explorer)
    explorer.controls["tensor_parallel"].value = 8
    assert "tensor_parallel 8 does not divide the 28 query heads" in explorer.sentence
    assert repr(explorer) == explorer.sentence
    assert "<svg" not in "".join(html_below(explorer))
    assert explorer.sentence in explorer._repr_mimebundle_()["text/html"]
    explorer.controls["tensor_parallel"].value = 1
    assert shown_state(explorer) == before


def test_a_refused_plan_is_not_on_the_screen() -> None:
    explorer = memory_explorer(tensor_parallel=2)
    explorer.controls["view"].value = "textbook"
    assert explorer.plan is None
    assert explorer.sentence.startswith("tensor_parallel belongs to view='engine'")


@pytest.mark.parametrize("make", EXPLORERS)
def test_a_value_that_is_no_stop_is_refused_and_changes_nothing(make: Callable[..., LiveExplorer]) -> None:
    explorer = make()
    before = shown_state(explorer)
    for name, value in (("context", 5000), ("gpu", "h100"), ("tensor_parallel", 3)):
        with pytest.raises(TraitError):
            explorer.controls[name].value = value
    assert shown_state(explorer) == before


@pytest.mark.parametrize("make", EXPLORERS)
def test_a_start_between_the_stops_becomes_a_stop_in_its_place(make: Callable[..., LiveExplorer]) -> None:
    explorer = make(context=5000)
    stops = [stop for _, stop in explorer.controls["context"].options]
    assert 5000 in stops
    assert stops == sorted(stops)


def test_a_model_of_one_s_own_joins_the_list() -> None:
    own = MODELS["course-13b"]
    assert memory_explorer(own).controls["model"].value == own
    assert ("llama-3.1-8b", MODELS["llama-3.1-8b"]) in memory_explorer(own).controls["model"].options


@pytest.mark.parametrize("make", EXPLORERS)
def test_only_the_controls_asked_for_are_shown_and_each_has_a_label_of_its_own(
    make: Callable[..., LiveExplorer],
) -> None:
    explorer = make(controls=("context", "model", "context"))
    shown = [widget for widget in explorer.children if widget in explorer.controls.values()]
    assert shown == [explorer.controls["context"], explorer.controls["model"]]
    labels = [control.description for control in explorer.controls.values()]
    assert len(set(labels)) == len(labels)
    assert len({choice.label for choice in CHOICES.values()}) == len(CHOICES)


@pytest.mark.parametrize("make", EXPLORERS)
def test_the_sentence_stands_in_a_live_region_and_the_redraw_time_outside_it(make: Callable[..., LiveExplorer]) -> None:
    explorer = make()
    regions = [value for value in html_below(explorer) if 'role="status" aria-live="polite"' in value]
    assert len(regions) == 1
    assert "redrawn" not in regions[0]
    assert re.search(r"redrawn in [\d.]+ m?s", "".join(html_below(explorer)))


@pytest.mark.parametrize("make", EXPLORERS)
def test_stored_outputs_are_the_same_from_run_to_run(make: Callable[..., LiveExplorer]) -> None:
    one, other = make()._repr_mimebundle_(), make()._repr_mimebundle_()
    for kind in ("text/plain", "text/html"):
        assert one[kind] == other[kind]
        assert "redrawn" not in one[kind]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"model": "llama-9"}, "there is no model 'llama-9'"),
        ({"gpu": 80}, "gpu is a name such as 'h100-80gb' or a Gpu, but got 80"),
        ({"context": 0}, "context is the number of tokens a request and must be at least 1, but got 0"),
        ({"context": 2.5}, "context is the number of tokens a request, a whole number, but got 2.5"),
        ({"tensor_parallel": True}, "tensor_parallel is the number of GPUs that split each layer, a whole number"),
        ({"weight_dtype": "int5"}, "weight_dtype 'int5' is not known"),
        ({"kv_dtype": None}, "kv_dtype is the name of the cache's dtype"),
        ({"controls": ("Q",)}, "controls names a control that is not known, 'Q'; the names are model, gpu"),
        ({"controls": "model"}, "controls is a tuple of names such as"),
    ],
)
@pytest.mark.parametrize("make", EXPLORERS)
def test_a_bad_start_is_refused_by_the_name_of_its_argument(
    make: Callable[..., LiveExplorer], arguments: dict[str, Any], words: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        make(**arguments)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"requests": -1}, "requests is the number of requests at once and must be at least 1, but got -1"),
        ({"gpu_memory_utilization": 90}, "at most 1, but got 90"),
        ({"gpu_memory_utilization": float("nan")}, "the share of the memory that the engine may use, but got NaN"),
        ({"view": "page"}, "view 'page' is not known; choose one of engine, textbook"),
    ],
)
def test_a_bad_start_of_the_memory_explorer_alone_is_refused_too(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        memory_explorer(**arguments)
