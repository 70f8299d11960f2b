"""How long the allocator takes: `make bench` times it; `make test` runs each once and looks at the results alone."""

from __future__ import annotations

import pytest
from llmserving.paging import PagedAllocator
from pytest_benchmark.fixture import BenchmarkFixture

PROMPT = list(range(32_000))  # 2,000 blocks of 16
REQUESTS = range(256)


@pytest.mark.parametrize("prefix_caching", [False, True])
def test_append_1000_tokens(benchmark: BenchmarkFixture, prefix_caching: bool) -> None:
    def started() -> tuple[tuple[PagedAllocator], dict[str, object]]:
        allocator = PagedAllocator(100, 16, prefix_caching)
        allocator.allocate("r", [7])
        return (allocator,), {}

    def append(allocator: PagedAllocator) -> PagedAllocator:
        for token in range(1000):
            allocator.append("r", token)
        return allocator

    allocator = benchmark.pedantic(append, setup=started, rounds=20)
    assert allocator.num_tokens("r") == 1001
    assert len(allocator.table("r")) == 63


@pytest.mark.parametrize("prefix_caching", [False, True])
def test_free_256_requests(benchmark: BenchmarkFixture, prefix_caching: bool) -> None:
    def started() -> tuple[tuple[PagedAllocator], dict[str, object]]:
        allocator = PagedAllocator(256 * 16, 16, prefix_caching)
        for request in REQUESTS:
            allocator.allocate(request, range(request, request + 256))
        assert not allocator.free_blocks
        return (allocator,), {}

    def free(allocator: PagedAllocator) -> PagedAllocator:
        for request in REQUESTS:
            allocator.free(request)
        return allocator

    allocator = benchmark.pedantic(free, setup=started, rounds=10)
    assert len(allocator.free_blocks) == 256 * 16


def test_look_up_a_cached_prompt_of_32000_tokens(benchmark: BenchmarkFixture) -> None:
    allocator = PagedAllocator(3000, 16, prefix_caching=True)
    allocator.allocate("r", PROMPT)
    assert benchmark(allocator.cached_tokens, PROMPT) == 32_000 - 16


def test_look_up_a_prompt_of_32000_tokens_that_differs_in_the_first(benchmark: BenchmarkFixture) -> None:
    allocator = PagedAllocator(3000, 16, prefix_caching=True)
    allocator.allocate("r", PROMPT)
    assert benchmark(allocator.cached_tokens, [7, *PROMPT[1:]]) == 0


def test_allocate_and_free_a_cached_prompt_of_32000_tokens(benchmark: BenchmarkFixture) -> None:
    allocator = PagedAllocator(3000, 16, prefix_caching=True)
    allocator.allocate("r", PROMPT)

    def again() -> int:
        found = allocator.allocate("again", PROMPT)
        allocator.free("again")
        return found

    assert benchmark(again) == 32_000 - 16
