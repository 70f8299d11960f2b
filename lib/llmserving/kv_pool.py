"""The pool of blocks that an engine cuts from the memory left for the KV cache, as its log prints it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from llmserving import arguments
from llmserving.kv_layout import DEFAULT_BATCHED_TOKENS, KvLayout, kv_layout
from llmserving.model_spec import ModelSpec


@dataclass(frozen=True)
class KvPool:
    """`blocks` blocks of one layout. The first `reserved_blocks` of them hold no request: vLLM V1 keeps a null block."""

    layout: KvLayout
    blocks: int
    reserved_blocks: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.layout, KvLayout):
            raise TypeError(f"layout is a KvLayout, as kv_layout() gives it, but got {arguments.shown(self.layout)}")
        for field, meaning in (
            ("blocks", "the number of blocks of the pool"),
            ("reserved_blocks", "the number of blocks that hold no request"),
        ):
            object.__setattr__(self, field, arguments.count(field, meaning, getattr(self, field), at_least=0))

    @property
    def usable_blocks(self) -> int:
        """Blocks that requests can have; what `PagedAllocator` calls num_blocks."""
        return max(0, self.blocks - self.reserved_blocks)

    @property
    def tokens(self) -> int:
        """Tokens as engines print them ("GPU KV cache size"): reserved blocks counted, windows not made use of."""
        return self.blocks // self.layout.groups * self.layout.block_size

    @property
    def usable_tokens(self) -> int:
        """Tokens of `usable_blocks`."""
        return self.usable_blocks // self.layout.groups * self.layout.block_size

    def max_concurrency(self, tokens: Any, max_num_batched_tokens: Any = DEFAULT_BATCHED_TOKENS) -> float:
        """How many requests of `tokens` tokens the blocks are, as engines print it ("Maximum concurrency")."""
        return self.blocks / self.layout.request_blocks(tokens, max_num_batched_tokens)

    def max_requests(self, tokens: Any, max_num_batched_tokens: Any = DEFAULT_BATCHED_TOKENS) -> int:
        """Whole requests of `tokens` tokens that the usable blocks hold at once."""
        return self.usable_blocks // self.layout.request_blocks(tokens, max_num_batched_tokens)

    def longest_request(self, max_num_batched_tokens: Any = DEFAULT_BATCHED_TOKENS) -> int | None:
        """The most tokens that one request can have ("estimated maximum model length"); None where nothing limits it."""
        fits, fails = 0, self.blocks * self.layout.block_size + 1
        if self.layout.request_blocks(fails, max_num_batched_tokens) <= self.blocks:
            return None
        while fails - fits > 1:
            middle = (fits + fails) // 2
            if self.layout.request_blocks(middle, max_num_batched_tokens) <= self.blocks:
                fits = middle
            else:
                fails = middle
        return fits


def kv_pool(
    model: ModelSpec | str,
    kv_bytes_available: Any,
    kv_dtype: str = "fp16",
    tensor_parallel: Any = 1,
    pipeline_parallel: Any = 1,
    block_size: Any = 16,
    padded_latent: Any = None,
    reserved_blocks: Any = 1,
) -> KvPool:
    """The pool that fits into `kv_bytes_available` bytes on every rank, or into that many on a rank of each stage.

    All stages have as many blocks as the poorest one. Where ranks of one stage have different amounts left, give the
    least: one rank's printed memory is not the pool's (vllm issues 13061 and 21348). reserved_blocks: 1 as in vLLM V1, or 0
    for an engine without a null block. TypeError or ValueError names the argument at fault.

    >>> kv_pool("llama-3.1-8b", 58.11 * 2**30).tokens
    476032
    """
    layout = kv_layout(model, kv_dtype, tensor_parallel, pipeline_parallel, block_size, padded_latent)
    per_block = layout.block_bytes_per_stage
    available = _bytes_per_stage(kv_bytes_available, len(per_block))
    blocks = min(int(Fraction(have) // block) for have, block in zip(available, per_block, strict=True))
    return KvPool(layout, blocks, reserved_blocks)


def cpu_blocks(
    swap_bytes: Any,
    model: ModelSpec | str,
    kv_dtype: str = "fp16",
    tensor_parallel: Any = 1,
    pipeline_parallel: Any = 1,
    block_size: Any = 16,
    padded_latent: Any = None,
) -> int:
    """Blocks that `swap_bytes` bytes of the host's memory hold for each GPU, as vLLM V0 prints them ("# CPU blocks").

    V0 made no groups: a block is a page of each layer of the stage.
    """
    layout = kv_layout(model, kv_dtype, tensor_parallel, pipeline_parallel, block_size, padded_latent)
    swap = arguments.amount("swap_bytes", "the host memory for swapped blocks of a GPU, in bytes", swap_bytes)
    return int(Fraction(swap) // (layout.page_bytes * max(layout.layers_per_stage)))


def _bytes_per_stage(available: Any, stages: int) -> tuple[float | int, ...]:
    meaning = "the memory left for the KV cache on one rank, in bytes"
    if isinstance(available, Sequence) and not isinstance(available, (str, bytes)):
        if len(available) != stages:
            raise ValueError(
                f"kv_bytes_available names {len(available)} stages and pipeline_parallel {stages}; give one number for "
                "each stage, or one for all"
            )
        return tuple(arguments.amount("kv_bytes_available", meaning, each) for each in available)
    return (arguments.amount("kv_bytes_available", meaning, available),) * stages
