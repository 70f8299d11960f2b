"""Renders docs/traces.md: `python -m llmserving.scheduling.trace_table FOLDER [FILE]` prints it, or writes FILE.

FOLDER holds the public traces, which are not part of this project.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from llmserving.paging import NoFreeBlocksError, PagedAllocator, blocks_needed
from llmserving.scheduling.policies import ChunkedPrefill, ContinuousBatching
from llmserving.scheduling.prefix_reuse import prefix_hit_rate
from llmserving.scheduling.request import Workload
from llmserving.scheduling.reservation import used_share, used_share_paged
from llmserving.scheduling.served import Spread
from llmserving.scheduling.simulate import simulate
from llmserving.scheduling.static_batching import StaticBatching
from llmserving.scheduling.traces import azure_trace, mooncake_trace
from llmserving.scheduling.workload import synthetic_workload
from llmserving.scheduling.workload_statistics import statistics
from llmserving.units import format_number, format_seconds

BATCHES = (8, 16, 32, 64, 128)
RESERVED = (2048, 4096, 8192)
BLOCK_SIZE = 16
CACHES = (1_000, 5_000, 10_000, 50_000, None)
SAMPLES = ((1000, 200, 2), (1000, 200, 4), (1000, 200, 8), (1024, 200, 4), (100, 400, 4))
SYNTHETIC = 2_000
ENOUGH_BLOCKS = 10**9
POLICY_COLUMNS = (
    "", "mean batch", "output tokens/s", "goodput, requests/s", "first token p50", "per token p50", "p99", "KV used",
    "preempted", "rejected",
)  # fmt: skip

HEAD = """# What paging and continuous batching buy, on real traces

Written by `python -m llmserving.scheduling.trace_table FOLDER docs/traces.md`; do not edit it. FOLDER holds the Azure LLM
inference traces of 2023 (CC-BY 4.0) and the Mooncake conversation trace (Apache-2.0), which are not part of this project.
The synthetic workloads come with it: {requests:,} requests of each kind, drawn with seed 0 from quantiles of the Azure
traces.
"""


def decode_steps(workload: Workload, batch: int) -> tuple[int, int]:
    """Steps of static and of continuous batching with `batch` rows, in order of arrival; an incomplete last batch is cut."""
    whole = workload[: len(workload) // batch * batch].at_once()
    static = simulate(whole, StaticBatching(batch), num_blocks=ENOUGH_BLOCKS).summary.steps
    return static, simulate(whole, ContinuousBatching(batch), num_blocks=ENOUGH_BLOCKS).summary.steps


def blocks_for_samples(prompt: int, output: int, samples: int) -> tuple[int, int]:
    """Blocks that several samples of one prompt hold at their end: forked from one another, and each on its own.

    Found by letting the allocator do it: output tokens that are written to the cache, in turn.
    """
    needed = samples * blocks_needed(prompt + output, BLOCK_SIZE)
    allocator = PagedAllocator(needed, BLOCK_SIZE)
    allocator.allocate(0, range(prompt))
    for sample in range(1, samples):
        allocator.fork(0, sample)
    for token in range(output):
        for sample in range(samples):
            allocator.append(sample, token)
    shared = allocator.num_blocks - len(allocator.free_blocks)
    alone = PagedAllocator(needed, BLOCK_SIZE)
    for sample in range(samples):
        alone.allocate(sample, range(prompt + output))
    return shared, alone.num_blocks - len(alone.free_blocks)


def prefix_hits_of_allocator(workload: Workload, num_blocks: int) -> float:
    """`prefix_hit_rate` of PagedAllocator, which leaves the last block of a prompt to be computed."""
    allocator = PagedAllocator(num_blocks, 1, prefix_caching=True)
    hits = 0
    for request in workload:
        hits += allocator.allocate(request.id, request.prompt_blocks)
        allocator.free(request.id)
    return hits / sum(len(request.prompt_blocks) for request in workload)


def rendered(folder: str | Path) -> str:
    """The text of docs/traces.md, from the traces in `folder`."""
    folder = Path(folder)
    azure = {
        "Azure conversation": azure_trace(folder / "AzureLLMInferenceTrace_conv.csv"),
        "Azure code": azure_trace(folder / "AzureLLMInferenceTrace_code.csv"),
    }
    synthetic = {f"synthetic {kind}": synthetic_workload(SYNTHETIC, kind=kind) for kind in ("conversation", "code")}
    mooncake = mooncake_trace(folder / "mooncake_conversation_trace.jsonl")
    workloads = {**azure, **synthetic}
    sections = (
        _lengths({**workloads, "Mooncake conversation": mooncake}),
        _steps(workloads),
        _reserved(workloads),
        _prefixes(mooncake),
        _samples(),
        _policies(azure["Azure conversation"]),
    )
    return "\n".join([HEAD.format(requests=SYNTHETIC), *("\n".join(section) + "\n" for section in sections)])


def _lengths(workloads: dict[str, Workload]) -> Iterator[str]:
    yield "## The requests\n"
    yield _row("", "requests", "a second", "prompt: mean", "p50", "p99", "output: mean", "p50", "p99")
    yield _row(*["---"] * 9)
    for name, workload in workloads.items():
        told = statistics(workload)
        lengths = [f"{n:,.0f}" for of in (told.prompt, told.output) for n in (of.mean, of.p50, of.p99)]
        yield _row(name, f"{told.requests:,}", format_number(told.rate_per_s), *lengths)


def _steps(workloads: dict[str, Workload]) -> Iterator[str]:
    yield (
        "## Continuous over static batching: decode steps\n\nAll requests are there at the start, in the order of the "
        "trace; those that would not fill a last batch are left out. A static batch runs as many steps as its longest "
        "answer has tokens. No time is modelled: this is what leaving the batch early is worth by itself.\n"
    )
    yield _row("static / continuous steps", *(f"batch {batch}" for batch in BATCHES))
    yield _row(*["---"] * (1 + len(BATCHES)))
    for name, workload in workloads.items():
        counts = [decode_steps(workload, batch) for batch in BATCHES]
        yield _row(name, *(f"{static / continuous:.2f}" for static, continuous in counts))


def _reserved(workloads: dict[str, Workload]) -> Iterator[str]:
    yield (
        "## The used share of reserved memory\n\nTime-weighted over a request's life, a unit a decode step. Requests "
        "longer than what is reserved are left out of its column.\n"
    )
    yield _row("", *(f"{max_len} reserved" for max_len in RESERVED), f"blocks of {BLOCK_SIZE}")
    yield _row(*["---"] * (2 + len(RESERVED)))
    for name, workload in workloads.items():
        shares = [used_share(workload, max_len) for max_len in RESERVED] + [used_share_paged(workload, BLOCK_SIZE)]
        yield _row(name, *(f"{100 * share:.1f} %" for share in shares))


def _prefixes(workload: Workload) -> Iterator[str]:
    yield (
        "## Prompt blocks found in a prefix cache: the Mooncake conversation trace\n\nBlocks of 512 tokens, least recently "
        "used evicted first, children before parents. The allocator leaves the last block of a prompt to be computed.\n"
    )
    yield _row("blocks in the cache", *("all" if size is None else f"{size:,}" for size in CACHES))
    yield _row(*["---"] * (1 + len(CACHES)))
    rates: tuple[tuple[str, Callable[[int], float]], ...] = (
        ("found", lambda size: prefix_hit_rate(workload, size)),
        ("found by PagedAllocator", lambda size: prefix_hits_of_allocator(workload, size)),
    )
    everything = sum(len(request.prompt_blocks) for request in workload)
    for name, rate in rates:
        yield _row(name, *(f"{100 * rate(size or everything):.2f} %" for size in CACHES))


def _samples() -> Iterator[str]:
    yield (
        "## Several samples of one prompt\n\nForked from one another, the samples share the prompt's full blocks. A partial "
        f"one is copied by all but the last who write into it. Blocks of {BLOCK_SIZE} tokens.\n"
    )
    yield _row("prompt", "output", "samples", "blocks shared", "blocks alone", "saved")
    yield _row(*["---"] * 6)
    for prompt, output, samples in SAMPLES:
        shared, alone = blocks_for_samples(prompt, output, samples)
        yield _row(*map(str, (prompt, output, samples, shared, alone)), f"{100 * (1 - shared / alone):.1f} %")


def _policies(workload: Workload) -> Iterator[str]:
    yield (
        "## The Azure conversation trace on one A100 with 80 GB\n\nLlama-2-13B in 16 bits, at half the trace's rate. Step "
        "times are the roofline's, so all of them are best cases. Goodput counts requests with a first token within "
        "5 s and then one every 100 ms. A static batch has 32 rows, or as many as there is memory for. What is longer than "
        "its reservation is rejected.\n"
    )
    yield _row(*POLICY_COLUMNS)
    yield _row(*["---"] * len(POLICY_COLUMNS))
    workload = workload.scaled(0.5)
    runs = {
        "static batches, 4096 reserved": simulate(workload, StaticBatching(32), max_len=4096),
        "continuous, 4096 reserved": simulate(workload, "continuous", memory="contiguous", max_len=4096),
        "continuous, paged": simulate(workload, "continuous"),
        "chunked prefill of 512, paged": simulate(workload, ChunkedPrefill(token_budget=512)),
    }
    for name, (_, told) in runs.items():
        first, each = told.time_to_first_token, told.time_per_output_token
        if not isinstance(first, Spread) or not isinstance(each, Spread):
            raise NoFreeBlocksError(f"{name}: no request could be served")
        yield _row(
            name,
            format_number(told.mean_batch),
            format_number(told.throughput_tokens_per_s),
            format_number(told.goodput_requests_per_s(5, 0.1)),
            *map(format_seconds, (first.p50, each.p50, each.p99)),
            f"{100 * told.kv_used_share:.1f} %",
            f"{told.preemptions:,}",
            f"{told.rejected:,}",
        )


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: python -m llmserving.scheduling.trace_table FOLDER [FILE]")
    text = rendered(sys.argv[1])
    if sys.argv[2:]:
        Path(sys.argv[2]).write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
