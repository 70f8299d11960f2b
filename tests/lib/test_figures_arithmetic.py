"""Claims about the figures of the planner and the roofline: what they say, legibly, the same from run to run."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llmserving import GPUS, MODELS, critical_batch, kv_bytes, kv_bytes_per_token, plan, predict_decode, predict_prefill
from llmserving.figures import LessonFigure, batch_curve, budget_bars, model_comparison
from llmserving.figures.axis import LogAxis, short_number
from llmserving.figures.budget_bars import segments
from llmserving.figures.model_comparison import token_costs
from llmserving.figures.palette import ACTIVATIONS, INK, KV_CACHE, OTHER, WEIGHTS
from llmserving.figures.panel import Panel

from tests.figure_texts import outside, overlapping, text_boxes

MODEL_NAMES = st.sampled_from(sorted(MODELS))
GPU_NAMES = st.sampled_from(sorted(GPUS))
COMPARED = ["llama-2-7b", "llama-3.1-8b", "gemma-7b", "deepseek-v3", "gpt-oss-20b"]


def steps(model: str = "llama-3.1-8b", gpu: str = "h100-80gb", context: int = 128) -> list[Any]:
    return [predict_decode(model, gpu, 2**k, context) for k in range(12)]


def three_plans() -> list[Any]:
    names = (("llama-3.1-8b", "engine"), ("course-13b", "textbook"), ("llama-3.1-70b", "engine"))
    return [plan(name, "h100-80gb", view=view) for name, view in names]


FIGURES: dict[str, Callable[[], LessonFigure]] = {
    "budget": lambda: budget_bars(three_plans(), title="Where the memory goes"),
    "curve": lambda: batch_curve(steps(), critical_batch=424.6, most_requests=300, title="Batch"),
    "comparison": lambda: model_comparison(COMPARED, title="What a token costs"),
}


def legible(figure: LessonFigure) -> None:
    boxes = text_boxes(figure)
    assert overlapping(boxes) == []
    assert outside(figure, boxes) == []


@pytest.mark.parametrize("name", FIGURES)
def test_labels_neither_overlap_nor_leave_the_figure(name: str) -> None:
    legible(FIGURES[name]())


@pytest.mark.parametrize("name", FIGURES)
def test_the_same_data_give_the_same_bytes_in_the_theme_s_ink_under_their_alt_text(name: str) -> None:
    figure, again = FIGURES[name](), FIGURES[name]()
    assert figure.svg() == again.svg()
    assert INK not in figure.svg()
    assert repr(figure) == figure.alt_text
    assert figure.svg().count("<svg") == 1


@settings(max_examples=20)
@given(MODEL_NAMES, GPU_NAMES, st.integers(1, 200_000), st.integers(1, 5000), st.sampled_from(["engine", "textbook"]))
def test_every_plan_has_a_legible_bar(name: str, gpu: str, context: int, requests: int, view: str) -> None:
    made = plan(name, gpu, context=context, requests=requests, view=view)
    figure = budget_bars(made)
    legible(figure)
    assert made.title in figure.alt_text
    assert made.short_verdict in figure.alt_text
    assert sum(part.num_bytes for part in segments(made)) >= made.memory_bytes


@settings(max_examples=20)
@given(MODEL_NAMES, GPU_NAMES, st.integers(1, 100_000), st.integers(1, 1000))
def test_the_stretches_of_a_bar_are_the_plan_and_fill_the_memory_where_it_fits(
    name: str, gpu: str, context: int, requests: int
) -> None:
    made = plan(name, gpu, context=context, requests=requests)
    sizes = {part.name: part.num_bytes for part in segments(made)}
    assert sizes["Weights"] == made.weight_bytes
    assert sizes["KV cache"] == made.kv_bytes_needed
    if made.fits:
        assert sum(sizes.values()) == made.memory_bytes
        assert "Does not fit" not in budget_bars(made).alt_text


def test_the_planner_s_lines_stand_under_the_bar_and_can_be_left_out() -> None:
    made = plan("llama-3.1-8b", "h100-80gb")
    with_lines, without = (" ".join(text_boxes(budget_bars(made, lines=lines))) for lines in (True, False))
    for words in (made.size(made.weight_bytes), "activations", "0.31 GiB + 14.06 bytes × ", f"{made.kv_blocks:,}"):
        assert words in with_lines
        assert words not in without
    assert "Activations" in without


def test_an_engine_s_buckets_differ_in_hatching_and_not_in_colour_alone() -> None:
    fills = (WEIGHTS, KV_CACHE, ACTIVATIONS, OTHER)
    assert len({fill.hatch for fill in fills}) == len({fill.face for fill in fills}) == 4


@settings(max_examples=20)
@given(MODEL_NAMES, GPU_NAMES, st.integers(1, 100_000), st.one_of(st.none(), st.integers(1, 3000)))
def test_every_batch_curve_is_legible(name: str, gpu: str, context: int, most: int | None) -> None:
    critical = critical_batch(name, gpu, context=context)
    figure = batch_curve(steps(name, gpu, context), critical_batch=critical, most_requests=most)
    legible(figure)
    assert ("memory-bound at every batch" in figure.alt_text) == math.isinf(critical)


def test_the_curve_says_what_the_predictions_say() -> None:
    first, *_, last = steps()
    figure = batch_curve(steps(), critical_batch=424.6, most_requests=300, title="Decode")
    assert figure.alt_text.startswith("Decode. Two curves against the batch.")
    for number in (
        first.tokens_per_s,
        last.tokens_per_s,
        last.memory_wall_tokens_per_s,
        last.compute_wall_tokens_per_s,
    ):
        assert f"{float(f'{number:.3g}'):,.0f}" in figure.alt_text
    drawn = " ".join(text_boxes(figure))
    for words in ("memory wall", "compute wall", "batch 425", "at 300 requests", "more than fits in memory"):
        assert words in drawn


def test_the_two_walls_are_told_apart_by_their_dashes() -> None:
    svg = batch_curve(steps()).svg()
    assert len(set(re.findall(r"stroke-dasharray: ?([\d., ]+)", svg))) >= 2


def test_a_curve_is_cut_where_its_frame_ends() -> None:
    panel = Panel(LogAxis(1, 100, 0, 100), LogAxis(1, 10, 50, 0))
    assert panel._inside((0, 60), (10, 40)) == ((5, 50), (10, 40))
    assert panel._inside((0, 60), (10, 55)) is None
    assert panel._inside((0, -5), (10, -5)) is None
    assert panel._inside((0, 20), (10, 20)) == ((0, 20), (10, 20))


@given(st.floats(1e-6, 1e6), st.floats(1.01, 1e6), st.floats(20, 100))
def test_ticks_are_round_lie_on_the_axis_and_leave_room(low: float, ratio: float, room: float) -> None:
    axis = LogAxis(low, low * ratio, 500, 0)
    ticks = axis.ticks(room)
    assert all(axis.holds(tick) for tick in ticks)
    places = sorted(axis.at(tick) for tick in ticks)
    assert all(b - a >= room for a, b in pairwise(places)) or ticks == [axis.low, axis.high]


@pytest.mark.parametrize(("value", "text"), [(2000, "2k"), (0.5, "0.5"), (1_500_000, "1.5M"), (3e9, "3G"), (7, "7")])
def test_ticks_are_short(value: float, text: str) -> None:
    assert short_number(value) == text


def test_the_comparison_sets_the_formula_beside_what_is_kept() -> None:
    for cost in token_costs(COMPARED):
        assert cost.real_bytes == kv_bytes_per_token(cost.model)
        assert cost.formula_bytes == kv_bytes(1, 1, cost.model.layers, cost.model.hidden_size)
    verdicts = [cost.verdict for cost in token_costs(COMPARED)]
    assert verdicts[:3] == ["formula right", "formula 4 × too much", "formula 25 % too little"]
    figure = model_comparison(COMPARED)
    for name, verdict in zip(COMPARED, verdicts, strict=True):
        assert name in figure.alt_text
        assert verdict.removeprefix("formula ") in figure.alt_text


@settings(max_examples=15)
@given(st.lists(MODEL_NAMES, min_size=1, max_size=8), st.sampled_from(["fp16", "fp8", "fp32"]))
def test_every_comparison_is_legible(names: list[str], kv_dtype: str) -> None:
    legible(model_comparison(names, kv_dtype))


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda: budget_bars([]), "plans is one MemoryPlan or a list of them"),
        (lambda: budget_bars([1]), "plans is one MemoryPlan or a list of them"),  # type: ignore[list-item]
        (lambda: budget_bars(plan("llama-3.1-8b", "h100-80gb", kv_bytes_available=10**9)), "was given its KV cache"),
        (lambda: budget_bars(three_plans(), title="memory " * 40), "the title is wider than the figure"),
        (lambda: batch_curve([]), "predictions need two or more batches that grow, but got []"),
        (lambda: batch_curve(steps()[::-1]), "predictions need two or more batches that grow"),
        (lambda: batch_curve([1, 2]), "predictions are decode steps"),  # type: ignore[list-item]
        (lambda: batch_curve([predict_prefill("llama-3.1-8b", "h100-80gb")] * 2), "predictions are decode steps"),
        (lambda: batch_curve(steps(), critical_batch=-1), "critical_batch is the batch at which decode"),
        (lambda: batch_curve(steps(), critical_batch=float("nan")), "critical_batch is the batch at which decode"),
        (
            lambda: batch_curve(steps(), most_requests=0),
            "most_requests is the requests that fit and must be at least 1",
        ),
        (lambda: batch_curve(steps(), title="batch " * 40), "the title is wider than the figure"),
        (lambda: model_comparison([]), "models needs one name at least"),
        (lambda: model_comparison("llama-2-7b"), "models is a list of names"),
        (lambda: model_comparison(["llama-9"]), "there is no model 'llama-9'"),
        (lambda: model_comparison(COMPARED, "fp61"), "kv_dtype 'fp61' is not known"),
        (lambda: model_comparison(["deepseek-v3"], "fp8_ds_mla"), "has no bytes an element"),
        (lambda: model_comparison(COMPARED, title="cost " * 40), "the title is wider than the figure"),
    ],
)
def test_data_that_cannot_be_drawn_are_refused(draw: Callable[[], Any], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        draw()


@pytest.mark.parametrize("title", [7, True, [], 0])
def test_a_title_is_a_text(title: Any) -> None:
    draws: list[Callable[[], Any]] = [
        lambda: budget_bars(three_plans(), title=title),
        lambda: batch_curve(steps(), title=title),
        lambda: model_comparison(COMPARED, title=title),
    ]
    for draw in draws:
        with pytest.raises(TypeError, match="^title is a text or None, but got"):
            draw()


@pytest.mark.parametrize("nothing", [None, 7, True])
def test_what_is_no_plan_and_no_prediction_is_refused(nothing: Any) -> None:
    with pytest.raises(TypeError, match="^plans is one MemoryPlan or a list of them"):
        budget_bars(nothing)
    with pytest.raises(TypeError, match="^predictions are decode steps"):
        batch_curve(nothing)


def test_one_kv_head_for_all_is_called_multi_query_attention() -> None:
    assert "4 query heads share 1 KV head of 256 (MQA)" in model_comparison(["gemma-3-1b"]).alt_text
