"""Claims about the tails of many requests: they are what the lengths come to, whoever hands out the blocks."""

from __future__ import annotations

from typing import Any

import pytest
from llmserving.exercises.lab_paging_waste import tail_share
from llmserving.paging import PagedAllocator, tails
from llmserving.scheduling import synthetic_workload

from tests.lib.allocators import Counting, Naive

LENGTHS = [(5, 3), (8, 0), (1, 0), (3, 6)]  # with blocks of 4: 8, 8, 1 and 9 tokens at the end


@pytest.mark.parametrize("made", [PagedAllocator, Naive, Counting])
@pytest.mark.parametrize("together", [1, 3, 8])
def test_what_is_left_empty_is_counted_at_the_end_of_each_request(made: Any, together: int) -> None:
    waste = tails(made, LENGTHS, block_size=4, together=together)
    assert (waste.used, waste.tail, waste.held) == (8 + 8 + 1 + 9, 0 + 0 + 3 + 3, 32)
    assert waste.share == 6 / 32


def test_a_table_that_is_too_long_shows() -> None:
    class Early(Naive):
        def blocks_for(self, num_tokens: int) -> int:
            return num_tokens // self.block_size + 1

    assert tails(Early, [(8, 0)], block_size=4).tail == 4


def test_an_allocator_that_loses_blocks_runs_out_of_them() -> None:
    class Loses(Naive):
        def free(self, request: Any) -> None:
            del self.tables[request]

    with pytest.raises(Exception, match=r"free|pop"):
        tails(Loses, [(8, 0)] * 4, block_size=4, together=1)


@pytest.mark.parametrize("kind", ["conversation", "code"])
@pytest.mark.parametrize("block_size", [16, 256])
def test_on_lengths_like_real_ones_the_tail_is_about_as_the_lab_foretells_it(kind: str, block_size: int) -> None:
    requests = synthetic_workload(2000, kind=kind, arrivals="at once")
    ends = [(request.cached_tokens, 0) for request in requests]
    mean = sum(tokens for tokens, _ in ends) / len(ends)
    share = tails(PagedAllocator, ends, block_size).share
    assert share == pytest.approx(tail_share(mean, block_size), rel=0.06)


def test_what_makes_no_sense_is_told() -> None:
    with pytest.raises(ValueError, match="lengths has no request"):
        tails(PagedAllocator, [], 16)
    with pytest.raises(ValueError, match="block_size"):
        tails(PagedAllocator, [(1, 0)], 0)
    with pytest.raises(ValueError, match="together"):
        tails(PagedAllocator, [(1, 0)], 16, together=0)
