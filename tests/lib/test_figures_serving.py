"""Claims about the figures of paging and scheduling: functions of a log, legible, and their words are the log's."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from llmserving.events import Event
from llmserving.figures import LessonFigure, batch_size_over_time, block_map, memory_over_time, request_gantt
from llmserving.figures.axis import LinearAxis
from llmserving.figures.block_grid import CELL_HEIGHT, GAUGE, BlockGrid
from llmserving.figures.names import short_names
from llmserving.figures.over_time import LEFT, RIGHT, step_path
from llmserving.figures.palette import DECODE, INK, KV_CACHE, PREFILL, SHARED, Fill
from llmserving.figures.shapes import shortened, text_width, wrapped
from llmserving.paging import PagedAllocator
from llmserving.replay import LogError, Series, replay_pool, request_spans, sentence, serving_series
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon, Rectangle

from tests.figure_texts import outside, overlapping, text_boxes
from tests.lib.serving_logs import SCHEDULE, Script, fork_and_copy, scheduled

POLICIES = ["static", "continuous", "chunked", "swap"]
FIGURES: dict[str, Callable[[], LessonFigure]] = {
    "map": lambda: block_map(fork_and_copy(), 8, 4, 5, title="A fork and a copy"),
    "memory": lambda: memory_over_time(scheduled("continuous"), 500, 16, 4096, title="Memory"),
    "gantt": lambda: request_gantt(scheduled("continuous"), title="Requests"),
    "batch": lambda: batch_size_over_time(scheduled("continuous"), title="Batch"),
}


def legible(figure: LessonFigure) -> None:
    boxes = text_boxes(figure)
    assert overlapping(boxes) == []
    assert outside(figure, boxes) == []


def words_of(figure: LessonFigure) -> list[str]:
    return [key.split(" ", 1)[1] for key in text_boxes(figure)]


def boxes_of(figure: LessonFigure, fill: Fill) -> list[Rectangle]:
    """The rectangles with that face and hatching, in the order in which they were drawn."""
    found = [artist for artist in figure.artists if isinstance(artist, Rectangle)]
    return [box for box in found if (box.get_hatch() or "") == fill.hatch and to_hex(box.get_facecolor()) == fill.face]


def outlines_of(figure: LessonFigure, line_width: float) -> list[Rectangle]:
    found = [artist for artist in figure.artists if isinstance(artist, Rectangle)]
    return [box for box in found if not box.get_fill() and box.get_linewidth() == line_width]


def lines_of(figure: LessonFigure, line_width: float) -> list[Line2D]:
    return [line for line in figure.artists if isinstance(line, Line2D) and line.get_linewidth() == line_width]


def points_of(line: Line2D) -> Any:
    """The corners of a line in figure units, [points, 2]."""
    return np.column_stack([np.asarray(line.get_xdata()), np.asarray(line.get_ydata())])


@pytest.mark.parametrize("name", FIGURES)
def test_labels_neither_overlap_nor_leave_the_figure(name: str) -> None:
    legible(FIGURES[name]())


@pytest.mark.parametrize("name", FIGURES)
def test_the_same_log_gives_the_same_bytes_in_the_theme_s_ink_under_its_alt_text(name: str) -> None:
    figure, again = FIGURES[name](), FIGURES[name]()
    assert figure.svg() == again.svg()
    assert INK not in figure.svg()
    assert repr(figure) == figure.alt_text
    assert figure.svg().count("<svg") == 1
    assert figure.alt_text.startswith(f"{words_of(figure)[0]}. ")


# The block map


def test_the_map_says_in_a_sentence_what_the_event_did() -> None:
    log = fork_and_copy()
    for upto in range(1, len(log) + 1):
        figure = block_map(log, 8, 4, upto)
        said = f"After event {upto} of {len(log)}. {sentence(replay_pool(log, 8, 4, upto))}"
        assert said in " ".join(words_of(figure))
        assert said in figure.alt_text
        legible(figure)


def test_a_copy_shows_both_blocks_and_whose_they_are() -> None:
    figure = FIGURES["map"]()
    drawn = words_of(figure)
    assert "b copies block 2 into block 3 before it writes: two requests held block 2." in " ".join(drawn)
    # Blocks 0 and 1 are shared and can be found; 2 is a's alone again, 3 is b's, and the rest is free.
    assert [drawn.count(words) for words in ("×2 a b", "free", "◆")] == [2, 4, 3]
    for words in (
        "Blocks 0 and 1 are shared by a and b.",
        "Blocks 0 and 1 can be found by prefix.",
        "a with 9 tokens, 0 to 0, 1 to 1, 2 to 2; b with 10 tokens, 0 to 0, 1 to 1, 2 to 3.",
        "4 of them in a table and 4 free.",
        "Free list, next to be given out first: 4, 5, 6, 7.",
    ):
        assert words in figure.alt_text


def test_blocks_are_filled_to_the_share_of_their_slots_and_shared_ones_are_hatched_another_way() -> None:
    figure = FIGURES["map"]()
    alone, shared = boxes_of(figure, KV_CACHE), boxes_of(figure, SHARED)
    gauges = [box for box in outlines_of(figure, 0.5) if box.get_height() == GAUGE]
    whole = gauges[0].get_width()
    state = replay_pool(fork_and_copy(), 8, 4, 5)
    assert state.filled_slots == (4, 4, 1, 2, 0, 0, 0, 0)
    # The last one of each is the sample in the legend.
    assert [box.get_width() / whole for box in shared[:-1]] == [1, 1]
    assert [box.get_width() / whole for box in alone[:-1]] == pytest.approx([1 / 4, 2 / 4])
    assert KV_CACHE.hatch != SHARED.hatch


def test_the_blocks_of_the_event_are_outlined() -> None:
    figure = FIGURES["map"]()
    cells = [box for box in outlines_of(figure, 2.8) if box.get_height() == CELL_HEIGHT]
    plain = [box for box in outlines_of(figure, 1.1) + outlines_of(figure, 0.5) if box.get_height() == CELL_HEIGHT]
    places = sorted({(box.get_y(), box.get_x()) for box in plain})
    assert [places.index((box.get_y(), box.get_x())) for box in cells] == [2, 3]
    before = block_map(fork_and_copy(), 8, 4, 0)
    assert [box for box in outlines_of(before, 2.8) if box.get_height() == CELL_HEIGHT] == []


def test_the_free_list_is_drawn_in_its_order_or_said_to_have_none() -> None:
    script = Script(4, 2, prefix_caching=True)
    script.run("allocate", "a", [1, 2, 3, 4, 5])
    script.run("free", "a")
    figure = block_map(script.log, 4, 2)
    drawn = words_of(figure)
    start = drawn.index("Free list, next to be given out first") + 1
    # What nothing can find goes to the front; of the others, the end of the prompt is evicted before its beginning.
    assert drawn[start : start + 4] == ["2", "3", "1", "0"]
    assert "Free list, next to be given out first: 2, 3, 1, 0." in figure.alt_text
    without = block_map([event._replace(free_list=()) for event in script.log], 4, 2)
    assert "Free list, the log does not say in which order: 0, 1, 2, 3." in without.alt_text
    assert "Free list, the log does not say in which order" in words_of(without)


def test_a_figure_that_is_stepped_through_does_not_jump() -> None:
    log = fork_and_copy()
    assert len({block_map(log, 8, 4, upto).height for upto in range(len(log) + 1)}) == 1


def test_a_free_block_that_can_be_found_is_full_and_marked() -> None:
    log: list[Event] = []
    allocator = PagedAllocator(4, 2, prefix_caching=True, log=log)
    allocator.allocate("a", [1, 2, 3])
    allocator.free("a")
    figure = block_map(log, 4, 2)
    assert words_of(figure).count("free") == 4
    assert words_of(figure).count("◆") == 2  # one and the legend's
    assert len(boxes_of(figure, KV_CACHE)) == 2
    assert "Block 0 can be found by prefix." in figure.alt_text


@settings(max_examples=15)
@given(
    st.integers(1, 200),
    st.sampled_from([1, 4, 16, 256]),
    st.lists(st.tuples(st.sampled_from(["a", "request-17", 123456, "ω"]), st.integers(1, 90)), max_size=12),
    st.booleans(),
)
def test_every_pool_is_legible(blocks: int, size: int, prompts: list[tuple[Any, int]], caching: bool) -> None:
    log: list[Event] = []
    allocator = PagedAllocator(blocks, size, caching, log=log)
    for number, (name, tokens) in enumerate(prompts):
        if allocator.can_allocate([1] * tokens):
            allocator.allocate((name, number) if name == "a" else f"{name}{number}", [1] * tokens)
        if number % 3 == 2 and allocator.requests:
            allocator.fork(allocator.requests[0], f"fork{number}")
    legible(block_map(log, blocks, size))


def test_what_has_no_room_is_counted_in_the_figure_and_in_the_words() -> None:
    log: list[Event] = []
    allocator = PagedAllocator(200, 4, log=log)
    for number in range(11):
        allocator.allocate(f"r{number}", [1] * 60)
    figure = block_map(log, 200, 4)
    drawn = words_of(figure)
    assert "and 136 more blocks" in drawn
    assert "and 3 more requests" in drawn
    assert "and 3 more requests." in figure.alt_text
    [more] = {words for words in drawn if re.fullmatch(r"and \d+ more", words) and drawn.count(words) == 8}
    assert figure.alt_text.count(more) >= 8
    row = figure.alt_text.split("r0 with 60 tokens, ")[1].split(";")[0]
    assert len(re.findall(r"\d+ to \d+", row)) + int(more.split()[1]) == 15
    legible(figure)


def test_owners_without_room_leave_their_number() -> None:
    log: list[Event] = []
    allocator = PagedAllocator(64, 4, log=log)
    allocator.allocate("a", [1])
    for name in ("b", "c", "a-long-name"):
        allocator.fork("a", name)
    grid = BlockGrid(replay_pool(log, 64, 4))
    assert grid._whose(("a", "b", "c"), False, 100) == "×3 a b c"
    assert grid._whose(("a", "b", "a-long-name"), False, 55) == "×3 a b …"
    assert grid._whose(("a-long-name", "b"), False, 36) == "×2"
    legible(block_map(log, 64, 4))


def test_a_map_without_its_caption_is_shorter_and_says_the_same_in_its_alt_text() -> None:
    whole, bare = FIGURES["map"](), block_map(fork_and_copy(), 8, 4, 5, title="A fork and a copy", caption=False)
    assert bare.alt_text == whole.alt_text
    assert bare.height < whole.height
    said = [words for words in words_of(whole) if words not in words_of(bare)]
    assert " ".join(said).startswith("After event 5 of ")
    legible(bare)


def test_long_names_stay_apart_and_are_cut_in_the_same_way_at_every_event() -> None:
    log: list[Event] = []
    allocator = PagedAllocator(40, 4, log=log)
    names = [f"sample-of-a-prompt-{number}" for number in range(1, 12)]
    allocator.allocate("p", [1, 2, 3])
    for name in names:
        allocator.allocate(name, [1])
    figure = block_map(log, 40, 4)
    shown = [words for words in words_of(figure) if "…" in words]
    assert len(set(shown)) == len(shown) == 11 + 7, "eleven in the grid, and seven of the eight rows"
    legible(figure)
    for upto in range(2, len(log)):
        assert {words for words in words_of(block_map(log, 40, 4, upto)) if "…" in words} <= set(shown)


@pytest.mark.parametrize(
    "names",
    [
        ["sample-1", "sample-2", "sample-12"],
        ["first-of-the-samples", "second-of-the-samples"],
        ["user-0001-of-the-company", "user-0002-of-the-company", "user-0012-of-the-company"],
        [1234567890123, 1234567890124, "a"],
    ],
)
def test_different_names_are_different_where_they_are_short(names: list[Any]) -> None:
    short = short_names(names, 50, size=11, bold=True)
    assert len(set(short.values())) == len(names)
    assert all(text_width(text, size=11, bold=True) <= 50 for text in short.values())
    assert short_names(["a", 7], 50, size=11) == {"a": "a", 7: "7"}


def test_a_block_with_hundreds_of_owners_is_drawn_at_once() -> None:
    owners = tuple(f"sample-{number}" for number in range(2000))
    grid = BlockGrid(replay_pool([], 8, 4))
    began = time.process_time()
    assert grid._whose(owners, False, 130) == "×2000 sample-0 …"
    assert time.process_time() - began < 1


# Curves over time


def test_the_memory_curve_is_what_the_log_says_and_so_are_its_words() -> None:
    events = scheduled("continuous")
    figure, series = FIGURES["memory"](), serving_series(events)
    held = 500 - series.free_blocks.values
    peak, at = held.max(), series.free_blocks.times_s[held.argmax()]
    assert (
        f"at most {peak:,.0f} of 500 blocks ({100 * peak / 500:.0f} %), at {float(f'{at:.4g}'):g} s" in figure.alt_text
    )
    most = series.running.values.max() * 256
    assert f"would hold at most {most:,.0f} blocks, {most - 500:,.0f} more than there are" in figure.alt_text
    assert "reserving 4,096 tokens (256 blocks) for each that runs" in words_of(figure)
    assert "the pool: 500 blocks" in words_of(figure)


def test_the_height_of_the_memory_curve_is_to_scale_beside_the_pool_s() -> None:
    figure = memory_over_time(SCHEDULE, 8, 16, 32)
    [area] = [artist for artist in figure.artists if isinstance(artist, Polygon) and not isinstance(artist, Rectangle)]
    corners = np.asarray(area.get_xy())
    [pool] = [ends for ends in map(points_of, lines_of(figure, 2.8)) if np.ptp(ends[:, 0]) > 600]
    bottom, top = corners[:, 1].max(), pool[0, 1]
    held = {round((bottom - y) / (bottom - top) * 8, 6) for y in corners[:, 1]}
    assert held == {0, 1, 2, 4, 5}
    # Five of the eight blocks are held from 3 s to 4 s of the nine, the moment before the preemption.
    high = corners[np.isclose(corners[:, 1], bottom - (bottom - top) * 5 / 8), 0]
    assert [high.min(), high.max()] == pytest.approx([LEFT + (RIGHT - LEFT) * share for share in (3 / 9, 4 / 9)])


def test_a_reservation_is_dashed_and_left_out_where_no_length_is_given() -> None:
    dashed = [line for line in lines_of(FIGURES["memory"](), 1.6) if line.get_linestyle() != "-"]
    assert len(dashed) >= 2
    without = memory_over_time(scheduled("continuous"), 500, 16)
    assert lines_of(without, 1.6) == []
    assert "reservation" not in without.alt_text


def test_a_reservation_that_would_flatten_the_rest_leaves_the_frame_and_the_words_say_so() -> None:
    figure = memory_over_time(scheduled("continuous"), 500, 16, 160_000)
    assert "(the dashed line leaves the frame)" in figure.alt_text
    assert "leaves the frame" not in FIGURES["memory"]().alt_text
    legible(figure)


def test_the_batch_curve_counts_running_and_waiting() -> None:
    figure, series = FIGURES["batch"](), serving_series(scheduled("continuous"))
    running, waiting = series.running.peak, series.waiting.peak
    assert f"Requests running: at most {running[0]:,.0f}, at {float(f'{running[1]:.4g}'):g} s" in figure.alt_text
    assert f"Requests waiting: at most {waiting[0]:,.0f}, at {float(f'{waiting[1]:.4g}'):g} s" in figure.alt_text
    assert {"Requests running", "Requests waiting", "Seconds since the start"} <= set(words_of(figure))
    curves = lines_of(figure, 1.8)
    assert len(curves) == 2
    for curve, one in zip(curves, (series.running, series.waiting), strict=True):
        heights = points_of(curve)[:, 1]
        assert len(set(heights.round(6))) == len(set(one.values))


def test_a_step_function_holds_its_value_until_the_next() -> None:
    series = Series(np.array([0.0, 1.0, 2.0, 3.0]), np.array([1.0, 4.0, 4.0, 0.0]))
    assert step_path(series, 5) == ([0, 1, 1, 3, 3, 5], [1, 1, 4, 4, 0, 0])


@example(1e-9, 1e-6, 20.0, True)  # no whole number lies on it
@given(st.floats(0, 1e6), st.floats(1e-6, 1e6), st.floats(20, 100), st.booleans())
def test_linear_ticks_are_round_lie_on_the_axis_and_leave_room(
    low: float, span: float, room: float, whole: bool
) -> None:
    axis = LinearAxis(low, low + max(span, low * 1e-6), 60, 700, whole)
    ticks = axis.ticks(room)
    places = [axis.at(tick) for tick in ticks]
    slack = 1e-6 * (axis.high - axis.low) + 1e-9 * axis.high
    assert all(axis.low - slack <= tick <= axis.high + slack for tick in ticks)
    assert all(b - a >= room * 0.999 for a, b in pairwise(places))
    assert not whole or all(float(tick).is_integer() for tick in ticks)
    assert whole or len(ticks) >= 2


# Requests over time


def test_a_row_is_a_request_and_its_boxes_are_its_spans() -> None:
    figure = request_gantt(SCHEDULE)
    spans = [span for one in request_spans(SCHEDULE) for span in one.spans]
    [frame] = outlines_of(figure, 0.6)
    left, unit = frame.get_x(), frame.get_width() / 9  # the log is nine seconds long
    for fill, phase in ((PREFILL, "prefill"), (DECODE, "decode")):
        _legend, *boxes = boxes_of(figure, fill)
        drawn = [((box.get_x() - left) / unit, box.get_width() / unit) for box in boxes]
        expected = [(span.start_s, span.seconds) for span in spans if span.phase == phase]
        assert np.array(drawn) == pytest.approx(np.array(expected)), phase
    assert "× rejected" in words_of(figure)
    assert "0: arrives at 0 s, waiting 1 s, prefill 1 s, decode 6 s, finished at 8 s." in figure.alt_text
    assert "1: arrives at 0.5 s, waiting 1.5 s, prefill 1 s, decode 1 s, preempted 1 s, prefill 2 s" in figure.alt_text
    assert "2: rejected at 5.5 s." in figure.alt_text


def test_the_phases_differ_in_more_than_colour() -> None:
    drawn = words_of(request_gantt(SCHEDULE))
    assert {"waiting", "prefill", "decode", "preempted"} <= set(drawn)
    assert PREFILL.hatch != DECODE.hatch
    dashed = [box for box in outlines_of(request_gantt(SCHEDULE), 1.1) if box.get_linestyle() not in ("-", "solid")]
    assert len(dashed) == 2  # the preemption, and the legend's


@pytest.mark.parametrize(
    ("first", "most", "words"),
    [
        (0, 20, "The first 20 of 40 requests in the order of arrival"),
        (20, 10, "Numbers 21 to 30 of 40 requests in the order of arrival"),
        (0, 40, "All 40 requests in the order of arrival"),
        (39, 5, "Numbers 40 to 40 of 40 requests in the order of arrival"),
    ],
)
def test_of_many_requests_some_are_drawn_and_the_words_say_which(first: int, most: int, words: str) -> None:
    figure = request_gantt(scheduled("continuous"), first, most)
    assert words in words_of(figure)
    assert words in figure.alt_text
    rows = re.findall(r"(\d+): arrives", figure.alt_text)
    assert rows == [str(number) for number in range(first, min(40, first + most))]
    assert set(rows) <= set(words_of(figure))


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_is_legible(policy: str) -> None:
    events = scheduled(policy)
    for figure in (
        memory_over_time(events, 500, 16, 2048),
        request_gantt(events),
        batch_size_over_time(events),
    ):
        legible(figure)


def test_a_log_in_which_no_time_passes_can_be_drawn() -> None:
    events = [SCHEDULE[0], SCHEDULE[2]._replace(time_s=0.0)]
    for figure in (memory_over_time(events, 8, 16), request_gantt(events), batch_size_over_time(events)):
        legible(figure)


def test_a_long_log_is_drawn_in_few_points_and_soon() -> None:
    rounds = 8000
    log = []
    for number in range(rounds):
        start = float(number)
        log += [
            Event("arrive", number, start, number, 0, 90),
            Event("prefill", number, start, number, 9, 90 - number % 50),
            Event("first token", number, start + 0.5, number, 9, 80 - number % 50),
            Event("finish", number, start + 0.75, number, 20, 90),
        ]
    began = time.process_time()
    figures = [memory_over_time(log, 100, 16, 320), request_gantt(log), batch_size_over_time(log)]
    svgs = [figure.svg() for figure in figures]
    assert time.process_time() - began < 20  # some 1 s; a curve through every point would take minutes
    for figure in figures:
        assert max(len(points_of(line)) for line in figure.artists if isinstance(line, Line2D)) <= 2002
    assert max(map(len, svgs)) < 400_000


# Refusals


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda: block_map(SCHEDULE, 8, 4), "events has no event of an allocator"),
        (lambda: block_map(fork_and_copy(), 8, 4, 99), "upto is how many of the log's 8 events have happened"),
        (lambda: block_map(fork_and_copy(), 8, 8), "9 tokens need 2 blocks of 8, but a has 3"),
        (lambda: block_map(fork_and_copy(), 2, 4), "there is no block 2 in a pool of 2"),
        (lambda: block_map(fork_and_copy(), 0, 4), "num_blocks is the number of blocks in the pool"),
        (lambda: block_map(fork_and_copy(), 8, "4"), "block_size is the number of tokens in a block"),
        (lambda: block_map([1], 8, 4), "events is the list of Events"),  # type: ignore[list-item]
        (lambda: block_map(fork_and_copy(), 8, 4, title="map " * 60), "the title is wider than the figure"),
        (lambda: memory_over_time([], 8, 16), "no scheduling event that runs a request"),
        (lambda: memory_over_time(fork_and_copy(), 8, 16), "no scheduling event that runs a request"),
        (lambda: memory_over_time(SCHEDULE, 7, 16), "num_blocks is the pool's 7 blocks, but the log has 8 free ones"),
        (lambda: memory_over_time(SCHEDULE, 8, 16, 0), "max_len is the most tokens that a request can have"),
        (lambda: memory_over_time(SCHEDULE[1:], 8, 16), "request 0 has not arrived"),
        (lambda: memory_over_time(SCHEDULE, 8, 16, title="m " * 100), "the title is wider than the figure"),
        (lambda: request_gantt([]), "events has no request that arrives"),
        (lambda: request_gantt(SCHEDULE, first=3), "first is the number of the first request to draw"),
        (lambda: request_gantt(SCHEDULE, most=0), "most is the number of requests to draw and must be at least 1"),
        (lambda: request_gantt(SCHEDULE, most=61), "most is the number of requests to draw, but 61 is more"),
        (lambda: request_gantt(SCHEDULE, title="g " * 100), "the title is wider than the figure"),
        (lambda: batch_size_over_time(SCHEDULE[:2]), "no scheduling event that runs a request"),
        (lambda: batch_size_over_time(None), "events is the list of Events"),  # type: ignore[arg-type]
        (lambda: batch_size_over_time(SCHEDULE, title="b " * 100), "the title is wider than the figure"),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw: Callable[[], Any], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        draw()


def test_a_log_that_contradicts_itself_can_be_drawn_up_to_there() -> None:
    log = fork_and_copy()
    broken = [*log[:5], log[0]]
    assert "After event 5 of 6." in block_map(broken, 8, 4, 5).alt_text
    with pytest.raises(LogError, match="event 6 of the log, 'allocate' of a") as refused:
        block_map(broken, 8, 4)
    assert refused.value.number == 6


# Words


@given(st.text("ab ", max_size=200), st.floats(20, 300))
def test_wrapped_lines_hold_all_words_in_their_order(text: str, room: float) -> None:
    lines = wrapped(text, room)
    assert " ".join(lines).split() == text.split()
    assert all(text_width(line) <= room or " " not in line for line in lines)


def test_a_name_is_shortened_only_where_it_must_be() -> None:
    assert shortened("request", 200) == "request"
    short = shortened("request-number-seventeen", 60)
    assert short.endswith("…")
    assert text_width(short) <= 60
