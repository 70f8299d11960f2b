"""Claims about three ways to batch: one workload, one memory, and pictures and words that are those of the simulator."""

from __future__ import annotations

import re
from typing import Any

import pytest
from llmserving.events import Event
from llmserving.explorers import batching_explorer
from llmserving.figures import batching_timelines
from llmserving.figures.palette import OTHER
from llmserving.replay import kept_until
from llmserving.scheduling import StaticBatching, simulate
from llmserving.scheduling.spaced import spaced_workload
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from tests.figure_texts import outside, overlapping, text_boxes
from tests.lib.schedules import workload


@pytest.mark.parametrize(
    ("name", "value"), [("batch_size", 6), ("spacing_s", 0.0), ("longest", 64), ("window_s", 0.05), ("shortest", 8)]
)
def test_moving_any_control_changes_the_figure_and_the_sentence(name: str, value: float) -> None:
    explorer = batching_explorer()
    sentence, svg = explorer.sentence, explorer.figure.svg()
    explorer.controls[name].value = value
    assert explorer.sentence != sentence
    assert explorer.figure.svg() != svg


def test_the_runs_are_those_of_the_simulator_in_one_memory() -> None:
    runs = batching_explorer(batch_size=2, spacing_s=0.1, longest=16).runs
    made = simulate(spaced_workload(0.1, 4, 16), StaticBatching(2), num_blocks=10_000)
    assert runs["Static"] == made
    assert len({run.summary.memory for run in runs.values()}) == 1


def test_a_window_fills_the_first_batch_and_continuous_batching_waits_for_nobody() -> None:
    static, dynamic, continuous = (run.events for run in batching_explorer().runs.values())
    assert first_batch(static) == [0]
    assert first_batch(dynamic) == [0, 1, 2]
    assert kept_until(static)
    assert kept_until(dynamic)
    assert kept_until(continuous) == {}


def first_batch(events: list[Event]) -> list[object]:
    return [event.request for event in events if event.kind == "prefill" and event.step == 1]


def test_places_are_kept_until_the_longest_of_the_batch_is_done() -> None:
    events, _ = simulate(workload((0, 8, 9), (0, 8, 2), (0, 8, 9), (0, 8, 4)), StaticBatching(3))
    ends = {event.request: event.time_s for event in events if event.kind == "finish"}
    assert kept_until(events) == {1: ends[0]}
    figure = batching_timelines({"Static": events})
    kept = [box for box in figure.findobj(Rectangle) if box.get_hatch() == OTHER.hatch]
    assert [to_hex(box.get_facecolor()) for box in kept] == [OTHER.face] * 2  # the legend's, and that of request 1
    assert figure.alt_text.count("its place kept until") == 1


def test_a_workload_spreads_its_answers_from_the_shortest_to_the_longest() -> None:
    requests = spaced_workload(0.5, 3, 30)
    outputs = [request.output_tokens for request in requests]
    assert (min(outputs), max(outputs)) == (3, 30)
    assert [request.arrival_s for request in requests][:3] == [0, 0.5, 1]
    assert {request.arrival_s for request in spaced_workload(0, 3, 3)} == {0}
    with pytest.raises(ValueError, match="the longest answer has 2 tokens, fewer than the shortest with 3"):
        spaced_workload(0, 3, 2)


@pytest.mark.parametrize("start", [{}, {"spacing_s": 0.0, "batch_size": 6}, {"spacing_s": 0.5, "longest": 64}])
def test_the_picture_is_legible_and_names_each_schedule(start: dict[str, Any]) -> None:
    figure = batching_explorer(**start).figure
    boxes = text_boxes(figure)
    assert overlapping(boxes) == []
    assert outside(figure, boxes) == []
    for name in ("Static", "Dynamic", "Continuous"):
        assert f"{name}, until " in figure.alt_text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"batch_size": 0}, "batch_size is the requests in a batch and must be at least 1"),
        ({"spacing_s": -1}, "spacing_s is the seconds between two arrivals and must be above 0"),
        ({"window_s": True}, "window_s is the seconds for which a dynamic batch waits"),
        ({"controls": ("Q",)}, "controls names a control that is not known"),
    ],
)
def test_a_bad_start_is_refused_by_the_name_of_its_argument(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        batching_explorer(**arguments)


def test_lengths_that_contradict_each_other_are_told_in_the_sentence() -> None:
    explorer = batching_explorer(longest=2, shortest=4)
    assert explorer.sentence == "the longest answer has 2 tokens, fewer than the shortest with 4."


def test_no_schedule_is_no_picture() -> None:
    with pytest.raises(ValueError, match="logs maps the name of each schedule"):
        batching_timelines({})
