"""Claims about the HBM bar: what it says, that it says it legibly, and that the same data give the same bytes."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from llmserving.figures import HbmBudget, hbm_bar
from llmserving.figures.labels import GAP, spread
from llmserving.figures.palette import INK, KV_CACHE, WEIGHTS
from llmserving.units import GB
from matplotlib import rcParams
from matplotlib.transforms import Bbox

from tests.figure_texts import overlapping, text_boxes

MEMORIES = st.integers(1, 300 * GB)
BUCKETS = st.one_of(st.just(0), st.integers(0, 10**6), st.integers(0, 400 * GB), st.integers(0, 10**14))
DEGENERATE = [
    (80 * GB, 26 * GB, 0),
    (80 * GB, 0, 0),
    (24 * GB, 140 * GB, 10**8),
    (80 * GB, 26 * GB, 54 * GB),
    (80 * GB, 26 * GB, 54 * GB + 1),
    (80 * GB, 26 * GB, 8000 * GB),
    (141 * GB, 10**8, 10**8),
    (1, 1, 10**14),
]


@given(MEMORIES, BUCKETS, BUCKETS)
def test_what_fits_and_what_is_free_fill_the_memory_exactly(memory: int, weights: int, kv: int) -> None:
    budget = HbmBudget(memory, weights, kv)
    assert budget.free_bytes + budget.weight_bytes + budget.kv_bytes - budget.over_bytes == budget.memory_bytes
    assert budget.fits == (budget.over_bytes == 0)
    assert 0 in (budget.free_bytes, budget.over_bytes)


@settings(max_examples=40)
@given(MEMORIES, BUCKETS, BUCKETS)
def test_the_alt_text_names_every_number(memory: int, weights: int, kv: int) -> None:
    budget, alt_text = HbmBudget(memory, weights, kv), hbm_bar(memory, weights, kv).alt_text
    assert alt_text.startswith(f"HBM bar of {budget.size(memory)}: weights {budget.size(weights)} (")
    assert f", KV cache {budget.size(kv)} (" in alt_text
    if budget.fits:
        assert alt_text.endswith(f", {budget.size(budget.free_bytes)} free. It fits.")
    else:
        assert alt_text.endswith(f". It does not fit: {budget.size(budget.over_bytes)} too much.")


@settings(max_examples=40)
@given(MEMORIES, BUCKETS, BUCKETS, st.booleans())
@example(*DEGENERATE[5], True)
@example(*DEGENERATE[6], True)
@example(1, 100_000, 10**13, False)
def test_labels_neither_overlap_nor_leave_the_figure(memory: int, weights: int, kv: int, levers: bool) -> None:
    figure = hbm_bar(memory, weights, kv, title="Memory", weight_note="13 billion, FP16", kv_note="B 32", levers=levers)
    boxes = text_boxes(figure)
    assert overlapping(boxes) == []
    for words, box in boxes.items():
        assert figure.bbox.contains(box.x0, box.y0), words
        assert figure.bbox.contains(box.x1, box.y1), words


def test_the_overlap_check_can_fail() -> None:
    box = Bbox.from_extents(0, 0, 10, 10)
    assert overlapping({"one": box, "other": box.translated(5, 0)}) == [("one", "other")]


@pytest.mark.parametrize("budget", DEGENERATE)
def test_the_texts_of_the_figure_say_what_the_alt_text_says(budget: tuple[int, int, int]) -> None:
    figure, data = hbm_bar(*budget), HbmBudget(*budget)
    words = " ".join(text_boxes(figure))
    for num_bytes in budget:
        assert data.size(num_bytes) in words
    assert ("does not fit" in words) == ("does not fit" in figure.alt_text) == (not data.fits)


def test_the_alt_text_of_the_course_numbers_reads_as_a_sentence() -> None:
    assert hbm_bar(80e9, 26e9, 14e9).alt_text == (
        "HBM bar of 80 GB: weights 26 GB (32 %), KV cache 14 GB (18 %), 40 GB free. It fits."
    )
    assert hbm_bar(80e9, 26e9, 61e9, title="Full").alt_text == (
        "Full. HBM bar of 80 GB: weights 26 GB (32 %), KV cache 61 GB (76 %). It does not fit: 7 GB too much."
    )


def test_the_levers_and_phases_are_in_the_alt_text_too() -> None:
    figure = hbm_bar(80e9, 26e9, 14e9, levers=True)
    drawn = " ".join(text_boxes(figure))
    for words in ("Weight-only INT4", "PagedAttention", "Continuous batching", "memory-bound", "compute-bound"):
        assert words in figure.alt_text
        assert words in drawn


@pytest.mark.parametrize("budget", DEGENERATE)
def test_the_same_data_give_the_same_bytes(budget: tuple[int, int, int]) -> None:
    assert hbm_bar(*budget, levers=True)._repr_html_() == hbm_bar(*budget, levers=True)._repr_html_()


def test_another_process_gives_the_same_bytes() -> None:
    program = "from llmserving.figures import hbm_bar; print(hbm_bar(80e9, 26e9, 61e9).svg(), end='')"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == hbm_bar(80e9, 26e9, 61e9).svg()


def test_the_svg_is_one_labelled_image_without_a_date_or_a_style_sheet() -> None:
    figure = hbm_bar(80e9, 26e9, 14e9, title='Less < more & "quoted" $x$')
    svg = figure.svg()
    root = ElementTree.fromstring(svg)
    assert root.tag.endswith("svg")
    assert root.get("role") == "img"
    assert root.get("aria-label") == figure.alt_text
    for forbidden in ("<metadata", "dc:date", "<style", "<?xml", "DOCTYPE"):
        assert forbidden not in svg


def test_ink_follows_the_theme_and_the_buckets_keep_their_colours() -> None:
    svg = hbm_bar(80e9, 26e9, 14e9).svg()
    assert INK not in svg
    assert "var(--jp-ui-font-color1, currentColor)" in svg
    assert {WEIGHTS.face, KV_CACHE.face} <= set(re.findall(r"#[0-9a-f]{6}", svg))
    for fill in re.findall(r"<text[^>]*>", svg):
        assert "fill: var(" in fill


def test_two_figures_on_a_page_share_no_ids_and_every_reference_has_its_target() -> None:
    one, other = hbm_bar(80e9, 26e9, 14e9).svg(), hbm_bar(80e9, 26e9, 15e9).svg()
    ids = [set(re.findall(r'\bid="([^"]+)"', svg)) for svg in (one, other)]
    assert ids[0].isdisjoint(ids[1])
    for svg, known in zip((one, other), ids, strict=True):
        assert set(re.findall(r"url\(#([^)]+)\)", svg)) <= known
        assert len(known) == len(re.findall(r'\bid="', svg))


def _luminance(colour: str) -> float:
    channels = (int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one: str, other: str) -> float:
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("fill", [WEIGHTS, KV_CACHE])
def test_a_bucket_stands_out_from_a_white_and_from_a_dark_page(fill: Any) -> None:
    assert _contrast(fill.line, "#ffffff") >= 3
    assert _contrast(fill.face, "#111111") >= 3
    assert _contrast(fill.face, fill.line) >= 3


def test_the_buckets_differ_in_hatching_and_not_in_colour_alone() -> None:
    assert WEIGHTS.hatch != KV_CACHE.hatch


def test_plain_text_is_the_alt_text() -> None:
    figure = hbm_bar(80e9, 26e9, 14e9)
    assert repr(figure) == figure.alt_text


def test_a_png_is_written_on_white_and_leaves_the_figure_as_it_was(tmp_path: Path) -> None:
    figure = hbm_bar(80e9, 26e9, 14e9)
    before = figure.svg()
    figure.save_png(tmp_path / "bar.png", dpi=72)
    assert (tmp_path / "bar.png").read_bytes().startswith(b"\x89PNG")
    assert figure.svg() == before


def test_drawing_changes_no_global_setting() -> None:
    before = dict(rcParams)
    hbm_bar(80e9, 26e9, 61e9).svg()
    assert dict(rcParams) == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((0, 1, 1), "memory_bytes is the GPU's memory in bytes and must be at least 1"),
        ((80e9, -1, 0), "weight_bytes is the size of the weights in bytes and cannot be negative"),
        ((80e9, 0, float("nan")), "kv_bytes is the size of the KV cache in bytes, but got NaN"),
        ((80e9, 2.5, 0), "weight_bytes is the size of the weights in bytes, a whole number"),
        ((80e9, False, 0), "weight_bytes is the size of the weights in bytes, a whole number"),
        (("80 GB", 0, 0), "memory_bytes is the GPU's memory in bytes, a whole number"),
    ],
)
def test_a_budget_that_makes_no_sense_is_refused_by_the_name_of_its_field(
    arguments: tuple[Any, Any, Any], words: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        hbm_bar(*arguments)


def test_words_that_have_no_room_are_refused() -> None:
    with pytest.raises(ValueError, match="title is wider than the figure"):
        hbm_bar(80e9, 26e9, 14e9, title="memory " * 40)
    with pytest.raises(ValueError, match="shorten the notes"):
        hbm_bar(80e9, 26e9, 14e9, kv_note="tokens " * 40)


@given(
    st.lists(st.tuples(st.floats(0, 700), st.floats(1, 200)), min_size=1, max_size=3).map(sorted),
)
def test_spread_keeps_order_and_gaps_and_leaves_alone_what_has_room(labels: list[tuple[float, float]]) -> None:
    centres, widths = zip(*labels, strict=True)
    lefts = spread(centres, widths, 0, 700)
    for (left, width), following in zip(zip(lefts, widths, strict=True), [*lefts[1:], 700 + GAP], strict=True):
        assert left >= -1e-9
        assert left + width + GAP <= following + 1e-9
    if len(labels) == 1 and widths[0] / 2 <= centres[0] <= 700 - widths[0] / 2:
        assert lefts == [centres[0] - widths[0] / 2]


def test_importing_the_package_loads_no_matplotlib_no_widgets_and_no_torch() -> None:
    program = "import sys, llmserving; print(sorted({'matplotlib', 'ipywidgets', 'torch'} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_figures_and_explorers_never_load_pyplot() -> None:
    program = "import sys, llmserving.explorers; print('matplotlib.pyplot' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
