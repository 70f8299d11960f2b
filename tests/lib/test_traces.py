"""The real traces: what is published of them, and how much of the memory held for their requests is in use."""

from __future__ import annotations

from dataclasses import replace

import pytest
from llmserving.scheduling.request import Workload
from llmserving.scheduling.reservation import used_share, used_share_paged
from llmserving.scheduling.traces import azure_trace, mooncake_trace
from llmserving.scheduling.workload_statistics import PUBLISHED, LengthStatistics, statistics

from tests import traces

pytestmark = pytest.mark.slow

KINDS = {"conversation": "conv", "code": "code"}


@pytest.fixture(scope="module")
def azure() -> dict[str, Workload]:
    return {kind: azure_trace(traces.need_azure(name)) for kind, name in KINDS.items()}


def rounded(lengths: LengthStatistics) -> LengthStatistics:
    return replace(lengths, mean=round(lengths.mean, 2))


@pytest.mark.parametrize("kind", KINDS)
def test_the_shipped_row_is_what_the_azure_trace_has(azure: dict[str, Workload], kind: str) -> None:
    found, row = statistics(azure[kind]), PUBLISHED[kind]
    assert found.requests == row.requests
    assert round(found.rate_per_s, 2) == row.rate_per_s
    assert rounded(found.prompt) == row.prompt
    assert rounded(found.output) == row.output


def test_mooncake_s_conversations() -> None:
    workload = mooncake_trace(traces.need_mooncake())
    found = statistics(workload)
    assert (found.requests, round(found.rate_per_s, 1)) == (12_031, 3.4)
    assert (round(found.prompt.mean), round(found.output.mean, 1)) == (12_035, 342.6)
    prompt, output = found.prompt, found.output
    assert (prompt.p50, prompt.p90, prompt.p99, prompt.max) == (6909, 27_367, 85_401, 126_195)
    assert (output.p50, output.p90, output.p99, output.max) == (350, 597, 1120, 2000)
    # Every prompt's blocks are named, the last one too where it is not full.
    assert all(len(request.prompt_blocks) == -(-request.prompt_tokens // 512) for request in workload)


@pytest.mark.parametrize(
    ("kind", "percent"), [("conversation", (53.4, 27.9, 15.0)), ("code", (41.5, 35.4, 26.0))], ids=list(KINDS)
)
def test_most_of_the_reserved_memory_is_never_used(
    azure: dict[str, Workload], kind: str, percent: tuple[float, ...]
) -> None:
    shares = [used_share(azure[kind], max_len) for max_len in (2048, 4096, 8192)]
    assert [round(100 * share, 1) for share in shares] == list(percent)


@pytest.mark.parametrize(
    ("kind", "percent"), [("conversation", (99.32, 99.35, 99.39)), ("code", (99.12, 99.49, 99.65))], ids=list(KINDS)
)
def test_blocks_of_16_tokens_leave_less_than_one_percent_unused(
    azure: dict[str, Workload], kind: str, percent: tuple[float, ...]
) -> None:
    shares = [used_share_paged(azure[kind], 16, max_len) for max_len in (2048, 4096, 8192)]
    assert [round(100 * share, 2) for share in shares] == list(percent)
    assert used_share_paged(azure[kind], 16) >= 0.99
