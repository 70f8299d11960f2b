"""Claims about the HBM explorer: a control moves figure and words together, and a refused value moves nothing."""

from __future__ import annotations

import html
import re
from typing import Any

import ipywidgets
import pytest
from llmserving import kv_bytes, weight_bytes
from llmserving.explorers import HbmExplorer, hbm_explorer
from llmserving.explorers.controls import CONTROLS
from traitlets import TraitError


def on_screen(explorer: HbmExplorer) -> str:
    """The HTML of everything below the controls."""
    return "".join(html_below(explorer))


def html_below(explorer: HbmExplorer) -> list[str]:
    return [widget.value for widget in explorer.children if isinstance(widget, ipywidgets.HTML)]


def shown_state(explorer: HbmExplorer) -> tuple[Any, ...]:
    values = tuple(control.value for control in explorer.controls.values())
    return explorer.budget, explorer.sentence, explorer.arithmetic, explorer.figure.svg(), values


def test_it_starts_where_everything_fits() -> None:
    explorer = hbm_explorer()
    assert explorer.budget.fits
    assert explorer.sentence == explorer.budget.verdict
    assert explorer.sentence.startswith("Fits: ")


def test_the_sizes_are_those_of_the_formulas() -> None:
    budget = hbm_explorer(B=16, S=4096, L=32, d_model=4096, p=1, parameters=7e9, weight_bits=4, memory_gb=24).budget
    assert budget.kv_bytes == kv_bytes(B=16, S=4096, L=32, d_model=4096, p=1)
    assert budget.weight_bytes == weight_bytes(7e9, 4)
    assert budget.memory_bytes == 24 * 10**9


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("B", 64), ("S", 32768), ("L", 96), ("d_model", 12288), ("p", 1),
        ("parameters", 70 * 10**9), ("weight_bits", 4), ("memory_gb", 24),
    ],
)  # fmt: skip
def test_moving_any_control_changes_the_figure_and_the_sentence(name: str, value: int) -> None:
    explorer = hbm_explorer()
    before = shown_state(explorer)
    explorer.controls[name].value = value
    budget, sentence, _, svg, _ = shown_state(explorer)
    assert budget != before[0]
    assert sentence != before[1]
    assert svg != before[3]
    assert svg in on_screen(explorer)
    assert html.escape(sentence) in on_screen(explorer)


def test_moving_the_requests_up_runs_out_of_memory_and_says_by_how_much() -> None:
    explorer = hbm_explorer()
    explorer.controls["B"].value = 64
    budget = explorer.budget
    assert not budget.fits
    assert explorer.sentence == (
        f"Does not fit: {budget.size(budget.over_bytes)} too much. The KV cache is {budget.size(budget.kv_bytes)}, "
        f"the weights are {budget.size(budget.weight_bytes)}, and the GPU has {budget.size(budget.memory_bytes)}."
    )
    assert "does not fit" in explorer.figure.alt_text


def test_moving_there_and_back_shows_the_same_again() -> None:
    explorer = hbm_explorer()
    before = shown_state(explorer)
    explorer.controls["S"].value = 131072
    explorer.controls["S"].value = 2048
    assert shown_state(explorer) == before


def test_the_arithmetic_is_written_out_with_the_numbers_of_the_moment() -> None:
    explorer = hbm_explorer(B=1, S=2048, L=32, d_model=4096)
    assert explorer.arithmetic[0] == (
        "KV cache: 2 × B × S × L × d_model × p = 2 × 1 × 2,048 × 32 × 4,096 × 2 = 1,073,741,824 bytes"
    )
    assert explorer.arithmetic[1].endswith("13,000,000,000 × 16 / 8 = 26,000,000,000 bytes")


@pytest.mark.parametrize(("name", "value"), [("B", 65), ("B", 0), ("S", -1), ("p", 3), ("memory_gb", 81)])
def test_a_value_that_is_no_stop_is_refused_and_changes_nothing(name: str, value: int) -> None:
    explorer = hbm_explorer()
    before = shown_state(explorer)
    with pytest.raises(TraitError):
        explorer.controls[name].value = value
    assert shown_state(explorer) == before


def test_a_start_between_the_stops_becomes_a_stop_in_its_place() -> None:
    explorer = hbm_explorer(B=3, memory_gb=48)
    assert explorer.controls["B"].value == 3
    stops = [stop for _, stop in explorer.controls["B"].options]
    assert 3 in stops
    assert stops == sorted(stops)
    assert ("48 GB", 48) in explorer.controls["memory_gb"].options


def test_only_the_controls_asked_for_are_shown_in_the_order_asked() -> None:
    explorer = hbm_explorer(controls=("S", "B", "S"))
    shown = [widget for widget in explorer.children if widget in explorer.controls.values()]
    assert shown == [explorer.controls["S"], explorer.controls["B"]]
    explorer.controls["p"].value = 1
    assert explorer.budget.kv_bytes == kv_bytes(B=4, S=2048, L=40, d_model=5120, p=1)


def test_every_control_has_a_label_of_its_own() -> None:
    labels = [control.description for control in hbm_explorer().controls.values()]
    assert all(labels)
    assert len(set(labels)) == len(CONTROLS)


def test_the_sentence_stands_in_a_live_region_and_the_redraw_time_outside_it() -> None:
    explorer = hbm_explorer()
    regions = [value for value in html_below(explorer) if 'role="status" aria-live="polite"' in value]
    assert len(regions) == 1
    assert explorer.sentence in regions[0]
    assert "redrawn" not in regions[0]
    assert re.search(r"redrawn in [\d.]+ m?s", on_screen(explorer))


def test_where_widgets_cannot_load_the_sentence_and_the_alt_text_are_shown() -> None:
    explorer = hbm_explorer(controls=("B",))
    bundle = explorer._repr_mimebundle_()
    assert bundle["text/plain"] == repr(explorer) == f"{explorer.sentence} {explorer.figure.alt_text}"
    assert explorer.figure.svg() in bundle["text/html"]
    assert explorer.sentence in bundle["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in bundle


def test_stored_outputs_are_the_same_from_run_to_run() -> None:
    one, other = hbm_explorer()._repr_mimebundle_(), hbm_explorer()._repr_mimebundle_()
    for kind in ("text/plain", "text/html"):
        assert one[kind] == other[kind]
        assert "redrawn" not in one[kind]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"B": 0}, "B is the number of requests batched and must be at least 1, but got 0"),
        ({"S": 2.5}, "S is the number of cached tokens a request, a whole number, but got 2.5"),
        ({"L": True}, "L is the number of layers, a whole number, but got True"),
        ({"p": 0.3}, "p is the number of bytes a cached element"),
        ({"parameters": "13B"}, "parameters is the number of weights, a whole number"),
        ({"memory_gb": float("nan")}, "memory_gb is the GPU's memory in GB, but got NaN"),
        ({"controls": ("Q",)}, "controls names a control that is not known, 'Q'; the names are B, S, L"),
        ({"controls": "B"}, 'controls is a tuple of names such as ("B", "S"), but got \'B\''),
        ({"controls": ([],)}, "controls names a control that is not known, []"),
    ],
)
def test_a_bad_start_is_refused_by_the_name_of_its_argument(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        hbm_explorer(**arguments)
