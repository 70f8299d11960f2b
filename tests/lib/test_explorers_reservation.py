"""Claims about one memory filled twice: what is drawn and told is what the two allocators did."""

from __future__ import annotations

import re
from typing import Any

import pytest
from llmserving.explorers import reservation_explorer
from llmserving.figures import slot_use
from llmserving.figures.palette import KV_CACHE
from llmserving.paging import ContiguousAllocator, PagedAllocator, fill
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from tests.figure_texts import outside, overlapping, text_boxes


@pytest.mark.parametrize(("name", "value"), [("tokens", 500), ("max_len", 512), ("block_size", 128), ("slots", 4096)])
def test_moving_any_control_changes_the_figure_and_the_sentence(name: str, value: int) -> None:
    explorer = reservation_explorer(tokens=200)
    sentence, svg = explorer.sentence, explorer.figure.svg()
    explorer.controls[name].value = value
    assert explorer.sentence != sentence
    assert explorer.figure.svg() != svg


def test_a_memory_is_filled_until_one_more_is_refused() -> None:
    allocator = ContiguousAllocator(1000, 300)
    filled = fill(allocator, 70)
    assert filled.requests == 3
    assert filled.waste == allocator.waste()
    assert not allocator.can_allocate(range(70))
    assert fill(PagedAllocator(4, 16), 65).requests == 0


def test_blocks_hold_more_requests_and_at_most_a_tail_of_each_is_empty() -> None:
    reserved, paged = reservation_explorer(tokens=100, max_len=2048, block_size=16, slots=8192).filled.values()
    assert reserved.requests == 8192 // 2048
    assert reserved.waste.reserved == reserved.requests * (2048 - 100)
    assert paged.requests > reserved.requests
    assert paged.waste.tail == paged.requests * (7 * 16 - 100)


def test_each_request_is_drawn_where_there_is_room_and_all_together_where_there_is_none() -> None:
    def teal(tokens: int) -> int:
        explorer = reservation_explorer(tokens=tokens)
        boxes = [box for box in explorer.figure.findobj(Rectangle) if to_hex(box.get_facecolor()) == KV_CACHE.face]
        return len(boxes) - 1  # one is the legend's

    few = reservation_explorer(tokens=500).filled.values()
    assert teal(500) == sum(one.requests for one in few)
    reserved, _ = reservation_explorer(tokens=20).filled.values()
    assert teal(20) == reserved.requests + 1


def test_more_tokens_than_are_reserved_are_refused_in_a_sentence() -> None:
    explorer = reservation_explorer(max_len=256)
    explorer.controls["tokens"].value = 2000
    assert "more than the 256 slots" in explorer.sentence
    explorer.controls["tokens"].value = 200
    assert explorer.sentence.startswith("Reserved in one piece the memory holds ")


@pytest.mark.parametrize("start", [{}, {"tokens": 20, "block_size": 1}, {"tokens": 2000, "max_len": 4096}])
def test_the_picture_is_legible_and_its_words_are_the_numbers(start: dict[str, Any]) -> None:
    explorer = reservation_explorer(**start)
    boxes = text_boxes(explorer.figure)
    assert overlapping(boxes) == []
    assert outside(explorer.figure, boxes) == []
    for filled in explorer.filled.values():
        assert f"{filled.waste.used:,} with a token" in explorer.figure.alt_text


def test_bars_of_different_memories_are_not_one_picture() -> None:
    one, other = fill(ContiguousAllocator(1000, 300), 70), fill(ContiguousAllocator(2000, 300), 70)
    with pytest.raises(ValueError, match="of one memory, the same for all"):
        slot_use({"one": one, "other": other})
    with pytest.raises(ValueError, match="rows maps the name of each way"):
        slot_use({})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"tokens": 0}, "tokens is the tokens that a request has in the cache and must be at least 1"),
        ({"slots": 10**6}, "slots is the number of tokens that the memory holds"),
        ({"controls": "tokens"}, "controls is a tuple of names"),
    ],
)
def test_a_bad_start_is_refused_by_the_name_of_its_argument(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        reservation_explorer(**arguments)
